//! Texel formats: from memory to packed RGBA8888 [AG p.42].
//!
//! Channels of fewer than 8 bits are widened by repeating their highest bits. The channels of 4444, 5551 and 565 are in the order of the type's name,
//! from the highest bits downwards [mesa vc4_formats.c]; the others are byte by byte.

use super::texture::Level;
use super::{etc1, half};
use crate::memory::{Memory, OutOfMemory};
use v3d_hw::BusAddr;
use v3d_hw::texture::TextureType;
use v3d_hw::tiling;

/// Luminance in red, green and blue.
#[inline(always)]
pub(super) const fn luminance_alpha(luminance: u8, alpha: u8) -> u32 {
    (luminance as u32 * 0x0001_0101) | (alpha as u32) << 24
}

/// 4 bits to 8.
#[inline(always)]
pub(super) const fn widen_4(bits: u16) -> u32 {
    (bits as u32 & 15) * 17
}

/// 5 bits to 8.
#[inline(always)]
const fn widen_5(bits: u16) -> u32 {
    let bits = bits as u32 & 31;
    bits << 3 | bits >> 2
}

/// 6 bits to 8.
#[inline(always)]
const fn widen_6(bits: u16) -> u32 {
    let bits = bits as u32 & 63;
    bits << 2 | bits >> 4
}

/// An alpha of 1.
pub(super) const OPAQUE: u32 = 0xff << 24;

#[inline(always)]
pub(super) const fn rgba4444(texel: u16) -> u32 {
    widen_4(texel >> 12) | widen_4(texel >> 8) << 8 | widen_4(texel >> 4) << 16 | widen_4(texel) << 24
}

#[inline(always)]
pub(super) const fn rgba5551(texel: u16) -> u32 {
    let alpha = if texel & 1 == 1 { OPAQUE } else { 0 };
    widen_5(texel >> 11) | widen_5(texel >> 6) << 8 | widen_5(texel >> 1) << 16 | alpha
}

#[inline(always)]
pub(super) const fn rgb565(texel: u16) -> u32 {
    widen_5(texel >> 11) | widen_6(texel >> 5) << 8 | widen_5(texel) << 16 | OPAQUE
}

/// Y, U, V of one of the two texels in a word of Y0, U, Y1, V.
#[inline(always)]
pub(super) const fn yuyv(word: u32, second: bool) -> u32 {
    let y = if second { word >> 16 } else { word } & 0xff;
    y | word & 0xff00 | (word >> 24) << 16 | OPAQUE
}

/// Address of a texel.
#[derive(Clone, Copy, Debug)]
pub(super) struct TexelAddress {
    address: BusAddr,
    /// Bits of the byte before it.
    bit: u32,
    /// Column in the image, or in its block.
    x: u32,
    /// Row in its block.
    y: u32,
}

/// A type of texels.
pub(super) trait Texel {
    /// Bits of a unit of the layout: a texel, or a block.
    const LAYOUT_BITS: u32;
    /// Texels of a block in each direction, as a power of two.
    const BLOCK_LOG2: u32 = 0;

    /// A texel as packed RGBA8888; S8 and S16 in the lowest bits.
    fn read(memory: Memory<'_>, place: TexelAddress) -> Result<u32, OutOfMemory>;

    /// The address of the texel in a column and row of a level.
    #[inline(always)]
    fn place(level: &Level, face_offset: u32, x: u32, y: u32) -> TexelAddress {
        let block = (x >> Self::BLOCK_LOG2, y >> Self::BLOCK_LOG2);
        let bits = tiling::pixel_offset_bits(level.tiling, level.layout_width, Self::LAYOUT_BITS, block.0, block.1);
        let bits = bits.unwrap_or(0);
        let base = level.base.wrapping_add(face_offset);
        TexelAddress { address: BusAddr(base.wrapping_add((bits / 8) as u32)), bit: (bits % 8) as u32, x, y }
    }
}

macro_rules! texels {
    ($( $(#[doc = $doc:literal])+ $name:ident: $bits:literal bits, |$memory:ident, $place:ident| $read:expr; )*) => {$(
        $(#[doc = $doc])+
        pub(super) struct $name;

        impl Texel for $name {
            const LAYOUT_BITS: u32 = $bits;

            #[inline(always)]
            fn read($memory: Memory<'_>, $place: TexelAddress) -> Result<u32, OutOfMemory> {
                Ok($read)
            }
        }
    )*};
}

texels! {
    /// RGBA8888 and RGBA32R.
    Rgba8888: 32 bits, |memory, place| memory.word(place.address)?;
    /// RGBX8888.
    Rgbx8888: 32 bits, |memory, place| memory.word(place.address)? | OPAQUE;
    /// RGBA4444.
    Rgba4444: 16 bits, |memory, place| rgba4444(memory.half(place.address)?);
    /// RGBA5551.
    Rgba5551: 16 bits, |memory, place| rgba5551(memory.half(place.address)?);
    /// RGB565.
    Rgb565: 16 bits, |memory, place| rgb565(memory.half(place.address)?);
    /// LUMINANCE.
    Luminance: 8 bits, |memory, place| luminance_alpha(memory.byte(place.address)?, 0xff);
    /// ALPHA.
    Alpha: 8 bits, |memory, place| u32::from(memory.byte(place.address)?) << 24;
    /// LUMALPHA.
    LumAlpha: 16 bits, |memory, place| {
        let [luminance, alpha] = memory.half(place.address)?.to_le_bytes();
        luminance_alpha(luminance, alpha)
    };
    /// S8.
    S8: 8 bits, |memory, place| u32::from(memory.byte(place.address)?);
    /// S16.
    S16: 16 bits, |memory, place| u32::from(memory.half(place.address)?);
    /// BW1.
    Bw1: 1 bits, |memory, place| luminance_alpha(one_bit(u32::from(memory.byte(place.address)? >> place.bit)), 0xff);
    /// A1.
    A1: 1 bits, |memory, place| u32::from(one_bit(u32::from(memory.byte(place.address)? >> place.bit))) << 24;
    /// A4.
    A4: 4 bits, |memory, place| widen_4(u16::from(memory.byte(place.address)? >> place.bit)) << 24;
    /// YUYV422R.
    Yuyv422R: 16 bits, |memory, place| yuyv(memory.word(place.address)?, place.x & 1 == 1);
}

/// ETC1. `FLIP` is the flag of parameter 1: with it the first row of a block is the one with the lowest t, as in OpenGL; without, the one with the
/// highest [mesa vc4_uniforms.c sets it for OpenGL].
pub(super) struct Etc1<const FLIP: bool>;

impl<const FLIP: bool> Texel for Etc1<FLIP> {
    const LAYOUT_BITS: u32 = 64;
    const BLOCK_LOG2: u32 = 2;

    #[inline]
    fn read(memory: Memory<'_>, place: TexelAddress) -> Result<u32, OutOfMemory> {
        // The standard's bytes are big-endian: its highest byte comes first.
        let high = memory.word(place.address)?.swap_bytes();
        let low = memory.word(place.address + 4)?.swap_bytes();
        let row = if FLIP { place.y % 4 } else { 3 - place.y % 4 };
        Ok(etc1::texel(high, low, place.x % 4, row))
    }
}

/// 0 or 255, by the lowest bit.
#[inline(always)]
pub(super) const fn one_bit(bits: u32) -> u8 {
    if bits & 1 == 1 { 0xff } else { 0 }
}

/// Whether texels have 16-bit floats.
pub(super) const fn has_halves(texture_type: TextureType) -> bool {
    matches!(texture_type, TextureType::S16F | TextureType::Rgba64)
}

/// The channels of a texel of 16-bit floats.
pub(super) fn halves(
    memory: Memory<'_>,
    texture_type: TextureType,
    level: &Level,
    face_offset: u32,
    x: u32,
    y: u32,
) -> Result<[f32; 4], OutOfMemory> {
    if texture_type == TextureType::S16F {
        let place = S16::place(level, face_offset, x, y);
        return Ok([half::to_f32(memory.half(place.address)?), 0.0, 0.0, 0.0]);
    }
    let bits = tiling::pixel_offset_bits(level.tiling, level.layout_width, 64, x, y).unwrap_or(0);
    let address = BusAddr(level.base.wrapping_add(face_offset).wrapping_add((bits / 8) as u32));
    let (low, high) = (memory.word(address)?, memory.word(address + 4)?);
    Ok([low, low >> 16, high, high >> 16].map(|channel| half::to_f32(channel as u16)))
}
