//! Pixel formats between tile buffer and memory: resolving samples, 565 and dithering [AG p.67, p.71].
//!
//! A colour in the tile buffer is four bytes, red lowest. The average of several is the sum divided and rounded down [silicon].
//!
//! # Inferences
//! - Conversion to 565 without dithering drops the low bits of a component; conversion from 565 repeats its high bits below. A software rasteriser's
//!   recorded pictures truncate, too (`tests/captures/tri_rgb_565`).
//! - Dithering adds an ordered 4x4 pattern (Bayer's) before truncation. The silicon's pattern is not known.

/// Conversion to 16 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum To565 {
    /// Truncation.
    Truncated,
    /// Ordered dithering by the pixel's position.
    Dithered,
}

/// Thresholds in sixteenths.
const BAYER: [[u32; 4]; 4] = [[0, 8, 2, 10], [12, 4, 14, 6], [3, 11, 1, 9], [15, 7, 13, 5]];

/// The average of `1 << SHIFT` colours, byte by byte, rounded down.
#[inline]
pub fn average<const SHIFT: u32>(colors: impl IntoIterator<Item = u32>) -> u32 {
    // Two bytes to a word, 16 bits apart: sums of 16 bytes do not overlap.
    let (mut even, mut odd) = (0u32, 0u32);
    for color in colors {
        even += color & 0x00ff_00ff;
        odd += color >> 8 & 0x00ff_00ff;
    }
    even >> SHIFT & 0x00ff_00ff | (odd >> SHIFT & 0x00ff_00ff) << 8
}

/// A colour as 565: red in 15:11, green in 10:5, blue in 4:0.
#[inline]
pub fn to_565(color: u32, method: To565, x: u32, y: u32) -> u16 {
    let component = |shift: u32, bits: u32| {
        let byte = color >> shift & 0xff;
        let added = match method {
            To565::Truncated => 0,
            To565::Dithered => BAYER[(y & 3) as usize][(x & 3) as usize] >> (bits - 4),
        };
        (byte + added).min(255) >> (8 - bits)
    };
    (component(0, 5) << 11 | component(8, 6) << 5 | component(16, 5)) as u16
}

/// A 565 pixel as a colour, opaque.
#[inline]
pub fn from_565(pixel: u16) -> u32 {
    let pixel = u32::from(pixel);
    let (red, green, blue) = (pixel >> 11, pixel >> 5 & 0x3f, pixel & 0x1f);
    (red << 3 | red >> 2) | (green << 2 | green >> 4) << 8 | (blue << 3 | blue >> 2) << 16 | 0xff00_0000
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn averages_are_rounded_down_byte_by_byte() {
        assert_eq!(average::<2>([0xff00_0102, 0xff00_0203, 0xff00_0304, 0xfe00_0405]), 0xfe00_0203);
        assert_eq!(average::<2>([0xffff_ffff; 4]), 0xffff_ffff);
        assert_eq!(average::<4>([0xffff_ffff; 16]), 0xffff_ffff);
    }

    #[test]
    fn what_565_can_express_survives_both_ways() {
        for pixel in 0..=u16::MAX {
            let color = from_565(pixel);
            assert_eq!(to_565(color, To565::Truncated, 0, 0), pixel);
        }
        assert_eq!(from_565(0xf800), 0xff00_00ff);
        assert_eq!(from_565(0x07e0), 0xff00_ff00);
        assert_eq!(from_565(0x001f), 0xffff_0000);
    }

    /// Over a 4x4 block the dithered steps add up to what truncation drops, unless the value is the highest.
    #[test]
    fn dithering_keeps_the_average() {
        let sum = |color: u32, shift: u32, mask: u32| -> u32 {
            (0..16).map(|i| u32::from(to_565(color, To565::Dithered, i % 4, i / 4)) >> shift & mask).sum()
        };
        for value in 0..=248 {
            assert_eq!(sum(value, 11, 31) * 8, value * 16, "red {value}");
            assert_eq!(sum(value << 8, 5, 63) * 4, value * 16, "green {value}");
        }
        assert_eq!(sum(0xff, 11, 31), 31 * 16);
    }
}
