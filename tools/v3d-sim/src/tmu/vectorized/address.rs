//! Addresses of texels: [`tiling`] split into a part for the column and a part for the row.
//!
//! In all arrangements the address of a texel is the start of its row of tiles, plus column's and row's parts combined by exclusive or. In raster and
//! LT-format the parts have no bits in common. In T-format the two highest bits of the offset in a tile (the sub-tile) depend on both, and the tiles
//! of odd rows run backwards, which inverts the tile's number.

use super::{Words, each};
use v3d_hw::tiling::{self, MICRO_TILE_BYTES, SUB_TILE_BYTES, TILE_BYTES, Tiling};

/// Arrangement of a level.
#[derive(Clone, Copy, Debug)]
pub(super) struct Layout {
    tiling: Tiling,
    /// Bits of a unit, as a power of two.
    bits_log2: u32,
    /// Units of a micro-tile, as powers of two.
    micro_width_log2: u32,
    micro_height_log2: u32,
    /// Bytes of a row of units, micro-tiles or tiles.
    row_bytes: u32,
}

impl Layout {
    /// The arrangement of an image of a width in units of `bits` bits.
    pub(super) fn new(tiling: Tiling, width: u32, bits: u32) -> Self {
        let (micro_width_log2, micro_height_log2) = tiling::micro_tile_log2_px(bits).unwrap_or((0, 0));
        let row_bytes = match tiling {
            Tiling::Raster => width * bits / 8,
            Tiling::LtFormat => width.div_ceil(1 << micro_width_log2) * MICRO_TILE_BYTES,
            Tiling::TFormat => width.div_ceil(8 << micro_width_log2) * TILE_BYTES,
        };
        Self { tiling, bits_log2: bits.max(1).ilog2(), micro_width_log2, micro_height_log2, row_bytes }
    }

    /// Bytes before a unit of a row.
    #[inline(always)]
    fn bytes(&self, unit: u32) -> u32 {
        unit << self.bits_log2 >> 3
    }
}

/// Columns of texels.
pub(super) struct Column {
    /// Their numbers.
    pub(super) texel: Words,
    /// Their parts of the addresses.
    part: Words,
    /// Bits of a byte before them.
    pub(super) bit: Words,
    /// Not 0: outside of the image.
    pub(super) outside: Words,
}

/// Rows of texels.
pub(super) struct Row {
    /// Their numbers.
    pub(super) texel: Words,
    /// Addresses of the starts of their rows of units, micro-tiles or tiles.
    start: Words,
    /// Their other parts of the addresses.
    part: Words,
    /// Not 0: outside of the image.
    pub(super) outside: Words,
}

impl Column {
    #[inline(always)]
    pub(super) fn new(layout: &Layout, block_log2: u32, texel: Words, outside: Words) -> Self {
        let log2 = layout.micro_width_log2;
        let unit = each(|i| texel[i] >> block_log2);
        let inner = |i: usize| layout.bytes(unit[i] & ((1 << log2) - 1));
        let part = match layout.tiling {
            Tiling::Raster => each(|i| layout.bytes(unit[i])),
            Tiling::LtFormat => each(|i| ((unit[i] >> log2) * MICRO_TILE_BYTES) | inner(i)),
            Tiling::TFormat => each(|i| {
                let micro = unit[i] >> log2;
                let right = micro >> 2 & 1;
                ((micro >> 3) * TILE_BYTES) | (right * 3 * SUB_TILE_BYTES) | ((micro & 3) * MICRO_TILE_BYTES) | inner(i)
            }),
        };
        let bit = each(|i| unit[i] << layout.bits_log2 & 7);
        Self { texel, part, bit, outside }
    }
}

impl Row {
    #[inline(always)]
    pub(super) fn new(layout: &Layout, block_log2: u32, base: Words, texel: Words, outside: Words) -> Self {
        let log2 = layout.micro_height_log2;
        let unit = each(|i| texel[i] >> block_log2);
        let inner = |i: usize| layout.bytes((unit[i] & ((1 << log2) - 1)) << layout.micro_width_log2);
        let from = |i: usize, rows: u32| base[i].wrapping_add(rows.wrapping_mul(layout.row_bytes));
        let (start, part) = match layout.tiling {
            Tiling::Raster => (each(|i| from(i, unit[i])), [0; _]),
            Tiling::LtFormat => (each(|i| from(i, unit[i] >> log2)), each(inner)),
            Tiling::TFormat => {
                // An odd row's tiles count down from the start of the next row.
                let odd = |i: usize| unit[i] >> (log2 + 3) & 1;
                let start = each(|i| from(i, (unit[i] >> (log2 + 3)) + odd(i)));
                let part = each(|i| {
                    let micro = unit[i] >> log2;
                    let backwards = odd(i).wrapping_neg() & !(2 * SUB_TILE_BYTES - 1);
                    backwards | ((micro >> 2 & 1) * SUB_TILE_BYTES) | ((micro & 3) * 4 * MICRO_TILE_BYTES) | inner(i)
                });
                (start, part)
            }
        };
        Self { texel, start, part, outside }
    }
}

/// The offsets of texels in memory. An offset that would wrap around at the end of the address space is at least outside of memory.
#[inline(always)]
pub(super) fn offsets(column: &Column, row: &Row) -> Words {
    each(|i| row.start[i].wrapping_add(column.part[i] ^ row.part[i]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use v3d_hw::qpu::LANES;

    /// Every unit of images of several tiles, and some beyond their right edge, against the function for one.
    #[test]
    fn addresses_are_those_of_the_tilings() {
        for (tiling, bits) in [Tiling::TFormat, Tiling::LtFormat, Tiling::Raster]
            .into_iter()
            .flat_map(|tiling| [1, 4, 8, 16, 32, 64].map(|bits| (tiling, bits)))
            // Raster textures have at least 16 bits.
            .filter(|&(tiling, bits)| tiling != Tiling::Raster || bits >= 16)
        {
            let (tile_width, tile_height) = tiling::tile_px(bits).unwrap();
            for width in [3 * tile_width, 2 * tile_width - 3, 1] {
                let layout = Layout::new(tiling, width, bits);
                for (x, y) in (0..2 * tile_height).flat_map(|y| (0..width + 8).step_by(LANES).map(move |x| (x, y))) {
                    let column = Column::new(&layout, 0, each(|i| x + i as u32), [0; LANES]);
                    let row = Row::new(&layout, 0, [0x1000; LANES], [y; LANES], [0; LANES]);
                    let offsets = offsets(&column, &row);
                    for (i, offset) in offsets.into_iter().enumerate() {
                        let x = x + i as u32;
                        let expected = tiling::pixel_offset_bits(tiling, width, bits, x, y).unwrap();
                        let found = (offset.wrapping_sub(0x1000), column.bit[i]);
                        assert_eq!(
                            found,
                            ((expected / 8) as u32, (expected % 8) as u32),
                            "{tiling:?} {bits} {width}: ({x}, {y})"
                        );
                    }
                }
            }
        }
    }
}
