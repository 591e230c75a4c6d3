//! Micro-tiles: their rows, whole and in part.

use super::Rectangle;
use super::strip::{MicroTile, STRIP_BYTES, STRIP_TILES, Strip};
use v3d_hw::tiling::{self, MICRO_TILE_BYTES};

/// What all micro-tiles of an image have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shape {
    /// Pixels across, as a power of two.
    pub(super) log2_width: u32,
    /// Pixels up, as a power of two.
    pub(super) log2_height: u32,
    /// Bits of a pixel.
    bits: usize,
    /// Bytes of a row: 4, 8 or 16.
    pub(super) row_bytes: usize,
}

/// The part of a micro-tile that is in a rectangle.
pub(super) struct MicroTilePart {
    /// The first row in the micro-tile, and how many there are.
    first_row: usize,
    rows: usize,
    /// Bits in front of the part in each row of the micro-tile.
    inside: usize,
    /// Bits of a row of the part.
    pub(super) row_bits: usize,
    /// Bits in front of the part's first row in the rows of pixels.
    linear: usize,
    /// Bits from row to row of pixels.
    stride: usize,
}

impl MicroTilePart {
    /// Row of the micro-tile, bit in that row, bit in the rows of pixels.
    pub(super) fn rows(&self) -> impl Iterator<Item = (usize, usize, usize)> {
        (0..self.rows).map(|row| (self.first_row + row, self.inside, self.linear + row * self.stride))
    }
}

impl Shape {
    /// Micro-tiles of pixels with so many bits; `None` if there are none.
    pub(super) fn new(bits_per_pixel: u32) -> Option<Self> {
        let (log2_width, log2_height) = tiling::micro_tile_log2_px(bits_per_pixel)?;
        let row_bytes = (bits_per_pixel << log2_width) as usize / 8;
        Some(Self { log2_width, log2_height, bits: bits_per_pixel as usize, row_bytes })
    }

    /// If all of a strip of four is in the rectangle, and begins a byte of a row of pixels: that byte's place.
    #[inline]
    pub(super) fn whole_bytes(&self, strip: &Strip, rectangle: Rectangle, stride: usize) -> Option<usize> {
        let x = (strip.micro_x << self.log2_width).checked_sub(rectangle.x_px)?;
        let y = (strip.micro_y << self.log2_height).checked_sub(rectangle.y_px)?;
        let inside = x + ((STRIP_TILES as u32) << self.log2_width) <= rectangle.width_px
            && y + (1 << self.log2_height) <= rectangle.height_px
            && strip.count as usize == STRIP_TILES;
        let bits = x as usize * self.bits;
        (inside && bits & 7 == 0).then(|| y as usize * stride + bits / 8)
    }

    /// The part of a micro-tile that is in the rectangle; `None` if there is none.
    pub(super) fn part(&self, tile: MicroTile, rectangle: Rectangle, stride: usize) -> Option<MicroTilePart> {
        let (x, y) = (tile.micro_x << self.log2_width, tile.micro_y << self.log2_height);
        let (left, bottom) = (x.max(rectangle.x_px), y.max(rectangle.y_px));
        let right = (x + (1 << self.log2_width)).min(rectangle.x_px + rectangle.width_px);
        let top = (y + (1 << self.log2_height)).min(rectangle.y_px + rectangle.height_px);
        if left >= right || bottom >= top {
            return None;
        }
        Some(MicroTilePart {
            first_row: (bottom - y) as usize,
            rows: (top - bottom) as usize,
            inside: (left - x) as usize * self.bits,
            row_bits: (right - left) as usize * self.bits,
            linear: 8 * (bottom - rectangle.y_px) as usize * stride + (left - rectangle.x_px) as usize * self.bits,
            stride: 8 * stride,
        })
    }
}

/// Rows of pixels into four micro-tiles whose rows have `ROW` bytes.
#[inline]
pub(super) fn fill<const ROW: usize>(strip: &mut [u8; STRIP_BYTES], pixels: &[u8], stride: usize) {
    let (tiles, _) = strip.as_chunks_mut::<{ MICRO_TILE_BYTES as usize }>();
    for row in 0..MICRO_TILE_BYTES as usize / ROW {
        let (parts, _) = pixels[row * stride..][..STRIP_TILES * ROW].as_chunks::<ROW>();
        for (tile, part) in tiles.iter_mut().zip(parts) {
            tile[row * ROW..][..ROW].copy_from_slice(part);
        }
    }
}

/// Four micro-tiles whose rows have `ROW` bytes into rows of pixels.
#[inline]
pub(super) fn drain<const ROW: usize>(strip: &[u8; STRIP_BYTES], pixels: &mut [u8], stride: usize) {
    let (tiles, _) = strip.as_chunks::<{ MICRO_TILE_BYTES as usize }>();
    for row in 0..MICRO_TILE_BYTES as usize / ROW {
        let (parts, _) = pixels[row * stride..][..STRIP_TILES * ROW].as_chunks_mut::<ROW>();
        for (tile, part) in tiles.iter().zip(parts) {
            part.copy_from_slice(&tile[row * ROW..][..ROW]);
        }
    }
}
