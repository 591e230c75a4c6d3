//! Pictures of the renderer on the model, compared with geometry.

use qpu_shaders::{Fragment, NoUniforms, bars, discs, rings, smooth, textured_lit, transformed, triangle};
use renderer::glam::camera::rh::proj::opengl::perspective;
use renderer::shaded_vertex::ShadedVertex;
use renderer::{
    Blend, Buffer, Cull, Depth, Device, Format, FrontFace, Mesh, PassDescriptor, Pipeline, PipelineDescriptor,
    Primitive, Sampler, Samples, Shading, Target, TargetDescriptor, Texture, TextureDescriptor, rows, unorm,
};
use v3d::draw_state::Viewport;
use v3d::hw::control_list::Threading;
use v3d::hw::qpu::{Alu, Instruction, Signal};
use v3d::hw::registers::performance::CounterSource;
use v3d::hw::texture::TextureType;
use v3d::hw::tiling::Tiling;
use v3d::performance;
use v3d::user_program::UserProgram;
use v3d_host::Model;
use v3d_sim::Config;

const WIDTH: u32 = 320;
const HEIGHT: u32 = 180;
const CLEAR: [u8; 4] = [10, 20, 30, 255];

/// The vertices and colours of the triangle of the article "HD 7350 demo: A Triangle", update 1.
const CORNERS: [([f32; 3], [f32; 3]); 3] = [
    ([0.5846, -0.9, 0.0], [1.0, 0.0, 0.0]),
    ([-0.5846, -0.9, 0.0], [0.0, 0.0, 1.0]),
    ([0.0, 0.9, 0.0], [0.0, 1.0, 0.0]),
];

#[derive(PartialEq)]
struct Picture(Vec<[u8; 4]>);

impl Picture {
    fn load(device: &Device<'_, Model>, target: &Target) -> Self {
        let mut bytes = vec![0; (4 * WIDTH * HEIGHT) as usize];
        target.read(device, &mut bytes).unwrap();
        Self(bytes.chunks_exact(4).map(|pixel| [pixel[0], pixel[1], pixel[2], pixel[3]]).collect())
    }

    fn pixel(&self, x: u32, y: u32) -> [u8; 4] {
        self.0[(y * WIDTH + x) as usize]
    }
}

fn device(model: &Model) -> Device<'_, Model> {
    model.device().unwrap()
}

fn target(device: &Device<'_, Model>) -> Target {
    let (width_px, height_px) = (WIDTH, HEIGHT);
    let descriptor =
        TargetDescriptor { label: "picture", width_px, height_px, format: Format::Rgba8888, tiling: Tiling::Raster };
    Target::new(device, &descriptor).unwrap()
}

/// The triangle's pipeline and mesh.
fn triangle(
    device: &Device<'_, Model>,
) -> (Pipeline<triangle::Vertex, triangle::Uniforms, NoUniforms>, Mesh<triangle::Vertex>) {
    let vertices = CORNERS.map(|(position, color)| triangle::Vertex { position, color });
    let mesh = Mesh::new(device, "corners", Primitive::Triangles, &vertices).unwrap();
    let descriptor = PipelineDescriptor::new("triangle", &triangle::SHADING, &smooth::FRAGMENT);
    (Pipeline::new(device, &descriptor).unwrap(), mesh)
}

/// Barycentric coordinates of a pixel's centre in the triangle, computed from the vertices alone; the display's top row is 0.
fn barycentric(x: u32, y: u32) -> [f64; 3] {
    let corner = |n: usize| {
        let [cx, cy, _] = CORNERS[n].0;
        (f64::from(WIDTH) / 2.0 * (1.0 + f64::from(cx)), f64::from(HEIGHT) / 2.0 * (1.0 - f64::from(cy)))
    };
    let point = (f64::from(x) + 0.5, f64::from(y) + 0.5);
    let area = |a: (f64, f64), b: (f64, f64), c: (f64, f64)| (b.0 - a.0) * (c.1 - a.1) - (c.0 - a.0) * (b.1 - a.1);
    let whole = area(corner(0), corner(1), corner(2));
    let part = |a, b| area(a, b, point) / whole;
    [part(corner(1), corner(2)), part(corner(2), corner(0)), part(corner(0), corner(1))]
}

/// Every pixel that is clearly inside has the interpolated colour, to within 2/255; every pixel that is clearly outside has the clear colour.
fn assert_is_the_triangle(picture: &Picture) {
    let (mut inside, mut outside) = (0, 0);
    for y in 0..HEIGHT {
        for x in 0..WIDTH {
            let weights = barycentric(x, y);
            let least = weights.iter().copied().fold(f64::INFINITY, f64::min);
            let pixel = picture.pixel(x, y);
            // A pixel's height is 1/HEIGHT of the picture, and positions are multiples of 1/16 pixel.
            let margin = 1.0 / f64::from(HEIGHT);
            if least > margin {
                inside += 1;
                for channel in 0..3 {
                    let exact: f64 = (0..3).map(|n| weights[n] * f64::from(CORNERS[n].1[channel])).sum::<f64>() * 255.0;
                    let difference = (f64::from(pixel[channel]) - exact).abs();
                    assert!(difference <= 2.0, "({x}, {y}) is {pixel:?}, channel {channel} should be {exact}");
                }
                assert_eq!(pixel[3], 255);
            } else if least < -margin {
                outside += 1;
                assert_eq!(pixel, CLEAR, "({x}, {y})");
            }
        }
    }
    // The triangle covers 0.9 * 0.5846 / 2 of the picture.
    assert!(inside > 13_000 && outside > 30_000, "{inside} inside, {outside} outside");
}

/// The triangle drawn with coordinate and vertex shader, in three frames.
fn triangle_of_the_gl_pipeline() -> Picture {
    let model = Model::new(8 << 20, Config::default());
    let device = device(&model);
    let before = device.pool().used();
    let target = target(&device);
    let (pipeline, mesh) = triangle(&device);
    let mut pictures = Vec::new();
    for _ in 0..3 {
        let mut frame = device.frame().unwrap();
        let mut pass = frame.pass(&PassDescriptor::to(&target).clear(unorm(CLEAR))).unwrap();
        pass.draw(&pipeline, &mesh, &triangle::Uniforms, &NoUniforms).unwrap();
        let fence = frame.submit().unwrap();
        device.wait(fence).unwrap();
        assert_eq!(model.take_faults(), []);
        pictures.push(Picture::load(&device, &target));
        target.memory().unwrap().region().zero(&model);
    }
    drop((target, pipeline, mesh));
    assert_eq!(device.pool().used(), before);
    assert!(pictures[0] == pictures[1] && pictures[1] == pictures[2], "frames of one scene differ");
    pictures.swap_remove(0)
}

/// The triangle drawn with vertices that the CPU has shaded.
fn triangle_of_the_nv_pipeline() -> Picture {
    let model = Model::new(8 << 20, Config::default());
    let device = device(&model);
    let target = target(&device);
    let Viewport { half_width, half_height, .. } = Viewport::display(WIDTH as u16, HEIGHT as u16);
    let vertices = CORNERS.map(|([x, y, _], color)| ShadedVertex::flat(x, y, 0.5, half_width, half_height, color));
    let mesh = Mesh::new(&device, "corners", Primitive::Triangles, &vertices).unwrap();
    let pipeline = shaded_pipeline(&device);
    let mut frame = device.frame().unwrap();
    let mut pass = frame.pass(&PassDescriptor::to(&target).clear(unorm(CLEAR))).unwrap();
    pass.draw(&pipeline, &mesh, &NoUniforms, &NoUniforms).unwrap();
    let fence = frame.submit().unwrap();
    device.wait(fence).unwrap();
    assert_eq!(model.take_faults(), []);
    Picture::load(&device, &target)
}

/// A pipeline for shaded vertices with colours.
fn shaded_pipeline(device: &Device<'_, Model>) -> Pipeline<ShadedVertex<3>, NoUniforms, NoUniforms> {
    Pipeline::new(device, &PipelineDescriptor::new("shaded", Shading::PreShaded, &smooth::FRAGMENT)).unwrap()
}

#[test]
fn a_triangle_through_vertex_shaders() {
    assert_is_the_triangle(&triangle_of_the_gl_pipeline());
}

#[test]
fn a_triangle_of_shaded_vertices() {
    assert_is_the_triangle(&triangle_of_the_nv_pipeline());
}

#[test]
fn both_pipelines_draw_the_same_picture() {
    assert!(triangle_of_the_gl_pipeline() == triangle_of_the_nv_pipeline());
}

/// Two parallel squares, drawn from near to far and from far to near: the nearer one hides the other.
#[test]
fn the_nearer_square_hides_the_farther_one() {
    const RED: [f32; 3] = [1.0, 0.0, 0.0];
    const GREEN: [f32; 3] = [0.0, 1.0, 0.0];
    let square = |z: f32, size: f32, color: [f32; 3]| {
        [(-size, -size), (size, -size), (-size, size), (size, size)]
            .map(|(x, y)| transformed::Vertex { position: [x, y, z], color })
    };
    let near = square(-2.0, 0.5, RED);
    let far = square(-4.0, 2.0, GREEN);
    for vertices in [[near, far].concat(), [far, near].concat()] {
        let model = Model::new(8 << 20, Config::default());
        let device = device(&model);
        let target = target(&device);
        let indices = [0, 1, 2, 2, 1, 3, 4, 5, 6, 6, 5, 7];
        let mesh = Mesh::indexed(&device, "squares", Primitive::Triangles, &vertices, &indices).unwrap();
        let descriptor = PipelineDescriptor {
            depth: Depth::LESS,
            ..PipelineDescriptor::new("squares", &transformed::SHADING, &smooth::FRAGMENT)
        };
        let pipeline = Pipeline::new(&device, &descriptor).unwrap();
        let matrix = perspective(core::f32::consts::FRAC_PI_2, target.aspect(), 1.0, 10.0);
        let mut frame = device.frame().unwrap();
        let mut pass = frame.pass(&PassDescriptor::to(&target).clear(unorm(CLEAR))).unwrap();
        pass.draw(&pipeline, &mesh, &transformed::Uniforms { matrix: rows(&matrix) }, &NoUniforms).unwrap();
        let fence = frame.submit().unwrap();
        device.wait(fence).unwrap();
        assert_eq!(model.take_faults(), []);
        let picture = Picture::load(&device, &target);
        // At a field of view of 90 degrees the near square reaches 0.25 of the half height from the centre, the far one 0.5.
        for y in 0..HEIGHT {
            for x in 0..WIDTH {
                let half = f64::from(HEIGHT) / 2.0;
                let away = |at: u32, size: u32| (f64::from(at) + 0.5 - f64::from(size) / 2.0).abs() / half;
                let distance = away(x, WIDTH).max(away(y, HEIGHT));
                let expected = match distance {
                    d if d < 0.24 => [255, 0, 0, 255],
                    d if d > 0.26 && d < 0.49 => [0, 255, 0, 255],
                    d if d > 0.51 => CLEAR,
                    _ => continue,
                };
                assert_eq!(picture.pixel(x, y), expected, "({x}, {y})");
            }
        }
    }
}

/// The article's vertices are clockwise on the screen: red at the lower right, blue at the lower left, green at the top.
#[test]
fn the_face_that_is_culled_is_not_drawn() {
    let model = Model::new(8 << 20, Config::default());
    let device = device(&model);
    let (_, mesh) = triangle(&device);
    for (front, cull, drawn) in [
        (FrontFace::CounterClockwise, Cull::None, true),
        (FrontFace::CounterClockwise, Cull::Front, true),
        (FrontFace::CounterClockwise, Cull::Back, false),
        (FrontFace::Clockwise, Cull::Front, false),
        (FrontFace::Clockwise, Cull::Back, true),
    ] {
        let descriptor = PipelineDescriptor {
            cull,
            front,
            ..PipelineDescriptor::new("one face", &triangle::SHADING, &smooth::FRAGMENT)
        };
        let pipeline = Pipeline::new(&device, &descriptor).unwrap();
        let target = target(&device);
        let mut frame = device.frame().unwrap();
        let mut pass = frame.pass(&PassDescriptor::to(&target).clear(unorm(CLEAR))).unwrap();
        pass.draw(&pipeline, &mesh, &triangle::Uniforms, &NoUniforms).unwrap();
        let fence = frame.submit().unwrap();
        device.wait(fence).unwrap();
        let seen = Picture::load(&device, &target).pixel(WIDTH / 2, HEIGHT / 2) != CLEAR;
        assert_eq!(seen, drawn, "{front:?} {cull:?}");
    }
}

/// The words of the program in JayStation's article.
#[test]
fn the_published_user_program_stores_the_published_words() {
    const PUBLISHED: [u32; 7] =
        [0xbf66_5c24, 0x3f5e_dd42, 0x0000_0000, 0x3f80_0000, 0x1c00_0200, 0x3f80_0000, 0x3f80_0000];
    let model = Model::new(8 << 20, Config::default());
    let device = device(&model);
    let result = Buffer::new(&device, "result", 7 * 16 * 4, 64).unwrap();
    let uniforms = qpu_shaders::coordinate_test::Uniforms {
        screen_xy: 0x1c00_0200,
        screen_z: 1.0,
        reciprocal_w: 1.0,
        result: result.address(),
    };
    let uniforms = Buffer::with_uniforms(&device, "uniforms", &uniforms).unwrap();
    let code = Buffer::with_program(&device, "program", &qpu_shaders::coordinate_test::PROGRAM).unwrap();
    let program = UserProgram { code: code.address(), uniforms: uniforms.address(), uniform_count: 4 };
    device.driver().unwrap().run_programs(&[program], 100_000).unwrap();
    assert_eq!(model.take_faults(), []);
    let mut bytes = vec![0; 7 * 16 * 4];
    result.read(&device, 0, &mut bytes).unwrap();
    let words: Vec<u32> = bytes.as_chunks().0.iter().map(|word| u32::from_le_bytes(*word)).collect();
    for lane in 0..16 {
        let found: Vec<u32> = (0..7).map(|row| words[16 * row + lane]).collect();
        assert_eq!(found, PUBLISHED, "lane {lane}");
    }
}

/// Every dot of a letter is drawn, and nothing else. Quads are 2x2 pixels; the counters must agree with the picture.
#[test]
fn performance_counters_count_what_is_drawn() {
    let sources = [CounterSource::FepPrimitives, CounterSource::TlbQuadsWritten, CounterSource::QpuInstructionCycles];
    let model = Model::new(8 << 20, Config::default());
    let device = device(&model);
    let target = target(&device);
    let (pipeline, mesh) = triangle(&device);
    performance::start(&model, &sources).unwrap();
    let mut frame = device.frame().unwrap();
    let mut pass = frame.pass(&PassDescriptor::to(&target).clear(unorm(CLEAR))).unwrap();
    pass.draw(&pipeline, &mesh, &triangle::Uniforms, &NoUniforms).unwrap();
    let fence = frame.submit().unwrap();
    device.wait(fence).unwrap();
    performance::stop(&model);
    let counts = performance::read(&model, &sources);
    let picture = Picture::load(&device, &target);
    let mut quads = 0;
    for (x, y) in (0..HEIGHT / 2).flat_map(|y| (0..WIDTH / 2).map(move |x| (2 * x, 2 * y))) {
        let pixels = [(x, y), (x + 1, y), (x, y + 1), (x + 1, y + 1)];
        quads += u32::from(pixels.iter().any(|&(x, y)| picture.pixel(x, y) != CLEAR));
    }
    assert_eq!(counts[1], (CounterSource::TlbQuadsWritten, quads));
    // Each tile that the triangle touches counts it: at least two rows in each of the three columns.
    assert!(counts[0].1 >= 3, "{counts:?}");
    // At least eleven instructions for a batch of four quads.
    assert!(counts[2].1 >= 11 * quads / 4, "{counts:?}");
    assert!(performance::start(&model, &[CounterSource::FepQuads; 17]).is_err());
}

/// A shader in WGSL, vertex and fragment stage, with uniforms of both, a branch, `discard` and `cos`: every pixel has the value of the formula.
#[test]
fn rings_in_wgsl_are_where_the_formula_has_them() {
    const OVERLAP: f32 = 1.25;
    let model = Model::new(8 << 20, Config::default());
    let device = device(&model);
    let target = target(&device);
    let corner = |x: f32, y: f32| rings::Vertex { position: [x, y, 0.0], from_middle: [OVERLAP * x, OVERLAP * y] };
    let corners = [corner(-1.0, 1.0), corner(1.0, 1.0), corner(-1.0, -1.0), corner(1.0, -1.0)];
    let square = Mesh::new(&device, "square", Primitive::TriangleStrip, &corners).unwrap();
    let pipeline =
        Pipeline::new(&device, &PipelineDescriptor::new("rings", &rings::SHADING, &rings::FRAGMENT)).unwrap();
    let wave = rings::FragmentUniforms { rings: 3.0, phase: 0.25, crest: [0.9, 0.5, 0.1], trough: [0.0, 0.2, 0.6] };
    let mut frame = device.frame().unwrap();
    let mut pass = frame.pass(&PassDescriptor::to(&target).clear(unorm(CLEAR))).unwrap();
    let uniforms = rings::Uniforms { matrix: rows(&renderer::glam::Mat4::IDENTITY) };
    pass.draw(&pipeline, &square, &uniforms, &wave).unwrap();
    let fence = frame.submit().unwrap();
    device.wait(fence).unwrap();
    assert_eq!(model.take_faults(), []);
    let picture = Picture::load(&device, &target);
    let mut inside = 0;
    for (x, y) in (0..HEIGHT).flat_map(|y| (0..WIDTH).map(move |x| (x, y))) {
        let along = |at: u32, size: u32| f64::from(OVERLAP) * (2.0 * (f64::from(at) + 0.5) / f64::from(size) - 1.0);
        let distance = along(x, WIDTH).hypot(along(y, HEIGHT));
        let pixel = picture.pixel(x, y);
        if (distance - 1.0).abs() < 1e-4 {
            continue;
        }
        if distance > 1.0 {
            assert_eq!(pixel, CLEAR, "({x}, {y})");
            continue;
        }
        inside += 1;
        let height = 0.5 + 0.5 * (std::f64::consts::TAU * (distance * 3.0 - 0.25)).cos();
        for (channel, (crest, trough)) in pixel.iter().zip(wave.crest.iter().zip(wave.trough)) {
            let expected = 255.0 * (f64::from(trough) + height * (f64::from(*crest) - f64::from(trough)));
            assert!((f64::from(*channel) - expected).abs() <= 1.5, "({x}, {y}): {pixel:?}, not {expected}");
        }
    }
    assert!(inside > (WIDTH * HEIGHT) as usize * 45 / 100, "{inside} pixels have rings");
}

/// `vertex_index` and `instance_index`, with heights and colours in storage buffers: every pixel is as computed.
#[test]
fn bars_in_wgsl_are_as_high_as_the_numbers_in_memory() {
    const COUNT: u32 = 16;
    let model = Model::new(8 << 20, Config::default());
    let device = device(&model);
    let target = target(&device);
    let bytes = |numbers: &[f32]| numbers.iter().flat_map(|number| number.to_le_bytes()).collect::<Vec<u8>>();
    let heights: [f32; COUNT as usize] = std::array::from_fn(|bar| 1.0 + (bar * 7 % 16) as f32);
    let colors: [[f32; 4]; 12] = std::array::from_fn(|at| [at as f32 / 15.0, 1.0 - at as f32 / 15.0, 0.2, 1.0]);
    let buffer = |label, numbers: &[f32]| Buffer::with_bytes(&device, label, &bytes(numbers), 16).unwrap();
    let (heights_memory, colors_memory) = (buffer("heights", &heights), buffer("colours", colors.as_flattened()));
    let corners = Mesh::new(&device, "corners", Primitive::TriangleStrip, &[bars::Vertex {}; 4]).unwrap();
    let pipeline = Pipeline::new(&device, &PipelineDescriptor::new("bars", &bars::SHADING, &bars::FRAGMENT)).unwrap();
    let chart = bars::Uniforms { count: COUNT, highest: 20.0, heights: heights_memory.storage() };
    let palette = bars::FragmentUniforms { colors: colors_memory.storage() };
    let mut frame = device.frame().unwrap();
    let mut pass = frame.pass(&PassDescriptor::to(&target).clear(unorm(CLEAR))).unwrap();
    let instances = [(); COUNT as usize].map(|()| chart.clone());
    pass.draw_instances(&pipeline, &corners, &instances, &palette).unwrap();
    let short = bars::FragmentUniforms { colors: heights_memory.storage() };
    let error = pass.draw(&pipeline, &corners, &chart, &short).unwrap_err();
    assert!(matches!(error, renderer::Error::TooShort { label: "bars", given: 64, needed: 192, .. }), "{error:?}");
    let fence = frame.submit().unwrap();
    device.wait(fence).unwrap();
    assert_eq!(model.take_faults(), []);
    let picture = Picture::load(&device, &target);
    let mut inside = 0;
    for (x, y) in (0..HEIGHT).flat_map(|y| (0..WIDTH).map(move |x| (x, y))) {
        let along = (f64::from(x) + 0.5) / f64::from(WIDTH) * f64::from(COUNT);
        let (bar, across) = (along.floor(), along.fract());
        let up = (1.0 - (f64::from(y) + 0.5) / f64::from(HEIGHT)) * 20.0;
        let height = f64::from(heights[bar as usize]);
        // Positions are multiples of 1/16 pixel, and a bar has 20 pixels.
        if (across - 0.1).abs() < 0.01 || (across - 0.9).abs() < 0.01 || (up - height).abs() < 0.02 {
            continue;
        }
        let is_inside = (0.1..0.9).contains(&across) && up < height;
        let color = colors[bar as usize % 12].map(|channel| (255.0 * channel).round() as u8);
        let expected = if is_inside { color } else { CLEAR };
        let pixel = picture.pixel(x, y);
        let is_near = pixel.iter().zip(expected).all(|(found, expected)| found.abs_diff(expected) <= 1);
        assert!(is_near, "({x}, {y}) is {pixel:?}, not {expected:?}");
        inside += u32::from(is_inside);
    }
    assert!(inside > WIDTH * HEIGHT / 4, "{inside} pixels have bars");
}

/// A program for two threads, and the same program for one thread without its switches, draw the same picture, with any tail.
#[test]
fn two_threads_draw_what_one_thread_draws() {
    let dual = textured_lit::FRAGMENT;
    assert_eq!(dual.threading(), Threading::Dual);
    let alone: Vec<u64> = dual.code().iter().map(|&word| without_switch(word)).collect();
    assert_ne!(alone, dual.code());
    let single = Fragment::new(alone.leak(), Threading::Single, dual.ending());
    let ends: [(Blend, Depth, Samples); 3] = [
        (Blend::NONE, Depth::NONE, Samples::One),
        (Blend::ALPHA, Depth::LESS, Samples::One),
        (Blend::ALPHA, Depth::LESS, Samples::Four),
    ];
    let mut pictures = Vec::new();
    for (blend, depth, samples) in ends {
        let [two, one] = [&dual, &single].map(|fragment| {
            let model = Model::new(8 << 20, Config::default());
            let device = device(&model);
            let target = target(&device);
            let descriptor = PipelineDescriptor {
                blend,
                depth,
                samples,
                ..PipelineDescriptor::new("lit", &textured_lit::SHADING, fragment)
            };
            let pipeline = Pipeline::new(&device, &descriptor).unwrap();
            let texels: Vec<u8> = (0..4 * 64 * 64u32).map(|at| (at.wrapping_mul(0x9e37_79b9) >> 24) as u8).collect();
            let texture = TextureDescriptor::new("noise", TextureType::Rgba8888, 64, 64);
            let texture = Texture::from_pixels(&device, &texture, &texels).unwrap();
            let corner = |x: f32, y: f32, z: f32| textured_lit::Vertex {
                position: [x, y, z],
                normal: [x, 0.5, y],
                uv: [2.0 * x, 3.0 * y + x],
            };
            // Two triangles that intersect.
            let corners = [
                [-0.9, -0.8, 0.9],
                [0.8, -0.6, -0.9],
                [0.1, 0.9, 0.3],
                [0.9, 0.7, 0.9],
                [-0.8, 0.5, -0.9],
                [0.0, -0.9, 0.2],
            ];
            let corners = corners.map(|[x, y, z]| corner(x, y, z));
            let mesh = Mesh::new(&device, "triangles", Primitive::Triangles, &corners).unwrap();
            let matrix = rows(&renderer::glam::Mat4::IDENTITY);
            let uniforms = textured_lit::Uniforms { matrix, to_light: [0.3, 0.6, 0.4], ambient: 0.25 };
            let image = texture.bind(&Sampler::NEAREST).unwrap();
            let mut frame = device.frame().unwrap();
            let mut pass =
                frame.pass(&PassDescriptor { samples, ..PassDescriptor::to(&target).clear(unorm(CLEAR)) }).unwrap();
            pass.draw(&pipeline, &mesh, &uniforms, &textured_lit::FragmentUniforms { image }).unwrap();
            let fence = frame.submit().unwrap();
            device.wait(fence).unwrap();
            assert_eq!(model.take_faults(), []);
            Picture::load(&device, &target)
        });
        assert!(two == one);
        let drawn = two.0.iter().filter(|pixel| **pixel != CLEAR).count();
        assert!(drawn > 15_000, "{drawn} pixels");
        assert!(!pictures.contains(&two));
        pictures.push(two);
    }
}

/// The instruction without the signal for a thread switch.
fn without_switch(word: u64) -> u64 {
    match Instruction::decode(word) {
        Instruction::Alu(alu) if alu.sig.switches_threads() => {
            Instruction::Alu(Alu { sig: Signal::None, ..alu }).encode().unwrap()
        }
        _ => word,
    }
}

/// Points in WGSL: their size, and the position within each, by the extension.
#[test]
fn discs_in_wgsl_are_round() {
    const SIZE: f32 = 40.0;
    let model = Model::new(8 << 20, Config::default());
    let device = device(&model);
    let target = target(&device);
    let (width, height) = (f64::from(WIDTH), f64::from(HEIGHT));
    let centres = [[60.5, 50.5], [200.25, 120.75]];
    let colors = [[1.0, 0.5, 0.25], [0.2, 1.0, 0.6]];
    let vertices = [0, 1].map(|at| {
        let [x, y] = centres[at];
        let position = [(2.0 * x / width - 1.0) as f32, (1.0 - 2.0 * y / height) as f32, 0.0];
        discs::Vertex { position, color: colors[at] }
    });
    let mesh = Mesh::new(&device, "centres", Primitive::Points, &vertices).unwrap();
    let pipeline =
        Pipeline::new(&device, &PipelineDescriptor::new("discs", &discs::SHADING, &discs::FRAGMENT)).unwrap();
    let mut frame = device.frame().unwrap();
    let mut pass = frame.pass(&PassDescriptor::to(&target).clear(unorm(CLEAR))).unwrap();
    let view = discs::Uniforms { matrix: rows(&renderer::glam::Mat4::IDENTITY), size: SIZE };
    pass.draw(&pipeline, &mesh, &view, &discs::FragmentUniforms).unwrap();
    let fence = frame.submit().unwrap();
    device.wait(fence).unwrap();
    assert_eq!(model.take_faults(), []);
    let picture = Picture::load(&device, &target);
    let mut inside = 0;
    for (x, y) in (0..HEIGHT).flat_map(|y| (0..WIDTH).map(move |x| (x, y))) {
        let distances = centres.map(|[centre_x, centre_y]| {
            (f64::from(x) + 0.5 - centre_x).hypot(f64::from(y) + 0.5 - centre_y) / (0.5 * f64::from(SIZE))
        });
        // Centres are multiples of 1/16 pixel; the radius of a disc is 20 pixels.
        if distances.iter().any(|distance| (distance - 1.0).abs() < 0.02 || (distance - 0.25).abs() < 0.02) {
            continue;
        }
        let disc = distances.iter().position(|distance| (0.25..1.0).contains(distance));
        let pixel = picture.pixel(x, y);
        let Some(disc) = disc else {
            assert_eq!(pixel, CLEAR, "({x}, {y})");
            continue;
        };
        inside += 1;
        for (channel, color) in pixel.iter().zip(colors[disc]) {
            let expected = 255.0 * f64::from(color) * (1.0 - 0.5 * distances[disc]);
            assert!((f64::from(*channel) - expected).abs() < 2.5, "({x}, {y}): {pixel:?}, not {expected}");
        }
    }
    assert!(inside > 2000, "{inside} pixels have discs");
}
