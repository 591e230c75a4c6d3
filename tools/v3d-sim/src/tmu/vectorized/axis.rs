//! From coordinates to texels along one axis, by the rules of [`wrap`].

use crate::simd::words::Words;
use crate::tmu::wrap;
use v3d_hw::texture::Wrap;

/// An axis of a level.
#[derive(Clone, Copy, Debug)]
pub(super) struct Axis {
    axis: wrap::Axis,
    /// Texels that the coordinates 0 to 1 span.
    pub(super) size: u32,
}

/// Texels along an axis.
pub(super) struct Texels<W: Words> {
    /// Their columns or rows in memory.
    pub(super) number: W,
    /// Those that are outside, in the border; their number is that of the nearest texel.
    pub(super) outside: Option<W::Held>,
}

impl Axis {
    pub(super) const fn new(axis: &wrap::Axis) -> Self {
        Self { axis: *axis, size: axis.size }
    }

    /// The positions of coordinates in 1/256 texel.
    #[inline(always)]
    pub(super) fn positions<W: Words>(&self, coordinates: W) -> W {
        let size = W::splat_float(self.size as f32);
        let within = match self.axis.mode {
            Wrap::Repeat => W::float_subtract(coordinates, W::float_floor(coordinates)),
            _ => coordinates,
        };
        fixed(W::float_multiply(within, size))
    }

    /// The texels at some positions.
    ///
    /// Positions to be repeated are from one before the image to one behind it.
    #[inline(always)]
    pub(super) fn texels<W: Words>(&self, position: W) -> Texels<W> {
        let (zero, size) = (W::splat(0), W::splat(self.size));
        let last = W::splat(self.size.wrapping_sub(1));
        let mut outside = None;
        let within = match self.axis.mode {
            Wrap::Repeat if self.size.is_power_of_two() => W::and(position, last),
            Wrap::Repeat => plus_where_negative(W::subtract(plus_where_negative(position, size), size), size),
            Wrap::Clamp => W::min_signed(W::max_signed(position, zero), last),
            Wrap::Mirror => {
                let period = W::splat(2 * self.size);
                let within = if self.size.is_power_of_two() {
                    W::and(position, W::splat((2 * self.size).wrapping_sub(1)))
                } else {
                    // Floats hold positions exactly, and the quotient of a position that is not a multiple is never rounded up to an integer.
                    let periods = W::float_divide(W::to_float(position), W::splat_float((2 * self.size) as f32));
                    W::subtract(position, W::multiply(W::to_integer(W::float_floor(periods)), period))
                };
                W::min_signed(within, W::subtract(W::splat((2 * self.size).wrapping_sub(1)), within))
            }
            Wrap::Border => {
                outside = Some(W::either(W::greater(zero, position), W::greater(position, last)));
                W::min_signed(W::max_signed(position, zero), last)
            }
        };
        let within = if self.axis.offset == 0 { within } else { W::add(within, W::splat(self.axis.offset)) };
        let number = match self.axis.flipped_from {
            Some(last) => W::max_signed(W::subtract(W::splat(last), within), zero),
            None => within,
        };
        Texels { number, outside }
    }
}

/// Adds a number where another is negative.
#[inline(always)]
fn plus_where_negative<W: Words>(x: W, size: W) -> W {
    W::add(x, W::and(size, W::shift_right_signed(x, 31)))
}

/// A number of texels in 1/256, rounded down; NaN counts as 0.
#[inline(always)]
fn fixed<W: Words>(texels: W) -> W {
    let texels = W::keep(texels, W::float_at_least(texels, texels));
    let texels = W::float_max(W::splat_float(-wrap::BOUND_TEXELS), texels);
    let texels = W::float_min(W::splat_float(wrap::BOUND_TEXELS), texels);
    // Products with powers of two are exact.
    W::to_integer(W::float_floor(W::float_multiply(texels, W::splat_float(256.0))))
}
