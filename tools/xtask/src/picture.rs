//! Pictures: QEMU's PPM screen dumps in, PNG files out.

use anyhow::{Context, Result, bail, ensure};
use std::fs::File;
use std::io::BufWriter;
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

    /// Writes a PNG file.
    pub(crate) fn write_png(&self, path: &Path) -> Result<()> {
        let file = File::create(path).with_context(|| format!("can not create {}", path.display()))?;
        let mut encoder =
            png::Encoder::new(BufWriter::new(file), u32::try_from(self.width)?, u32::try_from(self.height)?);
        encoder.set_color(png::ColorType::Rgb);
        encoder.set_depth(png::BitDepth::Eight);
        encoder.write_header()?.write_image_data(self.pixels.as_flattened())?;
        Ok(())
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
}
