//! From coordinates to texels along one axis, by the rules of [`wrap`].

use super::{Floats, Ints, Words, each, integer};
use crate::tmu::wrap;
use v3d_hw::qpu::LANES;
use v3d_hw::texture::Wrap;

/// An axis of a level.
#[derive(Clone, Copy, Debug)]
pub(super) struct Axis {
    axis: wrap::Axis,
    /// Texels that the coordinates 0 to 1 span.
    pub(super) size: u32,
}

impl Axis {
    pub(super) const fn new(axis: &wrap::Axis) -> Self {
        Self { axis: *axis, size: axis.size }
    }

    /// The positions of coordinates in 1/256 texel.
    #[inline(always)]
    pub(super) fn positions(&self, coordinates: &Floats) -> Ints {
        let size = self.size as f32;
        match self.axis.mode {
            Wrap::Repeat => each(|i| fixed((coordinates[i] - coordinates[i].floor()) * size)),
            _ => each(|i| fixed(coordinates[i] * size)),
        }
    }

    /// The columns or rows of texels in memory, and which of them are outside, in the border; these get the nearest one.
    ///
    /// Positions to be repeated are from one before the image to one behind it.
    #[inline(always)]
    pub(super) fn texels(&self, position: &Ints) -> (Words, Words) {
        let size = self.size as i32;
        let clamped = |position: i32| position.max(0).min(size - 1) as u32;
        let mut outside = [0; LANES];
        let within = match self.axis.mode {
            Wrap::Repeat => each(|i| {
                let position = position[i] + if position[i] < 0 { size } else { 0 };
                (position - if position >= size { size } else { 0 }) as u32
            }),
            Wrap::Clamp => each(|i| clamped(position[i])),
            Wrap::Mirror => each(|i| {
                // Floats hold positions exactly, and the quotient of a position that is not a multiple is never rounded up to an integer.
                let period = (2 * size) as f32;
                let periods = integer((position[i] as f32 / period).floor());
                let within = position[i] - periods * 2 * size;
                (if within < size { within } else { 2 * size - 1 - within }) as u32
            }),
            Wrap::Border => {
                outside = each(|i| u32::from(position[i] < 0 || position[i] >= size));
                each(|i| clamped(position[i]))
            }
        };
        let offset = self.axis.offset;
        let texels = match self.axis.flipped_from {
            Some(last) => each(|i| last.saturating_sub(within[i] + offset)),
            None => each(|i| within[i] + offset),
        };
        (texels, outside)
    }
}

/// A number of texels in 1/256, rounded down; NaN counts as 0.
#[inline(always)]
fn fixed(texels: f32) -> i32 {
    let texels = if texels.is_nan() { 0.0 } else { texels };
    let texels = texels.clamp(-wrap::BOUND_TEXELS, wrap::BOUND_TEXELS);
    let whole = texels.floor();
    // All of these are exact: products with powers of two, and a difference of integers below 256.
    let part = (256.0 * texels).floor() - 256.0 * whole;
    integer(whole) * 256 + integer(part)
}
