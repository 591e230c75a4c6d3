//! A glTF file with the buffers and pictures it refers to: inside it, beside it, or as data URIs.

use crate::Error;
use crate::picture::Picture;
use data_encoding::BASE64;
use std::path::Path;

/// A glTF file with all its data.
#[derive(Debug)]
pub(crate) struct Document {
    pub(crate) gltf: gltf::Document,
    pub(crate) buffers: Vec<Vec<u8>>,
    pub(crate) pictures: Vec<Picture>,
}

impl Document {
    /// Reads a `.glb` or `.gltf` file.
    pub(crate) fn read(path: &Path) -> Result<Self, Error> {
        let bytes = read(path)?;
        let content = |reason: String| Error::content(path, reason);
        let gltf::Gltf { document: gltf, mut blob } =
            gltf::Gltf::from_slice(&bytes).map_err(|error| content(error.to_string()))?;
        let folder = path.parent().unwrap_or(Path::new("."));
        let mut buffers = Vec::new();
        for buffer in gltf.buffers() {
            let bytes = match buffer.source() {
                gltf::buffer::Source::Bin => {
                    blob.take().ok_or_else(|| content("its binary part is missing".to_owned()))?
                }
                gltf::buffer::Source::Uri(uri) => resource(folder, uri, path)?,
            };
            if bytes.len() < buffer.length() {
                let (index, length) = (buffer.index(), buffer.length());
                return Err(content(format!("buffer {index} has {} bytes instead of {length}", bytes.len())));
            }
            buffers.push(bytes);
        }
        let mut pictures = Vec::new();
        for image in gltf.images() {
            let encoded = match image.source() {
                gltf::image::Source::View { view, .. } => {
                    let (buffer, from) = (view.buffer().index(), view.offset());
                    let bytes = buffers.get(buffer).and_then(|bytes| bytes.get(from..from.checked_add(view.length())?));
                    bytes.ok_or_else(|| content(format!("image {} is outside its buffer", image.index())))?.to_vec()
                }
                gltf::image::Source::Uri { uri, .. } => resource(folder, uri, path)?,
            };
            let picture = Picture::decode(&encoded);
            pictures.push(picture.map_err(|reason| content(format!("image {}: {reason}", image.index())))?);
        }
        Ok(Self { gltf, buffers, pictures })
    }
}

fn read(path: &Path) -> Result<Vec<u8>, Error> {
    std::fs::read(path).map_err(|error| Error::File { path: path.to_owned(), error })
}

/// The data of a URI: base64 within it, or a file beside the document.
fn resource(folder: &Path, uri: &str, document: &Path) -> Result<Vec<u8>, Error> {
    let Some(data) = uri.strip_prefix("data:") else {
        if uri.contains('%') || uri.contains("://") {
            let reason = format!("{uri:?} is not the plain name of a file in the same folder");
            return Err(Error::content(document, reason));
        }
        return read(&folder.join(uri));
    };
    let encoded = data.split_once(";base64,").map(|(_, encoded)| encoded);
    encoded
        .and_then(|encoded| BASE64.decode(encoded.as_bytes()).ok())
        .ok_or_else(|| Error::content(document, "a data URI is not base64"))
}
