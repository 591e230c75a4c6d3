//! Texels of all 18 types, in each layout that they support: the whole texture, one pixel for each texel.

use super::drawing::{View, device, draw, model};
use super::reference::{Color, etc1_block};
use qpu_shaders::{Ending, Fragment, textured, tone_mapped};
use renderer::texture::TextureType;
use renderer::{Sampler, Texture, TextureDescriptor};
use v3d::hw::control_list::Threading;

/// The fragment shader for textures of four half floats, whose result has two words: as `textured`, except for
/// ```text
/// ldtmu0
/// mov ra0, r4
/// ldtmu0
/// mov ra1, r4
/// fmul r3.8abcd, 1.0, 1.0
/// fmax r0, ra0.16a, ra0.16a
/// fmax r1, ra0.16b, ra0.16b
/// fmul r3.8a, r0, 1.0
/// fmul r3.8b, r1, 1.0
/// fmax r0, ra1.16a, ra1.16a
/// fmax r1, ra1.16b, ra1.16b
/// fmul r3.8c, r0, 1.0
/// fmul r3.8d, r1, 1.0
/// mov tlbc, r3
/// ```
const HALVES: [u64; 22] = [
    0x1000_49e0_203e_303e,
    0x1002_4821_213e_317e,
    0x1002_0867_019e_7340,
    0x1002_0e67_159e_7240,
    0x1002_0e27_159e_7000,
    0xa000_09e7_009e_7000,
    0x1002_0027_159e_7900,
    0xa000_09e7_009e_7000,
    0x1002_0067_159e_7900,
    0xe002_08e7_ffff_ffff,
    0x1202_0827_0402_7d80,
    0x1402_0867_0402_7d80,
    0xd140_49e3_209e_0007,
    0xd150_49e3_209e_000f,
    0x1202_0827_0406_7d80,
    0x1402_0867_0406_7d80,
    0xd160_49e3_209e_0007,
    0xd170_49e3_209e_000f,
    0x1002_0ba7_159e_76c0,
    0x3000_09e7_009e_7000,
    0x1000_09e7_009e_7000,
    0x5000_09e7_009e_7000,
];
const FOUR_HALVES: Fragment<tone_mapped::FragmentUniforms, 2> = Fragment::new(&HALVES, Threading::Single, Ending::Own);

/// A channel of `bits` bits, from bit `low` of `value` on, as 0 to 255.
fn channel(value: u64, low: u32, bits: u32) -> f64 {
    let most = (1u64 << bits) - 1;
    (value >> low & most) as f64 * 255.0 / most as f64
}

/// A 16-bit float.
fn half(bits: u16) -> f64 {
    let (exponent, mantissa) = (i32::from(bits >> 10 & 31), f64::from(bits & 0x3ff) / 1024.0);
    let sign = if bits >> 15 == 1 { -1.0 } else { 1.0 };
    sign * if exponent == 0 { mantissa * 2f64.powi(-14) } else { (1.0 + mantissa) * 2f64.powi(exponent - 15) }
}

/// The colour of a texel by its bits, as table 18 of the guide defines the types [AG p.42]. Integer and float samples are returned unchanged, lowest byte
/// first.
fn color(texture_type: TextureType, value: u64) -> Color {
    let four = |places: [(u32, u32); 4]| places.map(|(low, bits)| channel(value, low, bits));
    match texture_type {
        TextureType::Rgba8888 | TextureType::Rgba32R => four([(0, 8), (8, 8), (16, 8), (24, 8)]),
        TextureType::Rgbx8888 => [channel(value, 0, 8), channel(value, 8, 8), channel(value, 16, 8), 255.0],
        TextureType::Rgba4444 => four([(12, 4), (8, 4), (4, 4), (0, 4)]),
        TextureType::Rgba5551 => four([(11, 5), (6, 5), (1, 5), (0, 1)]),
        TextureType::Rgb565 => [channel(value, 11, 5), channel(value, 5, 6), channel(value, 0, 5), 255.0],
        TextureType::Luminance => [channel(value, 0, 8), channel(value, 0, 8), channel(value, 0, 8), 255.0],
        TextureType::Alpha => [0.0, 0.0, 0.0, channel(value, 0, 8)],
        TextureType::LumAlpha => four([(0, 8), (0, 8), (0, 8), (8, 8)]),
        TextureType::S8 => [channel(value, 0, 8), 0.0, 0.0, 0.0],
        TextureType::S16 | TextureType::S16F => [channel(value, 0, 8), channel(value, 8, 8), 0.0, 0.0],
        TextureType::Bw1 => [channel(value, 0, 1), channel(value, 0, 1), channel(value, 0, 1), 255.0],
        TextureType::A4 => [0.0, 0.0, 0.0, channel(value, 0, 4)],
        TextureType::A1 => [0.0, 0.0, 0.0, channel(value, 0, 1)],
        TextureType::Rgba64 => [0, 16, 32, 48].map(|low| (half((value >> low) as u16) * 255.0).clamp(0.0, 255.0)),
        other => panic!("{other:?} has no texels by themselves"),
    }
}

/// Pseudorandom numbers that depend on the seed alone.
fn noise(seed: u64) -> u64 {
    let mut z = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z ^ z >> 27
}

/// Rows of texels, and the colour of each.
fn texels(texture_type: TextureType, width: u32, height: u32) -> (Vec<u8>, Vec<Color>) {
    let (mut bytes, mut colors) = (Vec::new(), Vec::new());
    match texture_type {
        TextureType::Etc1 => {
            let (across, up) = (width.div_ceil(4), height.div_ceil(4));
            let blocks: Vec<[u8; 8]> =
                (0..across * up).map(|i| legal_block(noise(u64::from(i)).to_le_bytes())).collect();
            for (x, y) in (0..height).flat_map(|y| (0..width).map(move |x| (x, y))) {
                let block = etc1_block(blocks[(y / 4 * across + x / 4) as usize]);
                colors.push(block[(x % 4) as usize][(y % 4) as usize]);
            }
            bytes = blocks.concat();
        }
        TextureType::Yuyv422R => {
            for i in 0..u64::from(width * height / 2) {
                let [y0, u, y1, v] = (noise(i) as u32).to_le_bytes();
                bytes.extend([y0, u, y1, v]);
                colors.extend([y0, y1].map(|y| [y, u, v, 255].map(f64::from)));
            }
        }
        _ => {
            let bits = texture_type.bits_per_texel().unwrap();
            for y in 0..height {
                let mut row = vec![0u8; ((width * bits).div_ceil(8)) as usize];
                for x in 0..width {
                    let mut value = noise(u64::from(y * width + x)) & (u64::MAX >> (64 - bits));
                    match texture_type {
                        // Floats of normal size: positive, below 1, and not denormal.
                        TextureType::Rgba64 => value = value & 0x3bff_3bff_3bff_3bff | 0x0400_0400_0400_0400,
                        TextureType::S16F => value = value & 0x3bff | 0x0400,
                        _ => {}
                    }
                    for bit in 0..bits {
                        let at = x * bits + bit;
                        row[(at / 8) as usize] |= ((value >> bit & 1) as u8) << (at % 8);
                    }
                    colors.push(color(texture_type, value));
                }
                bytes.extend(row);
            }
        }
    }
    (bytes, colors)
}

/// Differences that leave the range of 5 bits are not defined: blocks that have one use the other mode.
fn legal_block(mut block: [u8; 8]) -> [u8; 8] {
    let illegal = |byte: u8| {
        let difference = i32::from(byte & 7) - if byte & 4 != 0 { 8 } else { 0 };
        !(0..32).contains(&(i32::from(byte >> 3) + difference))
    };
    if block[..3].iter().any(|&byte| illegal(byte)) {
        block[3] &= !2;
    }
    block
}

/// The hardware may widen 5 and 6 bits to 8 in different ways, with a difference of at most 1. The shader packs half floats to bytes, which rounds, as does
/// the expected value.
fn bound(texture_type: TextureType) -> f64 {
    match texture_type {
        TextureType::Rgba5551 | TextureType::Rgb565 => 1.0,
        TextureType::Rgba64 => 0.51,
        _ => 0.0,
    }
}

#[test]
fn texels_of_every_type_in_every_layout() {
    let model = model();
    let device = device(&model);
    let types = (0..18).map(TextureType::from_code).inspect(|kind| assert!(!matches!(kind, TextureType::Reserved(_))));
    for texture_type in types {
        // A few microtiles, and more than a tile of T-format in each direction; raster rows are powers of two.
        let sizes: &[(u32, u32)] = match texture_type {
            TextureType::Rgba32R | TextureType::Yuyv422R => &[(64, 9)],
            TextureType::Bw1 | TextureType::A1 => &[(45, 19), (300, 140)],
            TextureType::Etc1 => &[(18, 10), (90, 141)],
            _ => &[(19, 13), (141, 71)],
        };
        for &(width, height) in sizes {
            let (bytes, colors) = texels(texture_type, width, height);
            let descriptor = TextureDescriptor::new("texels", texture_type, width, height);
            let texture = Texture::from_pixels(&device, &descriptor, &bytes).unwrap();
            let view = View::whole(width, height);
            let pixels = if texture_type == TextureType::Rgba64 {
                // The program does not read the exposure.
                let image = texture.bind_64(&Sampler::NEAREST).unwrap();
                draw(&model, &device, &FOUR_HALVES, &tone_mapped::FragmentUniforms { image, exposure: 0.0 }, view)
            } else {
                let image = texture.bind(&Sampler::NEAREST).unwrap();
                draw(&model, &device, &textured::FRAGMENT, &textured::FragmentUniforms { image }, view)
            };
            for (i, (pixel, color)) in pixels.iter().zip(&colors).enumerate() {
                let off =
                    pixel.iter().zip(color).map(|(&is, should)| (f64::from(is) - should).abs()).fold(0.0, f64::max);
                assert!(
                    off <= bound(texture_type),
                    "{texture_type:?}, {width} x {height}, texel {i}: {pixel:?} instead of {color:?}"
                );
            }
        }
    }
}
