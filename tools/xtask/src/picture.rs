//! Pictures: reading QEMU's PPM screen dumps and PNG files, writing PNG files.

use crate::whole_file;
use anyhow::{Context, Result, bail, ensure};
use std::fs::File;
use std::io::BufReader;
use std::path::Path;

/// A picture with 8 bits per channel, rows from top to bottom.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Picture {
    /// Width in pixels.
    pub(crate) width: usize,
    /// Height in pixels.
    pub(crate) height: usize,
    /// Red, green, blue; `width * height` of them.
    pub(crate) pixels: Vec<[u8; 3]>,
}

impl Picture {
    /// Parses a binary PPM (`P6`, white space, width, height, 255, one white space character, pixels).
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
            std::str::from_utf8(word()?)?.parse().context("a PPM file has no number where one is expected")
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

    /// A picture of one colour.
    pub(crate) fn filled(width: usize, height: usize, color: [u8; 3]) -> Self {
        Self { width, height, pixels: vec![color; width * height] }
    }

    /// Copies a picture into this one, with its top left corner at (x, y). Parts outside of this picture are left out.
    pub(crate) fn paste(&mut self, picture: &Self, x: usize, y: usize) {
        let width = picture.width.min(self.width.saturating_sub(x));
        for row in 0..picture.height.min(self.height.saturating_sub(y)) {
            let (from, to) = (row * picture.width, (y + row) * self.width + x);
            self.pixels[to..to + width].copy_from_slice(&picture.pixels[from..from + width]);
        }
    }

    /// Blends a colour into a pixel, if there is one: 255 replaces it.
    pub(crate) fn blend(&mut self, x: usize, y: usize, color: [u8; 3], amount: u8) {
        if x >= self.width || y >= self.height {
            return;
        }
        let pixel = &mut self.pixels[y * self.width + x];
        for (channel, new) in pixel.iter_mut().zip(color) {
            let sum = u32::from(*channel) * (255 - u32::from(amount)) + u32::from(new) * u32::from(amount);
            *channel = ((sum + 127) / 255) as u8;
        }
    }

    /// Scales the picture to a width, keeping its aspect ratio: each pixel is the mean of the area that it covers.
    pub(crate) fn scaled_to_width(&self, width: usize) -> Self {
        let height = (self.height * width).div_ceil(self.width.max(1)).max(1);
        let columns: Vec<_> = (0..width).map(|x| covered(x, width, self.width)).collect();
        let mut pixels = Vec::with_capacity(width * height);
        for y in 0..height {
            let rows = covered(y, height, self.height);
            for across in &columns {
                let (mut sum, mut area) = ([0.0; 3], 0.0);
                for &(row, down) in &rows {
                    for &(column, right) in across {
                        let pixel = self.pixels[row * self.width + column];
                        let share = down * right;
                        area += share;
                        for (sum, channel) in sum.iter_mut().zip(pixel) {
                            *sum += share * f32::from(channel);
                        }
                    }
                }
                pixels.push(sum.map(|sum: f32| (sum / area + 0.5) as u8));
            }
        }
        Self { width, height, pixels }
    }

    /// Reads a PNG file with 8 bits per channel; alpha is ignored.
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

/// The pixels that pixel `at` covers when a line of `old` pixels is scaled to `new` ones, and the weight of each.
fn covered(at: usize, new: usize, old: usize) -> Vec<(usize, f32)> {
    let (start, end) = (at as f32 * old as f32 / new as f32, (at + 1) as f32 * old as f32 / new as f32);
    let first = (start as usize).min(old - 1);
    let last = (end.ceil() as usize).clamp(first + 1, old);
    (first..last).map(|n| (n, (end.min((n + 1) as f32) - start.max(n as f32)).max(f32::EPSILON))).collect()
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
    fn a_smaller_picture_has_the_mean_of_what_its_pixels_cover() {
        let pixels = [0, 30, 60, 90, 120, 150].map(|level| [level; 3]).to_vec();
        let picture = Picture { width: 3, height: 2, pixels };
        // Each of two columns is the mean of one and a half: (0 + 90 + (30 + 120) / 2) / 3, and the same from the right.
        assert_eq!(picture.scaled_to_width(2).pixels[0], [10; 3]);
        assert_eq!(picture.scaled_to_width(1).pixels, [[75; 3]]);
        assert_eq!(picture.scaled_to_width(3), picture);
    }

    #[test]
    fn pasting_leaves_out_what_does_not_fit() {
        let mut picture = Picture::filled(3, 2, [0; 3]);
        picture.paste(&Picture::filled(2, 2, [9; 3]), 2, 1);
        assert_eq!(picture.pixels, [[0; 3], [0; 3], [0; 3], [0; 3], [0; 3], [9; 3]]);
        picture.blend(0, 0, [255, 0, 128], 255);
        picture.blend(5, 0, [255; 3], 255);
        assert_eq!(picture.pixel(0, 0), Some([255, 0, 128]));
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
