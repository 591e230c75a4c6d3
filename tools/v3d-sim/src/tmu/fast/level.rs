//! Which level each element is sampled from, as [`lod`] says.

use super::{Floats, Words, each};
use crate::lanes::{ALL, Mask};
use crate::tmu::lod;
use crate::tmu::texture::Texture;
use v3d_hw::qpu::LANES;
use v3d_hw::texture::{MagFilter, MinFilter};

/// The filters of a texture.
#[derive(Clone, Copy, Debug)]
pub(super) struct Filters {
    mag: MagFilter,
    min: MinFilter,
    last_level: u32,
    bias_only: bool,
    /// Magnified or not, all elements are treated in the same way.
    always_magnified: bool,
}

/// Levels and filters of the elements.
pub(super) struct Choice {
    /// The finer level.
    pub(super) level: Words,
    /// Share of the next level, in 1/256.
    pub(super) next_share: Words,
    /// Not 0: 2x2 texels are blended.
    pub(super) linear: Words,
    /// Elements with a share of the next level.
    pub(super) shared: Mask,
    /// All elements have the same level and filter.
    pub(super) uniform: bool,
}

impl Choice {
    fn magnified(filter: MagFilter) -> Self {
        let linear = [u32::from(filter == MagFilter::Linear); LANES];
        Self { level: [0; LANES], next_share: [0; LANES], linear, shared: 0, uniform: true }
    }

    /// The elements that have the level and the filter of one.
    pub(super) fn like(&self, other: usize) -> Mask {
        mask(|i| self.level[i] == self.level[other] && self.linear[i] == self.linear[other])
    }
}

fn mask(holds: impl Fn(usize) -> bool) -> Mask {
    (0..LANES).fold(0, |mask, i| mask | Mask::from(holds(i)) << i)
}

impl Filters {
    pub(super) fn new(texture: &Texture) -> Self {
        let Texture { mag, min, last_level, bias_only, .. } = *texture;
        let always_magnified = !lod::matters(mag, min);
        Self { mag, min, last_level, bias_only, always_magnified }
    }

    /// Chooses levels by the bias and the squares of the quads' longer derivatives.
    #[inline(always)]
    pub(super) fn choose(&self, bias: &Floats, derivatives: impl FnOnce() -> [f32; LANES / 4]) -> Choice {
        if self.always_magnified {
            return Choice::magnified(self.mag);
        }
        let squared = if self.bias_only { [1.0; LANES / 4] } else { derivatives() };
        if squared.iter().all(|&squared| !(squared > 1.0)) && bias.iter().all(|&bias| bias == 0.0) {
            return Choice::magnified(self.mag);
        }
        self.minified(bias, &squared)
    }

    fn minified(&self, bias: &Floats, squared: &[f32; LANES / 4]) -> Choice {
        // 1 is what a square without influence has.
        let automatic = squared.map(lod::level_of_detail);
        let selections: [lod::Selection; LANES] =
            std::array::from_fn(|i| lod::select(automatic[i / 4] + bias[i], self.mag, self.min, self.last_level));
        let mut choice = Choice {
            level: each(|i| selections[i].level as u32),
            next_share: each(|i| selections[i].next_share),
            linear: each(|i| u32::from(selections[i].linear)),
            shared: mask(|i| selections[i].next_share != 0),
            uniform: false,
        };
        choice.uniform = choice.like(0) == ALL;
        choice
    }
}
