//! Consecutive draws with any depth and stencil tests in one pass: early Z changes no pixel.
//!
//! The model keeps early Z's own depth buffer, and reports fragments that it hides wrongly. Expected values are computed here from the text of the OpenGL ES
//! 2.0 specification (sections 4.1.4 and 4.1.5).

#[path = "specification/compare.rs"]
mod compare;

use compare::passes;
use qpu_shaders::{NoUniforms, smooth};
use renderer::shaded_vertex::ShadedVertex;
use renderer::{
    AlphaTest, Compare, Depth, Device, Format, PassDescriptor, Pipeline, PipelineDescriptor, Primitive, Samples,
    Shading, Stencil, StencilChange, StencilSide, Target, TargetDescriptor,
};
use v3d::draw_state::Viewport;
use v3d::hw::control_list::Record;
use v3d::hw::tiling::Tiling;
use v3d::platform::GpuMemory;
use v3d_host::Model;
use v3d_sim::Config;
use v3d_sim::random::Random;

/// Sides of the pictures in pixels.
const SIDE: u32 = 16;

type Colors = PipelineDescriptor<'static, ShadedVertex<3>, NoUniforms, NoUniforms, 3>;

const NEAR: f32 = 0.25;
const MIDDLE: f32 = 0.5;
const FAR: f32 = 1.0;
const ALWAYS: Depth = Depth { test: Compare::Always, write: true };

struct Fixture<'m> {
    model: &'m Model,
    device: Device<'m, Model>,
    target: Target,
}

fn colors() -> Colors {
    PipelineDescriptor::new("colours", Shading::PreShaded, &smooth::FRAGMENT)
}

fn tested(depth: Depth) -> Colors {
    Colors { depth, ..colors() }
}

impl<'m> Fixture<'m> {
    fn new(model: &'m Model) -> Self {
        let device = model.device().unwrap();
        let (format, tiling) = (Format::Rgba8888, Tiling::Raster);
        let descriptor = TargetDescriptor { label: "picture", width_px: SIDE, height_px: SIDE, format, tiling };
        let target = Target::new(&device, &descriptor).unwrap();
        Self { model, device, target }
    }

    /// Draws squares over the whole picture, with the number of each in its red channel, and returns the number of the visible one; 255 is the background.
    fn draw(&self, pass: PassDescriptor<'_>, draws: &[(Colors, f32)]) -> u8 {
        let viewport = Viewport::display(SIDE as u16, SIDE as u16);
        let mut frame = self.device.frame().unwrap();
        let mut pass = frame.pass(&PassDescriptor { target: &self.target, clear: Some([1.0; 4]), ..pass }).unwrap();
        for (&(descriptor, depth), number) in draws.iter().zip(0u8..) {
            let pipeline = Pipeline::new(&self.device, &descriptor).unwrap();
            let color = [f32::from(number) / 255.0, 0.0, 0.0];
            let corners = [(-1.0, 1.0), (1.0, 1.0), (-1.0, -1.0), (1.0, -1.0)]
                .map(|(x, y)| ShadedVertex::flat(x, y, depth, viewport.half_width, viewport.half_height, color));
            pass.draw_vertices(&pipeline, Primitive::TriangleStrip, &corners, &NoUniforms, &NoUniforms).unwrap();
        }
        let fence = frame.submit().unwrap();
        self.device.wait(fence).unwrap();
        assert_eq!(self.model.take_faults(), []);
        let mut bytes = vec![0; (4 * SIDE * SIDE) as usize];
        self.target.read(&self.device, &mut bytes).unwrap();
        let pixels = bytes.as_chunks::<4>().0;
        assert!(pixels.iter().all(|pixel| *pixel == pixels[0]), "pixels differ");
        pixels[0][0]
    }

    /// Whether early Z and its updates are on in each configuration of the last binning list.
    fn early_z(&self) -> Vec<(bool, bool)> {
        let list = self.device.driver_ref().unwrap().last_job().unwrap().binning.unwrap();
        let mut bytes = vec![0; (list.end_exclusive - list.start) as usize];
        self.model.load(list.start - self.model.base(), &mut bytes);
        let (mut configurations, mut at) = (Vec::new(), 0);
        while at < bytes.len() {
            let record = Record::decode(&bytes[at..]).unwrap();
            at += record.bytes();
            if let Record::ConfigurationBits(bits) = record {
                configurations.push((bits.early_z, bits.early_z_updates));
            }
        }
        configurations
    }
}

/// On a board, the last square of such a pass was lost [bm docs/DRIVERS.md].
#[test]
fn what_is_drawn_after_a_depth_was_taken_back_is_seen() {
    let model = Model::new(4 << 20, Config::default());
    let stage = Fixture::new(&model);
    for samples in [Samples::One, Samples::Four] {
        let pass = PassDescriptor { samples, ..PassDescriptor::to(&stage.target) };
        let of = |descriptor: Colors| Colors { samples, ..descriptor };
        let draws = [(of(tested(Depth::LESS)), NEAR), (of(tested(ALWAYS)), FAR), (of(tested(Depth::LESS)), MIDDLE)];
        assert_eq!(stage.draw(pass, &draws), 2, "{samples:?}");
    }
}

#[test]
fn early_z_is_off_in_a_pass_from_a_draw_on_that_may_move_the_depth_away() {
    let model = Model::new(4 << 20, Config::default());
    let stage = Fixture::new(&model);
    let less = (tested(Depth::LESS), MIDDLE);
    for test in Compare::ALL {
        for write in [false, true] {
            let between = (tested(Depth { test, write }), MIDDLE);
            let discarding = (Colors { alpha_test: AlphaTest { test: Compare::Less, reference: 0 }, ..less.0 }, MIDDLE);
            stage.draw(PassDescriptor::to(&stage.target), &[less, between, discarding, less]);
            let found = stage.early_z();
            let moves = write
                && matches!(test, Compare::Always | Compare::Greater | Compare::GreaterOrEqual | Compare::NotEqual);
            assert_eq!(found.first(), Some(&(true, true)), "{test:?}");
            assert_eq!(found.last(), Some(&(!moves, true)), "{test:?}, writes: {write}");
            assert!(found.contains(&(false, false)), "the draw that discards");
        }
    }
    // The next pass starts with new tiles.
    stage.draw(PassDescriptor::to(&stage.target), &[less]);
    assert_eq!(stage.early_z(), [(true, true)]);
}

/// Eight draws with random tests: the last one that passes both is visible.
#[test]
fn any_tests_one_after_the_other_are_those_of_opengl() {
    let model = Model::new(4 << 20, Config::default());
    let stage = Fixture::new(&model);
    let (mut hidden, mut changed_hidden) = (0, 0);
    for case in 0..300 {
        let mut random = Random::new(1, case);
        let samples = if random.one_in(4) { Samples::Four } else { Samples::One };
        let (mut depth, mut stencil, mut seen) = (8, 0, 255);
        let mut draws = Vec::new();
        for number in 0..8 {
            // Depths are multiples of 1/8, because the comparisons are exact.
            let new = random.below(8);
            let test = if random.one_in(2) { Compare::Less } else { random.pick(&Compare::ALL) };
            let write = !random.one_in(4);
            // The stencil is 0, 1 or 2.
            let pick = |random: &mut Random| {
                random.pick(&[StencilChange::Keep, StencilChange::Keep, StencilChange::Zero, StencilChange::Replace])
            };
            let side = StencilSide {
                test: random.pick(&[Compare::Always, Compare::Equal, Compare::NotEqual, Compare::Less]),
                reference: random.below(3) as u8,
                fail: pick(&mut random),
                depth_fail: pick(&mut random),
                pass: pick(&mut random),
                ..StencilSide::KEEP
            };
            let side = if random.one_in(3) { StencilSide::KEEP } else { side };
            let with_stencil = (side != StencilSide::KEEP).then(|| Stencil::both(side));
            let descriptor = Colors { samples, depth: Depth { test, write }, stencil: with_stencil, ..colors() };
            draws.push((descriptor, new as f32 / 8.0));
            let nearer = passes(test, new, depth);
            let change = match (passes(side.test, side.reference.into(), stencil), nearer) {
                (false, _) => side.fail,
                (true, false) => side.depth_fail,
                (true, true) => side.pass,
            };
            let drawn = passes(side.test, side.reference.into(), stencil) && nearer;
            hidden += u32::from(!nearer);
            changed_hidden += u32::from(!nearer && change != StencilChange::Keep);
            stencil = match change {
                StencilChange::Zero => 0,
                StencilChange::Replace => side.reference.into(),
                _ => stencil,
            };
            if drawn {
                seen = number;
                depth = if write { new } else { depth };
            }
        }
        let pass = PassDescriptor { samples, ..PassDescriptor::to(&stage.target) };
        assert_eq!(stage.draw(pass, &draws), seen, "case {case}: {draws:?}");
    }
    assert!(hidden > 500 && changed_hidden > 100, "the suite hides something: {hidden}, {changed_hidden}");
}
