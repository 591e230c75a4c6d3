//! Addresses of texels: [`tiling`] split into a part for the column and a part for the row.
//!
//! In all arrangements the address of a texel is the start of its row of tiles, plus column's and row's parts combined by exclusive or. In raster and
//! LT-format the parts have no bits in common. In T-format the two highest bits of the offset in a tile (the sub-tile) depend on both, and the tiles
//! of odd rows run backwards, which inverts the tile's number.

use crate::simd::words::Words;
use v3d_hw::tiling::{self, MICRO_TILE_BYTES, SUB_TILE_BYTES, TILE_BYTES, Tiling};

/// Arrangement of a level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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

    /// Bytes before units of a row.
    #[inline(always)]
    fn bytes<W: Words>(&self, units: W) -> W {
        match self.bits_log2 {
            bits @ 3.. => W::shift_left(units, bits - 3),
            bits => W::shift_right(W::shift_left(units, bits), 3),
        }
    }

    /// Bits of a byte before units; 0 if they have whole bytes.
    #[inline(always)]
    pub(super) fn bits<W: Words>(&self, units: W) -> W {
        W::and(W::shift_left(units, self.bits_log2), W::splat(7))
    }
}

/// The bits of numbers from one on, `mask` of them, moved to another place.
#[inline(always)]
fn field<W: Words>(x: W, from: u32, mask: u32, to: u32) -> W {
    let field = W::and(x, W::splat(mask << from));
    if to >= from { W::shift_left(field, to - from) } else { W::shift_right(field, from - to) }
}

/// Places of micro-tiles, sub-tiles and tiles.
const MICRO: u32 = MICRO_TILE_BYTES.ilog2();
const SUB: u32 = SUB_TILE_BYTES.ilog2();
const TILE: u32 = TILE_BYTES.ilog2();

/// The parts of columns in addresses.
#[inline(always)]
pub(super) fn columns<W: Words>(layout: &Layout, unit: W) -> W {
    let log2 = layout.micro_width_log2;
    if layout.tiling == Tiling::Raster {
        return layout.bytes(unit);
    }
    let inner = layout.bytes(W::and(unit, W::splat((1 << log2) - 1)));
    match layout.tiling {
        Tiling::Raster | Tiling::LtFormat => W::or(W::shift_left(W::shift_right(unit, log2), MICRO), inner),
        Tiling::TFormat => {
            let right = W::or(field(unit, log2 + 2, 1, SUB), field(unit, log2 + 2, 1, SUB + 1));
            let in_tile = W::or(W::or(right, field(unit, log2, 3, MICRO)), inner);
            W::or(W::shift_left(W::shift_right(unit, log2 + 3), TILE), in_tile)
        }
    }
}

/// Rows of texels.
#[derive(Clone, Copy)]
pub(super) struct Rows<W> {
    /// Addresses of the starts of their rows of units, micro-tiles or tiles.
    start: W,
    /// Their other parts of the addresses.
    part: W,
}

impl<W: Words> Rows<W> {
    #[inline(always)]
    pub(super) fn new(layout: &Layout, base: W, unit: W) -> Self {
        let log2 = layout.micro_height_log2;
        if layout.tiling == Tiling::Raster {
            return Self { start: start_of(layout, base, unit), part: W::splat(0) };
        }
        let row_bytes_log2 = (layout.micro_width_log2 + layout.bits_log2).saturating_sub(3);
        let inner = W::shift_left(W::and(unit, W::splat((1 << log2) - 1)), row_bytes_log2);
        match layout.tiling {
            Tiling::Raster | Tiling::LtFormat => {
                Self { start: start_of(layout, base, W::shift_right(unit, log2)), part: inner }
            }
            Tiling::TFormat => {
                // An odd row's tiles count down from the start of the next row.
                let tile = W::shift_right(unit, log2 + 3);
                let odd = W::and(tile, W::splat(1));
                let backwards = W::and(W::subtract(W::splat(0), odd), W::splat(!(2 * SUB_TILE_BYTES - 1)));
                let upper = W::or(field(unit, log2 + 2, 1, SUB), field(unit, log2, 3, MICRO + 2));
                let part = W::or(W::or(backwards, upper), inner);
                Self { start: start_of(layout, base, W::add(tile, odd)), part }
            }
        }
    }
}

/// Addresses of rows of units, micro-tiles or tiles.
#[inline(always)]
fn start_of<W: Words>(layout: &Layout, base: W, row: W) -> W {
    W::add(base, W::multiply(row, W::splat(layout.row_bytes)))
}

/// The offsets of texels in memory. An offset that would wrap around at the end of the address space is at least outside of memory.
#[inline(always)]
pub(super) fn offsets<W: Words>(column: W, row: Rows<W>) -> W {
    W::add(row.start, W::xor(column, row.part))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::qpu::lanes::Lanes;
    use crate::simd::words::PortableWords;
    use v3d_hw::qpu::LANES;

    fn words(f: impl Fn(u32) -> u32) -> PortableWords {
        PortableWords::load(&Lanes(std::array::from_fn(|i| f(i as u32))))
    }

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
                    let column = words(|i| x + i);
                    let row = Rows::new(&layout, words(|_| 0x1000), words(|_| y));
                    let offsets = PortableWords::store(offsets(columns(&layout, column), row));
                    let before = PortableWords::store(layout.bits(column));
                    for (i, offset) in offsets.0.into_iter().enumerate() {
                        let x = x + i as u32;
                        let expected = tiling::pixel_offset_bits(tiling, width, bits, x, y).unwrap();
                        let found = (offset.wrapping_sub(0x1000), before.0[i]);
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
