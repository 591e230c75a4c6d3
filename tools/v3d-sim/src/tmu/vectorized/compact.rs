//! Places of texels in most levels, two columns or two rows in each word of a vector.
//!
//! The other levels have texels of other sizes than 16, 32 or 64 bits, are mirrored, have a border, or are a part of another image. For them, and if a
//! texel is not in memory, there are [`super::axis`] and [`super::address`], whose results are the same.
//!
//! Addresses count texels. The part of a column has 16 bits at most, since an image has 2048 columns; so has the part of a row, if its sign is extended:
//! the higher bits are a tile's number, which is inverted or not. [`super::address`] has the arrangements; their fields are masks and factors here, so
//! that all take the same operations.

use super::Points;
use crate::simd::words::Words;
use crate::tmu::texture::{self, Texture};
use crate::tmu::wrap;
use v3d_hw::BusAddr;
use v3d_hw::texture::{TextureType, Wrap};
use v3d_hw::tiling::{self, Tiling};

/// A level.
#[derive(Clone, Copy, Debug)]
pub(super) struct Compact {
    x: Axis,
    y: Axis,
    /// Number of its first texel in memory.
    base: u32,
    /// Cube map: a texel's bytes, as a power of two.
    of_cube: Option<u32>,
    /// The bits of columns in addresses: as they are, and shifted by [`COLUMN_SHIFTS`].
    columns: [u32; 4],
    /// The bits of rows in addresses, shifted.
    rows: [u32; 2],
    row_shifts: [u32; 2],
    /// The bit of rows whose tiles run backwards, and the factor that makes inverted bits of it.
    backwards: u32,
    inverted: u32,
    /// Rows, with an addend and without their low bits, have the start of their tiles by a factor.
    start_addend: u32,
    start_bits: u32,
    start_factor: u32,
}

/// An axis of a level.
#[derive(Clone, Copy, Debug)]
struct Axis {
    /// 256 times the number of texels.
    scale: f32,
    wrapping: Wrapping,
    /// The last texel, in both halves, if the axis is reversed.
    flipped_from: Option<u32>,
}

/// What is done to texels outside of the image. Numbers are in both halves.
#[derive(Clone, Copy, Debug)]
enum Wrapping {
    /// Repeated, by a mask: a power of two.
    Masked(u32),
    /// Repeated, by adding and subtracting the size.
    Repeated(u32),
    /// The last texel, and the positions that all beyond it have.
    Clamped(u32, f32),
}

/// Texels around positions: upper left, upper right, lower left, lower right.
pub(super) struct Around<W> {
    /// Their numbers in memory.
    pub(super) texels: [W; 4],
    /// The shares of the right and the lower ones in 1/256, in both halves.
    pub(super) shares: [W; 2],
}

/// By how much a column's fields move in an address: by the rows of a micro-tile, of a sub-tile for its number's lower bit, and for its upper bit and tiles.
const COLUMN_SHIFTS: [u32; 3] = [2, 4, 5];

/// The same number in both halves.
const fn twice(number: u32) -> u32 {
    number << 16 | number & 0xffff
}

impl Compact {
    /// Prepares a level; `None` if it is left to the others.
    pub(super) fn new(texture: &Texture, level: &texture::Level) -> Option<Self> {
        let texture_type = texture.texture_type;
        let bits = texture_type.bits_per_texel().filter(|bits| [16, 32, 64].contains(bits))?;
        let (width_log2, _) = tiling::micro_tile_log2_px(bits)?;
        let base = BusAddr(level.base).offset();
        if texture_type == TextureType::Yuyv422R || !base.is_multiple_of(bits / 8) {
            return None;
        }
        let (x, y) = (Axis::new(&level.x)?, Axis::new(&level.y)?);
        // All of these have four rows in a micro-tile.
        let from = |bit: u32| twice(0xffff << bit & 0xffff);
        let field = |bits: u32, to: u32| twice(bits << to);
        let (micro_tile, sub_tile, tiles) = (width_log2 + 2, width_log2 + 6, width_log2 + 7);
        let none = Self {
            x,
            y,
            base: base / (bits / 8),
            of_cube: texture.cube_stride.map(|_| (bits / 8).ilog2()),
            columns: [field((1 << width_log2) - 1, 0), 0, 0, 0],
            rows: [field(3, width_log2), 0],
            row_shifts: [width_log2, width_log2 + 2],
            backwards: 0,
            inverted: 0,
            start_addend: 0,
            start_bits: twice(0xffff),
            start_factor: 0,
        };
        Some(match level.tiling {
            Tiling::Raster => {
                Self { columns: [from(0), 0, 0, 0], rows: [0, 0], start_factor: level.layout_width, ..none }
            }
            Tiling::LtFormat => Self {
                columns: [none.columns[0], from(micro_tile), 0, 0],
                start_bits: from(2),
                // Of a row of texels.
                start_factor: level.layout_width.div_ceil(1 << width_log2) << width_log2,
                ..none
            },
            Tiling::TFormat => Self {
                columns: [none.columns[0], field(3, micro_tile), field(1, sub_tile), from(tiles)],
                rows: [none.rows[0], field(7, micro_tile + 2)],
                backwards: twice(32),
                inverted: from(tiles) >> 5 & twice(0x07ff),
                // An odd row's tiles count down from the start of the next row.
                start_addend: twice(32),
                start_bits: from(6),
                start_factor: level.layout_width.div_ceil(8 << width_log2) << (width_log2 + 3),
                ..none
            },
        })
    }

    /// The texels at positions.
    #[inline(always)]
    pub(super) fn nearest<W: Words>(&self, points: &Points<W>) -> W {
        let x = self.x.texels(W::middle_twice(self.x.positions(points.s)));
        let y = self.y.texels(W::middle_twice(self.y.positions(points.t)));
        let low = W::splat(0xffff);
        let row = W::shift_right_signed(self.row_parts(y), 16);
        let start = W::add(self.base(points), self.starts(y, 0));
        W::add(start, W::xor(W::and(self.column_parts(x), low), row))
    }

    /// The texels whose centres are around positions.
    #[inline(always)]
    pub(super) fn around<W: Words>(&self, points: &Points<W>) -> Around<W> {
        // From the corner of a texel to its centre.
        let half_texel = W::splat(128);
        let x = W::subtract(self.x.positions(points.s), half_texel);
        let y = W::subtract(self.y.positions(points.t), half_texel);
        let shares = [W::lowest_twice(x), W::lowest_twice(y)];
        // The next texel in the high half.
        let next = W::splat(1 << 16);
        let x = self.x.texels(W::add_halves(W::middle_twice(x), next));
        let y = self.y.texels(W::add_halves(W::middle_twice(y), next));
        let (columns, rows) = (self.column_parts(x), self.row_parts(y));
        let (left, right) = (W::and(columns, W::splat(0xffff)), W::shift_right(columns, 16));
        let (upper, lower) = (W::shift_right_signed(W::shift_left(rows, 16), 16), W::shift_right_signed(rows, 16));
        let base = self.base(points);
        let (upper_start, lower_start) = (W::add(base, self.starts(y, 0)), W::add(base, self.starts(y, 16)));
        let texels = [
            W::add(upper_start, W::xor(left, upper)),
            W::add(upper_start, W::xor(right, upper)),
            W::add(lower_start, W::xor(left, lower)),
            W::add(lower_start, W::xor(right, lower)),
        ];
        Around { texels, shares }
    }

    /// The parts of columns in addresses.
    #[inline(always)]
    fn column_parts<W: Words>(&self, columns: W) -> W {
        let [inner, rest @ ..] = self.columns;
        let mut parts = W::and(columns, W::splat(inner));
        for (mask, by) in rest.into_iter().zip(COLUMN_SHIFTS) {
            parts = W::or(parts, W::and(W::shift_left_halves(columns, by), W::splat(mask)));
        }
        parts
    }

    /// The parts of rows in addresses, except for the starts of their tiles.
    #[inline(always)]
    fn row_parts<W: Words>(&self, rows: W) -> W {
        let backwards = W::and(rows, W::splat(self.backwards));
        let mut parts = W::multiply_halves(backwards, W::splat(self.inverted));
        for (mask, by) in self.rows.into_iter().zip(self.row_shifts) {
            parts = W::or(parts, W::and(W::shift_left_halves(rows, by), W::splat(mask)));
        }
        parts
    }

    /// The starts of the tiles of rows: of those in the halves from bit `half` on.
    #[inline(always)]
    fn starts<W: Words>(&self, rows: W, half: u32) -> W {
        let rows = W::and(W::add_halves(rows, W::splat(self.start_addend)), W::splat(self.start_bits));
        W::add_products_of_halves(rows, W::splat(self.start_factor << half))
    }

    /// The first texels of the level, or of its faces.
    #[inline(always)]
    fn base<W: Words>(&self, points: &Points<W>) -> W {
        let base = W::splat(self.base);
        match self.of_cube {
            Some(bytes_log2) => W::add(base, W::shift_right(points.face, bytes_log2)),
            None => base,
        }
    }
}

impl Axis {
    fn new(axis: &wrap::Axis) -> Option<Self> {
        let &wrap::Axis { mode, size, offset, flipped_from } = axis;
        let wrapping = match mode {
            Wrap::Repeat if size.is_power_of_two() => Wrapping::Masked(twice(size - 1)),
            Wrap::Repeat => Wrapping::Repeated(twice(size)),
            Wrap::Clamp => Wrapping::Clamped(twice(size - 1), (256 * (size + 1)) as f32),
            Wrap::Mirror | Wrap::Border => return None,
        };
        // A part of an image may be beyond its last texel.
        let whole = offset == 0 && flipped_from.is_none_or(|last| last == size - 1);
        whole.then(|| Self { scale: (256 * size) as f32, wrapping, flipped_from: flipped_from.map(twice) })
    }

    /// The positions of coordinates in 1/256 texel, as [`wrap::Axis::position`] has them, except that positions of which the same texels follow may be others.
    ///
    /// None is less than 0, so that what is cut off rounds down. NaN is, as it should, the same as 0.
    #[inline(always)]
    fn positions<W: Words>(&self, coordinates: W) -> W {
        let (zero, scale) = (W::splat(0), W::splat_float(self.scale));
        W::to_integer(match self.wrapping {
            Wrapping::Masked(_) | Wrapping::Repeated(_) => {
                let fraction = W::float_subtract(coordinates, W::float_floor(coordinates));
                W::float_max(W::float_multiply(fraction, scale), zero)
            }
            Wrapping::Clamped(_, limit) => {
                let positions = W::float_max(W::float_multiply(coordinates, scale), zero);
                W::float_min(positions, W::splat_float(limit))
            }
        })
    }

    /// Columns or rows in memory, of texels from two before the image to two behind it.
    #[inline(always)]
    fn texels<W: Words>(&self, positions: W) -> W {
        let within = match self.wrapping {
            Wrapping::Masked(mask) => W::and(positions, W::splat(mask)),
            Wrapping::Repeated(size) => {
                // What is negative, or becomes so, is large as an unsigned number.
                let size = W::splat(size);
                let least = W::min_unsigned_halves(positions, W::add_halves(positions, size));
                W::min_unsigned_halves(least, W::subtract_halves(least, size))
            }
            Wrapping::Clamped(last, _) => {
                W::min_signed_halves(W::max_signed_halves(positions, W::splat(0)), W::splat(last))
            }
        };
        match self.flipped_from {
            Some(last) => W::subtract_halves(W::splat(last), within),
            None => within,
        }
    }
}
