//! Targets of 64 bits per pixel: drawing, blending, storing and sampling, compared with formulas in double precision.

use qpu_shaders::{NoUniforms, f16, rings, smooth_alpha, smooth_half, textured, tone_mapped};
use renderer::shaded_vertex::ShadedVertex;
use renderer::{
    AlphaTest, Blend, BlendPart, Compare, Depth, DepthTarget, Device, Equation, Error, Factor, Format, LoadOp, Logic,
    Mesh, PassDescriptor, Pipeline, PipelineDescriptor, Primitive, Rectangle, Sampler, Samples, Shading, StoreOp,
    Target, TargetDescriptor, Texture, TextureDescriptor, glam::Mat4, rows,
};
use v3d::hw::texture::TextureType;
use v3d::hw::tiling::{Tiling, pixel_offset_bits};
use v3d_host::Model;
use v3d_sim::Config;

/// More than one tile of 64x32 pixels each way.
const SIZE: (u32, u32) = (150, 76);

type Vertex = ShadedVertex<4>;
type Colors = PipelineDescriptor<'static, Vertex, NoUniforms, NoUniforms, 4>;
type Color = [f64; 4];

struct Fixture<'m> {
    model: &'m Model,
    device: Device<'m, Model>,
    target: Target,
}

fn colors() -> Colors {
    PipelineDescriptor::new("colours", Shading::PreShaded, &smooth_half::FRAGMENT)
}

/// Two triangles over a whole picture, with the colours of its corners: top left and right, bottom left and right.
fn square(target: &Target, corners: [[f32; 4]; 4], depth: f32) -> [Vertex; 6] {
    let viewport = target.viewport();
    let places = [(-1.0, 1.0), (1.0, 1.0), (-1.0, -1.0), (1.0, -1.0)];
    [0, 2, 1, 1, 2, 3].map(|n: usize| {
        let (x, y) = places[n];
        ShadedVertex::flat(x, y, depth, viewport.half_width, viewport.half_height, corners[n])
    })
}

impl<'m> Fixture<'m> {
    fn new(model: &'m Model, tiling: Tiling) -> Self {
        let device = model.device().unwrap();
        let (width_px, height_px) = SIZE;
        let format = Format::Rgba16Float;
        let target = Target::new(&device, &TargetDescriptor { label: "light", width_px, height_px, format, tiling });
        Self { model, target: target.unwrap(), device }
    }

    /// Draws squares on top of each other.
    fn draw(&self, pass: &PassDescriptor<'_>, draws: &[(Colors, [[f32; 4]; 4], f32)]) {
        let mut frame = self.device.frame().unwrap();
        let mut pass = frame.pass(pass).unwrap();
        for (descriptor, corners, depth) in draws {
            let pipeline = Pipeline::new(&self.device, descriptor).unwrap();
            let vertices = square(&self.target, *corners, *depth);
            pass.draw_vertices(&pipeline, Primitive::Triangles, &vertices, &NoUniforms, &NoUniforms).unwrap();
        }
        let fence = frame.submit().unwrap();
        self.device.wait(fence).unwrap();
        assert_eq!(self.model.take_faults(), []);
    }

    /// The pixel at a position, by the guide's description of the tiling.
    fn pixels(&self) -> impl Fn(u32, u32) -> Color {
        let mut bytes = vec![0; self.target.memory().unwrap().region().bytes() as usize];
        self.target.read(&self.device, &mut bytes).unwrap();
        let tiling = self.target.tiling();
        move |x, y| {
            let at = (pixel_offset_bits(tiling, SIZE.0, 64, x, y).unwrap() / 8) as usize;
            let half = |n: usize| f16::from_le_bytes([bytes[at + 2 * n], bytes[at + 2 * n + 1]]).to_f64();
            [half(0), half(1), half(2), half(3)]
        }
    }
}

/// A half float has a mantissa of 11 bits; sums and products of the QPU, and the interpolation before them, are a little less accurate.
fn expect_close(found: Color, expected: Color, what: &str) {
    for (found, expected) in found.into_iter().zip(expected) {
        assert!((found - expected).abs() <= expected.abs() * 1.2e-3 + 2e-5, "{what}: {found}, expected {expected}");
    }
}

/// Colours brighter than 1, and darker than 1/256.
const CORNERS: [[f32; 4]; 4] =
    [[12.0, 0.001, 0.5, 1.0], [0.0, 40.0, 0.5, 0.25], [1.0, 0.001, 900.0, 0.75], [3.0, 7.0, -2.0, 0.0]];

#[test]
fn colours_are_neither_clamped_nor_rounded_to_bytes() {
    for tiling in [Tiling::Raster, Tiling::TFormat, Tiling::LtFormat] {
        let model = Model::new(8 << 20, Config::default());
        let stage = Fixture::new(&model, tiling);
        stage.draw(&PassDescriptor::to(&stage.target).clear([0.0; 4]), &[(colors(), CORNERS, 0.5)]);
        let pixel = stage.pixels();
        for (x, y) in (0..SIZE.1).flat_map(|y| (0..SIZE.0).map(move |x| (x, y))) {
            // Barycentric coordinates in the triangle that contains the pixel's centre.
            let (u, v) = ((f64::from(x) + 0.5) / f64::from(SIZE.0), (f64::from(y) + 0.5) / f64::from(SIZE.1));
            if (u + v - 1.0).abs() < 0.02 {
                continue;
            }
            let [a, b, c, d] = CORNERS.map(|corner| corner.map(f64::from));
            let expected: Color = core::array::from_fn(|n| {
                if u + v < 1.0 {
                    a[n] + u * (b[n] - a[n]) + v * (c[n] - a[n])
                } else {
                    d[n] + (1.0 - u) * (c[n] - d[n]) + (1.0 - v) * (b[n] - d[n])
                }
            });
            for (found, expected) in pixel(x, y).into_iter().zip(expected) {
                // The gradients are differences of corners that are up to 900 apart.
                assert!((found - expected).abs() <= expected.abs() * 2e-3 + 0.02, "{x}, {y}: {found}, not {expected}");
            }
        }
    }
}

#[test]
fn passes_clear_to_more_than_1_and_load_and_draw_parts() {
    let model = Model::new(8 << 20, Config::default());
    let stage = Fixture::new(&model, Tiling::TFormat);
    let (clear, clear_of_part) = ([0.2f32, 16.0, -3.5, 1000.0], [20.0f32, 0.5, 300.0, 1.0]);
    stage.draw(&PassDescriptor::to(&stage.target).clear(clear), &[]);
    let cleared = clear.map(f64::from);
    expect_close(stage.pixels()(149, 75), cleared, "cleared");
    let bright = [5.0, 6.0, 7.0, 8.0f32];
    let area = Rectangle { x_px: 10, y_px: 20, width_px: 70, height_px: 30 };
    stage.draw(&PassDescriptor::to(&stage.target).within(area), &[(colors(), [bright; 4], 0.5)]);
    stage.draw(
        &PassDescriptor::to(&stage.target).clear(clear_of_part).within(Rectangle {
            x_px: 70,
            y_px: 40,
            width_px: 80,
            height_px: 9,
        }),
        &[],
    );
    let pixel = stage.pixels();
    for (x, y) in (0..SIZE.1).flat_map(|y| (0..SIZE.0).map(move |x| (x, y))) {
        let expected = if (70..150).contains(&x) && (40..49).contains(&y) {
            clear_of_part.map(f64::from)
        } else if (10..80).contains(&x) && (20..50).contains(&y) {
            bright.map(f64::from)
        } else {
            cleared
        };
        expect_close(pixel(x, y), expected, &format!("{x}, {y}"));
    }
}

#[test]
fn depths_are_tested_and_kept() {
    let model = Model::new(8 << 20, Config::default());
    let stage = Fixture::new(&model, Tiling::TFormat);
    let kept = DepthTarget::new(&stage.device, "depths", SIZE.0, SIZE.1).unwrap();
    let deep = Colors { depth: Depth::LESS, ..colors() };
    let near = [[2.0; 4]; 4];
    let pass = PassDescriptor::to(&stage.target).clear([0.0; 4]);
    stage
        .draw(&pass.with_depth(&kept, LoadOp::Clear, StoreOp::Store), &[(deep, near, 0.3), (deep, [[9.0; 4]; 4], 0.6)]);
    let pass = PassDescriptor::to(&stage.target);
    stage.draw(&pass.with_depth(&kept, LoadOp::Load, StoreOp::Discard), &[(deep, [[9.0; 4]; 4], 0.4)]);
    expect_close(stage.pixels()(75, 40), [2.0; 4], "the nearest");
}

/// The two products of a blending equation, by the OpenGL ES 2.0 specification, section 4.1.6, for colours that are not
/// clamped.
fn blended(blend: &Blend, source: Color, target: Color) -> Color {
    let constant = blend.constant.map(|channel| f64::from(channel) / 255.0);
    core::array::from_fn(|n| {
        let BlendPart { equation, source: of_source, target: of_target } =
            if n == 3 { blend.alpha } else { blend.color };
        let factor = |factor| match factor {
            Factor::Zero => 0.0,
            Factor::One => 1.0,
            Factor::SourceColor => source[n],
            Factor::OneMinusSourceColor => 1.0 - source[n],
            Factor::TargetColor => target[n],
            Factor::OneMinusTargetColor => 1.0 - target[n],
            Factor::SourceAlpha => source[3],
            Factor::OneMinusSourceAlpha => 1.0 - source[3],
            Factor::TargetAlpha => target[3],
            Factor::OneMinusTargetAlpha => 1.0 - target[3],
            Factor::Constant => constant[n],
            Factor::OneMinusConstant => 1.0 - constant[n],
            Factor::ConstantAlpha => constant[3],
            Factor::OneMinusConstantAlpha => 1.0 - constant[3],
            Factor::SourceAlphaSaturate if n == 3 => 1.0,
            Factor::SourceAlphaSaturate => source[3].min(1.0 - target[3]),
        };
        let (one, other) = (source[n] * factor(of_source), target[n] * factor(of_target));
        match equation {
            Equation::Add => one + other,
            Equation::Subtract => one - other,
            Equation::ReverseSubtract => other - one,
            Equation::Min => source[n].min(target[n]),
            Equation::Max => source[n].max(target[n]),
        }
    })
}

/// All equations with all pairs of factors; alpha uses a different combination each time.
#[test]
fn blending_is_that_of_the_specification_without_clamping() {
    // Exact half floats, so that only the computation rounds.
    let (source, target) = ([2.5f32, 0.25, -1.5, 0.75], [0.5f32, 8.0, 0.125, 0.375]);
    let model = Model::new(8 << 20, Config::default());
    let stage = Fixture::new(&model, Tiling::TFormat);
    let mut parts = Vec::new();
    for equation in Equation::ALL {
        for of_source in Factor::ALL {
            parts.extend(Factor::ALL.map(|of_target| BlendPart { equation, source: of_source, target: of_target }));
        }
    }
    let area = Rectangle { x_px: 0, y_px: 0, width_px: 8, height_px: 8 };
    for (n, &color) in parts.iter().enumerate() {
        let alpha = parts[(n * 401 + 77) % parts.len()];
        let blend = Blend { color, alpha, constant: [25, 204, 51, 102] };
        let pass = PassDescriptor::to(&stage.target).clear([0.0; 4]).within(area);
        stage.draw(&pass, &[(colors(), [target; 4], 0.5), (Colors { blend, ..colors() }, [source; 4], 0.5)]);
        let expected = blended(&blend, source.map(f64::from), target.map(f64::from));
        expect_close(stage.pixels()(3, 4), expected, &format!("{blend:?}"));
    }
}

/// A target of half floats as a texture: the fragment shader's output for each texel, with nearest filtering.
#[test]
fn what_was_drawn_is_a_texture() {
    let model = Model::new(8 << 20, Config::default());
    let stage = Fixture::new(&model, Tiling::TFormat);
    stage.draw(&PassDescriptor::to(&stage.target).clear([0.0; 4]), &[(colors(), CORNERS, 0.5)]);
    let light = stage.pixels();
    let (format, tiling) = (Format::Rgba8888, Tiling::Raster);
    let descriptor = TargetDescriptor { label: "display", width_px: SIZE.0, height_px: SIZE.1, format, tiling };
    let display = Target::new(&stage.device, &descriptor).unwrap();
    let pipeline = PipelineDescriptor::new("tone mapping", &textured::SHADING, &tone_mapped::FRAGMENT);
    let pipeline = Pipeline::new(&stage.device, &pipeline).unwrap();
    // The target's first row in memory is the top, and that of a texture is t = 0.
    let corners = [(-1.0, 1.0), (1.0, 1.0), (-1.0, -1.0), (1.0, -1.0)]
        .map(|(x, y): (f32, f32)| textured::Vertex { position: [x, y, 0.0], uv: [0.5 + 0.5 * x, 0.5 - 0.5 * y] });
    let mesh = Mesh::new(&stage.device, "display", Primitive::TriangleStrip, &corners).unwrap();
    let image = Texture::of_target(&stage.target).unwrap().bind_64(&Sampler::NEAREST).unwrap();
    let exposure = 1.5;
    let mut frame = stage.device.frame().unwrap();
    let mut pass = frame.pass(&PassDescriptor::to(&display).clear([0.0; 4])).unwrap();
    let uniforms = textured::Uniforms { matrix: rows(&Mat4::IDENTITY) };
    pass.draw(&pipeline, &mesh, &uniforms, &tone_mapped::FragmentUniforms { image, exposure }).unwrap();
    let fence = frame.submit().unwrap();
    stage.device.wait(fence).unwrap();
    assert_eq!(model.take_faults(), []);
    let mut bytes = vec![0; (4 * SIZE.0 * SIZE.1) as usize];
    display.read(&stage.device, &mut bytes).unwrap();
    for (x, y) in (0..SIZE.1).flat_map(|y| (0..SIZE.0).map(move |x| (x, y))) {
        let at = 4 * (y * SIZE.0 + x) as usize;
        for (&found, color) in bytes[at..at + 3].iter().zip(light(x, y)) {
            let expected = ((1.0 - (-f64::from(exposure) * color).exp2()) * 255.0).clamp(0.0, 255.0);
            assert!((f64::from(found) - expected).abs() < 1.2, "{x}, {y}: {found}, not {expected}");
        }
    }
}

/// The mean of four texels of the previous level, brighter than 1.
#[test]
fn the_gpu_makes_mipmaps_of_half_floats() {
    let model = Model::new(8 << 20, Config::default());
    let device = model.device().unwrap();
    let (width, height) = (64, 32);
    let value = |x: u32, y: u32, n: u32| (x + 2 * y) as f64 * [3.0, 0.01, 0.5, 100.0][n as usize];
    let texels = (0..4 * width * height).map(|i| value(i / 4 % width, i / 4 / width, i % 4));
    let texels: Vec<u8> = texels.flat_map(|value| f16::from_f64(value).to_le_bytes()).collect();
    let descriptor = TextureDescriptor::new("light", TextureType::Rgba64, width, height).mipmapped();
    let texture = Texture::from_pixels(&device, &descriptor, &texels).unwrap();
    let mut frame = device.frame().unwrap();
    texture.generate_mipmaps(&mut frame).unwrap();
    device.wait(frame.submit().unwrap()).unwrap();
    assert_eq!(model.take_faults(), []);
    for level in 1..6 {
        let (width, height) = texture.layout().level_size(level).unwrap();
        let mut bytes = vec![0; (8 * width * height) as usize];
        texture.read(&device, level, None, &mut bytes).unwrap();
        for (i, found) in (0..).zip(bytes.as_chunks().0).map(|(i, bytes)| (i, f16::from_le_bytes(*bytes).to_f64())) {
            let (x, y, n): (u32, u32, u32) = (i / 4 % width, i / 4 / width, i % 4);
            // The values are linear, so their mean is the value in the middle.
            let middle = |at: u32| (f64::from(at) + 0.5) * f64::from(1 << level) - 0.5;
            let expected = (middle(x) + 2.0 * middle(y)) * value(1, 0, n);
            assert!((found - expected).abs() <= expected * 4e-3, "level {level} ({x}, {y}): {found}, not {expected}");
        }
    }
}

#[test]
fn what_cannot_be_is_refused_by_name() {
    let model = Model::new(8 << 20, Config::default());
    let stage = Fixture::new(&model, Tiling::TFormat);
    let to = PassDescriptor::to(&stage.target).clear([0.0; 4]);
    let pass = |descriptor: PassDescriptor<'_>| {
        let mut frame = stage.device.frame().unwrap();
        frame.pass(&descriptor).map(|_| ()).unwrap_err().to_string()
    };
    assert_eq!(pass(to.double_buffered()), "light: a double tile buffer holds 32-bit colours only");
    let four = PassDescriptor { samples: Samples::Four, ..to };
    assert_eq!(pass(four), "light: the hardware does not resolve four samples of 64-bit colours");
    let pipeline = |descriptor: Colors| Pipeline::new(&stage.device, &descriptor).map(|_| ()).unwrap_err().to_string();
    let halves = "and the fragment shader leaves half floats";
    for (descriptor, what) in [
        (Colors { logic: Logic::Xor, ..colors() }, "logic operations are for 8-bit channels"),
        (
            Colors { alpha_test: AlphaTest { test: Compare::Less, reference: 1 }, ..colors() },
            "the alpha test is for 8-bit channels",
        ),
        (Colors { color_mask: [255, 0, 0, 0], ..colors() }, "a mask of some channels is for 8-bit channels"),
    ] {
        assert_eq!(pipeline(descriptor), format!("colours: {what}, {halves}"));
    }
    let (format, tiling) = (Format::Rgba8888, Tiling::Raster);
    let plain = TargetDescriptor { label: "plain", width_px: 16, height_px: 16, format, tiling };
    let plain = Target::new(&stage.device, &plain).unwrap();
    let bytes = PipelineDescriptor::new("bytes", Shading::PreShaded, &smooth_alpha::FRAGMENT);
    for (target, descriptor, expected) in [
        (&plain, colors(), "colours: its fragment shader writes half floats, and plain has 32 bits per pixel"),
        (
            &stage.target,
            bytes,
            "bytes: its fragment shader writes 8-bit channels, and light has 64 bits per pixel (half floats)",
        ),
    ] {
        let pipeline = Pipeline::new(&stage.device, &descriptor).unwrap();
        let mut frame = stage.device.frame().unwrap();
        let mut pass = frame.pass(&PassDescriptor::to(target).clear([0.0; 4])).unwrap();
        let vertices = square(target, CORNERS, 0.5);
        let drawn = pass.draw_vertices(&pipeline, Primitive::Triangles, &vertices, &NoUniforms, &NoUniforms);
        assert_eq!(drawn.map_err(|error: Error| error.to_string()), Err(expected.to_owned()));
    }
}

/// The same WGSL shader as for targets of 8 bits, with colours above 1 and below 0, drawn twice with additive blending.
#[test]
fn a_shader_in_wgsl_draws_to_either_kind_of_target() {
    let model = Model::new(8 << 20, Config::default());
    let stage = Fixture::new(&model, Tiling::Raster);
    let corner = |x: f32, y: f32| rings::Vertex { position: [x, y, 0.0], from_middle: [x, y] };
    let corners = [corner(-1.0, 1.0), corner(1.0, 1.0), corner(-1.0, -1.0), corner(1.0, -1.0)];
    let square = Mesh::new(&stage.device, "square", Primitive::TriangleStrip, &corners).unwrap();
    let bytes = PipelineDescriptor::new("rings", &rings::SHADING, &rings::FRAGMENT);
    let halves = PipelineDescriptor { half_color: true, blend: Blend::ADD, ..bytes };
    let [bytes, halves] = [bytes, halves].map(|descriptor| Pipeline::new(&stage.device, &descriptor).unwrap());
    let wave = rings::FragmentUniforms { rings: 1.5, phase: 0.25, crest: [9.0, 0.5, -3.0], trough: [0.0, 200.0, -1.0] };
    let uniforms = rings::Uniforms { matrix: rows(&Mat4::IDENTITY) };
    let mut frame = stage.device.frame().unwrap();
    let mut pass = frame.pass(&PassDescriptor::to(&stage.target).clear([0.0; 4])).unwrap();
    for _ in 0..2 {
        pass.draw(&halves, &square, &uniforms, &wave).unwrap();
    }
    let error = pass.draw(&bytes, &square, &uniforms, &wave).unwrap_err();
    assert!(matches!(error, Error::ColorBits { label: "rings", bits: 64, .. }), "{error:?}");
    let fence = frame.submit().unwrap();
    stage.device.wait(fence).unwrap();
    assert_eq!(model.take_faults(), []);
    let pixel = stage.pixels();
    let mut inside = 0;
    for (x, y) in (0..SIZE.1).flat_map(|y| (0..SIZE.0).map(move |x| (x, y))) {
        let along = |at: u32, size: u32| 2.0 * (f64::from(at) + 0.5) / f64::from(size) - 1.0;
        let distance = along(x, SIZE.0).hypot(along(y, SIZE.1));
        if (distance - 1.0).abs() < 1e-4 {
            continue;
        }
        let height = 0.5 + 0.5 * (std::f64::consts::TAU * (distance * 1.5 - 0.25)).cos();
        for (found, (crest, trough)) in pixel(x, y).into_iter().zip(wave.crest.into_iter().zip(wave.trough)) {
            let (crest, trough) = (f64::from(crest), f64::from(trough));
            let expected = if distance > 1.0 { 0.0 } else { 2.0 * (trough + height * (crest - trough)) };
            // Half floats of 11 bits, twice; the cosine is accurate to 1e-4, for colours that are up to 200 apart.
            let margin = expected.abs() / 1024.0 + (crest - trough).abs() * 2e-4;
            assert!((found - expected).abs() <= margin, "{x}, {y}: {found}, not {expected}");
        }
        inside += u32::from(distance < 1.0);
    }
    assert!(inside > SIZE.0 * SIZE.1 / 2, "{inside} pixels have rings");
}

#[test]
fn a_shader_for_one_kind_of_target_draws_to_no_other() {
    let model = Model::new(8 << 20, Config::default());
    let device = model.device().unwrap();
    let plain =
        PipelineDescriptor::<Vertex, NoUniforms, _, 4>::new("plain", Shading::PreShaded, &smooth_alpha::FRAGMENT);
    for descriptor in [PipelineDescriptor { half_color: true, ..plain }, Colors { half_color: false, ..colors() }] {
        let error = Pipeline::new(&device, &descriptor).unwrap_err();
        assert!(matches!(error, Error::Impossible { why, .. } if why.contains("half floats")), "{error:?}");
    }
}
