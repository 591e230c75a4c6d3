//! Texels: from memory to packed RGBA8888 [AG p.42].
//!
//! Channels of fewer than 8 bits are widened by repeating their highest bits. A texel's channels stand from its highest bits downwards in the order of
//! the type's name for 4444, 5551 and 565 [mesa vc4_formats.c], and byte by byte for the others.

use super::texture::{Level, Texture};
use super::{etc1, half};
use crate::memory::{Memory, OutOfMemory};
use v3d_hw::BusAddr;
use v3d_hw::texture::TextureType;
use v3d_hw::tiling;

/// Luminance in red, green and blue.
pub(super) const fn luminance_alpha(luminance: u8, alpha: u8) -> u32 {
    luminance as u32 * 0x0001_0101 | (alpha as u32) << 24
}

/// 4 bits to 8.
const fn widen_4(bits: u16) -> u32 {
    (bits as u32 & 15) * 17
}

/// 5 bits to 8.
const fn widen_5(bits: u16) -> u32 {
    let bits = bits as u32 & 31;
    bits << 3 | bits >> 2
}

/// 6 bits to 8.
const fn widen_6(bits: u16) -> u32 {
    let bits = bits as u32 & 63;
    bits << 2 | bits >> 4
}

const OPAQUE: u32 = 0xff << 24;

fn rgba4444(texel: u16) -> u32 {
    widen_4(texel >> 12) | widen_4(texel >> 8) << 8 | widen_4(texel >> 4) << 16 | widen_4(texel) << 24
}

fn rgba5551(texel: u16) -> u32 {
    let alpha = if texel & 1 == 1 { OPAQUE } else { 0 };
    widen_5(texel >> 11) | widen_5(texel >> 6) << 8 | widen_5(texel >> 1) << 16 | alpha
}

fn rgb565(texel: u16) -> u32 {
    widen_5(texel >> 11) | widen_6(texel >> 5) << 8 | widen_5(texel) << 16 | OPAQUE
}

/// Y, U, V of one of the two texels in a word of Y0, U, Y1, V.
fn yuyv(word: u32, second: bool) -> u32 {
    let y = if second { word >> 16 } else { word } & 0xff;
    y | word & 0xff00 | (word >> 24) << 16 | OPAQUE
}

impl Texture {
    /// Address of the unit of the layout at (x, y), and how many bits of its first byte come before it.
    #[inline]
    fn address(&self, level: &Level, face_offset: u32, x: u32, y: u32) -> (BusAddr, u32) {
        let offset = tiling::pixel_offset_bits(level.tiling, level.layout_width, self.layout_bits, x, y).unwrap_or(0);
        let base = level.base.wrapping_add(face_offset);
        (BusAddr(base.wrapping_add((offset / 8) as u32)), (offset % 8) as u32)
    }

    /// The row in memory of row `y` of a level.
    #[inline]
    fn row(&self, level: &Level, y: u32) -> u32 {
        if self.flip_y { level.height.saturating_sub(1).saturating_sub(y) } else { y }
    }

    /// A texel of all types but RGBA64 as packed RGBA8888; S16F, S8 and S16 in the lowest bits.
    #[inline]
    pub(super) fn texel(
        &self,
        memory: Memory<'_>,
        level: &Level,
        face_offset: u32,
        x: u32,
        y: u32,
    ) -> Result<u32, OutOfMemory> {
        let y = self.row(level, y);
        if self.texture_type == TextureType::Etc1 {
            return self.etc1_texel(memory, level, face_offset, x, y);
        }
        let (address, bit) = self.address(level, face_offset, x, y);
        Ok(match self.texture_type {
            TextureType::Rgba8888 | TextureType::Rgba32R => memory.word(address)?,
            TextureType::Rgbx8888 => memory.word(address)? | OPAQUE,
            TextureType::Rgba4444 => rgba4444(memory.half(address)?),
            TextureType::Rgba5551 => rgba5551(memory.half(address)?),
            TextureType::Rgb565 => rgb565(memory.half(address)?),
            TextureType::Luminance => luminance_alpha(memory.byte(address)?, 0xff),
            TextureType::Alpha => u32::from(memory.byte(address)?) << 24,
            TextureType::LumAlpha => {
                let [luminance, alpha] = memory.half(address)?.to_le_bytes();
                luminance_alpha(luminance, alpha)
            }
            TextureType::S16F | TextureType::S16 => u32::from(memory.half(address)?),
            TextureType::S8 => u32::from(memory.byte(address)?),
            TextureType::Bw1 => luminance_alpha(if memory.byte(address)? >> bit & 1 == 1 { 0xff } else { 0 }, 0xff),
            TextureType::A1 => {
                if memory.byte(address)? >> bit & 1 == 1 {
                    OPAQUE
                } else {
                    0
                }
            }
            TextureType::A4 => widen_4(u16::from(memory.byte(address)? >> bit)) << 24,
            TextureType::Yuyv422R => yuyv(memory.word(address)?, x & 1 == 1),
            TextureType::Etc1 | TextureType::Rgba64 | TextureType::Reserved(_) => 0,
        })
    }

    /// The four channels of an RGBA64 texel, or the one of an S16F texel.
    #[inline]
    pub(super) fn half_texel(
        &self,
        memory: Memory<'_>,
        level: &Level,
        face_offset: u32,
        x: u32,
        y: u32,
    ) -> Result<[f32; 4], OutOfMemory> {
        let y = self.row(level, y);
        let (address, _) = self.address(level, face_offset, x, y);
        if self.texture_type == TextureType::S16F {
            return Ok([half::to_f32(memory.half(address)?), 0.0, 0.0, 0.0]);
        }
        let (low, high) = (memory.word(address)?, memory.word(address + 4)?);
        Ok([low, low >> 16, high, high >> 16].map(|channel| half::to_f32(channel as u16)))
    }

    fn etc1_texel(
        &self,
        memory: Memory<'_>,
        level: &Level,
        face_offset: u32,
        x: u32,
        y: u32,
    ) -> Result<u32, OutOfMemory> {
        let (address, _) = self.address(level, face_offset, x / 4, y / 4);
        // The standard's bytes are big-endian: its highest byte comes first.
        let high = memory.word(address)?.swap_bytes();
        let low = memory.word(address + 4)?.swap_bytes();
        let row = if self.etc_flip { 3 - y % 4 } else { y % 4 };
        Ok(etc1::texel(u64::from(high) << 32 | u64::from(low), x % 4, row))
    }
}
