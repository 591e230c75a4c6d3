//! Prepared draws: the same pictures as other draws, and the same errors.

use qpu_shaders::{NoUniforms, smooth, textured_lit, transformed};
use renderer::glam::{Mat4, Vec3};
use renderer::{
    Depth, Error, Mesh, PassDescriptor, Pipeline, PipelineDescriptor, PreparedDraw, Primitive, Rectangle, Sampler,
    Samples, Target, Texture, TextureDescriptor, rows,
};
use shader_interface::{Fragment, UniformData, UniformStream};
use v3d::hw::control_list::Threading;
use v3d::hw::texture::TextureType;
use v3d::hw::tiling::Tiling;

use crate::scene::{CLEAR, Model, Picture, Random, bands, device, model};

const SIDE: u32 = 100;
/// Draws of a picture.
const DRAWS: usize = 120;

type Device<'m> = renderer::Device<'m, Model>;

/// Two pipelines of each of two kinds of vertices, and a mesh that needs two records.
struct Things {
    colors: [Pipeline<transformed::Vertex, transformed::Uniforms, NoUniforms>; 2],
    triangle: Mesh<transformed::Vertex>,
    long: Mesh<transformed::Vertex>,
    lit: Pipeline<textured_lit::Vertex, textured_lit::Uniforms, textured_lit::FragmentUniforms>,
    square: Mesh<textured_lit::Vertex>,
    images: [textured_lit::FragmentUniforms; 2],
}

fn image(device: &Device<'_>, label: &'static str, color: [u8; 4]) -> textured_lit::FragmentUniforms {
    let pixels: Vec<u8> = (0..64u8).flat_map(|n| color.map(|channel| channel ^ (4 * n))).collect();
    let descriptor = TextureDescriptor::new(label, TextureType::Rgba8888, 8, 8);
    let texture = Texture::from_pixels(device, &descriptor, &pixels).unwrap();
    textured_lit::FragmentUniforms { image: texture.bind(&Sampler::NEAREST).unwrap() }
}

impl Things {
    fn new(device: &Device<'_>) -> Self {
        let corner = |[x, y]: [f32; 2], color| transformed::Vertex { position: [x, y, 0.0], color };
        let triangle = [
            corner([-1.0, -1.0], [1.0, 0.0, 0.2]),
            corner([1.0, -0.5], [0.0, 1.0, 0.4]),
            corner([0.0, 1.0], [0.3, 0.6, 1.0]),
        ];
        let long: Vec<_> =
            bands(11_000).into_iter().map(|(place, n)| corner(place, [n as f32 / 11e3, 0.5, 0.1])).collect();
        let square = [[-1.0, -1.0], [1.0, -1.0], [-1.0, 1.0], [1.0, 1.0]].map(|[x, y]: [f32; 2]| {
            textured_lit::Vertex { position: [x, y, 0.1], normal: [0.0, 0.0, 1.0], uv: [0.5 + 0.5 * x, 0.5 + 0.5 * y] }
        });
        let plain = PipelineDescriptor::new("colours", &transformed::SHADING, &smooth::FRAGMENT);
        let deep = PipelineDescriptor { depth: Depth::LESS, ..plain };
        let lit = PipelineDescriptor::new("lit", &textured_lit::SHADING, &textured_lit::FRAGMENT);
        Self {
            colors: [plain, deep].map(|descriptor| Pipeline::new(device, &descriptor).unwrap()),
            triangle: Mesh::new(device, "triangle", Primitive::Triangles, &triangle).unwrap(),
            long: Mesh::new(device, "long", Primitive::Triangles, &long).unwrap(),
            lit: Pipeline::new(device, &PipelineDescriptor { depth: Depth::LESS, ..lit }).unwrap(),
            square: Mesh::new(device, "square", Primitive::TriangleStrip, &square).unwrap(),
            images: [image(device, "warm", [250, 200, 90, 255]), image(device, "cold", [60, 90, 220, 255])],
        }
    }
}

/// What one draw draws.
#[derive(Clone, Copy, Debug)]
enum Kind {
    Triangle(usize),
    Long,
    Square(usize),
}

/// A small matrix at a random place.
fn matrix(random: &mut Random) -> Mat4 {
    let mut unit = || random.bits() as f32 / (1 << 24) as f32;
    let place = Vec3::new(2.0 * unit() - 1.0, 2.0 * unit() - 1.0, 1.6 * unit() - 0.8);
    Mat4::from_translation(place)
        * Mat4::from_rotation_z(6.0 * unit())
        * Mat4::from_scale(Vec3::splat(0.1 + 0.2 * unit()))
}

/// A picture of random draws with random scissors, of which some are prepared.
fn picture(model: &Model, seed: u64, is_prepared: impl Fn(usize) -> bool) -> Picture {
    let device = device(model);
    let things = Things::new(&device);
    let prepared = Things::new(&device);
    let triangles =
        [0, 1].map(|n| PreparedDraw::new(&device, &prepared.colors[n], &prepared.triangle, &NoUniforms).unwrap());
    let long = PreparedDraw::new(&device, &prepared.colors[0], &prepared.long, &NoUniforms).unwrap();
    let squares =
        [0, 1].map(|n| PreparedDraw::new(&device, &prepared.lit, &prepared.square, &prepared.images[n]).unwrap());
    // A prepared draw holds what it needs.
    drop(prepared);
    let mut random = Random::new(seed);
    Picture::draw(model, &device, (SIDE, SIDE), |pass| {
        for n in 0..DRAWS {
            let kind = match (random.bits() % 8, n % 50) {
                (_, 7) => Kind::Long,
                (0..2, _) => Kind::Triangle(0),
                (2..4, _) => Kind::Triangle(1),
                (4..7, _) => Kind::Square(0),
                _ => Kind::Square(1),
            };
            if random.bits().is_multiple_of(9) {
                let [x_px, y_px, width_px] = [0; 3].map(|_: u32| (random.bits() % 64) as u16);
                let scissor = Rectangle { x_px, y_px, width_px: 2 * width_px, height_px: 90 };
                pass.set_scissor((n % 3 != 0).then_some(scissor));
            }
            let matrix = rows(&matrix(&mut random));
            let colors = transformed::Uniforms { matrix };
            let lit = textured_lit::Uniforms { matrix, to_light: [0.0, 0.3, 0.6], ambient: 0.2 };
            let Things { triangle, square, .. } = &things;
            match (kind, is_prepared(n)) {
                (Kind::Triangle(n), true) => pass.draw_prepared(&triangles[n], &colors),
                (Kind::Triangle(n), false) => pass.draw(&things.colors[n], triangle, &colors, &NoUniforms),
                (Kind::Long, true) => pass.draw_prepared(&long, &colors),
                (Kind::Long, false) => pass.draw(&things.colors[0], &things.long, &colors, &NoUniforms),
                (Kind::Square(n), true) => pass.draw_prepared(&squares[n], &lit),
                (Kind::Square(n), false) => pass.draw(&things.lit, square, &lit, &things.images[n]),
            }
            .unwrap();
        }
    })
}

#[test]
fn prepared_draws_draw_what_others_draw() {
    let model = model();
    for seed in 0..2 {
        let expected = picture(&model, seed, |_| false);
        let drawn = (0..SIDE * SIDE).filter(|at| expected.pixel(at % SIDE, at / SIDE) != CLEAR).count();
        assert!(drawn > 1000, "only {drawn} pixels are drawn");
        assert!(picture(&model, seed, |_| true) == expected, "seed {seed}: all draws prepared");
        assert!(picture(&model, seed, |n| n / 2 % 2 == 0) == expected, "seed {seed}: half of the draws prepared");
    }
}

/// While names are kept, as for captures, a prepared draw takes another path: each of its records has a name, and the picture is the same.
#[test]
fn prepared_draws_have_names_where_names_are_kept() {
    let names = |is_prepared: bool| {
        let model = model();
        model.record();
        let picture = picture(&model, 3, |_| is_prepared);
        let files = model.captured("names").unwrap();
        let (_, job) = files.iter().find(|(name, _)| name == "job.json").unwrap();
        let job = String::from_utf8(job.clone()).unwrap();
        let count = |mesh: &str| job.matches(&format!("{mesh}, instance 0")).count();
        (picture, ["colours, triangle", "colours, long", "lit, square"].map(count))
    };
    let (expected, count) = names(false);
    assert!(count.iter().all(|&count| count >= 2), "{count:?} names of draws");
    let (found, count_of_prepared) = names(true);
    assert_eq!(count_of_prepared, count);
    assert!(found == expected, "the pictures differ");
    // The picture without names.
    assert!(picture(&model(), 3, |_| true) == expected, "names change the picture");
}

/// Uniforms of a fragment shader that reads the viewport.
struct OfViewport;

impl UniformData for OfViewport {
    const WORDS: usize = 1;

    fn push(&self, stream: &mut UniformStream<'_>) {
        let half_width = stream.viewport().half_width;
        stream.float(half_width);
    }
}

#[test]
fn what_cannot_be_prepared_or_drawn_is_an_error() {
    let (model, other_model) = (model(), model_of_other());
    let (device, other) = (device(&model), device_of_other(&other_model));
    let (things, others) = (Things::new(&device), Things::new(&other));
    let foreign = |label| Err(Error::ForeignDevice { label });
    let prepare = |pipeline, mesh| PreparedDraw::new(&device, pipeline, mesh, &NoUniforms).map(drop);
    assert_eq!(prepare(&others.colors[0], &things.triangle), foreign("colours"));
    assert_eq!(prepare(&things.colors[0], &others.triangle), foreign("triangle"));
    let with_other_image = PreparedDraw::new(&device, &things.lit, &things.square, &others.images[0]);
    assert_eq!(with_other_image.map(drop), foreign("lit"));
    let line =
        Mesh::new(&device, "line", Primitive::Lines, &[transformed::Vertex { position: [0.0; 3], color: [0.0; 3] }]);
    assert!(matches!(prepare(&things.colors[0], &line.unwrap()), Err(Error::Primitives { label: "colours", .. })));
    const READS_VIEWPORT: Fragment<OfViewport, 3> =
        Fragment::new(smooth::FRAGMENT.code(), Threading::Single, smooth::FRAGMENT.ending());
    let descriptor = PipelineDescriptor::new("vignette", &transformed::SHADING, &READS_VIEWPORT);
    let vignette = Pipeline::new(&device, &descriptor).unwrap();
    let refused = PreparedDraw::new(&device, &vignette, &things.triangle, &OfViewport).map(drop);
    assert!(matches!(refused, Err(Error::Impossible { label: "vignette", .. })), "{refused:?}");

    let colors = |value| transformed::Uniforms { matrix: [value; 16] };
    let triangle = PreparedDraw::new(&device, &things.colors[0], &things.triangle, &NoUniforms).unwrap();
    let its_triangle = PreparedDraw::new(&other, &others.colors[0], &others.triangle, &NoUniforms).unwrap();
    let long = PreparedDraw::new(&device, &things.colors[0], &things.long, &NoUniforms).unwrap();
    let four = PipelineDescriptor::new("four", &transformed::SHADING, &smooth::FRAGMENT);
    let four = Pipeline::new(&device, &PipelineDescriptor { samples: Samples::Four, ..four }).unwrap();
    let four = PreparedDraw::new(&device, &four, &things.triangle, &NoUniforms).unwrap();
    let picture = Picture::draw(&model, &device, (SIDE, SIDE), |pass| {
        assert_eq!(pass.draw_prepared(&its_triangle, &colors(1.0)), foreign("colours"));
        assert_eq!(
            pass.draw_prepared(&four, &colors(1.0)),
            Err(Error::Samples { label: "four", pipeline: 4, pass: 1 })
        );
        for draw in [&triangle, &long, &triangle] {
            let drawn = pass.draw_prepared(draw, &colors(f32::NAN));
            assert!(matches!(drawn, Err(Error::NotANumber { label: "colours", .. })), "{drawn:?}");
        }
    });
    let untouched = (0..SIDE * SIDE).all(|at| picture.pixel(at % SIDE, at / SIDE) == CLEAR);
    assert!(untouched, "a draw that failed was drawn");
}

fn model_of_other() -> Model {
    model()
}

fn device_of_other(model: &Model) -> Device<'_> {
    device(model)
}

#[test]
fn a_prepared_texture_is_not_the_pass_own_target() {
    let model = model();
    let device = device(&model);
    let things = Things::new(&device);
    let descriptor = renderer::TargetDescriptor {
        label: "mirror",
        width_px: 64,
        height_px: 64,
        format: renderer::Format::Rgba8888,
        tiling: Tiling::TFormat,
    };
    let mirror = Target::new(&device, &descriptor).unwrap();
    let image = Texture::of_target(&mirror).unwrap().bind(&Sampler::NEAREST).unwrap();
    let seen = textured_lit::FragmentUniforms { image };
    let seen = PreparedDraw::new(&device, &things.lit, &things.square, &seen).unwrap();
    let lit = textured_lit::Uniforms { matrix: rows(&Mat4::IDENTITY), to_light: [0.0; 3], ambient: 1.0 };
    let mut frame = device.frame().unwrap();
    let mut pass = frame.pass(&PassDescriptor::to(&mirror).clear([0.0; 4])).unwrap();
    for _ in 0..2 {
        assert_eq!(pass.draw_prepared(&seen, &lit), Err(Error::TargetInUse { label: "mirror" }));
    }
}
