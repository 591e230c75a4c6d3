//! Border colour: the texels outside of a texture with wrap mode border.
//!
//! The first element of `r` holds it [AG p.41], with the channels in the texels' order in memory, lowest bits first, each widened to a byte;
//! alpha-only types have it in the highest byte [mesa vc4_uniforms.c].

use super::TmuFault;
use super::format::luminance_alpha;
use v3d_hw::texture::TextureType;

/// The border colour of a texture as packed RGBA8888.
pub(super) fn color(texture_type: TextureType, r: u32) -> Result<u32, TmuFault> {
    let [b0, _, b2, b3] = r.to_le_bytes();
    Ok(match texture_type {
        TextureType::Rgba8888 | TextureType::Rgba32R => r,
        TextureType::Rgbx8888 | TextureType::Etc1 => r | 0xff00_0000,
        TextureType::Rgba4444 | TextureType::Rgba5551 => r.swap_bytes(),
        TextureType::Rgb565 => r & 0x0000_ff00 | u32::from(b0) << 16 | u32::from(b2) | 0xff00_0000,
        TextureType::Luminance | TextureType::Bw1 => luminance_alpha(b0, 0xff),
        TextureType::LumAlpha => luminance_alpha(b0, b3),
        TextureType::Alpha | TextureType::A4 | TextureType::A1 => r & 0xff00_0000,
        TextureType::S8 => u32::from(b0),
        TextureType::S16 => return Err(TmuFault::BorderUnknown("S16")),
        TextureType::S16F => return Err(TmuFault::BorderUnknown("S16F")),
        TextureType::Rgba64 => return Err(TmuFault::BorderUnknown("RGBA64")),
        TextureType::Yuyv422R => return Err(TmuFault::BorderUnknown("YUYV422R")),
        TextureType::Reserved(code) => return Err(TmuFault::ReservedType(code)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn channels_stand_in_the_order_of_the_texels() {
        // Red 0x11, green 0x22, blue 0x33, alpha 0x44 as a driver packs it for each type.
        assert_eq!(color(TextureType::Rgba8888, 0x4433_2211), Ok(0x4433_2211));
        assert_eq!(color(TextureType::Rgba4444, 0x1122_3344), Ok(0x4433_2211));
        assert_eq!(color(TextureType::Rgb565, 0x4411_2233), Ok(0xff33_2211));
        assert_eq!(color(TextureType::Alpha, 0x4400_0000), Ok(0x4400_0000));
        assert_eq!(color(TextureType::LumAlpha, 0x4400_0011), Ok(0x4411_1111));
        assert!(color(TextureType::Rgba64, 0).is_err());
    }
}
