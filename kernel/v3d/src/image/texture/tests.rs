//! Layouts and parameter words, against those that Mesa's driver made for its own textures, and by hand.

use super::*;
use alloc::string::ToString;
use alloc::vec;
use alloc::vec::Vec;
use v3d_hw::texture::MagFilter;
use v3d_hw::tiling::Tiling;

const REPEAT: [Wrap; 2] = [Wrap::Repeat; 2];

fn sampler([wrap_s, wrap_t]: [Wrap; 2], mag: MagFilter, min: MinFilter) -> Sampler {
    Sampler { wrap_s, wrap_t, mag, min }
}

/// Words and buffers of textures in captures of Mesa's driver: name of the capture, memory of the texture, its parameters.
#[test]
fn words_are_those_of_another_driver() {
    let check = |name, layout: Result<TextureLayout, TextureError>, start: u32, end: u32, sampler, words: &[u32]| {
        let layout = layout.unwrap();
        let parameters = layout.parameters(BusAddr(start), &sampler).unwrap();
        assert_eq!(parameters.words()[..words.len()], *words, "{name}");
        assert_eq!(start + layout.bytes(), end, "{name}");
    };
    let nearest = sampler([Wrap::Clamp; 2], MagFilter::Nearest, MinFilter::Nearest);
    let trilinear = sampler(REPEAT, MagFilter::Linear, MinFilter::LinMipLin);
    let bilinear = sampler(REPEAT, MagFilter::Linear, MinFilter::LinMipNear);
    let flat = TextureLayout::two_dimensional;
    check(
        "tex_cube",
        TextureLayout::cube(TextureType::Rgba8888, 32, 1),
        0x45_1000,
        0x45_7000,
        nearest,
        &[0x0045_1200, 0x0200_2095, 0x4000_1000, 0],
    );
    check(
        "tex_mip_trilinear",
        flat(TextureType::Rgba8888, 128, 128, 8),
        0x46_2000,
        0x47_8000,
        trilinear,
        &[0x0046_8007, 0x0800_8050],
    );
    check(
        "lit_textured",
        flat(TextureType::Rgba8888, 64, 64, 7),
        0x49_7000,
        0x49_d000,
        bilinear,
        &[0x0049_9006, 0x0400_4040],
    );
    check(
        "tex_npot_clamp",
        flat(TextureType::Rgba8888, 77, 45, 1),
        0x45_1000,
        0x45_7000,
        sampler([Wrap::Clamp; 2], MagFilter::Nearest, MinFilter::Linear),
        &[0x0045_1000, 0x02d0_4d85],
    );
    check(
        "tex_etc1",
        flat(TextureType::Etc1, 64, 64, 1),
        0x45_3000,
        0x45_4000,
        sampler(REPEAT, MagFilter::Nearest, MinFilter::Nearest),
        &[0x0045_3080, 0x0408_4090],
    );
    check(
        "tex_16bit",
        flat(TextureType::Rgb565, 64, 64, 1),
        0x45_1000,
        0x45_3000,
        nearest,
        &[0x0045_1040, 0x0400_4095],
    );
}

/// 100 x 40 texels of 32 bits: level 0 is 4 x 2 tiles; the others are those of 128 x 64: 64 x 32 is 2 tiles, and the rest micro-tiles of 4 x 4.
#[test]
fn smaller_levels_are_those_of_powers_of_two() {
    let layout = TextureLayout::two_dimensional(TextureType::Rgba8888, 100, 40, 7).unwrap();
    let expected = [
        // Bytes, texels across and up, tiling.
        (8 * 4096, 100, 40, Tiling::TFormat),
        (2 * 4096, 50, 20, Tiling::TFormat),
        (8 * 4 * 64, 25, 10, Tiling::LtFormat),
        (4 * 2 * 64, 12, 5, Tiling::LtFormat),
        (2 * 64, 6, 2, Tiling::LtFormat),
        (64, 3, 1, Tiling::LtFormat),
        (64, 1, 1, Tiling::LtFormat),
    ];
    let front: u32 = expected[1..].iter().map(|row| row.0).sum();
    let base = front.next_multiple_of(4096);
    let mut end = base + expected[0].0;
    for (level, (bytes, width, height, tiling)) in expected.into_iter().enumerate() {
        let part = layout.level(0, level as u32).unwrap();
        assert_eq!((part.image.bytes(), part.image.tiling()), (bytes, tiling), "level {level}");
        assert_eq!(part.rectangle, Rectangle::whole(width, height), "level {level}");
        end -= bytes;
        assert_eq!(part.offset, end, "level {level}");
    }
    assert_eq!((layout.front_bytes(), layout.bytes()), (base, base + 8 * 4096));
}

#[test]
fn faces_of_cubes_have_their_levels_each() {
    let layout = TextureLayout::cube(TextureType::Rgba4444, 64, 2).unwrap();
    // Level 0 is 64 x 64 texels of 16 bits, 8 KiB, level 1 32 x 32, 2 KiB, directly in front of it.
    assert_eq!((layout.face_stride(), layout.bytes()), (12288, 6 * 12288));
    assert_eq!(layout.level(5, 1).unwrap().offset, 5 * 12288 + 4096 - 2048);
    assert_eq!(layout.level(6, 0).unwrap_err(), TextureError::NoFace { face: 6, faces: 6 });
    let words = layout.parameters(BusAddr(0x1000), &Sampler::LINEAR).unwrap().words();
    assert_eq!(words[2], 0x4000_3000);
    let alone = layout.parameters(BusAddr(0x1000), &Sampler::LINEAR).unwrap().bias_alone().unwrap();
    assert_eq!(alone.words()[2], 0x4000_3001);
}

#[test]
fn compressed_textures_count_blocks() {
    // 30 x 18 texels are 8 x 5 blocks of 8 bytes, and micro-tiles have 2 x 4 blocks.
    let layout = TextureLayout::two_dimensional(TextureType::Etc1, 30, 18, 3).unwrap();
    let whole = layout.level(0, 0).unwrap();
    assert_eq!((whole.rectangle, whole.bytes(), whole.image.bytes()), (Rectangle::whole(8, 5), 320, 4 * 2 * 64));
    assert_eq!(layout.level(0, 1).unwrap().rectangle, Rectangle::whole(4, 3));
    let corner = Rectangle { x_px: 8, y_px: 16, width_px: 22, height_px: 2 };
    let blocks = Rectangle { x_px: 2, y_px: 4, width_px: 6, height_px: 1 };
    assert_eq!(layout.part(0, 0, corner).unwrap().rectangle, blocks);
    for cut in [(2, 0, 4, 4), (0, 0, 6, 4), (0, 0, 4, 17)] {
        let rectangle = Rectangle { x_px: cut.0, y_px: cut.1, width_px: cut.2, height_px: cut.3 };
        assert_eq!(layout.part(0, 0, rectangle), Err(TextureError::Blocks(rectangle)));
    }
}

/// Widths 1, 2, 4, 8 and 64 were tried on a board [piegpu].
#[test]
fn rows_of_raster_textures_are_at_least_four_texels_apart() {
    for (width, pitch) in [(1, 4), (2, 4), (4, 4), (8, 8), (64, 64)] {
        let layout = TextureLayout::two_dimensional(TextureType::Rgba32R, width, 3, 1).unwrap();
        let level = layout.level(0, 0).unwrap();
        assert_eq!((level.image.width_px(), level.image.bytes()), (pitch, 3 * 4 * pitch), "width {width}");
        let texels: Vec<u8> = (0..level.bytes()).map(|n| n as u8).collect();
        let mut image = vec![0; level.image.bytes() as usize];
        level.put(&mut image[..], &texels).unwrap();
        let row = 4 * width as usize;
        for (n, expected) in texels.chunks(row).enumerate() {
            assert_eq!(&image[4 * pitch as usize * n..][..row], expected, "width {width}, row {n}");
        }
        let mut read = vec![0; texels.len()];
        level.get(&image[..], &mut read).unwrap();
        assert_eq!(read, texels);
    }
}

#[test]
fn child_images_say_where_they_are() {
    let layout = TextureLayout::two_dimensional(TextureType::Rgba8888, 2048, 64, 1).unwrap();
    let child = |x_px, y_px, width_px, height_px| {
        let child = Rectangle { x_px, y_px, width_px, height_px };
        layout.child_parameters(BusAddr(0x1000), &Sampler::NEAREST, child)
    };
    let words = child(100, 2, 300, 60).unwrap().words();
    assert_eq!(words[2..], [2 << 30 | 60 << 12 | 300, 3 << 30 | 2 << 12 | 100]);
    assert_eq!(words[1], 64 << 20 | 1 << 7 | 1 << 4, "2048 is written as 0");
    assert_eq!(child(0, 0, 2048, 64), Err(TextureError::ChildSize { width_px: 2048, height_px: 64 }));
    assert_eq!(
        child(2000, 0, 49, 64).unwrap_err().to_string(),
        "49 x 64 texels at (2000, 0) are not in 2048 x 64 texels"
    );
    assert!(child(0, 0, 0, 1).is_err());
}

/// Every limit by its name and numbers.
#[test]
fn what_the_hardware_has_not_is_refused() {
    let flat = |kind, width, height, levels| {
        TextureLayout::two_dimensional(kind, width, height, levels).unwrap_err().to_string()
    };
    let rgba = TextureType::Rgba8888;
    assert_eq!(flat(rgba, 2049, 1, 1), "a texture of 2049 x 1 texels: sides are 1 to 2048");
    assert_eq!(flat(rgba, 16, 0, 1), "a texture of 16 x 0 texels: sides are 1 to 2048");
    assert_eq!(flat(rgba, 17, 4, 6), "6 levels: a texture of this size has 1 to 5");
    assert_eq!(flat(rgba, 17, 4, 0), "0 levels: a texture of this size has 1 to 5");
    assert_eq!(flat(TextureType::Reserved(20), 4, 4, 1), "texture type 20 does not exist");
    assert_eq!(
        flat(TextureType::Rgba32R, 77, 4, 1),
        "rows of raster textures are powers of two long (HW-2898), not 77 texels"
    );
    assert_eq!(flat(TextureType::Yuyv422R, 4, 4, 1), "textures of type YUYV422R are at least 8 texels wide, not 4");
    assert_eq!(
        flat(TextureType::Yuyv422R, 64, 4, 2),
        "textures of type YUYV422R are in raster order and have one level and one face"
    );
    assert!(TextureLayout::two_dimensional(rgba, 2048, 2048, 12).is_ok());

    let refused = |layout: Result<TextureLayout, TextureError>, sampler: Sampler| {
        layout.unwrap().parameters(BusAddr(0), &sampler).unwrap_err().to_string()
    };
    let s16 = TextureLayout::two_dimensional(TextureType::S16, 16, 16, 5);
    assert_eq!(refused(s16, Sampler::LINEAR), "texture type S16 cannot be blended: its filters are nearest only");
    let blended_levels = Sampler { min: MinFilter::NearMipLin, ..Sampler::NEAREST };
    assert_eq!(refused(s16, blended_levels), "texture type S16 cannot be blended: its filters are nearest only");
    let levels = Sampler { min: MinFilter::NearMipNear, ..Sampler::NEAREST };
    assert!(s16.unwrap().parameters(BusAddr(0), &levels).is_ok());
    let border = Sampler::NEAREST.wrapped(Wrap::Border);
    assert_eq!(refused(TextureLayout::cube(rgba, 16, 1), border), "a cube map has no border");
    let hdr = TextureLayout::two_dimensional(TextureType::Rgba64, 16, 16, 1);
    assert_eq!(refused(hdr, border), "the border colour of texture type RGBA64 is not known");
    let odd = hdr.unwrap().parameters(BusAddr(0x800), &Sampler::LINEAR).unwrap_err();
    assert_eq!(odd.to_string(), "a texture cannot stand at 0x00000800: not a multiple of 4096");
    let part = hdr.unwrap().level(0, 0).unwrap();
    let bytes = part.put(&mut [0; 2048][..], &[0; 2000]).unwrap_err();
    assert_eq!(bytes.to_string(), "the texels take 2048 bytes, 2000 are given");
}
