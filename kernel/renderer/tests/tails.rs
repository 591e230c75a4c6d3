//! Blending, logic operations, masks, alpha test, stencil, depth and samples, pixel by pixel.
//!
//! Expected values are computed here from the text of the OpenGL ES 2.0 specification (sections 4.1.2 to 4.1.8; logic operations: OpenGL 1.5, section
//! 4.1.10), in exact arithmetic, from the colours of two pictures that were drawn without any of these features.

#[path = "specification/compare.rs"]
mod compare;

use compare::passes;
use qpu_shaders::{NoUniforms, smooth_alpha};
use renderer::shaded_vertex::ShadedVertex;
use renderer::{
    AlphaTest, Blend, BlendPart, Compare, Depth, Device, Equation, Error, Factor, Format, Logic, PassDescriptor,
    Pipeline, PipelineDescriptor, Primitive, Samples, Shading, Stencil, StencilChange, StencilSide, Target,
    TargetDescriptor,
};
use v3d::draw_state::Viewport;
use v3d::hw::tiling::Tiling;
use v3d_host::Model;
use v3d_sim::Config;

/// Sides of the pictures in pixels.
const SIDE: u32 = 16;

type Vertex = ShadedVertex<4>;
type Colors = PipelineDescriptor<'static, Vertex, NoUniforms, NoUniforms, 4>;
type Pixels = Vec<[u8; 4]>;

struct Fixture<'m> {
    model: &'m Model,
    device: Device<'m, Model>,
    target: Target,
}

fn colors() -> Colors {
    PipelineDescriptor::new("colors", Shading::PreShaded, &smooth_alpha::FRAGMENT)
}

/// Two triangles over the whole picture, with the colours of its corners: top left and right, bottom left and right.
fn square(corners: [[f32; 4]; 4], depth: f32) -> [Vertex; 6] {
    let viewport = Viewport::display(SIDE as u16, SIDE as u16);
    let places = [(-1.0, 1.0), (1.0, 1.0), (-1.0, -1.0), (1.0, -1.0)];
    [0, 2, 1, 1, 2, 3].map(|n: usize| {
        let (x, y) = places[n];
        ShadedVertex::flat(x, y, depth, viewport.half_width, viewport.half_height, corners[n])
    })
}

fn flat(color: [f32; 4]) -> [[f32; 4]; 4] {
    [color; 4]
}

/// Colours at the corners such that all channels cover 0 to 1 in different directions.
const SOURCE: [[f32; 4]; 4] = [[1.0, 0.0, 0.3, 0.0], [0.0, 0.2, 1.0, 0.9], [0.5, 1.0, 0.0, 0.2], [0.1, 0.6, 0.8, 1.0]];
const TARGET: [[f32; 4]; 4] = [[0.0, 1.0, 0.5, 1.0], [0.7, 0.0, 0.1, 0.1], [1.0, 0.4, 1.0, 0.6], [0.2, 0.9, 0.0, 0.0]];

impl<'m> Fixture<'m> {
    fn new(model: &'m Model) -> Self {
        let device = model.device().unwrap();
        let (format, tiling) = (Format::Rgba8888, Tiling::Raster);
        let descriptor = TargetDescriptor { label: "picture", width_px: SIDE, height_px: SIDE, format, tiling };
        let target = Target::new(&device, &descriptor).unwrap();
        Self { model, device, target }
    }

    /// Draws squares on top of each other.
    fn draw(&self, pass: PassDescriptor<'_>, draws: &[(Colors, [Vertex; 6])]) -> Pixels {
        let pipelines: Vec<_> =
            draws.iter().map(|(descriptor, _)| Pipeline::new(&self.device, descriptor).unwrap()).collect();
        let mut frame = self.device.frame().unwrap();
        let mut pass = frame.pass(&PassDescriptor { target: &self.target, ..pass }).unwrap();
        for (pipeline, (_, vertices)) in pipelines.iter().zip(draws) {
            pass.draw_vertices(pipeline, Primitive::Triangles, vertices, &NoUniforms, &NoUniforms).unwrap();
        }
        let fence = frame.submit().unwrap();
        self.device.wait(fence).unwrap();
        assert_eq!(self.model.take_faults(), []);
        let mut bytes = vec![0; (4 * SIDE * SIDE) as usize];
        self.target.read(&self.device, &mut bytes).unwrap();
        bytes.as_chunks().0.to_vec()
    }

    fn black(&self) -> PassDescriptor<'_> {
        PassDescriptor::to(&self.target).clear([0.0; 4])
    }

    /// The source and destination colours: each gradient drawn by itself.
    fn gradients(&self) -> (Pixels, Pixels) {
        let source = self.draw(self.black(), &[(colors(), square(SOURCE, 0.5))]);
        let target = self.draw(self.black(), &[(colors(), square(TARGET, 0.5))]);
        (source, target)
    }

    /// The source's gradient drawn over the target's with this state.
    fn over(&self, descriptor: Colors) -> Pixels {
        let samples = descriptor.samples;
        let below = Colors { samples, ..colors() };
        let pass = PassDescriptor { samples, ..self.black() };
        self.draw(pass, &[(below, square(TARGET, 0.5)), (descriptor, square(SOURCE, 0.5))])
    }
}

/// A factor for one channel, of colours from 0 to 1.
fn factor(factor: Factor, channel: usize, s: [f64; 4], d: [f64; 4], c: [f64; 4]) -> f64 {
    match factor {
        Factor::Zero => 0.0,
        Factor::One => 1.0,
        Factor::SourceColor => s[channel],
        Factor::OneMinusSourceColor => 1.0 - s[channel],
        Factor::TargetColor => d[channel],
        Factor::OneMinusTargetColor => 1.0 - d[channel],
        Factor::SourceAlpha => s[3],
        Factor::OneMinusSourceAlpha => 1.0 - s[3],
        Factor::TargetAlpha => d[3],
        Factor::OneMinusTargetAlpha => 1.0 - d[3],
        Factor::Constant => c[channel],
        Factor::OneMinusConstant => 1.0 - c[channel],
        Factor::ConstantAlpha => c[3],
        Factor::OneMinusConstantAlpha => 1.0 - c[3],
        Factor::SourceAlphaSaturate if channel == 3 => 1.0,
        Factor::SourceAlphaSaturate => s[3].min(1.0 - d[3]),
    }
}

/// The blended colour, 0 to 255 and not rounded.
fn blended(blend: &Blend, source: [u8; 4], target: [u8; 4]) -> [f64; 4] {
    let unit = |color: [u8; 4]| color.map(|channel| f64::from(channel) / 255.0);
    let (s, d, c) = (unit(source), unit(target), unit(blend.constant));
    core::array::from_fn(|channel| {
        let BlendPart { equation, source, target } = if channel == 3 { blend.alpha } else { blend.color };
        let first = s[channel] * factor(source, channel, s, d, c);
        let second = d[channel] * factor(target, channel, s, d, c);
        let value = match equation {
            Equation::Add => first + second,
            Equation::Subtract => first - second,
            Equation::ReverseSubtract => second - first,
            Equation::Min => s[channel].min(d[channel]),
            Equation::Max => s[channel].max(d[channel]),
        };
        255.0 * value.clamp(0.0, 1.0)
    })
}

/// Two 8-bit products, each accurate to within one.
const ROUNDING: f64 = 2.0;

fn assert_blended(stage: &Fixture<'_>, blend: Blend, samples: Samples, (source, target): &(Pixels, Pixels)) {
    let picture = stage.over(Colors { blend, samples, ..colors() });
    for (at, pixel) in picture.iter().enumerate() {
        let expected = blended(&blend, source[at], target[at]);
        let near = (0..4).all(|channel| (f64::from(pixel[channel]) - expected[channel]).abs() <= ROUNDING);
        assert!(near, "{blend:?} {samples:?}: {:?} over {:?} is {pixel:?}, not {expected:?}", source[at], target[at]);
    }
}

#[test]
fn every_equation_with_every_pair_of_factors() {
    let model = Model::new(4 << 20, Config::default());
    let stage = Fixture::new(&model);
    let gradients = stage.gradients();
    let mut distinct = gradients.0.clone();
    distinct.sort_unstable();
    distinct.dedup();
    assert!(distinct.len() > 200, "the gradient has only {} colours", distinct.len());
    for equation in Equation::ALL {
        for source in Factor::ALL {
            for target in Factor::ALL {
                let part = BlendPart { equation, source, target };
                let blend = Blend { constant: [200, 30, 120, 90], ..Blend::both(part) };
                assert_blended(&stage, blend, Samples::One, &gradients);
            }
        }
    }
}

/// Seed 1, 300 cases: other equations and factors for alpha, half of them with four samples.
#[test]
fn random_blending_with_others_for_alpha() {
    let model = Model::new(4 << 20, Config::default());
    let stage = Fixture::new(&model);
    let gradients = stage.gradients();
    let mut random = 1u32;
    let mut next = |below: usize| {
        random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (random >> 8) as usize % below
    };
    for n in 0..300 {
        let mut part = || BlendPart {
            equation: Equation::ALL[next(5)],
            source: Factor::ALL[next(15)],
            target: Factor::ALL[next(15)],
        };
        let (color, alpha) = (part(), part());
        let constant = [0; 4].map(|_: u8| next(256) as u8);
        let samples = if n % 2 == 0 { Samples::One } else { Samples::Four };
        assert_blended(&stage, Blend { color, alpha, constant }, samples, &gradients);
    }
}

#[test]
fn every_logic_operation_and_mask() {
    let model = Model::new(4 << 20, Config::default());
    let stage = Fixture::new(&model);
    let (source, target) = stage.gradients();
    for logic in Logic::ALL {
        for (color_mask, samples) in [
            ([0xff; 4], Samples::One),
            ([0xff, 0, 0x0f, 0xff], Samples::One),
            ([0, 0xff, 0xff, 0], Samples::Four),
            ([0; 4], Samples::One),
        ] {
            let picture = stage.over(Colors { logic, color_mask, samples, ..colors() });
            for (at, &pixel) in picture.iter().enumerate() {
                let expected: [u8; 4] = core::array::from_fn(|channel| {
                    let (s, d) = (source[at][channel], target[at][channel]);
                    let result = match logic {
                        Logic::Clear => 0,
                        Logic::And => s & d,
                        Logic::AndReverse => s & !d,
                        Logic::Copy => s,
                        Logic::AndInverted => !s & d,
                        Logic::Noop => d,
                        Logic::Xor => s ^ d,
                        Logic::Or => s | d,
                        Logic::Nor => !(s | d),
                        Logic::Equivalent => !(s ^ d),
                        Logic::Invert => !d,
                        Logic::OrReverse => s | !d,
                        Logic::CopyInverted => !s,
                        Logic::OrInverted => !s | d,
                        Logic::Nand => !(s & d),
                        Logic::Set => 0xff,
                    };
                    result & color_mask[channel] | d & !color_mask[channel]
                });
                assert_eq!(pixel, expected, "{logic:?} {color_mask:?} {samples:?}");
            }
        }
    }
}

#[test]
fn every_alpha_test() {
    let model = Model::new(4 << 20, Config::default());
    let stage = Fixture::new(&model);
    let (source, target) = stage.gradients();
    for test in Compare::ALL {
        for reference in [0, source[100][3], 255] {
            let picture = stage.over(Colors { alpha_test: AlphaTest { test, reference }, ..colors() });
            for (at, &pixel) in picture.iter().enumerate() {
                let drawn = passes(test, i64::from(source[at][3]), i64::from(reference));
                assert_eq!(pixel, if drawn { source[at] } else { target[at] }, "{test:?} {reference}");
            }
        }
    }
}

const WHITE: [f32; 4] = [1.0; 4];

/// A square at the middle depth over three bands that are nearer, equal, and farther: where it is drawn, and which depths it stores.
#[test]
fn every_depth_test() {
    let model = Model::new(4 << 20, Config::default());
    let stage = Fixture::new(&model);
    let depths = [0.25, 0.5, 0.75];
    for test in Compare::ALL {
        for write in [false, true] {
            for stored in depths {
                let write_all = Depth { test: Compare::Always, write: true };
                let first = Colors { depth: write_all, ..colors() };
                let second = Colors { depth: Depth { test, write }, ..colors() };
                // Green where the stored depth is greater than 0.6, which the middle depth is not.
                let third = Colors { depth: Depth { test: Compare::Less, write: false }, ..colors() };
                let picture = stage.draw(
                    stage.black(),
                    &[
                        (first, square(flat([1.0, 0.0, 0.0, 1.0]), stored)),
                        (second, square(flat(WHITE), 0.5)),
                        (third, square(flat([0.0, 1.0, 0.0, 1.0]), 0.6)),
                    ],
                );
                let passed = passes(test, 50, (100.0 * stored) as i64);
                let left = if passed && write { 0.5 } else { stored };
                let expected = match (0.6 < left, passed) {
                    (true, _) => [0, 255, 0, 255],
                    (false, true) => [255; 4],
                    (false, false) => [255, 0, 0, 255],
                };
                assert!(
                    picture.iter().all(|&pixel| pixel == expected),
                    "{test:?} {write} over {stored}: {:?}",
                    picture[0]
                );
            }
        }
    }
}

fn changed(change: StencilChange, old: u8, reference: u8) -> u8 {
    match change {
        StencilChange::Zero => 0,
        StencilChange::Keep => old,
        StencilChange::Replace => reference,
        StencilChange::Increment => old.saturating_add(1),
        StencilChange::Decrement => old.saturating_sub(1),
        StencilChange::Invert => !old,
        StencilChange::IncrementWrap => old.wrapping_add(1),
        StencilChange::DecrementWrap => old.wrapping_sub(1),
    }
}

impl Fixture<'_> {
    /// The stencil that a draw leaves in all pixels, and whether it was drawn. The stencil is read bit by bit, each bit into the same bit of red.
    fn stencil_after(&self, old: u8, stencil: Stencil, depth: f32, reversed: bool) -> (u8, bool) {
        let test = Depth { test: Compare::Less, write: false };
        let mut vertices = square(flat([0.0, 1.0, 0.0, 1.0]), depth);
        if reversed {
            vertices.reverse();
        }
        let drawn = Colors { stencil: Some(stencil), depth: test, color_mask: [0, 0xff, 0, 0], ..colors() };
        let far = Colors { depth: Depth { test: Compare::Always, write: true }, color_mask: [0; 4], ..colors() };
        let mut draws = vec![(far, square(flat(WHITE), 0.5)), (drawn, vertices)];
        for bit in 0..8 {
            let side = StencilSide { test: Compare::Equal, reference: 1 << bit, mask: 1 << bit, ..StencilSide::KEEP };
            let descriptor = Colors { stencil: Some(Stencil::both(side)), color_mask: [1 << bit, 0, 0, 0], ..colors() };
            draws.push((descriptor, square(flat(WHITE), 0.5)));
        }
        let picture = self.draw(PassDescriptor { clear_stencil: old, ..self.black() }, &draws);
        assert!(picture.iter().all(|pixel| *pixel == picture[0]), "pixels differ");
        (picture[0][0], picture[0][1] == 255)
    }
}

/// All tests, and all stencil operations for each outcome of the tests, on both sides, with masks.
#[test]
fn every_stencil_test_and_change() {
    let model = Model::new(4 << 20, Config::default());
    let stage = Fixture::new(&model);
    let other = StencilSide { test: Compare::Never, fail: StencilChange::Invert, ..StencilSide::KEEP };
    let mut number = 0usize;
    for test in Compare::ALL {
        for change in StencilChange::ALL {
            for old in [0u8, 0x35, 0xff] {
                number += 1;
                let reference = [0x35, 0x70, 0xff][number % 3];
                let mask = [0xff, 0x0f][number % 2];
                let write_mask = [0xff, 0x0f, 0x5a, 0x01][number % 4];
                let side = StencilSide {
                    test,
                    reference,
                    mask,
                    write_mask,
                    fail: change,
                    depth_fail: StencilChange::ALL[(number + 3) % 8],
                    pass: StencilChange::ALL[(number + 5) % 8],
                };
                let (in_front, reversed) = (number.is_multiple_of(2), number % 5 < 2);
                // The square is counterclockwise: front-facing.
                let stencil =
                    if reversed { Stencil { front: other, back: side } } else { Stencil { front: side, back: other } };
                let found = stage.stencil_after(old, stencil, if in_front { 0.25 } else { 0.75 }, reversed);
                let stencil_passes = passes(test, i64::from(reference & mask), i64::from(old & mask));
                let change = match (stencil_passes, in_front) {
                    (false, _) => side.fail,
                    (true, false) => side.depth_fail,
                    (true, true) => side.pass,
                };
                let new = changed(change, old, reference) & write_mask | old & !write_mask;
                assert_eq!(found, (new, stencil_passes && in_front), "{side:?} on {old:#x}, reversed: {reversed}");
            }
        }
    }
}

/// The edge of a triangle with four samples: the colour is proportional to the coverage, with the accuracy of four samples.
#[test]
fn four_samples_smooth_edges() {
    let model = Model::new(4 << 20, Config::default());
    let stage = Fixture::new(&model);
    let half = square(flat(WHITE), 0.5)[..3].to_vec();
    let pipeline = Pipeline::new(&stage.device, &Colors { samples: Samples::Four, ..colors() }).unwrap();
    let mut frame = stage.device.frame().unwrap();
    let descriptor = PassDescriptor { samples: Samples::Four, ..stage.black() };
    let mut pass = frame.pass(&descriptor).unwrap();
    // Top left, bottom left, top right; squeezed, so that the long edge is not a diagonal of pixels.
    let squeezed: Vec<Vertex> = half
        .iter()
        .map(|vertex| {
            let mut vertex = *vertex;
            vertex.position.y = vertex.position.y * 3 / 4;
            vertex
        })
        .collect();
    pass.draw_vertices(&pipeline, Primitive::Triangles, &squeezed, &NoUniforms, &NoUniforms).unwrap();
    let fence = frame.submit().unwrap();
    stage.device.wait(fence).unwrap();
    let mut bytes = vec![0; (4 * SIDE * SIDE) as usize];
    stage.target.read(&stage.device, &mut bytes).unwrap();
    let mut levels: Vec<u8> = Vec::new();
    for (at, pixel) in bytes.as_chunks::<4>().0.iter().enumerate() {
        let (x, y) = (at as u32 % SIDE, at as u32 / SIDE);
        // 16 x 16 points per pixel: inside if below the top edge and left of the line from (0, 14) to (16, 2).
        let inside = (0..256).filter(|point| {
            let px = f64::from(x) + (f64::from(point % 16) + 0.5) / 16.0;
            let py = f64::from(y) + (f64::from(point / 16) + 0.5) / 16.0;
            py > 2.0 && py < 14.0 - px * 12.0 / 16.0
        });
        let covered = inside.count() as f64 / 256.0;
        let found = f64::from(pixel[0]) / 255.0;
        assert!((covered - found).abs() <= 0.3, "({x}, {y}) is {found}, covered {covered}");
        levels.push(pixel[0]);
    }
    levels.sort_unstable();
    levels.dedup();
    assert!(levels.len() >= 4, "only the levels {levels:?}");
}

#[test]
fn alpha_becomes_coverage() {
    let model = Model::new(4 << 20, Config::default());
    let stage = Fixture::new(&model);
    for alpha in [0u8, 31, 32, 95, 96, 128, 159, 160, 223, 224, 255] {
        let descriptor = Colors { samples: Samples::Four, alpha_to_coverage: true, ..colors() };
        let pass = PassDescriptor { samples: Samples::Four, ..stage.black() };
        let color = [1.0, 1.0, 1.0, f32::from(alpha) / 255.0];
        let picture = stage.draw(pass, &[(descriptor, square(flat(color), 0.5))]);
        let samples = (f64::from(alpha) / 64.0).round();
        for pixel in &picture {
            let expected = 255.0 * samples / 4.0;
            assert!((f64::from(pixel[0]) - expected).abs() <= 1.0, "alpha {alpha}: {pixel:?}, not {expected}");
        }
    }
}

#[test]
fn what_is_not_possible_together_is_said() {
    let model = Model::new(4 << 20, Config::default());
    let stage = Fixture::new(&model);
    let refused = |descriptor: Colors| Pipeline::new(&stage.device, &descriptor).unwrap_err().to_string();
    let used = stage.device.pool().used();
    let both = refused(Colors { logic: Logic::Xor, blend: Blend::ALPHA, ..colors() });
    assert_eq!(both, "colors: a logic operation and blending exclude each other");
    assert!(refused(Colors { alpha_to_coverage: true, ..colors() }).contains("four samples"));
    assert_eq!(stage.device.pool().used(), used);
    let pipeline = Pipeline::new(&stage.device, &Colors { samples: Samples::Four, ..colors() }).unwrap();
    let mut frame = stage.device.frame().unwrap();
    let mut pass = frame.pass(&stage.black()).unwrap();
    let vertices = square(flat(WHITE), 0.5);
    let error = pass.draw_vertices(&pipeline, Primitive::Triangles, &vertices, &NoUniforms, &NoUniforms).unwrap_err();
    assert_eq!(error, Error::Samples { label: "colors", pipeline: 4, pass: 1 });
}
