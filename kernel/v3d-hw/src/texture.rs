//! Texture parameters: the uniforms that accompany TMU writes [AG p.40-43].
//!
//! Each write of a texture coordinate takes one uniform. The first two of a lookup are parameters 0 and 1; further ones say themselves, in bits
//! 31:30, what they are. A lookup that writes only `s` is a memory lookup by address and takes no uniform.
//!
//! # Surprises
//! - The texture type is split: bits 3:0 in parameter 0, bit 4 in parameter 1.
//! - Level 0 stands at the base address and the smaller levels in front of it.
//! - The guide's rows for PTYPE 2 repeat the descriptions of PTYPE 1; the names CHEIGHT and CWIDTH tell what they are.

use crate::{Aligned, codes, layout};

codes! {
    /// Texture data types, all five bits [AG p.42].
    pub enum TextureType: 5 bits {
        /// 8 bits each of red, green, blue, alpha.
        0 => Rgba8888 "RGBA8888",
        /// The same, alpha 1.0.
        1 => Rgbx8888 "RGBX8888",
        /// 4 bits each.
        2 => Rgba4444 "RGBA4444",
        /// 5 bits each, 1 bit of alpha.
        3 => Rgba5551 "RGBA5551",
        /// 5, 6, 5 bits, alpha 1.0.
        4 => Rgb565 "RGB565",
        /// 8 bits of luminance, alpha 1.0.
        5 => Luminance "LUMINANCE",
        /// 8 bits of alpha, colour 0.
        6 => Alpha "ALPHA",
        /// 8 bits of luminance, 8 bits of alpha.
        7 => LumAlpha "LUMALPHA",
        /// Ericsson texture compression.
        8 => Etc1 "ETC1",
        /// 16-bit float sample, blending supported.
        9 => S16F "S16F",
        /// 8-bit integer sample, blending supported.
        10 => S8 "S8",
        /// 16-bit integer sample, point sampling only.
        11 => S16 "S16",
        /// 1-bit black and white.
        12 => Bw1 "BW1",
        /// 4-bit alpha.
        13 => A4 "A4",
        /// 1-bit alpha.
        14 => A1 "A1",
        /// 16-bit float each of red, green, blue, alpha.
        15 => Rgba64 "RGBA64",
        /// RGBA8888 in raster format.
        16 => Rgba32R "RGBA32R",
        /// Y, U, Y, V bytes in raster format.
        17 => Yuyv422R "YUYV422R",
        _ => Reserved,
    }
}

impl TextureType {
    /// Bits of memory for one texel; `None` for reserved types. YUYV has 32 bits for two texels [AG p.42].
    pub const fn bits_per_texel(self) -> Option<u32> {
        Some(match self {
            Self::Rgba64 => 64,
            Self::Rgba8888 | Self::Rgbx8888 | Self::Rgba32R => 32,
            Self::Rgba4444
            | Self::Rgba5551
            | Self::Rgb565
            | Self::LumAlpha
            | Self::S16F
            | Self::S16
            | Self::Yuyv422R => 16,
            Self::Luminance | Self::Alpha | Self::S8 => 8,
            Self::Etc1 | Self::A4 => 4,
            Self::Bw1 | Self::A1 => 1,
            Self::Reserved(_) => return None,
        })
    }

    /// Whether the texels stand in raster order, whatever the size of the level.
    pub const fn is_raster(self) -> bool {
        matches!(self, Self::Rgba32R | Self::Yuyv422R)
    }

    /// Bits 3:0 and bit 4 of the code, as parameters 0 and 1 take them.
    pub const fn split(self) -> (u8, bool) {
        (self.code() & 15, self.code() & 16 != 0)
    }

    /// The type of the two parts.
    pub const fn join(low: u8, high: bool) -> Self {
        Self::from_code(low & 15 | (high as u8) << 4)
    }
}

codes! {
    /// Magnification filter [AG p.43].
    pub enum MagFilter: 1 bits {
        /// 2x2 texels are blended.
        0 => Linear "LINEAR",
        /// The nearest texel.
        1 => Nearest "NEAREST",
    }
}

codes! {
    /// Minification filter [AG p.43].
    pub enum MinFilter: 3 bits {
        /// 2x2 texels of level 0.
        0 => Linear "LINEAR",
        /// The nearest texel of level 0.
        1 => Nearest "NEAREST",
        /// The nearest texel of the nearest level.
        2 => NearMipNear "NEAR_MIP_NEAR",
        /// The nearest texels of two levels, blended.
        3 => NearMipLin "NEAR_MIP_LIN",
        /// 2x2 texels of the nearest level.
        4 => LinMipNear "LIN_MIP_NEAR",
        /// 2x2 texels of two levels, blended.
        5 => LinMipLin "LIN_MIP_LIN",
        _ => Reserved,
    }
}

codes! {
    /// What happens outside [0, 1] [AG p.41].
    pub enum Wrap: 2 bits {
        /// The image repeats.
        0 => Repeat "repeat",
        /// The edge texel goes on.
        1 => Clamp "clamp",
        /// The image repeats, every other one mirrored.
        2 => Mirror "mirror",
        /// The border colour.
        3 => Border "border",
    }
}

layout! {
    /// Texture config parameter 0 [AG p.41].
    pub struct Parameter0: 32 bits "texture parameter 0" {
        /// Texture base pointer: level 0.
        31:12 base: Aligned<4096>,
        /// Cache swizzle.
        11:10 cswiz: u8,
        /// Cube map mode.
        9:9 cube_map: bool,
        /// Flip the y axis.
        8:8 flip_y: bool,
        /// Texture data type, bits 3:0.
        7:4 type_low: u8,
        /// Number of mipmap levels minus 1.
        3:0 mip_levels_minus_1: u8,
    }
}

layout! {
    /// Texture config parameter 1 [AG p.41].
    pub struct Parameter1: 32 bits "texture parameter 1" {
        /// Texture data type, bit 4.
        31:31 type_high: bool,
        /// Image height, 0 for 2048.
        30:20 height: u16,
        /// Flip ETC blocks' y axis.
        19:19 etc_flip: bool,
        /// Image width, 0 for 2048.
        18:8 width: u16,
        /// Magnification filter.
        7:7 mag_filter: MagFilter,
        /// Minification filter.
        6:4 min_filter: MinFilter,
        /// Wrap mode of t.
        3:2 wrap_t: Wrap,
        /// Wrap mode of s.
        1:0 wrap_s: Wrap,
    }
}

codes! {
    /// Meaning of a parameter 2 or 3 [AG p.42].
    pub enum ParameterType: 2 bits {
        /// Not used.
        0 => NotUsed "not used",
        /// Cube map stride.
        1 => CubeMapStride "cube map stride",
        /// Child image dimensions.
        2 => ChildDimensions "child image dimensions",
        /// Child image offsets.
        3 => ChildOffsets "child image offsets",
    }
}

layout! {
    /// Texture config parameter 2 or 3 with PTYPE 1 [AG p.42].
    pub struct CubeMapStride: 32 bits "cube map stride" {
        /// 1.
        31:30 ptype: ParameterType,
        /// Distance from face to face.
        29:12 stride: Aligned<4096>,
        /// Disable automatic LOD, use bias only.
        0:0 disable_lod: bool,
    }
}

layout! {
    /// Texture config parameter 2 or 3 with PTYPE 2 [AG p.42].
    pub struct ChildDimensions: 32 bits "child image dimensions" {
        /// 2.
        31:30 ptype: ParameterType,
        /// Height of the child image.
        22:12 height: u16,
        /// Width of the child image.
        10:0 width: u16,
    }
}

layout! {
    /// Texture config parameter 2 or 3 with PTYPE 3 [AG p.42].
    pub struct ChildOffsets: 32 bits "child image offsets" {
        /// 3.
        31:30 ptype: ParameterType,
        /// Y offset of the child image.
        22:12 y: u16,
        /// X offset of the child image.
        10:0 x: u16,
    }
}

/// Rows of RGBA32R textures are at least this many texels apart: tried with widths of 1, 2, 4, 8 and 64 texels [piegpu]. For YUYV422R it was not tried, and
/// the rule might be 16 bytes, the row of a micro-tile, which is 8 of its texels.
pub const MIN_RASTER_ROW_TEXELS: u32 = 4;

/// Fewest texels of a YUYV422R texture's rows whose distance does not depend on how [`MIN_RASTER_ROW_TEXELS`] is meant.
pub const MIN_YUYV_ROW_TEXELS: u32 = 8;

/// The largest width or height of a texture; stored as 0 [AG p.41].
pub const MAX_SIZE: u32 = 2048;
