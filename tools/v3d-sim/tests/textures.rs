//! Textures through a TMU's registers: every type, layout, filter and wrap mode, against values computed by hand.
//!
//! The tests compute layouts by walking memory in the order of the guide's figures 13 to 15, not with the model's functions.

use v3d_hw::qpu::address_map::TmuCoordinate;
use v3d_hw::texture::{
    ChildDimensions, ChildOffsets, CubeMapStride, MagFilter, MinFilter, Parameter0, Parameter1, ParameterType,
    TextureType, Wrap,
};
use v3d_hw::{Aligned, BusAddr, Layout};
use v3d_sim::memory::OwnedMemory;
use v3d_sim::qpu::lanes::Lanes;
use v3d_sim::random::Random;
use v3d_sim::tmu::{Tmu, TmuFault};

/// The address of level 0 of all textures here; smaller levels precede it.
const BASE: u32 = 0x8000;

/// A texture and its memory.
struct Texture {
    memory: OwnedMemory,
    p0: Parameter0,
    p1: Parameter1,
    /// Parameters 2 and 3.
    more: Vec<u32>,
}

impl Texture {
    fn new(texture_type: TextureType, width: u16, height: u16) -> Self {
        let (type_low, type_high) = texture_type.split();
        let p0 = Parameter0 { base: Aligned(BusAddr(BASE)), type_low, ..Parameter0::from_word(0) };
        let p1 = Parameter1 {
            type_high,
            width,
            height,
            mag_filter: MagFilter::Nearest,
            min_filter: MinFilter::Nearest,
            wrap_s: Wrap::Clamp,
            wrap_t: Wrap::Clamp,
            ..Parameter1::from_word(0)
        };
        Self { memory: OwnedMemory::new(0x8_0000), p0, p1, more: Vec::new() }
    }

    fn linear(mut self) -> Self {
        (self.p1.mag_filter, self.p1.min_filter) = (MagFilter::Linear, MinFilter::Linear);
        self
    }

    fn wrapped(mut self, wrap: Wrap) -> Self {
        (self.p1.wrap_s, self.p1.wrap_t) = (wrap, wrap);
        self
    }

    fn bytes(self, address: u32, bytes: &[u8]) -> Self {
        self.memory.view().write(BusAddr(address), bytes).unwrap();
        self
    }

    fn words(self, address: u32, words: &[u32]) -> Self {
        let bytes: Vec<_> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        self.bytes(address, &bytes)
    }

    /// Looks up 16 positions. The coordinates r and b are used only if the texture has parameters 2 and 3.
    fn try_lookup(&self, tmu: &mut Tmu, [s, t, r, b]: [Lanes; 4]) -> Result<(), TmuFault> {
        let mut parameters = vec![self.p0.to_word().unwrap(), self.p1.to_word().unwrap()];
        parameters.extend(&self.more);
        let memory = self.memory.view();
        let mut parameters = parameters.into_iter();
        let mut write = |coordinate, value: &Lanes| {
            assert!(tmu.needs_uniform(coordinate));
            tmu.write(coordinate, value, parameters.next().unwrap(), memory)
        };
        write(TmuCoordinate::T, &t)?;
        if !self.more.is_empty() {
            write(TmuCoordinate::R, &r)?;
        }
        if self.more.len() > 1 {
            write(TmuCoordinate::B, &b)?;
        }
        write(TmuCoordinate::S, &s)
    }

    fn lookup(&self, coordinates: [Lanes; 4]) -> Lanes {
        let mut tmu = Tmu::new();
        self.try_lookup(&mut tmu, coordinates).unwrap();
        tmu.load().unwrap()
    }

    /// The result at one position; all elements have the same position, so that the texture is magnified.
    fn at(&self, s: f32, t: f32) -> u32 {
        let result = self.lookup([s, t, 0.0, 0.0].map(all));
        assert_eq!(result, Lanes::splat(result.0[0]));
        result.0[0]
    }

    /// All texels of level 0, row by row.
    fn texels(&self) -> Vec<u32> {
        let (width, height) = (u32::from(self.p1.width), u32::from(self.p1.height));
        let centre = |i: u32, size: u32| (i as f32 + 0.5) / size as f32;
        (0..height)
            .flat_map(|y| (0..width).map(move |x| (x, y)))
            .map(|(x, y)| self.at(centre(x, width), centre(y, height)))
            .collect()
    }
}

fn all(value: f32) -> Lanes {
    Lanes::splat(value.to_bits())
}

fn rgba(red: u8, green: u8, blue: u8, alpha: u8) -> u32 {
    u32::from_le_bytes([red, green, blue, alpha])
}

/// One texel of each uncompressed type: its bytes in memory, and its colour by the definition of its channels.
#[test]
fn texels_of_every_type_have_their_colours() {
    let table: &[(TextureType, &[u8], u32)] = &[
        (TextureType::Rgba8888, &[1, 2, 3, 4], rgba(1, 2, 3, 4)),
        (TextureType::Rgbx8888, &[1, 2, 3, 4], rgba(1, 2, 3, 255)),
        (TextureType::Rgba32R, &[1, 2, 3, 4], rgba(1, 2, 3, 4)),
        // 0xf1a5: 15/15, 1/15, 10/15, 5/15.
        (TextureType::Rgba4444, &[0xa5, 0xf1], rgba(255, 17, 170, 85)),
        // 11110 00001 10000 1: 30/31 = 246.8, 1/31 = 8.2, 16/31 = 131.6.
        (TextureType::Rgba5551, &[0b0110_0001, 0b1111_0000], rgba(247, 8, 132, 255)),
        (TextureType::Rgba5551, &[0b0110_0000, 0b1111_0000], rgba(247, 8, 132, 0)),
        // 11110 000001 10000: 1/63 = 4.05.
        (TextureType::Rgb565, &[0b0011_0000, 0b1111_0000], rgba(247, 4, 132, 255)),
        (TextureType::Luminance, &[77], rgba(77, 77, 77, 255)),
        (TextureType::Alpha, &[77], rgba(0, 0, 0, 77)),
        (TextureType::LumAlpha, &[77, 88], rgba(77, 77, 77, 88)),
        (TextureType::S8, &[0x9c], 0x9c),
        (TextureType::S16, &[0x34, 0xf2], 0xf234),
        // 1.5 as a half.
        (TextureType::S16F, &[0x00, 0x3e], 0x3e00),
        (TextureType::Bw1, &[1], rgba(255, 255, 255, 255)),
        (TextureType::Bw1, &[0xfe], rgba(0, 0, 0, 255)),
        (TextureType::A1, &[1], rgba(0, 0, 0, 255)),
        (TextureType::A1, &[0xfe], 0),
        (TextureType::A4, &[0xf3], rgba(0, 0, 0, 51)),
    ];
    for &(texture_type, bytes, color) in table {
        let texture = Texture::new(texture_type, 4, 4).bytes(BASE, bytes);
        let result = texture.at(0.01, 0.01);
        assert_eq!(result, color, "{texture_type:?} {bytes:x?}: {result:#010x} instead of {color:#010x}");
    }
}

#[test]
fn one_and_four_bit_texels_follow_each_other_upwards() {
    let bits = Texture::new(TextureType::A1, 32, 16).bytes(BASE, &[0b0000_0101, 0x80]);
    let row: Vec<_> = bits.texels()[..16].iter().map(|texel| texel >> 24).collect();
    assert_eq!(row, [255, 0, 255, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255]);
    let nibbles = Texture::new(TextureType::A4, 16, 8).bytes(BASE, &[0x21, 0x43]);
    let row: Vec<_> = nibbles.texels()[..4].iter().map(|texel| texel >> 24).collect();
    assert_eq!(row, [0x11, 0x22, 0x33, 0x44]);
}

#[test]
fn yuyv_has_two_texels_in_a_word() {
    let texture = Texture::new(TextureType::Yuyv422R, 4, 1).bytes(BASE, &[10, 20, 30, 40, 50, 60, 70, 80]);
    assert_eq!(
        texture.texels(),
        [rgba(10, 20, 40, 255), rgba(30, 20, 40, 255), rgba(50, 60, 80, 255), rgba(70, 60, 80, 255)]
    );
}

#[test]
fn rgba64_takes_two_loads() {
    // 1.0, 2.0, -0.5, infinity.
    let texture = Texture::new(TextureType::Rgba64, 2, 4).words(BASE, &[0x4000_3c00, 0x7c00_b800]);
    let mut tmu = Tmu::new();
    texture.try_lookup(&mut tmu, [0.1, 0.1, 0.0, 0.0].map(all)).unwrap();
    assert_eq!(tmu.load(), Ok(Lanes::splat(0x4000_3c00)));
    assert_eq!(tmu.load(), Ok(Lanes::splat(0x7c00_b800)));
    assert_eq!(tmu.load(), Err(TmuFault::ReceiveFifoEmpty));
}

/// The example of the extension's specification: a block in differential mode whose halves are grey 8 and 11 of 31, with table 0; each texel adds 2, 8, -2 or
/// -8.
#[test]
fn etc1_blocks_are_read_and_flipped() {
    // Bytes as in a KTX file, most significant first: R 8 + 3, G 8 + 3, B 8 + 3, tables 0 and 0, differential, no flip.
    // Texel (0, 0) has index 3 (-8), (0, 3) index 1 (+8); all others index 0 (+2).
    let colors = [8 << 3 | 3, 8 << 3 | 3, 8 << 3 | 3, 0b10];
    let msb = 1u16;
    let lsb = 1u16 | 1 << 3;
    let block: Vec<u8> = colors.into_iter().chain(msb.to_be_bytes()).chain(lsb.to_be_bytes()).collect();
    let grey = |value: u8| rgba(value, value, value, 255);
    // 8 of 31 is 66, 11 of 31 is 90 after repetition of the highest bits.
    let mut texture = Texture::new(TextureType::Etc1, 4, 4).bytes(BASE, &block);
    texture.p1.etc_flip = true;
    let texels = texture.texels();
    assert_eq!(texels[..4], [grey(58), grey(68), grey(92), grey(92)]);
    assert_eq!([texels[4], texels[8], texels[12]], [grey(68), grey(68), grey(74)]);
    texture.p1.etc_flip = false;
    let texels = texture.texels();
    assert_eq!([texels[0], texels[4], texels[8], texels[12]], [grey(74), grey(68), grey(68), grey(58)]);
}

/// Coordinates of all pixels of a T-format image in the order of memory, as figures 14 and 15 walk through it.
fn t_format_walk(tiles_x: u32, tiles_y: u32, micro: (u32, u32)) -> Vec<(u32, u32)> {
    let mut walk = Vec::new();
    for tile_y in 0..tiles_y {
        let even = tile_y % 2 == 0;
        for i in 0..tiles_x {
            let tile_x = if even { i } else { tiles_x - 1 - i };
            let sub_tiles = if even { [(0, 0), (0, 1), (1, 1), (1, 0)] } else { [(1, 1), (1, 0), (0, 0), (0, 1)] };
            for (sub_x, sub_y) in sub_tiles {
                for micro_tile in 0..16 {
                    for pixel in 0..micro.0 * micro.1 {
                        let x = ((tile_x * 2 + sub_x) * 4 + micro_tile % 4) * micro.0 + pixel % micro.0;
                        let y = ((tile_y * 2 + sub_y) * 4 + micro_tile / 4) * micro.1 + pixel / micro.0;
                        walk.push((x, y));
                    }
                }
            }
        }
    }
    walk
}

#[test]
fn large_levels_are_t_format() {
    // 70 texels are three tiles of 32; 40 texels two.
    let mut texture = Texture::new(TextureType::Rgba8888, 70, 40);
    for (i, (x, y)) in t_format_walk(3, 2, (4, 4)).into_iter().enumerate() {
        texture = texture.words(BASE + 4 * i as u32, &[y << 16 | x]);
    }
    for (i, texel) in texture.texels().into_iter().enumerate() {
        assert_eq!((texel & 0xffff, texel >> 16), (i as u32 % 70, i as u32 / 70));
    }
    // 16 bits: micro-tiles of 8x4, tiles of 64x32.
    let mut texture = Texture::new(TextureType::S16, 128, 64);
    for (i, (x, y)) in t_format_walk(2, 2, (8, 4)).into_iter().enumerate() {
        texture = texture.bytes(BASE + 2 * i as u32, &[x as u8, y as u8]);
    }
    for (i, texel) in texture.texels().into_iter().enumerate() {
        assert_eq!((texel & 0xff, texel >> 8), (i as u32 % 128, i as u32 / 128));
    }
}

#[test]
fn small_levels_are_lt_format() {
    // 10x9 texels of 32 bits: three micro-tiles across.
    let mut texture = Texture::new(TextureType::Rgba8888, 10, 9);
    let mut at = BASE;
    for micro_tile in 0..9 {
        for pixel in 0..16 {
            let (x, y) = (micro_tile % 3 * 4 + pixel % 4, micro_tile / 3 * 4 + pixel / 4);
            texture = texture.words(at, &[y << 16 | x]);
            at += 4;
        }
    }
    for (i, texel) in texture.texels().into_iter().enumerate() {
        assert_eq!((texel & 0xffff, texel >> 16), (i as u32 % 10, i as u32 / 10));
    }
}

/// 64x64 texels of 32 bits and six smaller levels, each filled with one colour: its number.
fn mipmapped() -> Texture {
    let mut texture = Texture::new(TextureType::Rgba8888, 64, 64);
    texture.p0.mip_levels_minus_1 = 6;
    let mut end = BASE;
    let mut put = |texture: Texture, number: u32, bytes: u32| {
        if number > 0 {
            end -= bytes;
        }
        texture.words(end, &vec![10 * number; bytes as usize / 4])
    };
    // 64: 4 tiles. 32: a tile. 16, 8, 4: micro-tiles of 4x4. 2, 1: a micro-tile each.
    for (number, bytes) in [(0, 4 * 4096), (1, 4096), (2, 1024), (3, 256), (4, 64), (5, 64), (6, 64)] {
        texture = put(texture, number, bytes);
    }
    texture
}

/// Coordinates of quads whose pixels are `step` texels apart, for a width of 64 texels.
fn quads(step: f32) -> [Lanes; 4] {
    let s = Lanes::from_f32(std::array::from_fn(|i| 0.25 + (i % 2) as f32 * step / 64.0));
    let t = Lanes::from_f32(std::array::from_fn(|i| 0.25 + (i / 2 % 2) as f32 * step / 64.0));
    [s, t, all(0.0), all(0.0)]
}

#[test]
fn smaller_levels_stand_in_front() {
    let mut texture = mipmapped();
    texture.p1.min_filter = MinFilter::NearMipNear;
    for number in 0..7 {
        assert_eq!(texture.lookup(quads((1 << number) as f32)), Lanes::splat(10 * number), "level {number}");
    }
    // No level is smaller than the smallest.
    assert_eq!(texture.lookup(quads(500.0)), Lanes::splat(60));
    texture.p0.mip_levels_minus_1 = 2;
    assert_eq!(texture.lookup(quads(64.0)), Lanes::splat(20));
}

#[test]
fn levels_are_blended_by_the_fraction() {
    let mut texture = mipmapped();
    texture.p1.min_filter = MinFilter::LinMipLin;
    // log2(2 sqrt(2)) = 1.5.
    assert_eq!(texture.lookup(quads(8f32.sqrt())), Lanes::splat(15));
    texture.p1.min_filter = MinFilter::NearMipLin;
    assert_eq!(texture.lookup(quads(8f32.sqrt())), Lanes::splat(15));
    texture.p1.min_filter = MinFilter::LinMipNear;
    assert_eq!(texture.lookup(quads(2f32.powf(1.4))), Lanes::splat(10));
    assert_eq!(texture.lookup(quads(2f32.powf(1.6))), Lanes::splat(20));
    texture.p1.min_filter = MinFilter::Linear;
    assert_eq!(texture.lookup(quads(8.0)), Lanes::splat(0));
}

/// Changes of more than the texture's 64 texels count as 64.
#[test]
fn an_axis_changes_by_the_whole_texture_at_most() {
    let mut texture = mipmapped();
    texture.p1.min_filter = MinFilter::LinMipLin;
    let [flat, ..] = quads(0.0);
    let [steep, ..] = quads(320.0);
    let [_, steep_along_y, ..] = quads(-64.5);
    // With a bias: a change of 64 texels is level 6, minus 5 or 4. Without the limit, 320 texels would be level 8.3.
    texture.more = vec![0, 0];
    assert_eq!(texture.lookup([steep, flat, all(0.0), all(-5.0)]), Lanes::splat(10));
    assert_eq!(texture.lookup([flat, steep_along_y, all(0.0), all(-4.0)]), Lanes::splat(20));
}

/// A step of 2^0.3 texels: if magnification is linear and minification nearest, levels up to 0.5 count as magnification.
#[test]
fn magnification_ends_at_half_a_level_over_nearest_mipmaps() {
    let mut texture = mipmapped();
    let mut blend = |mag, min, lod: f32| {
        (texture.p1.mag_filter, texture.p1.min_filter) = (mag, min);
        texture.lookup(quads(2f32.powf(lod))).0[0]
    };
    assert_eq!(blend(MagFilter::Linear, MinFilter::NearMipLin, 0.3), 0);
    assert_eq!(blend(MagFilter::Linear, MinFilter::NearMipLin, 0.6), 6);
    assert_eq!(blend(MagFilter::Nearest, MinFilter::NearMipLin, 0.3), 3);
    assert_eq!(blend(MagFilter::Linear, MinFilter::LinMipLin, 0.3), 3);
}

#[test]
fn the_bias_is_added_or_stands_alone() {
    let mut texture = mipmapped();
    texture.p1.min_filter = MinFilter::NearMipNear;
    // A bias without parameters 2 and 3 of any kind.
    texture.more = vec![0, 0];
    let [s, t, r, _] = quads(4.0);
    assert_eq!(texture.lookup([s, t, r, all(1.0)]), Lanes::splat(30));
    assert_eq!(texture.lookup([s, t, r, all(-1.0)]), Lanes::splat(10));
    let alone = CubeMapStride { ptype: ParameterType::CubeMapStride, disable_lod: true, ..CubeMapStride::from_word(0) };
    texture.more[0] = alone.to_word().unwrap();
    let bias = Lanes::from_f32(std::array::from_fn(|i| (i % 7) as f32));
    let expected = Lanes(std::array::from_fn(|i| 10 * (i as u32 % 7)));
    assert_eq!(texture.lookup([s, t, r, bias]), expected);
}

#[test]
fn mipmaps_of_other_sizes_are_padded_to_powers_of_two() {
    // 48x40 texels: level 1 is 24x20 in a container of 32x32, a tile; level 2 is 12x10 in one of 16x16.
    let mut texture = Texture::new(TextureType::Rgba8888, 48, 40);
    texture.p0.mip_levels_minus_1 = 2;
    texture.p1.min_filter = MinFilter::NearMipNear;
    let texture = texture.words(BASE - 4096, &[1; 1024]).words(BASE - 4096 - 1024, &[2; 256]);
    let place = |step: f32| {
        let s = Lanes::from_f32(std::array::from_fn(|i| (i % 2) as f32 * step / 48.0));
        [s, all(0.0), all(0.0), all(0.0)]
    };
    assert_eq!(texture.lookup(place(2.0)), Lanes::splat(1));
    assert_eq!(texture.lookup(place(4.0)), Lanes::splat(2));
}

/// Four texels in a row: 0, 100, 200, 40.
fn row_of_four() -> Texture {
    Texture::new(TextureType::Luminance, 4, 1).bytes(BASE, &[0, 100, 200, 40])
}

#[test]
fn linear_filters_blend_from_centre_to_centre() {
    let texture = row_of_four().linear();
    let red = |s: f32| texture.at(s, 0.5) & 0xff;
    assert_eq!(red(1.5 / 4.0), 100);
    assert_eq!(red(2.0 / 4.0), 150);
    assert_eq!(red(2.25 / 4.0), 175);
    assert_eq!(red(0.0), 0);
    assert_eq!(red(1.0), 40);
    let tall = Texture::new(TextureType::Luminance, 1, 2).linear().bytes(BASE, &[10, 0, 0, 0, 0, 0, 0, 0, 50]);
    assert_eq!(tall.at(0.5, 0.5) & 0xff, 30);
}

#[test]
fn wrap_modes_go_on_beyond_the_edges() {
    let row = |wrap| {
        let texture = row_of_four().wrapped(wrap);
        (-5..9).map(|x| texture.at((x as f32 + 0.5) / 4.0, 0.5) & 0xff).collect::<Vec<_>>()
    };
    assert_eq!(row(Wrap::Repeat), [40, 0, 100, 200, 40, 0, 100, 200, 40, 0, 100, 200, 40, 0]);
    assert_eq!(row(Wrap::Clamp), [0, 0, 0, 0, 0, 0, 100, 200, 40, 40, 40, 40, 40, 40]);
    assert_eq!(row(Wrap::Mirror), [40, 40, 200, 100, 0, 0, 100, 200, 40, 40, 200, 100, 0, 0]);
    assert_eq!(row_of_four().linear().wrapped(Wrap::Repeat).at(0.0, 0.5) & 0xff, 20);
}

#[test]
fn the_border_colour_comes_with_r() {
    let mut texture = Texture::new(TextureType::Rgba8888, 4, 4).wrapped(Wrap::Border);
    texture.more = vec![0];
    let texture = texture.words(BASE, &[0x0101_0101; 16]);
    let outside = [all(-1.0), all(0.5), Lanes(std::array::from_fn(|i| if i == 0 { 0x8040_2010 } else { 7 })), all(0.0)];
    assert_eq!(texture.lookup(outside), Lanes::splat(0x8040_2010));
    let [_, t, r, b] = outside;
    assert_eq!(texture.lookup([all(0.5), t, r, b]), Lanes::splat(0x0101_0101));
}

#[test]
fn cube_maps_have_six_faces() {
    let mut texture = Texture::new(TextureType::Rgba8888, 4, 4);
    texture.p0.cube_map = true;
    let stride =
        CubeMapStride { ptype: ParameterType::CubeMapStride, stride: Aligned(BusAddr(0x1000)), disable_lod: false };
    texture.more = vec![stride.to_word().unwrap()];
    for face in 0..6 {
        texture = texture.words(BASE + 0x1000 * face, &[face + 1; 16]);
    }
    let directions =
        [[1.0, 0.0, 0.0], [-1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, -1.0, 0.0], [0.0, 0.0, 1.0], [0.0, 0.0, -1.0]];
    for (face, [x, y, z]) in directions.into_iter().enumerate() {
        assert_eq!(texture.lookup([all(x), all(y), all(z), all(0.0)]), Lanes::splat(face as u32 + 1));
    }
    let mut tmu = Tmu::new();
    let half = texture.try_lookup(&mut tmu, [0.5, 0.25, 0.0, 0.0].map(all));
    assert_eq!(half, Err(TmuFault::CubeMapDirection));
    texture.more = vec![0];
    assert_eq!(texture.try_lookup(&mut tmu, [1.0, 0.0, 0.0, 0.0].map(all)), Err(TmuFault::NoCubeMapStride));
}

#[test]
fn a_child_image_is_a_window() {
    let mut texture = Texture::new(TextureType::Luminance, 8, 8).wrapped(Wrap::Repeat);
    let texels: Vec<u8> = (0..64).collect();
    texture = texture.bytes(BASE, &texels);
    let size = ChildDimensions { ptype: ParameterType::ChildDimensions, width: 2, height: 3 };
    let offset = ChildOffsets { ptype: ParameterType::ChildOffsets, x: 4, y: 1 };
    texture.more = vec![size.to_word().unwrap(), offset.to_word().unwrap()];
    let red = |s: f32, t: f32| texture.at(s, t) & 0xff;
    assert_eq!(red(0.25, 0.1), 8 + 4);
    assert_eq!(red(0.75, 0.9), 3 * 8 + 5);
    // The texture repeats.
    assert_eq!(red(1.25, 1.1), 8 + 4);
    texture.more = vec![size.to_word().unwrap(), 0];
    let mut tmu = Tmu::new();
    assert_eq!(texture.try_lookup(&mut tmu, quads(0.0)), Err(TmuFault::ChildIncomplete));
}

#[test]
fn flip_y_reads_the_last_row_first() {
    let mut texture = Texture::new(TextureType::Luminance, 8, 8);
    texture.p0.flip_y = true;
    let texels: Vec<u8> = (0..64).collect();
    let texels: Vec<_> = texture.bytes(BASE, &texels).texels().into_iter().map(|texel| texel & 0xff).collect();
    assert_eq!(texels[..3], [56, 57, 58]);
    assert_eq!(texels[63], 7);
}

#[test]
fn s_alone_is_an_address() {
    let texture = Texture::new(TextureType::S8, 1, 1).words(0x100, &[11, 22, 33]);
    let mut tmu = Tmu::new();
    assert!(!tmu.needs_uniform(TmuCoordinate::S));
    // The two lowest bits and the alias are ignored.
    let addresses = Lanes(std::array::from_fn(|i| [0x100, 0x107, 0xc000_0108][i % 3]));
    tmu.write(TmuCoordinate::S, &addresses, 0, texture.memory.view()).unwrap();
    assert_eq!(tmu.load().unwrap().0[..4], [11, 22, 33, 11]);
    let outside = tmu.write(TmuCoordinate::S, &Lanes::splat(0x3000_0000), 0, texture.memory.view());
    assert!(matches!(outside, Err(TmuFault::Memory(_))));
    assert_eq!(tmu.load(), Ok(Lanes::splat(0)));
}

#[test]
fn fifos_overflow() {
    let texture = Texture::new(TextureType::Rgba8888, 4, 4);
    let mut tmu = Tmu::new();
    for _ in 0..4 {
        texture.try_lookup(&mut tmu, quads(0.0)).unwrap();
    }
    assert_eq!(texture.try_lookup(&mut tmu, quads(0.0)), Err(TmuFault::FifoOverflow { used: 10, slots: 8 }));
    for _ in 0..5 {
        tmu.load().unwrap();
    }
    assert_eq!(tmu.load(), Err(TmuFault::ReceiveFifoEmpty));
    // Memory lookups take one slot each.
    let memory = texture.memory.view();
    for _ in 0..8 {
        tmu.write(TmuCoordinate::S, &Lanes::splat(0), 0, memory).unwrap();
    }
    assert_eq!(
        tmu.write(TmuCoordinate::S, &Lanes::splat(0), 0, memory),
        Err(TmuFault::FifoOverflow { used: 9, slots: 8 })
    );
}

/// Widths 1, 2, 4, 8 and 64 were tried on a board [piegpu].
#[test]
fn rows_of_raster_textures_are_at_least_four_texels_apart() {
    for width in [1u16, 2, 4, 8, 64] {
        let pitch = u32::from(width.max(4));
        let mut texture = Texture::new(TextureType::Rgba32R, width, 8);
        for row in 0..8 {
            for column in 0..u32::from(width) {
                texture = texture.bytes(BASE + 4 * (row * pitch + column), &(100 * row + column).to_le_bytes());
            }
        }
        for row in 0..8 {
            let last = width - 1;
            let s = all((f32::from(last) + 0.5) / f32::from(width));
            let t = all((row as f32 + 0.5) / 8.0);
            let found = texture.lookup([s, t, all(0.0), all(0.0)]);
            assert_eq!(found, Lanes::splat(100 * row + u32::from(last)), "width {width}, row {row}");
        }
    }
    // Nobody has tried that with the other raster type.
    let fault = |texture: &Texture| texture.try_lookup(&mut Tmu::new(), quads(1.0));
    assert_eq!(fault(&Texture::new(TextureType::Yuyv422R, 4, 4)), Err(TmuFault::YuyvRow(4)));
    assert_eq!(fault(&Texture::new(TextureType::Yuyv422R, 4, 1)), Ok(()));
    assert_eq!(fault(&Texture::new(TextureType::Yuyv422R, 8, 4)), Ok(()));
}

#[test]
fn misuse_has_a_name() {
    let fault = |texture: &Texture| texture.try_lookup(&mut Tmu::new(), quads(1.0)).unwrap_err();
    let mut reserved = Texture::new(TextureType::Rgba8888, 4, 4);
    (reserved.p0.type_low, reserved.p1.type_high) = TextureType::Reserved(20).split();
    assert_eq!(fault(&reserved), TmuFault::ReservedType(20));
    assert_eq!(fault(&Texture::new(TextureType::S16, 4, 4).linear()), TmuFault::NotBlendable);
    assert_eq!(fault(&Texture::new(TextureType::Rgba32R, 5, 4)), TmuFault::RasterWidth(5));
    let halves = Texture::new(TextureType::S16F, 4, 4).linear().bytes(BASE, &0xbc00u16.to_le_bytes().repeat(32));
    assert_eq!(fault(&halves), TmuFault::NegativePowerOfTwo);
    let mut twice = Tmu::new();
    let memory = halves.memory.view();
    twice.write(TmuCoordinate::T, &all(0.0), 0, memory).unwrap();
    assert_eq!(twice.write(TmuCoordinate::T, &all(0.0), 0, memory), Err(TmuFault::CoordinateTwice(TmuCoordinate::T)));
}

#[test]
fn halves_are_blended_as_numbers() {
    // 1.0 and 3.0: halfway between them is 2.0.
    let texture = Texture::new(TextureType::S16F, 2, 1).linear().words(BASE, &[0x4200_3c00]);
    assert_eq!(texture.at(0.5, 0.5), 0x4000);
}

/// The texel at (x, y), also beyond the image's edges, as OpenGL ES 2 section 3.7.7 defines it.
fn wrapped_texel(texels: &[u32], width: i64, height: i64, wrap: Wrap, x: i64, y: i64) -> u32 {
    let within = |position: i64, size: i64| match wrap {
        Wrap::Repeat => position - size * (position as f64 / size as f64).floor() as i64,
        Wrap::Mirror => {
            let period = (position as f64 / size as f64).floor() as i64;
            let repeated = position - size * period;
            if period % 2 == 0 { repeated } else { size - 1 - repeated }
        }
        _ => position.max(0).min(size - 1),
    };
    texels[(within(y, height) * width + within(x, width)) as usize]
}

/// Random images of random sizes at random positions, against OpenGL's equation for linear filters in double precision.
#[test]
fn linear_filters_agree_with_the_equation() {
    let mut generator = Random::new(0, 1);
    let mut random = |limit: u32| generator.below(limit);
    for case in 0..60 {
        let (width, height) = (1 + random(80), 1 + random(80));
        let wrap = [Wrap::Repeat, Wrap::Clamp, Wrap::Mirror][random(3) as usize];
        let types = [TextureType::Rgba8888, TextureType::Rgb565, TextureType::LumAlpha, TextureType::Rgba4444];
        let texture_type = types[random(4) as usize];
        let bytes: Vec<u8> = (0..0x1_0000).map(|_| random(256) as u8).collect();
        let texture = Texture::new(texture_type, width as u16, height as u16).bytes(BASE, &bytes);
        let texels = texture.texels();
        let texture = texture.linear().wrapped(wrap);
        for _ in 0..10 {
            let mut place = || random(1 << 20) as f32 / (1 << 18) as f32 - 2.0;
            let s = Lanes::from_f32(std::array::from_fn(|_| place()));
            let t = Lanes::from_f32(std::array::from_fn(|_| place()));
            let result = texture.lookup([s, t, all(0.0), all(0.0)]);
            for lane in 0..16 {
                let position = |c: f32, size: u32| f64::from(c) * f64::from(size) - 0.5;
                let (x, y) = (position(s.to_f32()[lane], width), position(t.to_f32()[lane], height));
                let (left, lower) = (x.floor(), y.floor());
                let (right_share, upper_share) = (x - left, y - lower);
                let channel = |word: u32, channel: usize| f64::from(word.to_le_bytes()[channel]);
                for i in 0..4 {
                    let at = |dx: i64, dy: i64| {
                        let (x, y) = (left as i64 + dx, lower as i64 + dy);
                        channel(wrapped_texel(&texels, width.into(), height.into(), wrap, x, y), i)
                    };
                    let row = |dy| at(0, dy) * (1.0 - right_share) + at(1, dy) * right_share;
                    let expected = row(0) * (1.0 - upper_share) + row(1) * upper_share;
                    let found = channel(result.0[lane], i);
                    // Two 8-bit weights, each up to 1/256 too small, of differences up to 255.
                    assert!(
                        (found - expected).abs() <= 2.5,
                        "case {case}: {texture_type:?} {width}x{height} {wrap:?} at {x}, {y}: {found} instead of {expected}"
                    );
                }
            }
        }
    }
}
