//! Passes within a part of a picture, whose depths and stencils are kept: everything outside of the part is unchanged.

use qpu_shaders::{NoUniforms, smooth, textured};
use renderer::shaded_vertex::ShadedVertex;
use renderer::{
    Compare, Depth, DepthTarget, Device, Format, Frame, LoadOp, PassDescriptor, Pipeline, PipelineDescriptor,
    Primitive, Rectangle, Sampler, Shading, Stencil, StencilSide, StoreOp, Target, TargetDescriptor, Texture, unorm,
};
use v3d::hw::tiling::Tiling;
use v3d_host::Model;
use v3d_sim::Config;

/// Two by two tiles.
const SIDE: u32 = 128;
const CLEAR: [u8; 4] = [1, 2, 3, 4];
const OTHER_CLEAR: [u8; 4] = [7, 8, 9, 10];
const RED: [f32; 3] = [1.0, 0.0, 0.0];
const GREEN: [f32; 3] = [0.0, 1.0, 0.0];
const BLUE: [f32; 3] = [0.0, 0.0, 1.0];

const WHOLE_TILE: Rectangle = Rectangle { x_px: 64, y_px: 0, width_px: 64, height_px: 64 };
const INSIDE_A_TILE: Rectangle = Rectangle { x_px: 74, y_px: 10, width_px: 20, height_px: 30 };
const ACROSS_TILES: Rectangle = Rectangle { x_px: 40, y_px: 33, width_px: 70, height_px: 64 };
const PARTS: [Rectangle; 3] = [WHOLE_TILE, INSIDE_A_TILE, ACROSS_TILES];

type Colors = PipelineDescriptor<'static, ShadedVertex<3>, NoUniforms, NoUniforms, 3>;

/// A draw that passes this depth test, and writes depths.
fn tested(test: Compare) -> Colors {
    let descriptor = PipelineDescriptor::new("colours", Shading::PreShaded, &smooth::FRAGMENT);
    PipelineDescriptor { depth: Depth { test, write: true }, ..descriptor }
}

struct Fixture<'m> {
    model: &'m Model,
    device: Device<'m, Model>,
    target: Target,
    kept: DepthTarget,
}

impl<'m> Fixture<'m> {
    fn new(model: &'m Model) -> Self {
        let device = model.device().unwrap();
        let (format, tiling) = (Format::Rgba8888, Tiling::Raster);
        let descriptor = TargetDescriptor { label: "picture", width_px: SIDE, height_px: SIDE, format, tiling };
        let target = Target::new(&device, &descriptor).unwrap();
        let kept = DepthTarget::new(&device, "depths", SIDE, SIDE).unwrap();
        Self { model, device, target, kept }
    }

    /// A pass that fills its part at a depth, with a colour.
    fn fill(
        &self,
        frame: &mut Frame<'_, Model>,
        pass: &PassDescriptor<'_>,
        draw: &Colors,
        depth: f32,
        color: [f32; 3],
    ) {
        let pipeline = Pipeline::new(&self.device, draw).unwrap();
        let viewport = self.target.viewport();
        let corners = [(-1.0, -1.0), (1.0, -1.0), (-1.0, 1.0), (1.0, 1.0)]
            .map(|(x, y)| ShadedVertex::flat(x, y, depth, viewport.half_width, viewport.half_height, color));
        let mut pass = frame.pass(pass).unwrap();
        pass.draw_vertices(&pipeline, Primitive::TriangleStrip, &corners, &NoUniforms, &NoUniforms).unwrap();
    }

    /// Submits a frame and expects one colour inside of a part, and another one around it.
    fn expect(&self, frame: Frame<'_, Model>, part: Rectangle, [inside, outside]: [[u8; 4]; 2], what: &str) {
        let fence = frame.submit().unwrap();
        self.device.wait(fence).unwrap();
        assert_eq!(self.model.take_faults(), [], "{what}");
        let mut bytes = vec![0; (4 * SIDE * SIDE) as usize];
        self.target.read(&self.device, &mut bytes).unwrap();
        let within = |at: u32, first: u16, length: u16| (u32::from(first)..u32::from(first + length)).contains(&at);
        for (n, &pixel) in (0..).zip(bytes.as_chunks::<4>().0) {
            let (x, y) = (n % SIDE, n / SIDE);
            let is_inside = within(x, part.x_px, part.width_px) && within(y, part.y_px, part.height_px);
            assert_eq!(pixel, if is_inside { inside } else { outside }, "{what}, {part:?}: pixel {x}, {y}");
        }
    }
}

fn bytes([red, green, blue]: [f32; 3]) -> [u8; 4] {
    [red, green, blue, 1.0].map(|channel| (255.0 * channel) as u8)
}

/// One pass stores depths of 0.25 everywhere. The next one clears depths to 1 in its part and draws there at 0.5. A third one draws at 0.4 everywhere, which
/// is in front of the second pass only.
#[test]
fn depths_outside_of_a_part_stay_when_those_inside_are_cleared() {
    for (part, clear) in PARTS.into_iter().flat_map(|part| [(part, None), (part, Some(OTHER_CLEAR))]) {
        let model = Model::new(4 << 20, Config::default());
        let stage = Fixture::new(&model);
        let nearer = tested(Compare::Less);
        let to = PassDescriptor::to(&stage.target);
        let second = PassDescriptor {
            clear: clear.map(unorm),
            ..to.within(part).with_depth(&stage.kept, LoadOp::Clear, StoreOp::Store)
        };
        let mut frame = stage.device.frame().unwrap();
        stage.fill(
            &mut frame,
            &to.clear(unorm(CLEAR)).with_depth(&stage.kept, LoadOp::Clear, StoreOp::Store),
            &nearer,
            0.25,
            RED,
        );
        stage.fill(&mut frame, &second, &nearer, 0.5, BLUE);
        stage.expect(frame, part, [bytes(BLUE), bytes(RED)], "after the part");
        let mut frame = stage.device.frame().unwrap();
        stage.fill(&mut frame, &to.with_depth(&stage.kept, LoadOp::Load, StoreOp::Discard), &nearer, 0.4, GREEN);
        stage.expect(frame, part, [bytes(GREEN), bytes(RED)], "after a pass over all of it");
    }
}

/// A pass whose part loads its depths writes only there.
#[test]
fn depths_outside_of_a_part_stay_when_those_inside_are_loaded() {
    for part in PARTS {
        let model = Model::new(4 << 20, Config::default());
        let stage = Fixture::new(&model);
        let nearer = tested(Compare::Less);
        let to = PassDescriptor::to(&stage.target);
        let mut frame = stage.device.frame().unwrap();
        stage.fill(
            &mut frame,
            &to.clear(unorm(CLEAR)).with_depth(&stage.kept, LoadOp::Clear, StoreOp::Store),
            &nearer,
            0.5,
            RED,
        );
        stage.fill(
            &mut frame,
            &to.within(part).with_depth(&stage.kept, LoadOp::Load, StoreOp::Store),
            &nearer,
            0.25,
            BLUE,
        );
        stage.fill(&mut frame, &to.with_depth(&stage.kept, LoadOp::Load, StoreOp::Discard), &nearer, 0.4, GREEN);
        stage.expect(frame, part, [bytes(BLUE), bytes(GREEN)], "loaded");
    }
}

/// The depths that a partial clear stores are exactly those that whole tiles are cleared to: a draw at this depth is equal to both.
#[test]
fn a_part_is_cleared_to_the_depths_of_whole_tiles() {
    for depth in [0.0, 0.25, 0.3, 1.0 / 3.0, 0.7, 0.999_999, 1.0] {
        let model = Model::new(4 << 20, Config::default());
        let stage = Fixture::new(&model);
        let to = PassDescriptor { clear_depth: depth, ..PassDescriptor::to(&stage.target) };
        let kept = |load, store| to.with_depth(&stage.kept, load, store);
        let mut frame = stage.device.frame().unwrap();
        frame
            .pass(&PassDescriptor {
                clear_depth: 1.0 - depth,
                ..kept(LoadOp::Clear, StoreOp::Store).clear(unorm(CLEAR))
            })
            .unwrap();
        frame.pass(&kept(LoadOp::Clear, StoreOp::Store).within(INSIDE_A_TILE)).unwrap();
        frame.pass(&kept(LoadOp::Clear, StoreOp::Store).within(WHOLE_TILE)).unwrap();
        frame.pass(&kept(LoadOp::Clear, StoreOp::Store).within(INSIDE_A_TILE)).unwrap();
        stage.fill(&mut frame, &kept(LoadOp::Load, StoreOp::Discard), &tested(Compare::Equal), depth, BLUE);
        stage.expect(frame, WHOLE_TILE, [bytes(BLUE), CLEAR], &format!("depth {depth}"));
    }
}

#[test]
fn stencils_outside_of_a_part_stay_when_those_inside_are_cleared() {
    let draw_where = |reference| {
        let side = StencilSide { test: Compare::Equal, reference, ..StencilSide::KEEP };
        Colors { stencil: Some(Stencil::both(side)), depth: Depth::NONE, ..tested(Compare::Always) }
    };
    for part in PARTS {
        let model = Model::new(4 << 20, Config::default());
        let stage = Fixture::new(&model);
        let to = PassDescriptor::to(&stage.target).with_depth(&stage.kept, LoadOp::Clear, StoreOp::Store);
        let mut frame = stage.device.frame().unwrap();
        frame.pass(&PassDescriptor { clear_stencil: 5, ..to.clear(unorm(CLEAR)) }).unwrap();
        frame.pass(&PassDescriptor { clear_stencil: 200, ..to.within(part) }).unwrap();
        let loaded = PassDescriptor::to(&stage.target).with_depth(&stage.kept, LoadOp::Load, StoreOp::Discard);
        stage.fill(&mut frame, &loaded, &draw_where(5), 0.5, RED);
        stage.fill(&mut frame, &loaded, &draw_where(200), 0.5, BLUE);
        stage.expect(frame, part, [bytes(BLUE), bytes(RED)], "stencils");
    }
}

/// Bytes of the pool that a pass allocates, beyond those that all such passes allocate.
#[test]
fn the_pipeline_of_a_partial_clear_is_created_once() {
    let model = Model::new(4 << 20, Config::default());
    let stage = Fixture::new(&model);
    let to = PassDescriptor::to(&stage.target).within(INSIDE_A_TILE);
    let mut frame = stage.device.frame().unwrap();
    let mut cost = |descriptor: PassDescriptor<'_>| {
        let before = stage.device.pool().used();
        frame.pass(&descriptor).unwrap();
        stage.device.pool().used() - before
    };
    let (first, second, without) = (cost(to.clear(unorm(CLEAR))), cost(to.clear(unorm(OTHER_CLEAR))), cost(to));
    assert!(first > without, "the first pass creates it: {first} and {without} bytes");
    assert_eq!(second, without, "bytes of a second pass, and of one that clears nothing");
}

/// A pass that samples the depths of an earlier one sees their 24 bits above the stencil, at the pixels where they were drawn.
#[test]
fn kept_depths_are_a_texture() {
    let model = Model::new(4 << 20, Config::default());
    let stage = Fixture::new(&model);
    let to = PassDescriptor { clear_stencil: 9, ..PassDescriptor::to(&stage.target) };
    let kept = to.clear(unorm(CLEAR)).with_depth(&stage.kept, LoadOp::Clear, StoreOp::Store);
    let mut frame = stage.device.frame().unwrap();
    stage.fill(&mut frame, &kept, &tested(Compare::Less), 0.75, RED);
    let part = to.within(ACROSS_TILES).with_depth(&stage.kept, LoadOp::Load, StoreOp::Store);
    stage.fill(&mut frame, &part, &tested(Compare::Less), 0.25, GREEN);
    let descriptor = PipelineDescriptor::new("bytes", Shading::PreShaded, &textured::FRAGMENT);
    let pipeline = Pipeline::new(&stage.device, &descriptor).unwrap();
    let viewport = stage.target.viewport();
    let corners = [(-1.0, -1.0), (1.0, -1.0), (-1.0, 1.0), (1.0, 1.0)].map(|(x, y): (f32, f32)| {
        let uv = [0.5 + 0.5 * x, 0.5 - 0.5 * y];
        ShadedVertex::flat(x, y, 0.5, viewport.half_width, viewport.half_height, uv)
    });
    let image = Texture::of_depth(&stage.kept).unwrap().bind(&Sampler::NEAREST).unwrap();
    let mut pass = frame.pass(&PassDescriptor::to(&stage.target).clear(unorm(CLEAR))).unwrap();
    let uniforms = textured::FragmentUniforms { image };
    pass.draw_vertices(&pipeline, Primitive::TriangleStrip, &corners, &NoUniforms, &uniforms).unwrap();
    let of = |depth: f64| {
        let [low, middle, high, _] = ((depth * f64::from(0xff_ffff)) as u32).to_le_bytes();
        [9, low, middle, high]
    };
    stage.expect(frame, ACROSS_TILES, [of(0.25), of(0.75)], "depths as colours");
    let small = DepthTarget::new(&stage.device, "small", 8, 8).unwrap();
    assert!(Texture::of_depth(&small).unwrap_err().to_string().contains("small"));
}
