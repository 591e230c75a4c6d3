//! Where a texel stands in memory: raster, T-format and LT-format [AG section 11].
//!
//! Both tiled formats consist of micro-tiles of 64 bytes, whose size in pixels depends on the pixels' width; inside they are in raster order.
//! LT-format puts micro-tiles in raster order. T-format groups 4x4 micro-tiles into a sub-tile of 1 KiB (raster order), and 2x2 sub-tiles into a tile of
//! 4 KiB. Tiles run left to right in the first, third, … row of tiles and right to left in the second, fourth, …; the sub-tiles of a tile run
//! clockwise from the lower left (lower left, upper left, upper right, lower right) in even rows of tiles, and from the upper right (upper right, lower right,
//! lower left, upper left) in odd rows. "Lower" and "left" are the first row and column in memory: all images have their origin at the
//! bottom left. An image is padded to whole micro-tiles (LT) or whole tiles (T) in both directions.

/// Arrangement of an image, with what is needed to find a pixel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tiling {
    /// Rows of pixels.
    Raster,
    /// T-format.
    TFormat,
    /// LT-format.
    LtFormat,
}

/// Bytes of a micro-tile.
pub const MICRO_TILE_BYTES: u32 = 64;
/// Bytes of a sub-tile.
pub const SUB_TILE_BYTES: u32 = 1024;
/// Bytes of a T-format tile.
pub const TILE_BYTES: u32 = 4096;

/// Width and height in pixels of a micro-tile, as powers of two; `None` for widths that are not 64, 32, 16, 8, 4 or 1 bits [AG p.105].
#[inline]
pub const fn micro_tile_log2_px(bits_per_pixel: u32) -> Option<(u32, u32)> {
    Some(match bits_per_pixel {
        64 => (1, 2),
        32 => (2, 2),
        16 => (3, 2),
        8 => (3, 3),
        4 => (4, 3),
        1 => (5, 4),
        _ => return None,
    })
}

/// Width and height in pixels of a micro-tile; `None` for widths that are not 64, 32, 16, 8, 4 or 1 bits.
pub const fn micro_tile_px(bits_per_pixel: u32) -> Option<(u32, u32)> {
    match micro_tile_log2_px(bits_per_pixel) {
        Some((width, height)) => Some((1 << width, 1 << height)),
        None => None,
    }
}

/// Width and height in pixels of a T-format tile: 8x8 micro-tiles.
pub const fn tile_px(bits_per_pixel: u32) -> Option<(u32, u32)> {
    match micro_tile_px(bits_per_pixel) {
        Some((width, height)) => Some((8 * width, 8 * height)),
        None => None,
    }
}

/// The format in which the TMU expects an image level of this size: T-format, unless either dimension is less than one tile [AG p.40].
///
/// The dimensions are compared as micro-tiles: an image of at most four micro-tiles in either direction is LT [mesa vc4_tiling.c:
/// "vc4_size_is_lt"].
pub const fn level_format(width_px: u32, height_px: u32, bits_per_pixel: u32) -> Option<Tiling> {
    match micro_tile_px(bits_per_pixel) {
        Some((width, height)) if width_px <= 4 * width || height_px <= 4 * height => Some(Tiling::LtFormat),
        Some(_) => Some(Tiling::TFormat),
        None => None,
    }
}

/// Where a sub-tile stands in its tile, in units of 1 KiB: the four run around the tile, in odd rows of tiles from the opposite corner.
#[inline]
const fn sub_tile(odd_row: u32, upper: u32, right: u32) -> u32 {
    (upper ^ odd_row) ^ (3 * (right ^ odd_row))
}

/// Offset in bits of the first bit of a pixel from the start of its image.
///
/// `width_px` is the width of the image in pixels; the padding is added here. Row 0 is the first in memory. `None` for pixel widths that
/// have no tiling (raster takes them all).
#[inline]
pub const fn pixel_offset_bits(tiling: Tiling, width_px: u32, bits_per_pixel: u32, x: u32, y: u32) -> Option<u64> {
    let bits = bits_per_pixel as u64;
    let (log2_width, log2_height) = match (tiling, micro_tile_log2_px(bits_per_pixel)) {
        (Tiling::Raster, _) => return Some((y as u64 * width_px as u64 + x as u64) * bits),
        (_, Some(size)) => size,
        (_, None) => return None,
    };
    let (micro_x, micro_y) = (x >> log2_width, y >> log2_height);
    let (inner_x, inner_y) = (x & ((1 << log2_width) - 1), y & ((1 << log2_height) - 1));
    let within = ((inner_y << log2_width) + inner_x) as u64 * bits;
    let bytes = match tiling {
        Tiling::LtFormat => {
            let across = (width_px as u64 + ((1 << log2_width) - 1)) >> log2_width;
            (micro_y as u64 * across + micro_x as u64) * MICRO_TILE_BYTES as u64
        }
        _ => {
            let across = width_px.saturating_add((8 << log2_width) - 1) >> (3 + log2_width);
            let (tile_x, tile_y) = (micro_x >> 3, micro_y >> 3);
            let odd = tile_y & 1;
            let along = if odd == 1 { across.wrapping_sub(1).wrapping_sub(tile_x) } else { tile_x };
            let sub_tile = sub_tile(odd, micro_y >> 2 & 1, micro_x >> 2 & 1);
            let micro_tile = (micro_y & 3) << 2 | micro_x & 3;
            (tile_y as u64 * across as u64 + along as u64) * TILE_BYTES as u64
                + (sub_tile * SUB_TILE_BYTES + micro_tile * MICRO_TILE_BYTES) as u64
        }
    };
    Some(bytes * 8 + within)
}

/// Bytes that an image takes, padding included. `None` for pixel widths that have no tiling.
pub const fn image_bytes(tiling: Tiling, width_px: u32, height_px: u32, bits_per_pixel: u32) -> Option<u64> {
    let (micro_width, micro_height) = match (tiling, micro_tile_px(bits_per_pixel)) {
        (Tiling::Raster, _) => {
            return Some((width_px as u64 * height_px as u64 * bits_per_pixel as u64).div_ceil(8));
        }
        (_, Some(size)) => size,
        (_, None) => return None,
    };
    let (unit_width, unit_height, unit_bytes) = match tiling {
        Tiling::LtFormat => (micro_width, micro_height, MICRO_TILE_BYTES),
        _ => (8 * micro_width, 8 * micro_height, TILE_BYTES),
    };
    Some(width_px.div_ceil(unit_width) as u64 * height_px.div_ceil(unit_height) as u64 * unit_bytes as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(tiling: Tiling, width_px: u32, bits: u32, (x, y): (u32, u32), expected_bytes: u64) {
        assert_eq!(pixel_offset_bits(tiling, width_px, bits, x, y), Some(expected_bytes * 8), "({x}, {y})");
    }

    /// The order that the guide's figure 14 and the text on T-format give for an image three tiles wide and two high.
    #[test]
    fn t_format_tiles_and_sub_tiles_turn_as_in_figure_14() {
        let t = Tiling::TFormat;
        // even row: lower left, upper left, upper right, lower right; tiles left to right
        check(t, 96, 32, (0, 0), 0);
        check(t, 96, 32, (0, 16), 1024);
        check(t, 96, 32, (16, 16), 2048);
        check(t, 96, 32, (16, 0), 3072);
        check(t, 96, 32, (32, 0), 4096);
        check(t, 96, 32, (64, 0), 8192);
        // odd row: upper right, lower right, lower left, upper left; tiles right to left
        check(t, 96, 32, (64 + 16, 32 + 16), 12288);
        check(t, 96, 32, (64 + 16, 32), 12288 + 1024);
        check(t, 96, 32, (64, 32), 12288 + 2048);
        check(t, 96, 32, (64, 32 + 16), 12288 + 3072);
        check(t, 96, 32, (32 + 16, 32 + 16), 16384);
        check(t, 96, 32, (16, 32 + 16), 20480);
    }

    #[test]
    fn micro_tiles_are_in_raster_order() {
        check(Tiling::LtFormat, 16, 32, (4, 0), 64);
        check(Tiling::LtFormat, 16, 32, (0, 4), 256);
        check(Tiling::LtFormat, 16, 32, (1, 1), 20);
        check(Tiling::LtFormat, 17, 32, (0, 4), 320);
        check(Tiling::TFormat, 32, 32, (4, 0), 64);
        check(Tiling::TFormat, 32, 32, (0, 4), 256);
    }

    /// Every pixel of a padded image has a place of its own, and all places are taken.
    #[test]
    fn each_format_is_a_permutation() {
        for bits in [64u32, 32, 16, 8, 4, 1] {
            for tiling in [Tiling::TFormat, Tiling::LtFormat] {
                let (tile_width, tile_height) = tile_px(bits).unwrap();
                let (width, height) = (3 * tile_width, 2 * tile_height);
                let bytes = image_bytes(tiling, width, height, bits).unwrap();
                let mut seen = vec![false; (bytes * 8 / u64::from(bits)) as usize];
                for y in 0..height {
                    for x in 0..width {
                        let offset = pixel_offset_bits(tiling, width, bits, x, y).unwrap() / u64::from(bits);
                        assert!(!core::mem::replace(&mut seen[offset as usize], true), "{tiling:?} {bits} ({x}, {y})");
                    }
                }
                assert!(seen.iter().all(|&taken| taken));
            }
        }
    }
}
