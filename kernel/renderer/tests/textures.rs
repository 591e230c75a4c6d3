//! Textures through the renderer on the model, compared with a sampler that is written from the specification.
//!
//! The TMU's weights have 8 bits: each axis and the level of detail err by at most 1/256 of the maximum difference of the texels, and the result is rounded.
//! So filtered colours may differ by 3/255, and by 6/255 between levels, where the level of detail itself is rounded as well; nearest texels are exact.

#[path = "textures/drawing.rs"]
mod drawing;
#[path = "textures/reference.rs"]
mod reference;
#[path = "textures/types.rs"]
mod types;

use drawing::{View, device, draw, draw_varyings, model, target};
use qpu_shaders::{cube_mapped, textured, textured_border, textured_child};
use reference::{Color, Picture, Sampling, blend, cube_place, near_edge};
use renderer::shaded_vertex::ShadedVertex;
use renderer::texture::{CubeDescriptor, Face, MinFilter, TexelRectangle, TextureType, Wrap};
use renderer::{
    CubeTexture, PassDescriptor, Pipeline, PipelineDescriptor, Primitive, Sampler, Shading, Texture, TextureDescriptor,
};
use v3d::hw::tiling::Tiling;

const BLENDED: f64 = 3.0;
const BETWEEN_LEVELS: f64 = 6.0;
const WRAPS: [Wrap; 4] = [Wrap::Repeat, Wrap::Clamp, Wrap::Mirror, Wrap::Border];
const NO_BORDER: Color = [0.0; 4];

/// Colours that differ between neighbours, and between parts of a picture.
fn pattern(x: u32, y: u32) -> Color {
    let mix = |a: u32, b: u32| f64::from((x * a + y * b) % 256);
    [mix(37, 11), mix(5, 83), mix(129, 61), mix(17, 200)]
}

fn texture(device: &renderer::Device<'_, drawing::Model>, picture: &Picture) -> Texture {
    let descriptor = TextureDescriptor::new("pattern", TextureType::Rgba8888, picture.width, picture.height);
    Texture::from_pixels(device, &descriptor, &picture.rgba8888()).unwrap()
}

/// Compares a picture with the expected value of each pixel; `None` accepts any value, which is allowed for one pixel in five.
fn compare(what: &str, pixels: &[[u8; 4]], view: View, bound: f64, expected: impl Fn([f64; 2]) -> Option<Color>) {
    let mut left_out = 0;
    for ((x, y), pixel) in view.pixels().zip(pixels) {
        let Some(color) = expected(view.place(x, y)) else {
            left_out += 1;
            continue;
        };
        let worst = pixel.iter().zip(color).map(|(&is, should)| (f64::from(is) - should).abs()).fold(0.0, f64::max);
        assert!(worst <= bound, "{what}: pixel ({x}, {y}) is {pixel:?} instead of {color:?}");
    }
    assert!(5 * left_out < pixels.len(), "{what}: {left_out} of {} pixels are not compared", pixels.len());
}

/// All wrap modes in both directions, nearest and linear, in both layouts, with sides that are not powers of two.
#[test]
fn every_wrap_mode_continues_the_texture() {
    let model = model();
    let device = device(&model);
    for (width, height) in [(13, 7), (45, 38)] {
        let picture = Picture::new(width, height, pattern);
        let texture = texture(&device, &picture);
        let view = View { size: (80, 56), first: [-1.31, -0.77], extent: [3.117, 2.873] };
        for (wrap_s, wrap_t) in WRAPS.into_iter().flat_map(|s| WRAPS.map(|t| (s, t))) {
            // Combinations of two different modes are tested with the small texture only.
            if wrap_s != wrap_t && width > 13 {
                continue;
            }
            let border = [200, 100, 50, 25];
            let sampling = Sampling { wrap_s, wrap_t, border: border.map(f64::from) };
            for (sampler, linear) in [(Sampler::NEAREST, false), (Sampler::LINEAR, true)] {
                let image = texture.bind(&Sampler { wrap_s, wrap_t, ..sampler }).unwrap();
                let uniforms = textured_border::FragmentUniforms { border: texture.border(border).unwrap(), image };
                let pixels = draw(&model, &device, &textured_border::FRAGMENT, &uniforms, view);
                let what = format!("{width} x {height}, {wrap_s:?}, {wrap_t:?}, linear: {linear}");
                if linear {
                    compare(&what, &pixels, view, BLENDED, |place| Some(sampling.linear(&picture, place)));
                } else {
                    compare(&what, &pixels, view, 0.0, |place| {
                        (!near_edge(&picture, place)).then(|| sampling.nearest(&picture, place))
                    });
                }
            }
        }
    }
}

/// Levels of different colours, each filter at several scales.
#[test]
fn minification_filters_choose_and_blend_levels() {
    let model = model();
    let device = device(&model);
    let descriptor = TextureDescriptor::new("levels", TextureType::Rgba8888, 64, 64).mipmapped();
    let texture = Texture::new(&device, &descriptor).unwrap();
    let levels: Vec<Picture> = (0..7)
        .map(|level| {
            let shade = f64::from(30 * level);
            Picture::new(64 >> level, 64 >> level, |x, y| {
                [shade, 255.0 - shade, f64::from(100 + 8 * (x % 4)), f64::from(200 - 8 * (y % 4))]
            })
        })
        .collect();
    for (level, picture) in levels.iter().enumerate() {
        texture.write(&device, level as u32, None, &picture.rgba8888()).unwrap();
    }
    let sampling = Sampling { wrap_s: Wrap::Repeat, wrap_t: Wrap::Repeat, border: NO_BORDER };
    let filters = [
        (MinFilter::Nearest, false),
        (MinFilter::Linear, true),
        (MinFilter::NearMipNear, false),
        (MinFilter::NearMipLin, false),
        (MinFilter::LinMipNear, true),
        (MinFilter::LinMipLin, true),
    ];
    for texels_per_pixel in [1.7f32, 2.0, 3.1, 4.7, 11.0, 40.0] {
        let extent = texels_per_pixel * 32.0 / 64.0;
        let view = View { size: (32, 32), first: [0.0031, 0.0057], extent: [extent; 2] };
        let detail = f64::from(texels_per_pixel).log2();
        for (min, linear) in filters {
            let image = texture.bind(&Sampler { min, ..Sampler::LINEAR }).unwrap();
            let uniforms = textured::FragmentUniforms { image };
            let pixels = draw(&model, &device, &textured::FRAGMENT, &uniforms, view);
            let sample = |level: usize, place| {
                let picture = &levels[level.min(6)];
                let edge = !linear && near_edge(picture, place);
                let filtered =
                    || if linear { sampling.linear(picture, place) } else { sampling.nearest(picture, place) };
                (!edge).then(filtered)
            };
            let what = format!("{min:?}, {texels_per_pixel} texels a pixel");
            compare(&what, &pixels, view, BETWEEN_LEVELS, |place| match min {
                MinFilter::Nearest | MinFilter::Linear => sample(0, place),
                MinFilter::NearMipNear | MinFilter::LinMipNear => sample(detail.round() as usize, place),
                _ => {
                    let share = if detail >= 6.0 { 0.0 } else { detail.fract() };
                    Some(blend(sample(detail as usize, place)?, sample(detail as usize + 1, place)?, share))
                }
            });
        }
    }
}

/// Each face of a cube map over nearly all of its width.
#[test]
fn cube_maps_are_looked_up_by_direction() {
    let model = model();
    let device = device(&model);
    let size = 20;
    let descriptor =
        CubeDescriptor { label: "surroundings", texture_type: TextureType::Rgba8888, size_px: size, levels: 1 };
    let cube = CubeTexture::new(&device, &descriptor).unwrap();
    let faces: Vec<Picture> = (0..6)
        .map(|face| {
            Picture::new(size, size, |x, y| [f64::from(40 * face), f64::from(x * 12), f64::from(y * 12), 255.0])
        })
        .collect();
    for (face, picture) in Face::ALL.into_iter().zip(&faces) {
        cube.write(&device, face, 0, None, &picture.rgba8888()).unwrap();
    }
    let sampling = Sampling { wrap_s: Wrap::Clamp, wrap_t: Wrap::Clamp, border: NO_BORDER };
    let uniforms =
        cube_mapped::FragmentUniforms { surroundings: cube.bind(&Sampler::NEAREST.wrapped(Wrap::Clamp)).unwrap() };
    let target = target(&device, (48, 48), Tiling::Raster);
    for (axis, sign) in [(0, 1.0f32), (0, -1.0), (1, 1.0), (1, -1.0), (2, 1.0), (2, -1.0)] {
        // The other two components go from -0.97 to 0.97 times the first, which is 3.
        let mut vectors = [[0.0f32; 3]; 3];
        vectors[0][axis] = 3.0 * sign;
        for (vector, other) in [(1, (axis + 1) % 3), (2, (axis + 2) % 3)] {
            vectors[0][other] = -2.91;
            vectors[vector][other] = 5.82;
        }
        let [first, right, down] = vectors;
        let pixels = draw_varyings(&model, &device, &cube_mapped::FRAGMENT, &uniforms, &target, (first, right, down));
        let view = View { size: (48, 48), first: [0.0; 2], extent: [1.0; 2] };
        compare(&format!("axis {axis}, {sign}"), &pixels, view, 0.0, |[x, y]| {
            let direction =
                std::array::from_fn(|i| f64::from(first[i]) + f64::from(right[i]) * x + f64::from(down[i]) * y);
            let (face, place) = cube_place(direction);
            (!near_edge(&faces[face], place)).then(|| sampling.nearest(&faces[face], place))
        });
    }
}

#[test]
fn directions_of_a_face_are_those_that_are_looked_up_there() {
    for (number, face) in Face::ALL.into_iter().enumerate() {
        for [s, t] in [[0.0f32, 0.0], [-0.75, 0.5], [0.25, -0.9375], [0.5, 0.875]] {
            let direction = face.direction(s, t).to_array().map(f64::from);
            let place = [s, t].map(|at| (f64::from(at) + 1.0) / 2.0);
            assert_eq!(cube_place(direction), (number, place), "{face:?}");
        }
    }
}

/// A child image is wrapped at its own edges.
#[test]
fn child_images_are_textures_of_their_own() {
    let model = model();
    let device = device(&model);
    let picture = Picture::new(70, 50, pattern);
    let texture = texture(&device, &picture);
    let part = TexelRectangle { x_px: 21, y_px: 9, width_px: 33, height_px: 17 };
    let child = Picture::new(33, 17, |x, y| pattern(21 + x, 9 + y));
    for wrap in [Wrap::Repeat, Wrap::Clamp, Wrap::Mirror] {
        let image = texture.bind_child(&Sampler::NEAREST.wrapped(wrap), part).unwrap();
        let uniforms = textured_child::FragmentUniforms { image };
        let view = View { size: (64, 40), first: [-0.631, -0.477], extent: [2.117, 1.873] };
        let pixels = draw(&model, &device, &textured_child::FRAGMENT, &uniforms, view);
        let sampling = Sampling { wrap_s: wrap, wrap_t: wrap, border: NO_BORDER };
        compare(&format!("{wrap:?}"), &pixels, view, 0.0, |place| {
            (!near_edge(&child, place)).then(|| sampling.nearest(&child, place))
        });
    }
}

#[test]
fn part_of_a_level_is_written_and_read_back() {
    let model = model();
    let device = device(&model);
    let mut picture = Picture::new(75, 40, pattern);
    let texture = texture(&device, &picture);
    let patch = Picture::new(30, 11, |x, y| [f64::from(x), f64::from(y), 7.0, 9.0]);
    let rectangle = TexelRectangle { x_px: 37, y_px: 22, width_px: 30, height_px: 11 };
    texture.write(&device, 0, Some(rectangle), &patch.rgba8888()).unwrap();
    for y in 0..11 {
        for x in 0..30 {
            picture.texels[((22 + y) * 75 + 37 + x) as usize] = patch.texels[(y * 30 + x) as usize];
        }
    }
    let view = View::whole(75, 40);
    let uniforms = textured::FragmentUniforms { image: texture.bind(&Sampler::NEAREST).unwrap() };
    let pixels = draw(&model, &device, &textured::FRAGMENT, &uniforms, view);
    assert!(pixels.concat() == picture.rgba8888());
    let mut read = vec![0; 75 * 40 * 4];
    texture.read(&device, 0, None, &mut read).unwrap();
    assert!(read == picture.rgba8888());
    let mut read = vec![0; 30 * 11 * 4];
    texture.read(&device, 0, Some(rectangle), &mut read).unwrap();
    assert!(read == patch.rgba8888());
}

/// Each level that the GPU renders is the mean of 2x2 texels of the previous one.
#[test]
fn the_gpu_makes_mipmaps() {
    let model = model();
    let device = device(&model);
    let picture = Picture::new(64, 32, pattern);
    let descriptor = TextureDescriptor::new("mipmapped", TextureType::Rgba8888, 64, 32).mipmapped();
    let texture = Texture::from_pixels(&device, &descriptor, &picture.rgba8888()).unwrap();
    let mut frame = device.frame().unwrap();
    texture.generate_mipmaps(&mut frame).unwrap();
    let fence = frame.submit().unwrap();
    device.wait(fence).unwrap();
    assert_eq!(model.take_faults(), []);
    let read = |level: u32| {
        let (width, height) = texture.layout().level_size(level).unwrap();
        let mut bytes = vec![0; (4 * width * height) as usize];
        texture.read(&device, level, None, &mut bytes).unwrap();
        let texel = |x: u32, y: u32| {
            let at = 4 * (y * width + x) as usize;
            std::array::from_fn(|i| f64::from(bytes[at + i]))
        };
        Picture::new(width, height, texel)
    };
    assert!(read(0).rgba8888() == picture.rgba8888(), "level 0 stays");
    for level in 1..7 {
        let (large, small) = (read(level - 1), read(level));
        for y in 0..small.height {
            for x in 0..small.width {
                let near = |x: u32, y: u32| {
                    large.texels[(y.min(large.height - 1) * large.width + x.min(large.width - 1)) as usize]
                };
                let [a, b] = [0, 1].map(|dy| [0, 1].map(|dx| near(2 * x + dx, 2 * y + dy)));
                let is = small.texels[(y * small.width + x) as usize];
                for i in 0..4 {
                    let mean = (a[0][i] + a[1][i] + b[0][i] + b[1][i]) / 4.0;
                    assert!((is[i] - mean).abs() <= 1.5, "level {level} ({x}, {y}): {} instead of {mean}", is[i]);
                }
            }
        }
    }
}

/// A pass samples what the previous one has rendered, without a wait and without a copy.
#[test]
fn a_target_is_a_texture() {
    let model = model();
    let device = device(&model);
    for (size, tiling) in [((80, 48), Tiling::TFormat), ((16, 12), Tiling::LtFormat), ((64, 20), Tiling::Raster)] {
        let picture = Picture::new(size.0, size.1, pattern);
        let original = texture(&device, &picture);
        let middle = target(&device, size, tiling);
        let copy = Texture::of_target(&middle).unwrap();
        let last = target(&device, size, Tiling::Raster);
        let shading: Shading<'_, ShadedVertex<2>, _, 2> = Shading::PreShaded;
        let pipeline = Pipeline::new(&device, &PipelineDescriptor::new("copy", shading, &textured::FRAGMENT)).unwrap();
        let mut frame = device.frame().unwrap();
        for (from, to) in [(&original, &middle), (&copy, &last)] {
            let uniforms = textured::FragmentUniforms { image: from.bind(&Sampler::NEAREST).unwrap() };
            let vertices = drawing::rectangle(to, [0.0, 0.0], [1.0, 0.0], [0.0, 1.0]);
            let mut pass = frame.pass(&PassDescriptor::to(to).clear([0.0; 4])).unwrap();
            pass.draw_vertices(&pipeline, Primitive::TriangleStrip, &vertices, &qpu_shaders::NoUniforms, &uniforms)
                .unwrap();
        }
        let fence = frame.submit().unwrap();
        device.wait(fence).unwrap();
        assert_eq!(model.take_faults(), []);
        let mut bytes = vec![0; (4 * size.0 * size.1) as usize];
        last.read(&device, &mut bytes).unwrap();
        assert!(bytes == picture.rgba8888(), "{tiling:?}");
    }
}

/// Unsupported combinations are errors with the texture's label and values, and leak no memory.
#[test]
fn errors_name_the_texture() {
    let model = model();
    let device = device(&model);
    let used = device.pool().used();
    let wood = TextureDescriptor::new("wood", TextureType::Rgba8888, 40, 30);
    let error = Texture::from_pixels(&device, &wood, &[0; 100]).unwrap_err();
    assert_eq!(error.to_string(), "wood: the texels take 4800 bytes, 100 are given");
    let large = TextureDescriptor::new("wood", TextureType::Rgba8888, 4096, 30);
    let error = Texture::new(&device, &large).unwrap_err();
    assert_eq!(error.to_string(), "wood: a texture of 4096 x 30 texels: sides are 1 to 2048");
    let target = target(&device, (80, 48), Tiling::LtFormat);
    let error = Texture::of_target(&target).unwrap_err();
    assert_eq!(error.to_string(), "picture: its tiling is LtFormat, but a texture of its size needs TFormat");
    let etc1 = Texture::new(&device, &TextureDescriptor::new("wood", TextureType::Etc1, 40, 30)).unwrap();
    assert_eq!(etc1.target(0).unwrap_err().to_string(), "wood: passes cannot render to texels of type ETC1");
    assert_eq!(
        etc1.bind_64(&Sampler::LINEAR).unwrap_err().to_string(),
        "wood: a lookup of type ETC1 has one result, and shaders that declare `2d64` wait for two: use bind"
    );
    let light = Texture::new(&device, &TextureDescriptor::new("light", TextureType::Rgba64, 40, 30)).unwrap();
    let error =
        "light: a lookup of type RGBA64 has two results, which only shaders that declare `2d64` read: use bind_64";
    assert_eq!(light.bind(&Sampler::LINEAR).unwrap_err().to_string(), error);
    drop((target, etc1, light));
    assert_eq!(device.pool().used(), used);
}
