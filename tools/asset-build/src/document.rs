//! A glTF file with the buffers and pictures it refers to: inside it, beside it, or as data URIs.

use crate::Error;
use crate::file::{self, Budget};
use crate::picture::Picture;
use data_encoding::BASE64;
use std::path::Path;

/// Bytes of a document with its buffers and pictures as they are in files. The Pi has 1 GiB of memory.
const MAX_BYTES: usize = 128 << 20;
/// Bytes of a document's pictures when they are decoded: 16 of the largest.
const MAX_PICTURE_BYTES: usize = 256 << 20;
/// Objects in a document's text. `{}` is two bytes, and a node without anything in it takes some 250 when it is read.
const MAX_OBJECTS: usize = 1 << 19;
/// Components of an accessor's elements: a matrix has 16.
const MAX_COMPONENTS: usize = 16;
/// Bytes of the header of a binary file: magic, version, length.
const HEADER_BYTES: usize = 12;

/// Reads a file beside a document, by the name in its text.
type Beside<'b> = &'b mut dyn FnMut(&str) -> Result<Vec<u8>, Error>;

/// A glTF file with all its data.
#[derive(Debug)]
pub(crate) struct Document {
    pub(crate) gltf: gltf::Document,
    pub(crate) buffers: Vec<Vec<u8>>,
    pub(crate) pictures: Vec<Picture>,
}

impl Document {
    /// Reads a `.glb` or `.gltf` file, and the files beside it that it names.
    pub(crate) fn read(path: &Path) -> Result<Self, Error> {
        let mut budget = Budget::new(MAX_BYTES);
        let bytes = budget.read(path)?;
        Self::of(path, bytes, &mut |name| file::read_beside(path, name, &mut budget))
    }

    /// Takes the bytes of a file that names no others.
    pub(crate) fn of_bytes(path: &Path, bytes: Vec<u8>) -> Result<Self, Error> {
        if bytes.len() > MAX_BYTES {
            return Err(Error::content(path, format!("it has more than {} MiB", MAX_BYTES >> 20)));
        }
        let nothing_beside = |name: &str| {
            Err(Error::content(path, format!("it needs the file {name:?} beside it: a .glb file has all parts in one")))
        };
        Self::of(path, bytes, &mut { nothing_beside })
    }

    /// Takes the bytes of a file; `beside` reads those that it names.
    fn of(path: &Path, bytes: Vec<u8>, beside: Beside<'_>) -> Result<Self, Error> {
        let content = |reason: String| Error::content(path, reason);
        check_text(&bytes).map_err(content)?;
        let unchecked = gltf::Gltf::from_slice_without_validation(&bytes);
        let gltf::Gltf { document, mut blob } = unchecked.map_err(|error| content(error.to_string()))?;
        drop(bytes);
        check_positions(document.as_json()).map_err(content)?;
        let gltf = gltf::Document::from_json(document.into_json()).map_err(|error| content(error.to_string()))?;
        let mut buffers = Vec::new();
        for buffer in gltf.buffers() {
            let bytes = match buffer.source() {
                gltf::buffer::Source::Bin => {
                    blob.take().ok_or_else(|| content("its binary part is missing".to_owned()))?
                }
                gltf::buffer::Source::Uri(uri) => resource(uri, path, beside)?,
            };
            if bytes.len() < buffer.length() {
                let (index, length) = (buffer.index(), buffer.length());
                return Err(content(format!("buffer {index} has {} bytes instead of {length}", bytes.len())));
            }
            buffers.push(bytes);
        }
        let mut pictures = Vec::new();
        let mut picture_bytes = 0;
        for (image, json) in gltf.images().zip(&gltf.as_json().images) {
            let index = image.index();
            // The crate `gltf` takes for granted that one of both is there.
            if json.uri.is_none() && (json.buffer_view.is_none() || json.mime_type.is_none()) {
                return Err(content(format!("image {index} has neither a URI nor a buffer view with a type")));
            }
            let read;
            let encoded = match image.source() {
                gltf::image::Source::View { view, .. } => {
                    let (buffer, from) = (view.buffer().index(), view.offset());
                    let bytes = buffers.get(buffer).and_then(|bytes| bytes.get(from..from.checked_add(view.length())?));
                    bytes.ok_or_else(|| content(format!("image {index} is outside its buffer")))?
                }
                gltf::image::Source::Uri { uri, .. } => {
                    read = resource(uri, path, beside)?;
                    &read
                }
            };
            let picture = Picture::decode(encoded).map_err(|reason| content(format!("image {index}: {reason}")))?;
            picture_bytes += picture.rgba.len();
            if picture_bytes > MAX_PICTURE_BYTES {
                let most = MAX_PICTURE_BYTES >> 20;
                return Err(content(format!(
                    "image {index}: the pictures up to it have more than {most} MiB of pixels"
                )));
            }
            pictures.push(picture);
        }
        Ok(Self { gltf, buffers, pictures })
    }
}

/// Refuses what the crate `gltf` does not: a length that is less than the header's own, and texts that take much more memory than they have bytes.
fn check_text(bytes: &[u8]) -> Result<(), String> {
    if bytes.starts_with(b"glTF") {
        let length =
            bytes.get(8..HEADER_BYTES).map(|length| u32::from_le_bytes([length[0], length[1], length[2], length[3]]));
        if length.is_none_or(|length| (length as usize) < HEADER_BYTES) {
            return Err("its header is not complete".to_owned());
        }
        // A file that begins with the text has it up to the length in its header.
        let text = bytes
            .get(HEADER_BYTES..HEADER_BYTES + 4)
            .map_or(0, |length| u32::from_le_bytes([length[0], length[1], length[2], length[3]]) as usize);
        return check_objects(bytes.iter().skip(HEADER_BYTES).take(text));
    }
    check_objects(bytes.iter())
}

fn check_objects<'b>(text: impl Iterator<Item = &'b u8>) -> Result<(), String> {
    let objects = text.filter(|byte| **byte == b'{').count();
    if objects > MAX_OBJECTS { Err(format!("its text has more than {MAX_OBJECTS} objects")) } else { Ok(()) }
}

/// Refuses what the validation of the crate `gltf` takes for granted: that positions are an accessor, and copies for each primitive: its bounds.
fn check_positions(root: &gltf::json::Root) -> Result<(), String> {
    for (number, accessor) in root.accessors.iter().enumerate() {
        let is_long = |bound: &Option<gltf::json::Value>| {
            bound.as_ref().is_some_and(|bound| bound.as_array().is_none_or(|bounds| bounds.len() > MAX_COMPONENTS))
        };
        if is_long(&accessor.min) || is_long(&accessor.max) {
            return Err(format!("accessor {number} has bounds of more than {MAX_COMPONENTS} components"));
        }
    }
    let attributes = root.meshes.iter().flat_map(|mesh| &mesh.primitives).flat_map(|primitive| &primitive.attributes);
    let missing = attributes.map(|(_, accessor)| accessor.value()).find(|&accessor| accessor >= root.accessors.len());
    missing.map_or(Ok(()), |missing| Err(format!("a primitive has accessor {missing}, which is not there")))
}

/// The data of a URI: base64 within it, or a file beside the document.
fn resource(uri: &str, document: &Path, beside: Beside<'_>) -> Result<Vec<u8>, Error> {
    let Some(data) = uri.strip_prefix("data:") else { return beside(uri) };
    let encoded = data.split_once(";base64,").map(|(_, encoded)| encoded);
    encoded
        .and_then(|encoded| BASE64.decode(encoded.as_bytes()).ok())
        .ok_or_else(|| Error::content(document, "a data URI is not base64"))
}
