//! Border colour: the texels outside of a texture with wrap mode border.
//!
//! The first element of `r` holds it [AG p.41] as the lookup returns it: a byte for each channel, red in the lowest, whatever the texel's layout is.
//! Mesa's driver turns a colour into channels of the texel and these into the bytes of a result, so that its swizzle of results holds for both [mesa
//! vc4_uniforms.c, vc4_formats.c], and with these words boards pass piglit's tests of border colours for RGB565 and RGBA5551. Alpha-only types take the
//! highest byte.

use super::TmuFault;
use super::format::luminance_alpha;
use v3d_hw::texture::TextureType;

/// The border colour of a texture as packed RGBA8888.
pub(super) fn color(texture_type: TextureType, r: u32) -> Result<u32, TmuFault> {
    let [b0, _, _, b3] = r.to_le_bytes();
    Ok(match texture_type {
        TextureType::Rgba8888 | TextureType::Rgba32R | TextureType::Rgba4444 | TextureType::Rgba5551 => r,
        TextureType::Rgbx8888 | TextureType::Etc1 | TextureType::Rgb565 => r | 0xff00_0000,
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
    fn mesas_words_come_out_as_its_driver_reads_results() {
        // Red 0x11, green 0x22, blue 0x33, alpha 0x44, in the words that Mesa's driver makes for its formats, and where it looks for red, green, blue
        // and alpha in results, as bytes. Its driver derives both from two tables: the order of a format's channels, and the order of a result's bytes
        // for a type.
        for (texture_type, word, bytes) in [
            (TextureType::Rgba8888, 0x4433_2211, [0, 1, 2, 3]), // R8G8B8A8
            (TextureType::Rgba8888, 0x4411_2233, [2, 1, 0, 3]), // B8G8R8A8
            (TextureType::Rgba4444, 0x3322_1144, [1, 2, 3, 0]), // B4G4R4A4
            (TextureType::Rgba5551, 0x4433_2211, [0, 1, 2, 3]), // A1B5G5R5
        ] {
            let result = color(texture_type, word).unwrap().to_le_bytes();
            assert_eq!(bytes.map(|byte: usize| result[byte]), [0x11, 0x22, 0x33, 0x44], "{texture_type:?}");
        }
        // B5G6R5.
        assert_eq!(color(TextureType::Rgb565, 0x0033_2211), Ok(0xff33_2211));
        assert_eq!(color(TextureType::Alpha, 0x4400_0000), Ok(0x4400_0000));
        assert_eq!(color(TextureType::LumAlpha, 0x4400_0011), Ok(0x4411_1111));
        assert!(color(TextureType::Rgba64, 0).is_err());
    }
}
