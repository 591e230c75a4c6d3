//! Pictures that were drawn, as pixels and as PNG files.

#[cfg(feature = "programs")]
use std::fs::File;
#[cfg(feature = "programs")]
use std::io::BufWriter;
#[cfg(feature = "programs")]
use std::path::{Path, PathBuf};

#[cfg(feature = "renderer")]
use renderer::{Device, Format, Target, Texture};
#[cfg(feature = "renderer")]
use v3d::Platform;
#[cfg(feature = "renderer")]
use v3d::hw::tiling::Tiling;

/// Why a picture could not be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PictureError {
    /// The target cannot be read.
    #[cfg(feature = "renderer")]
    #[error("{0}")]
    Target(#[from] renderer::Error),
    /// The target's pixel format is not supported.
    #[cfg(feature = "renderer")]
    #[error("{label}: only Rgba8888 can be read as a picture, not {format:?}")]
    Format {
        /// The target's label.
        label: &'static str,
        /// Its pixel format.
        format: Format,
    },
    /// The file cannot be written.
    #[cfg(feature = "programs")]
    #[error("{}: {error}", path.display())]
    File {
        /// Its path.
        path: PathBuf,
        /// The reason.
        error: png::EncodingError,
    },
}

/// Pixels: red, green, blue, alpha.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    /// Width in pixels.
    pub width_px: u32,
    /// Height in pixels.
    pub height_px: u32,
    /// Row by row, from the top left corner.
    pub pixels: Vec<[u8; 4]>,
}

impl Picture {
    /// The contents of a target in memory. The frame that draws it must be done.
    ///
    /// # Errors
    /// When the target belongs to another device or is a display's page, or its pixels do not have 32 bits.
    #[cfg(feature = "renderer")]
    pub fn of_target<P: Platform>(device: &Device<'_, P>, target: &Target) -> Result<Self, PictureError> {
        if target.format() != Format::Rgba8888 {
            return Err(PictureError::Format { label: target.label(), format: target.format() });
        }
        let (width_px, height_px) = (target.width_px(), target.height_px());
        let mut bytes = vec![0; (4 * width_px * height_px) as usize];
        match target.tiling() {
            Tiling::Raster => target.read(device, &mut bytes)?,
            _ => Texture::of_target(target)?.read(device, 0, None, &mut bytes)?,
        }
        Ok(Self { width_px, height_px, pixels: bytes.as_chunks().0.to_vec() })
    }

    /// A pixel; the top row is 0.
    ///
    /// # Panics
    /// When there is no such pixel.
    pub fn pixel(&self, x: u32, y: u32) -> [u8; 4] {
        assert!(x < self.width_px, "the picture is {} pixels wide, and there is no x = {x}", self.width_px);
        self.pixels[(y * self.width_px + x) as usize]
    }

    /// Writes a PNG file, and creates its folders. Alpha is omitted, as on a display.
    ///
    /// # Errors
    /// When the file cannot be written.
    #[cfg(feature = "programs")]
    pub fn save_png(&self, path: &Path) -> Result<(), PictureError> {
        let rgb: Vec<u8> = self.pixels.iter().flat_map(|&[red, green, blue, _]| [red, green, blue]).collect();
        let write = || {
            std::fs::create_dir_all(path.parent().unwrap_or(Path::new("")))?;
            let mut encoder = png::Encoder::new(BufWriter::new(File::create(path)?), self.width_px, self.height_px);
            encoder.set_color(png::ColorType::Rgb);
            encoder.set_compression(png::Compression::High);
            let mut writer = encoder.write_header()?;
            writer.write_image_data(&rgb)?;
            writer.finish()
        };
        write().map_err(|error| PictureError::File { path: path.to_owned(), error })
    }
}

/// Writes a target as a PNG file.
///
/// # Errors
/// As [`Picture::of_target`] and [`Picture::save_png`].
#[cfg(feature = "programs")]
pub fn save_png<P: Platform>(device: &Device<'_, P>, target: &Target, path: &Path) -> Result<(), PictureError> {
    Picture::of_target(device, target)?.save_png(path)
}
