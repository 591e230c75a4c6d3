//! Pictures: PNG and JPEG files as 8-bit RGBA.

use crate::module::Module;
use crate::{Error, model};
use std::path::Path;

/// The widest and highest that the TMU can address, in texels [AG p.41].
pub(crate) const MAX_SIDE_PX: u32 = 2048;

/// A picture: rows from the top, 8 bits each of red, green, blue, alpha.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Picture {
    pub(crate) width_px: u32,
    pub(crate) height_px: u32,
    pub(crate) rgba: Vec<u8>,
}

/// Reads a file.
pub(crate) fn load(path: &Path) -> Result<Picture, Error> {
    let bytes = std::fs::read(path).map_err(|error| Error::File { path: path.to_owned(), error })?;
    let decoded = image::load_from_memory(&bytes).map_err(|error| Error::content(path, error))?.into_rgba8();
    let (width_px, height_px) = decoded.dimensions();
    Picture { width_px, height_px, rgba: decoded.into_raw() }.checked(path)
}

impl Picture {
    /// The picture, if a texture can hold it.
    pub(crate) fn checked(self, path: &Path) -> Result<Self, Error> {
        let Self { width_px, height_px, .. } = self;
        if width_px == 0 || height_px == 0 || width_px > MAX_SIDE_PX || height_px > MAX_SIDE_PX {
            let reason = format!(
                "the picture has {width_px} x {height_px} pixels, and a texture has 1 to {MAX_SIDE_PX} on each side"
            );
            return Err(Error::content(path, reason));
        }
        Ok(self)
    }

    /// The value of its constant.
    pub(crate) fn value(self, module: &mut Module, name: &str) -> String {
        let Self { width_px, height_px, rgba } = self;
        let bytes = module.bytes(name, rgba);
        format!("renderer::asset::Image {{ width_px: {width_px}, height_px: {height_px}, rgba: {bytes} }}")
    }

    pub(crate) fn write(self, module: &mut Module, name: &str) {
        let documentation = format!("A picture of {} x {} pixels.", self.width_px, self.height_px);
        let value = self.value(module, name);
        module.constant(&documentation, name, "Image", &value);
    }
}

/// What a glTF file's picture is, as RGBA.
impl TryFrom<gltf::image::Data> for Picture {
    type Error = String;

    fn try_from(data: gltf::image::Data) -> Result<Self, String> {
        use gltf::image::Format;
        let gltf::image::Data { pixels, format, width, height } = data;
        let rgba = match format {
            Format::R8 => pixels.iter().flat_map(|&gray| [gray, gray, gray, 255]).collect(),
            Format::R8G8 => model::chunks::<2>(&pixels).flat_map(|[gray, alpha]| [gray, gray, gray, alpha]).collect(),
            Format::R8G8B8 => {
                model::chunks::<3>(&pixels).flat_map(|[red, green, blue]| [red, green, blue, 255]).collect()
            }
            Format::R8G8B8A8 => pixels,
            other => {
                return Err(format!("a picture has samples of kind {other:?}, and 8 bits a channel are what is read"));
            }
        };
        Ok(Self { width_px: width, height_px: height, rgba })
    }
}
