//! Textures: where their levels and faces stand in memory, and the parameter words that tell a TMU so.
//!
//! A [`TextureLayout`] is what a texture's type and size make of its memory: level 0 stands at an address that is a multiple of 4096, the smaller levels in
//! front of it, level 1 nearest. Level 0 keeps its size, padded to whole tiles or micro-tiles; the smaller ones are those of a texture whose sides are the
//! next powers of two. Each level that is large enough is in T-format, smaller ones in LT-format. The six faces of a cube map are six such textures, one
//! distance apart. Compressed textures count blocks of 4x4 texels as pixels of 64 bits.
//!
//! A [`Sampler`] says how lookups filter and what is outside. Both together give [`Parameters`], the uniforms of a lookup.
//!
//! Rows begin with the one of t = 0, which stands first in memory.
//!
//! # Surprises
//! - Raster types take rows of powers of two only: the TMU computes their addresses so (HW-2898).
//! - The guide has the border colour both behind the last level [AG p.40] and in the coordinate r [AG p.41]; Mesa uses r and so do programs here.
//! - Child images of 2048 texels fail (HW-2753).
//!
//! # Sources
//! [AG p.39-43, p.105-109], [mesa vc4_resource.c] for padding and cube strides, [mesa vc4_uniforms.c] for border colours.

mod error;
mod levels;
mod sampler;

pub use error::TextureError;
pub use levels::{Part, TextureLayout};
pub use sampler::Sampler;

use crate::tiler::Rectangle;
use v3d_hw::texture::{
    ChildDimensions, ChildOffsets, CubeMapStride, MAX_SIZE, MinFilter, Parameter0, Parameter1, ParameterType,
    TextureType, Wrap,
};
use v3d_hw::{Aligned, BusAddr, FieldError, Layout};

/// Alignment of a texture's memory, and the unit of addresses of textures.
pub const ALIGNMENT: u32 = 4096;

/// Faces of a cube map: +x, -x, +y, -y, +z, -z [AG p.44].
pub const CUBE_FACES: u32 = 6;

/// The parameter words of lookups: 0 and 1 always, 2 and 3 for those that write r and b too.
///
/// A lookup takes one for each coordinate that it writes, in this order. Of a two-dimensional texture 2 and 3 are 0, which means that they say nothing; of a
/// cube map 2 is the distance of the faces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameters {
    words: [u32; 4],
}

impl Parameters {
    /// The words.
    pub const fn words(&self) -> [u32; 4] {
        self.words
    }

    /// Lookups whose bias alone, as it comes with b, is the level of detail: for programs that choose the level.
    pub fn bias_alone(mut self) -> Result<Self, FieldError> {
        let word = CubeMapStride::from_word(self.words[2]);
        let word = CubeMapStride { ptype: ParameterType::CubeMapStride, disable_lod: true, ..word };
        self.words[2] = word.to_word()?;
        Ok(self)
    }
}

impl TextureLayout {
    /// The parameter words of this texture at `memory`, the address of its first byte, where [`TextureLayout::bytes`] are.
    ///
    /// # Errors
    /// When the sampler asks for what the hardware cannot do with this type, or the address is not a multiple of 4096.
    pub fn parameters(&self, memory: BusAddr, sampler: &Sampler) -> Result<Parameters, TextureError> {
        if !memory.is_aligned(ALIGNMENT) {
            return Err(TextureError::Address(memory));
        }
        sampler.check(self.texture_type(), self.is_cube())?;
        let (type_low, type_high) = self.texture_type().split();
        // Levels are 1 to 12, and sides 1 to 2048, of which 2048 is written as 0: the layout has seen to that.
        let side = |texels: u32| if texels == MAX_SIZE { 0 } else { texels as u16 };
        let p0 = Parameter0 {
            base: Aligned(memory + self.front_bytes()),
            cswiz: 0,
            cube_map: self.is_cube(),
            flip_y: false,
            type_low,
            mip_levels_minus_1: (self.levels() - 1) as u8,
        };
        let p1 = Parameter1 {
            type_high,
            height: side(self.height_px()),
            // The first row of a block is that of the lowest t, as in the files.
            etc_flip: self.texture_type() == TextureType::Etc1,
            width: side(self.width_px()),
            mag_filter: sampler.mag,
            min_filter: if self.levels() == 1 { sampler.min_without_levels() } else { sampler.min },
            wrap_t: sampler.wrap_t,
            wrap_s: sampler.wrap_s,
        };
        let stride = CubeMapStride {
            ptype: if self.is_cube() { ParameterType::CubeMapStride } else { ParameterType::NotUsed },
            stride: Aligned(BusAddr(self.face_stride())),
            disable_lod: false,
        };
        let word2 = if self.is_cube() { stride.to_word()? } else { 0 };
        Ok(Parameters { words: [p0.to_word()?, p1.to_word()?, word2, 0] })
    }

    /// The parameter words of a child image: the coordinates 0 to 1 span a rectangle of the texture instead of all of it, wrapped at its edges. All four
    /// coordinates of a lookup are written then, r and b as 0.
    ///
    /// # Errors
    /// As [`TextureLayout::parameters`], and when the rectangle has no texels, leaves the texture, or has a side of 2048; or the texture is a cube map.
    pub fn child_parameters(
        &self,
        memory: BusAddr,
        sampler: &Sampler,
        child: Rectangle,
    ) -> Result<Parameters, TextureError> {
        let Rectangle { x_px: x, y_px: y, width_px: width, height_px: height } = child;
        let fits =
            |start: u32, count: u32, size: u32| count > 0 && start.checked_add(count).is_some_and(|end| end <= size);
        if !fits(x, width, self.width_px()) || !fits(y, height, self.height_px()) {
            return Err(TextureError::Outside {
                rectangle: child,
                width_px: self.width_px(),
                height_px: self.height_px(),
            });
        }
        if width == MAX_SIZE || height == MAX_SIZE {
            return Err(TextureError::ChildSize { width_px: width, height_px: height });
        }
        if self.is_cube() {
            return Err(TextureError::ChildOfCube);
        }
        let mut parameters = self.parameters(memory, sampler)?;
        let dimensions =
            ChildDimensions { ptype: ParameterType::ChildDimensions, width: width as u16, height: height as u16 };
        let offsets = ChildOffsets { ptype: ParameterType::ChildOffsets, x: x as u16, y: y as u16 };
        parameters.words[2] = dimensions.to_word()?;
        parameters.words[3] = offsets.to_word()?;
        Ok(parameters)
    }

    /// The word that a program writes to r for this colour of the border, red, green, blue and alpha: its channels stand as the type's texels have them.
    ///
    /// # Errors
    /// When nothing is known of the border colour of the type.
    pub fn border_word(&self, [red, green, blue, alpha]: [u8; 4]) -> Result<u32, TextureError> {
        let texture_type = self.texture_type();
        Ok(u32::from_le_bytes(match texture_type {
            TextureType::Rgba4444 | TextureType::Rgba5551 => [alpha, blue, green, red],
            TextureType::Rgb565 => [blue, green, red, alpha],
            _ if !sampler::has_border(texture_type) => return Err(TextureError::Border(texture_type)),
            _ => [red, green, blue, alpha],
        }))
    }
}

/// Filters that never look at a level but 0.
const fn within_a_level(filter: MinFilter) -> MinFilter {
    match filter {
        MinFilter::LinMipNear | MinFilter::LinMipLin => MinFilter::Linear,
        MinFilter::NearMipNear | MinFilter::NearMipLin => MinFilter::Nearest,
        other => other,
    }
}

/// Whether a wrap mode shows the border colour.
const fn is_border(wrap: Wrap) -> bool {
    matches!(wrap, Wrap::Border)
}

#[cfg(test)]
mod tests;
