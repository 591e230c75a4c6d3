//! Textures: which memory a lookup with these parameters can touch.
//!
//! Level 0 begins at the base address and the smaller levels lie in front of it, each padded to whole micro-tiles or tiles. Faces of cube maps follow each
//! other at the stride of parameter 2 or 3.

use super::Reason;
use v3d_hw::texture::{CubeMapStride, MAX_SIZE, Parameter0, Parameter1, ParameterType, TextureType};
use v3d_hw::tiling::{self, Tiling};
use v3d_hw::{BusAddr, Layout};

/// Texels of a block of ETC1, in each direction, and its bits.
const ETC1: (u32, u32) = (4, 64);

/// Start and length in bytes of all that a lookup can touch.
pub(super) fn extent(parameters: &[u32]) -> Result<(BusAddr, u64), Reason> {
    let (Some(&zero), Some(&one)) = (parameters.first(), parameters.get(1)) else {
        return Err(Reason::Value("a texture has at least two parameters"));
    };
    let (zero, one) = (Parameter0::from_word(zero), Parameter1::from_word(one));
    let texture_type = TextureType::join(zero.type_low, one.type_high);
    let side = |stored: u16| if stored == 0 { MAX_SIZE } else { u32::from(stored) };
    let (width, height) = (side(one.width), side(one.height));

    let first = level_bytes(texture_type, width, height)?;
    let mut smaller = 0;
    for level in 1..=u32::from(zero.mip_levels_minus_1) {
        // Smaller levels are those of the next power of two.
        let at_level = |side: u32| (side.next_power_of_two() >> level).max(1);
        smaller += level_bytes(texture_type, at_level(width), at_level(height))?;
    }
    let smaller = u32::try_from(smaller).map_err(|_| Reason::Value("the texture's levels are too large"))?;
    let start = BusAddr(zero.base.0.offset().checked_sub(smaller).ok_or(Reason::Value("levels below address 0"))?);

    let faces = if zero.cube_map { 5 * u64::from(face_stride(parameters)?) } else { 0 };
    Ok((start, u64::from(smaller) + faces + first))
}

/// Distance between the faces of a cube map.
fn face_stride(parameters: &[u32]) -> Result<u32, Reason> {
    let found = parameters.iter().skip(2).map(|&word| CubeMapStride::from_word(word));
    let mut strides = found.filter(|parameter| parameter.ptype == ParameterType::CubeMapStride);
    strides.next().map(|parameter| parameter.stride.0.0).ok_or(Reason::Value("a cube map has a stride"))
}

/// Bytes of one level.
fn level_bytes(texture_type: TextureType, width: u32, height: u32) -> Result<u64, Reason> {
    let reserved = Reason::Value("the texture type is reserved");
    let bits = texture_type.bits_per_texel().ok_or(reserved)?;
    let (width, height, bits) = match texture_type {
        TextureType::Etc1 => (width.div_ceil(ETC1.0), height.div_ceil(ETC1.0), ETC1.1),
        _ => (width, height, bits),
    };
    let format =
        if texture_type.is_raster() { Some(Tiling::Raster) } else { tiling::level_format(width, height, bits) };
    format.and_then(|format| tiling::image_bytes(format, width, height, bits)).ok_or(reserved)
}
