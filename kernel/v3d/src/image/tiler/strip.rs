//! Strips: up to four micro-tiles side by side, which both tiled formats keep together in memory.
//!
//! A row of micro-tiles in LT-format is any number of strips; a sub-tile of T-format is four of them, one above the other.

use super::{ImageLayout, Rectangle};
use v3d_hw::tiling::{MICRO_TILE_BYTES, SUB_TILE_BYTES, TILE_BYTES, Tiling};

/// Micro-tiles of a whole strip.
pub(super) const STRIP_TILES: usize = 4;
/// Bytes of a whole strip.
pub(super) const STRIP_BYTES: usize = STRIP_TILES * MICRO_TILE_BYTES as usize;

/// Micro-tiles side by side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Strip {
    /// Bytes from the start of the image.
    pub(super) at: usize,
    /// Column of the first, counted in micro-tiles.
    pub(super) micro_x: u32,
    /// Row, counted in micro-tiles.
    pub(super) micro_y: u32,
    /// How many, 1 to 4.
    pub(super) count: u32,
}

/// One micro-tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct MicroTile {
    /// Bytes from the start of the image.
    pub(super) at: usize,
    /// Column, counted in micro-tiles.
    pub(super) micro_x: u32,
    /// Row, counted in micro-tiles.
    pub(super) micro_y: u32,
}

impl Strip {
    pub(super) fn micro_tiles(self) -> impl Iterator<Item = MicroTile> {
        (0..self.count).map(move |i| MicroTile {
            at: self.at + (i * MICRO_TILE_BYTES) as usize,
            micro_x: self.micro_x + i,
            micro_y: self.micro_y,
        })
    }
}

/// Visits the strips that have micro-tiles in a rectangle, which has pixels, in the order of memory.
#[inline]
pub(super) fn strips(layout: &ImageLayout, rectangle: Rectangle, visit: impl FnMut(Strip)) {
    let (log2_width, log2_height) = (layout.shape.log2_width, layout.shape.log2_height);
    let covered = Covered {
        left: rectangle.x_px >> log2_width,
        right: (rectangle.x_px + rectangle.width_px - 1) >> log2_width,
        bottom: rectangle.y_px >> log2_height,
        top: (rectangle.y_px + rectangle.height_px - 1) >> log2_height,
    };
    let across = layout.width_px.div_ceil(1 << log2_width);
    match layout.tiling {
        Tiling::TFormat => t_format(covered, across.div_ceil(8), visit),
        _ => lt_format(covered, across, visit),
    }
}

/// The micro-tiles that a rectangle has part in; the last ones belong to it.
#[derive(Clone, Copy)]
struct Covered {
    left: u32,
    right: u32,
    bottom: u32,
    top: u32,
}

#[inline]
fn lt_format(covered: Covered, across: u32, mut visit: impl FnMut(Strip)) {
    for micro_y in covered.bottom..=covered.top {
        for micro_x in (covered.left..=covered.right).step_by(STRIP_TILES) {
            let at = (micro_y as usize * across as usize + micro_x as usize) * MICRO_TILE_BYTES as usize;
            visit(Strip { at, micro_x, micro_y, count: (covered.right - micro_x + 1).min(STRIP_TILES as u32) });
        }
    }
}

/// Sub-tiles of a tile in the order of memory, in even rows of tiles: right and upper half or not. In odd rows both halves are swapped.
const SUB_TILES: [(u32, u32); 4] = [(0, 0), (0, 1), (1, 1), (1, 0)];

#[inline]
fn t_format(covered: Covered, tiles_across: u32, mut visit: impl FnMut(Strip)) {
    for tile_y in covered.bottom / 8..=covered.top / 8 {
        let odd = tile_y & 1;
        let (first, last) = (covered.left / 8, covered.right / 8);
        for i in 0..=last - first {
            let tile_x = if odd == 1 { last - i } else { first + i };
            let along = if odd == 1 { tiles_across - 1 - tile_x } else { tile_x };
            let tile = (tile_y as usize * tiles_across as usize + along as usize) * TILE_BYTES as usize;
            for (index, (right, upper)) in SUB_TILES.into_iter().enumerate() {
                let micro_x = 8 * tile_x + 4 * (right ^ odd);
                let first_y = 8 * tile_y + 4 * (upper ^ odd);
                if micro_x > covered.right || micro_x + 3 < covered.left {
                    continue;
                }
                for row in 0..4 {
                    let micro_y = first_y + row;
                    if (covered.bottom..=covered.top).contains(&micro_y) {
                        let at = tile + index * SUB_TILE_BYTES as usize + row as usize * STRIP_BYTES;
                        visit(Strip { at, micro_x, micro_y, count: STRIP_TILES as u32 });
                    }
                }
            }
        }
    }
}
