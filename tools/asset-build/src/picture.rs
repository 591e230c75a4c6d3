//! Pictures: PNG and JPEG files as 8-bit RGBA.

use crate::Error;
use crate::file::Budget;
use crate::module::Module;
use std::io::Cursor;
use std::path::Path;

/// Greatest width and height that the TMU can address, in texels [AG p.41].
pub(crate) const MAX_SIDE_PX: u32 = 2048;
/// Bytes of a picture's file: more than the largest picture takes that is not compressed, with 16 bits per channel.
const MAX_FILE_BYTES: usize = 40 << 20;

/// A picture: rows from the top, 8 bits each of red, green, blue, alpha.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    /// Width in pixels, 1 to 2048.
    pub width_px: u32,
    /// Height in pixels, 1 to 2048.
    pub height_px: u32,
    /// `4 * width_px * height_px` bytes.
    pub rgba: Vec<u8>,
}

/// Reads a file.
pub(crate) fn load(path: &Path) -> Result<Picture, Error> {
    let bytes = Budget::new(MAX_FILE_BYTES).read(path)?;
    Picture::decode(&bytes).map_err(|reason| Error::content(path, reason))
}

impl Picture {
    /// Decodes a PNG or JPEG file, if a texture can hold the picture.
    pub(crate) fn decode(bytes: &[u8]) -> Result<Self, String> {
        if bytes.starts_with(b"\x89PNG") {
            Self::from_png(bytes)
        } else if bytes.starts_with(&[0xff, 0xd8]) {
            Self::from_jpeg(bytes)
        } else {
            Err("the file is neither a PNG nor a JPEG picture".to_owned())
        }
    }

    fn from_png(bytes: &[u8]) -> Result<Self, String> {
        let mut decoder = png::Decoder::new(Cursor::new(bytes));
        // Palettes and other bit depths become 8 bits per channel.
        decoder.set_transformations(png::Transformations::normalize_to_color8());
        let header = decoder.read_header_info().map_err(|error| error.to_string())?;
        check_size(header.width, header.height)?;
        let mut reader = decoder.read_info().map_err(|error| error.to_string())?;
        let size = reader.output_buffer_size().ok_or("the picture is larger than memory")?;
        let mut samples = vec![0; size];
        let frame = reader.next_frame(&mut samples).map_err(|error| error.to_string())?;
        samples.truncate(frame.buffer_size());
        let rgba = match frame.color_type {
            png::ColorType::Grayscale => samples.iter().flat_map(|&gray| [gray, gray, gray, 255]).collect(),
            png::ColorType::GrayscaleAlpha => {
                chunks::<2>(&samples).flat_map(|[gray, alpha]| [gray, gray, gray, alpha]).collect()
            }
            png::ColorType::Rgb => {
                chunks::<3>(&samples).flat_map(|[red, green, blue]| [red, green, blue, 255]).collect()
            }
            png::ColorType::Rgba => samples,
            png::ColorType::Indexed => return Err("the picture's palette could not be applied".to_owned()),
        };
        Ok(Self { width_px: frame.width, height_px: frame.height, rgba })
    }

    fn from_jpeg(bytes: &[u8]) -> Result<Self, String> {
        use zune_jpeg::zune_core::{bytestream::ZCursor, colorspace::ColorSpace, options::DecoderOptions};
        let options = DecoderOptions::default().jpeg_set_out_colorspace(ColorSpace::RGBA);
        let mut decoder = zune_jpeg::JpegDecoder::new_with_options(ZCursor::new(bytes), options);
        decoder.decode_headers().map_err(|error| error.to_string())?;
        let info = decoder.info().ok_or("the picture has no size")?;
        check_size(info.width.into(), info.height.into())?;
        let rgba = decoder.decode().map_err(|error| error.to_string())?;
        Ok(Self { width_px: info.width.into(), height_px: info.height.into(), rgba })
    }

    /// The expression of its constant.
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

/// Whether a texture can hold a picture of this size: asked before there is memory for its pixels.
fn check_size(width_px: u32, height_px: u32) -> Result<(), String> {
    let sides = 1..=MAX_SIDE_PX;
    if sides.contains(&width_px) && sides.contains(&height_px) {
        return Ok(());
    }
    Err(format!("the picture has {width_px} x {height_px} pixels, and a texture has 1 to {MAX_SIDE_PX} on each side"))
}

/// The samples in groups of `N`, without an incomplete group at the end.
fn chunks<const N: usize>(samples: &[u8]) -> impl Iterator<Item = [u8; N]> {
    samples.chunks_exact(N).filter_map(|chunk| chunk.try_into().ok())
}
