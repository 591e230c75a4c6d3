//! The level that each element is sampled from, by the rules of [`lod`].

use super::{Floats, Words, each, integer};
use crate::qpu::lanes::{ALL, Mask};
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
    /// All elements are treated alike, magnified or not.
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

    /// The elements with the level and filter of one.
    #[inline(always)]
    pub(super) fn like(&self, other: usize) -> Mask {
        mask(|i| self.level[i] == self.level[other] && self.linear[i] == self.linear[other])
    }
}

#[inline(always)]
fn mask(holds: impl Fn(usize) -> bool) -> Mask {
    (0..LANES).fold(0, |mask, i| mask | Mask::from(holds(i)) << i)
}

impl Filters {
    pub(super) fn new(texture: &Texture) -> Self {
        let Texture { mag, min, last_level, bias_only, .. } = *texture;
        let always_magnified = !lod::matters(mag, min);
        Self { mag, min, last_level, bias_only, always_magnified }
    }

    /// Selects levels by the bias and the quads' derivatives.
    #[inline(always)]
    pub(super) fn choose(&self, bias: &Floats, changes: impl FnOnce() -> [f32; LANES / 4]) -> Choice {
        if self.always_magnified {
            return Choice::magnified(self.mag);
        }
        let changes = if self.bias_only { [1.0; LANES / 4] } else { changes() };
        if !changes.iter().any(|&change| change > 1.0) && bias.iter().all(|&bias| bias == 0.0) {
            return Choice::magnified(self.mag);
        }
        self.minified(bias, &changes)
    }

    /// The same by the rules of [`lod::select`].
    #[inline(always)]
    fn minified(&self, bias: &Floats, changes: &[f32; LANES / 4]) -> Choice {
        let mut automatic = [0.0; LANES / 4];
        for (automatic, &change) in automatic.iter_mut().zip(changes) {
            *automatic = lod::level_of_detail(change);
        }
        let detail = each(|i| automatic[i / 4] + bias[i]);
        let last = self.last_level as f32;
        let (level, share) = match self.min {
            MinFilter::Linear | MinFilter::Nearest | MinFilter::Reserved(_) => ([0; LANES], [0; LANES]),
            MinFilter::NearMipNear | MinFilter::LinMipNear => {
                (each(|i| integer((detail[i] + 0.5).min(last).floor()) as u32), [0; LANES])
            }
            MinFilter::NearMipLin | MinFilter::LinMipLin => {
                let fixed = each(|i| integer((detail[i].min(last) * 256.0).floor()) as u32);
                (each(|i| fixed[i] / 256), each(|i| fixed[i] % 256))
            }
        };
        // NaN is magnified, too.
        let magnified_up_to = lod::magnified_up_to(self.mag, self.min);
        let minified = each(|i| if detail[i] > magnified_up_to { u32::MAX } else { 0 });
        let linear = matches!(self.min, MinFilter::Linear | MinFilter::LinMipNear | MinFilter::LinMipLin);
        let (linear, magnified) = (u32::from(linear), u32::from(self.mag == MagFilter::Linear));
        let mut choice = Choice {
            level: each(|i| level[i] & minified[i]),
            next_share: each(|i| share[i] & minified[i]),
            linear: each(|i| linear & minified[i] | magnified & !minified[i]),
            shared: 0,
            uniform: false,
        };
        choice.uniform = choice.like(0) == ALL;
        choice.shared = mask(|i| choice.next_share[i] != 0);
        choice
    }
}
