//! Pictures: from colour buffers, from and to PNG files, and their differences.

use super::{BufferTiling, ColorBuffer, ExpectedDifference, JobError, PixelFormat};
use crate::memory::{Memory, OutOfMemory};
#[cfg(feature = "png")]
use std::path::Path;
use v3d_hw::BusAddr;
use v3d_hw::tiling::{self, Tiling};

/// Maximum width and height of a picture: that of a frame.
const MAX_SIDE_PX: u32 = 4096;

/// A picture of RGBA bytes, the first row of memory first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    /// In pixels.
    pub width: u32,
    /// In pixels.
    pub height: u32,
    /// Red, green, blue, alpha of each pixel, row by row.
    pub rgba: Vec<u8>,
}

/// The difference of two pictures.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Difference {
    /// Percentage of pixels whose largest channel difference exceeds 2.
    pub over_2_percent: f64,
    /// The same for 8.
    pub over_8_percent: f64,
    /// The same for 32.
    pub over_32_percent: f64,
    /// Maximum difference of any channel.
    pub largest: u8,
}

impl Difference {
    /// Whether the difference is as small as that of a faithful model: the number of pixels that differ by more than 8 is at most 1.5 times the expected one,
    /// plus 0.1 % of all pixels.
    pub fn is_within(&self, expected: &ExpectedDifference) -> bool {
        self.over_8_percent <= Self::limit_percent(expected)
    }

    /// Maximum percentage of pixels that may differ by more than 8.
    pub fn limit_percent(expected: &ExpectedDifference) -> f64 {
        1.5 * expected.pct_pixels_differ_gt_8 + 0.1
    }
}

impl Picture {
    /// Reads a colour buffer.
    pub fn from_memory(memory: Memory<'_>, buffer: &ColorBuffer) -> Result<Self, JobError> {
        let bits = match &buffer.format {
            PixelFormat::Rgba8888 | PixelFormat::Bgra8888 => 32,
            PixelFormat::Rgb565 => 16,
            PixelFormat::Unknown(name) => return Err(JobError::UnknownFormat(name.clone())),
        };
        let layout = match &buffer.tiling {
            BufferTiling::Raster => Tiling::Raster,
            BufferTiling::TFormat => Tiling::TFormat,
            BufferTiling::LtFormat => Tiling::LtFormat,
            BufferTiling::Unknown(name) => return Err(JobError::UnknownTiling(name.clone())),
        };
        if buffer.width > MAX_SIDE_PX || buffer.height > MAX_SIDE_PX {
            return Err(JobError::NoPicture("the colour buffer is wider or higher than 4096"));
        }
        // The pitch is the padded width.
        let layout_width = buffer.stride_bytes / (bits / 8);
        if layout_width < buffer.width {
            return Err(JobError::NoPicture("the rows of the colour buffer are longer than its stride"));
        }
        let outside = |place| JobError::Memory { what: "colour buffer", place };
        let mut rgba = Vec::with_capacity(4 * buffer.width as usize * buffer.height as usize);
        for y in 0..buffer.height {
            for x in 0..buffer.width {
                let offset = match layout {
                    Tiling::Raster => u64::from(y) * u64::from(buffer.stride_bytes) + u64::from(x * bits / 8),
                    // All formats have a tiling.
                    _ => tiling::pixel_offset_bits(layout, layout_width, bits, x, y).unwrap_or(0) / 8,
                };
                let too_far = OutOfMemory { address: BusAddr(buffer.address), bytes: u32::MAX };
                let at = u64::from(buffer.address) + offset;
                let at = BusAddr(u32::try_from(at).map_err(|_| outside(too_far))?);
                rgba.extend(match buffer.format {
                    PixelFormat::Rgb565 => rgb565(memory.half(at).map_err(outside)?),
                    PixelFormat::Bgra8888 => {
                        let [blue, green, red, alpha] = memory.word(at).map_err(outside)?.to_le_bytes();
                        [red, green, blue, alpha]
                    }
                    _ => memory.word(at).map_err(outside)?.to_le_bytes(),
                });
            }
        }
        Ok(Self { width: buffer.width, height: buffer.height, rgba })
    }

    /// Reads the bytes of a PNG file of 8-bit RGB or RGBA; an error is the reason in words.
    #[cfg(feature = "png")]
    pub fn from_png(bytes: &[u8]) -> Result<Self, String> {
        let mut reader =
            png::Decoder::new(std::io::Cursor::new(bytes)).read_info().map_err(|error| error.to_string())?;
        if reader.info().width > MAX_SIDE_PX || reader.info().height > MAX_SIDE_PX {
            return Err(format!("it is wider or higher than {MAX_SIDE_PX} pixels"));
        }
        let size = reader.output_buffer_size().ok_or_else(|| "it is too large".to_owned())?;
        let mut pixels = vec![0; size];
        let info = reader.next_frame(&mut pixels).map_err(|error| error.to_string())?;
        pixels.truncate(info.buffer_size());
        let rgba = match (info.color_type, info.bit_depth) {
            (png::ColorType::Rgba, png::BitDepth::Eight) => pixels,
            (png::ColorType::Rgb, png::BitDepth::Eight) => {
                pixels.as_chunks::<3>().0.iter().flat_map(|&[red, green, blue]| [red, green, blue, 255]).collect()
            }
            (color, depth) => return Err(format!("its pixels are {color:?}, {depth:?} bits")),
        };
        Ok(Self { width: info.width, height: info.height, rgba })
    }

    /// Writes a PNG file.
    #[cfg(feature = "png")]
    pub fn write_png(&self, path: &Path) -> Result<(), JobError> {
        if self.width == 0 || self.height == 0 {
            return Err(JobError::NoPicture("the colour buffer has no pixels"));
        }
        let mut file = Vec::new();
        let bad = |error: png::EncodingError| JobError::Png { path: path.to_owned(), reason: error.to_string() };
        let mut encoder = png::Encoder::new(&mut file, self.width, self.height);
        encoder.set_color(png::ColorType::Rgba);
        encoder.set_depth(png::BitDepth::Eight);
        let mut writer = encoder.write_header().map_err(bad)?;
        writer.write_image_data(&self.rgba).map_err(bad)?;
        writer.finish().map_err(bad)?;
        whole_file::write(path, &file).map_err(|error| JobError::File { path: path.to_owned(), error })
    }

    /// The difference from another picture; `None` if they are of different sizes.
    pub fn difference(&self, other: &Self) -> Option<Difference> {
        if (self.width, self.height) != (other.width, other.height) || self.rgba.len() != other.rgba.len() {
            return None;
        }
        let (mut over, mut largest) = ([0u32; 3], 0);
        let (ours, theirs) = (self.rgba.as_chunks::<4>().0, other.rgba.as_chunks::<4>().0);
        for (a, b) in ours.iter().zip(theirs) {
            let worst = a.iter().zip(b).map(|(a, b)| a.abs_diff(*b)).fold(0, u8::max);
            largest = largest.max(worst);
            for (count, threshold) in over.iter_mut().zip([2, 8, 32]) {
                *count += u32::from(worst > threshold);
            }
        }
        let percent = |count: u32| 100.0 * f64::from(count) / (ours.len().max(1) as f64);
        Some(Difference {
            over_2_percent: percent(over[0]),
            over_8_percent: percent(over[1]),
            over_32_percent: percent(over[2]),
            largest,
        })
    }
}

/// Widens the channels of a 565 pixel by repeating their highest bits.
fn rgb565(pixel: u16) -> [u8; 4] {
    let (red, green, blue) = (pixel >> 11 & 31, pixel >> 5 & 63, pixel & 31);
    [(red << 3 | red >> 2) as u8, (green << 2 | green >> 4) as u8, (blue << 3 | blue >> 2) as u8, 255]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::OwnedMemory;

    #[test]
    fn formats_become_rgba() {
        let owned = OwnedMemory::new(16);
        let memory = owned.view();
        memory.set_word(BusAddr(0), 0x4433_2211).unwrap();
        memory.set_word(BusAddr(4), 0xf801).unwrap();
        let buffer = |address, format| ColorBuffer {
            address,
            stride_bytes: 4,
            format,
            tiling: BufferTiling::Raster,
            width: 1,
            height: 1,
        };
        let pixel = |address, format| Picture::from_memory(memory, &buffer(address, format)).unwrap().rgba;
        assert_eq!(pixel(0, PixelFormat::Rgba8888), [0x11, 0x22, 0x33, 0x44]);
        assert_eq!(pixel(0, PixelFormat::Bgra8888), [0x33, 0x22, 0x11, 0x44]);
        assert_eq!(pixel(4, PixelFormat::Rgb565), [255, 0, 8, 255]);
        assert!(Picture::from_memory(memory, &buffer(16, PixelFormat::Rgba8888)).is_err());
    }

    #[test]
    fn differences_are_counted_by_their_largest_channel() {
        let picture = |rgba: &[u8]| Picture { width: 2, height: 2, rgba: rgba.to_vec() };
        let a = picture(&[0; 16]);
        let b = picture(&[0, 0, 0, 2, 0, 3, 0, 0, 9, 0, 0, 0, 0, 0, 33, 8]);
        let difference = a.difference(&b).unwrap();
        assert_eq!(
            difference,
            Difference { over_2_percent: 75.0, over_8_percent: 50.0, over_32_percent: 25.0, largest: 33 }
        );
        assert!(!difference.is_within(&ExpectedDifference::default()));
        assert_eq!(a.difference(&Picture { width: 4, height: 1, ..a.clone() }), None);
    }
}
