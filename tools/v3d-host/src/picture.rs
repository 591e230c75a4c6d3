//! Pictures that were drawn, as pixels and as PNG files.

use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};

use renderer::{Device, Format, Target, Texture};
use v3d::Platform;
use v3d::hw::tiling::Tiling;

/// Why a picture cannot be had.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PictureError {
    /// The target cannot be read.
    #[error("{0}")]
    Target(#[from] renderer::Error),
    /// The target's pixels are of a kind that is not taken for a picture.
    #[error("{label}: pixels are taken of Rgba8888, and these are {format:?}")]
    Format {
        /// The target's name.
        label: &'static str,
        /// Its pixels.
        format: Format,
    },
    /// The file cannot be written.
    #[error("{}: {error}", path.display())]
    File {
        /// Which.
        path: PathBuf,
        /// Why.
        error: png::EncodingError,
    },
}

/// The pixels of a target, row by row from its top left corner: red, green, blue, alpha. Ask when the frame that draws it is done.
///
/// # Errors
/// When the target is another device's or a display's page, or its pixels have not 32 bits.
pub fn picture<P: Platform>(device: &Device<'_, P>, target: &Target) -> Result<Vec<[u8; 4]>, PictureError> {
    if target.format() != Format::Rgba8888 {
        return Err(PictureError::Format { label: target.label(), format: target.format() });
    }
    let mut bytes = vec![0; (4 * target.width_px() * target.height_px()) as usize];
    match target.tiling() {
        Tiling::Raster => target.read(device, &mut bytes)?,
        _ => Texture::of_target(target)?.read(device, 0, None, &mut bytes)?,
    }
    Ok(bytes.as_chunks().0.to_vec())
}

/// Writes a target as a PNG file, and the folders on the way to it. Alpha is left out, as a display leaves it out.
///
/// # Errors
/// As [`picture`], and when the file cannot be written.
pub fn save_png<P: Platform>(device: &Device<'_, P>, target: &Target, path: &Path) -> Result<(), PictureError> {
    let rgb: Vec<u8> = picture(device, target)?.iter().flat_map(|&[red, green, blue, _]| [red, green, blue]).collect();
    let write = || {
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder)?;
        }
        let mut encoder = png::Encoder::new(BufWriter::new(File::create(path)?), target.width_px(), target.height_px());
        encoder.set_color(png::ColorType::Rgb);
        encoder.set_compression(png::Compression::High);
        let mut writer = encoder.write_header()?;
        writer.write_image_data(&rgb)?;
        writer.finish()
    };
    write().map_err(|error| PictureError::File { path: path.to_owned(), error })
}
