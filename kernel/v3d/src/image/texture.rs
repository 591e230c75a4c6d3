//! Textures: addresses of their levels and faces, and the parameter words of a TMU.
//!
//! A [`TextureLayout`] follows from a texture's type and size: level 0 starts at a multiple of 4096, and smaller levels precede it, level 1 nearest. Level 0
//! has its size, padded to whole tiles or micro-tiles; smaller levels are those of a texture whose sides are rounded up to powers of two. Levels that are large
//! enough are in T-format, smaller ones in LT-format. The six faces of a cube map are six such textures at a fixed distance. Compressed textures count blocks
//! of 4x4 texels as pixels of 64 bits.
//!
//! A [`Sampler`] defines filters and wrap modes. Layout and sampler give [`Parameters`], the uniforms of a lookup.
//!
//! The first row in memory is the one at t = 0.
//!
//! # Surprises
//! - Raster types need rows whose length is a power of two, since the TMU computes addresses so (HW-2898). Rows are at least four texels apart [piegpu].
//! - The guide places the border colour both after the last level [AG p.40] and in the coordinate r [AG p.41]; Mesa uses r, and so do the programs here.
//! - Child images of 2048 texels fail (HW-2753).
//!
//! # Sources
//! [AG p.39-43, p.105-109], [mesa vc4_resource.c] for padding and cube strides, [mesa vc4_uniforms.c] for border colours.

mod error;
mod levels;
mod sampler;

pub use error::TextureError;
pub use levels::{LevelPart, TextureLayout};
pub use sampler::Sampler;

use crate::image::tiler::Rectangle;
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
/// A lookup takes one for each coordinate that it writes, in this order. For a two-dimensional texture, 2 and 3 are 0, which has no effect; for a cube map, 2
/// is the distance between faces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameters {
    words: [u32; 4],
}

impl Parameters {
    /// The words.
    pub const fn words(&self) -> [u32; 4] {
        self.words
    }

    /// Parameters for which the bias (coordinate b) alone is the level of detail: for programs that select the level.
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
    /// When the hardware does not support the sampler with this type, or the address is not a multiple of 4096.
    pub fn parameters(&self, memory: BusAddr, sampler: &Sampler) -> Result<Parameters, TextureError> {
        if !memory.is_aligned(ALIGNMENT) {
            return Err(TextureError::Address(memory));
        }
        sampler.check(self.texture_type(), self.is_cube())?;
        let (type_low, type_high) = self.texture_type().split();
        // Levels are 1 to 12, and sides 1 to 2048, where 2048 is encoded as 0: the layout has ensured this.
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
            // The first row of a block is the one with the lowest t, as in files.
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

    /// The parameter words of a child image: the coordinates 0 to 1 span a rectangle of the texture instead of all of it, wrapped at its edges. A lookup must
    /// then write all four coordinates, with r and b as 0.
    ///
    /// # Errors
    /// As [`TextureLayout::parameters`]; and when the rectangle is empty, exceeds the texture, or has a side of 2048; or the texture is a cube map.
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

    /// The word that a program writes to r for a border colour, given as red, green, blue and alpha: a byte for each, red in the lowest, for
    /// all types. Mesa's driver writes the bytes in the order in which it finds them in the results of lookups [mesa vc4_uniforms.c, vc4_formats.c].
    ///
    /// # Errors
    /// When the border colour's format of the type is not known.
    pub fn border_word(&self, color: [u8; 4]) -> Result<u32, TextureError> {
        let texture_type = self.texture_type();
        if !sampler::has_border(texture_type) {
            return Err(TextureError::Border(texture_type));
        }
        Ok(u32::from_le_bytes(color))
    }
}

/// Filters that only use level 0.
const fn within_a_level(filter: MinFilter) -> MinFilter {
    match filter {
        MinFilter::LinMipNear | MinFilter::LinMipLin => MinFilter::Linear,
        MinFilter::NearMipNear | MinFilter::NearMipLin => MinFilter::Nearest,
        other => other,
    }
}

/// Whether a wrap mode uses the border colour.
const fn is_border(wrap: Wrap) -> bool {
    matches!(wrap, Wrap::Border)
}

#[cfg(test)]
mod tests;
