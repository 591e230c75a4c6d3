//! Pictures: QEMU's PPM screen dumps in, PNG files out.

use crate::whole_file;
use anyhow::{Context, Result, bail, ensure};
use std::fs::File;
use std::io::BufReader;
use std::path::Path;

/// A picture of 8 bits a channel, rows from top to bottom.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Picture {
    /// Pixels in a row.
    pub(crate) width: usize,
    /// Rows.
    pub(crate) height: usize,
    /// Red, green, blue; `width * height` of them.
    pub(crate) pixels: Vec<[u8; 3]>,
}

impl Picture {
    /// Reads a binary PPM (`P6`, white space, width, height, 255, one white space character, pixels).
    pub(crate) fn from_ppm(bytes: &[u8]) -> Result<Self> {
        let mut rest = bytes;
        let mut word = || -> Result<&[u8]> {
            rest = rest.trim_ascii_start();
            let end = rest.iter().position(u8::is_ascii_whitespace).context("a PPM file ends in its header")?;
            let word = &rest[..end];
            rest = &rest[end..];
            Ok(word)
        };
        ensure!(word()? == b"P6", "a screen dump is not a binary PPM file");
        let mut number = || -> Result<usize> {
            std::str::from_utf8(word()?)?.parse().context("a PPM file has no number where one is due")
        };
        let (width, height, maximum) = (number()?, number()?, number()?);
        ensure!(maximum == 255, "a PPM file has {maximum} as its largest value instead of 255");
        let (pixels, remainder) = rest[1..].as_chunks::<3>();
        if width.checked_mul(height) != Some(pixels.len()) || !remainder.is_empty() {
            bail!("a PPM file of {width} x {height} has {} bytes of pixels", rest.len() - 1);
        }
        Ok(Self { width, height, pixels: pixels.to_vec() })
    }

    /// The pixel in column `x` of row `y`, if there is one.
    pub(crate) fn pixel(&self, x: usize, y: usize) -> Option<[u8; 3]> {
        if x >= self.width {
            return None;
        }
        self.pixels.get(y.checked_mul(self.width)?.checked_add(x)?).copied()
    }

    /// Reads a PNG file of 8 bits a channel; alpha is left out.
    pub(crate) fn read_png(path: &Path) -> Result<Self> {
        let file = File::open(path).with_context(|| format!("cannot read {}", path.display()))?;
        let mut reader = png::Decoder::new(BufReader::new(file)).read_info()?;
        let mut bytes = vec![0; reader.output_buffer_size().context("a picture that is too large")?];
        let info = reader.next_frame(&mut bytes)?;
        let bytes = &bytes[..info.buffer_size()];
        let pixels = match (info.color_type, info.bit_depth) {
            (png::ColorType::Rgb, png::BitDepth::Eight) => bytes.as_chunks().0.to_vec(),
            (png::ColorType::Rgba, png::BitDepth::Eight) => {
                bytes.as_chunks::<4>().0.iter().map(|&[red, green, blue, _]| [red, green, blue]).collect()
            }
            (other, depth) => bail!("{} has {other:?} pixels of depth {depth:?}", path.display()),
        };
        Ok(Self { width: usize::try_from(info.width)?, height: usize::try_from(info.height)?, pixels })
    }

    /// Writes a PNG file.
    pub(crate) fn write_png(&self, path: &Path) -> Result<()> {
        let mut bytes = Vec::new();
        let mut encoder = png::Encoder::new(&mut bytes, u32::try_from(self.width)?, u32::try_from(self.height)?);
        encoder.set_color(png::ColorType::Rgb);
        encoder.set_depth(png::BitDepth::Eight);
        let mut writer = encoder.write_header()?;
        writer.write_image_data(self.pixels.as_flattened())?;
        writer.finish()?;
        whole_file::write(path, &bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ppm() {
        let picture = Picture::from_ppm(b"P6\n2 1\n255\n\x01\x02\x03\n\x20\xff").unwrap();
        assert_eq!(picture.pixel(0, 0), Some([1, 2, 3]));
        assert_eq!(picture.pixel(1, 0), Some([10, 32, 255]));
        assert_eq!(picture.pixel(2, 0), None);
        assert_eq!(picture.pixel(0, 1), None);
        assert!(Picture::from_ppm(b"P6\n2 1\n255\n\x01\x02\x03").is_err());
        assert!(Picture::from_ppm(b"P5\n2 1\n255\n").is_err());
        assert!(Picture::from_ppm(b"P6\n").is_err());
    }

    #[test]
    fn png_there_and_back() {
        let path = std::env::temp_dir().join(format!("xtask-picture-test-{}.png", std::process::id()));
        let picture = Picture { width: 2, height: 3, pixels: (0..6).map(|n| [n, n * 40, 255 - n]).collect() };
        picture.write_png(&path).unwrap();
        assert_eq!(Picture::read_png(&path).unwrap(), picture);
        std::fs::remove_file(path).unwrap();
    }
}
