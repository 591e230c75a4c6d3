//! Samplers: filters and wrap modes.

use super::{TextureError, is_border, within_a_level};
use v3d_hw::texture::{MagFilter, MinFilter, TextureType, Wrap};

/// Filters and wrap modes of lookups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sampler {
    /// Wrap mode in s.
    pub wrap_s: Wrap,
    /// Wrap mode in t.
    pub wrap_t: Wrap,
    /// Filter where texels are larger than pixels.
    pub mag: MagFilter,
    /// Filter where texels are smaller than pixels.
    pub min: MinFilter,
}

impl Sampler {
    /// The nearest texel of level 0; the texture repeats.
    pub const NEAREST: Self =
        Self { wrap_s: Wrap::Repeat, wrap_t: Wrap::Repeat, mag: MagFilter::Nearest, min: MinFilter::Nearest };
    /// Linear interpolation of the 2x2 nearest texels of level 0; the texture repeats.
    pub const LINEAR: Self = Self { mag: MagFilter::Linear, min: MinFilter::Linear, ..Self::NEAREST };
    /// Linear interpolation of the 2x2 nearest texels of the two nearest levels; the texture repeats.
    pub const TRILINEAR: Self = Self { min: MinFilter::LinMipLin, ..Self::LINEAR };

    /// The same with one wrap mode in both directions.
    #[must_use]
    pub const fn wrapped(self, wrap: Wrap) -> Self {
        Self { wrap_s: wrap, wrap_t: wrap, ..self }
    }

    /// The minification filter of a texture that has only one level.
    pub(super) const fn min_without_levels(&self) -> MinFilter {
        within_a_level(self.min)
    }

    /// Checks that the hardware supports this sampler with a type.
    pub(super) fn check(&self, texture_type: TextureType, cube: bool) -> Result<(), TextureError> {
        if matches!(self.min, MinFilter::Reserved(_)) {
            return Err(TextureError::Filter(self.min));
        }
        let blends = self.mag == MagFilter::Linear || !matches!(self.min, MinFilter::Nearest | MinFilter::NearMipNear);
        if texture_type == TextureType::S16 && blends {
            return Err(TextureError::NotBlendable);
        }
        if is_border(self.wrap_s) || is_border(self.wrap_t) {
            if cube {
                return Err(TextureError::CubeBorder);
            }
            if !has_border(texture_type) {
                return Err(TextureError::Border(texture_type));
            }
        }
        Ok(())
    }
}

/// Whether the format of the border colour is known, as it is for types with 8-bit channels.
pub(super) const fn has_border(texture_type: TextureType) -> bool {
    !matches!(
        texture_type,
        TextureType::S16 | TextureType::S16F | TextureType::Rgba64 | TextureType::Yuyv422R | TextureType::Reserved(_)
    )
}
