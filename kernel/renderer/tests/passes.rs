//! Loading and storing of passes: depths and stencils, and parts of pictures.

use qpu_shaders::{NoUniforms, smooth};
use renderer::shaded_vertex::ShadedVertex;
use renderer::{
    Compare, Depth, DepthTarget, Device, Error, Format, Frame, LoadOp, PassDescriptor, Pipeline, PipelineDescriptor,
    Primitive, Rectangle, Samples, Shading, Stencil, StencilChange, StencilSide, StoreOp, Target, TargetDescriptor,
    unorm,
};
use v3d::hw::tiling::Tiling;
use v3d_host::Model;
use v3d_sim::Config;

/// A little more than two tiles along each axis.
const SIZE: (u32, u32) = (150, 140);

const CLEAR: [u8; 4] = [1, 2, 3, 4];
const RED: [u8; 4] = [255, 0, 0, 255];
const GREEN: [u8; 4] = [0, 255, 0, 255];

type Colors = PipelineDescriptor<'static, ShadedVertex<3>, NoUniforms, NoUniforms, 3>;

struct Fixture<'m> {
    model: &'m Model,
    device: Device<'m, Model>,
    target: Target,
}

fn colors() -> Colors {
    PipelineDescriptor::new("colours", Shading::PreShaded, &smooth::FRAGMENT)
}

fn rectangle(x_px: u16, y_px: u16, width_px: u16, height_px: u16) -> Rectangle {
    Rectangle { x_px, y_px, width_px, height_px }
}

fn contains(Rectangle { x_px, y_px, width_px, height_px }: Rectangle, (x, y): (u32, u32)) -> bool {
    let within =
        |at: u32, start: u16, length: u16| (u32::from(start)..u32::from(start) + u32::from(length)).contains(&at);
    within(x, x_px, width_px) && within(y, y_px, height_px)
}

impl<'m> Fixture<'m> {
    fn new(model: &'m Model) -> Self {
        let device = model.device().unwrap();
        let (format, tiling) = (Format::Rgba8888, Tiling::Raster);
        let descriptor = TargetDescriptor { label: "picture", width_px: SIZE.0, height_px: SIZE.1, format, tiling };
        let target = Target::new(&device, &descriptor).unwrap();
        Self { model, device, target }
    }

    /// A pass that fills a rectangle at a depth, with a colour.
    fn fill(
        &self,
        frame: &mut Frame<'_, Model>,
        pass: &PassDescriptor<'_>,
        descriptor: &Colors,
        (place, depth, color): (Rectangle, f32, [u8; 4]),
    ) {
        let pipeline = Pipeline::new(&self.device, descriptor).unwrap();
        let color = [color[0], color[1], color[2]].map(|channel| f32::from(channel) / 255.0);
        let viewport = self.target.viewport();
        let (left, top) = (f32::from(place.x_px), f32::from(place.y_px));
        let (right, bottom) = (left + f32::from(place.width_px), top + f32::from(place.height_px));
        let corners = [(left, bottom), (right, bottom), (left, top), (right, top)].map(|(x, y)| {
            let (x, y) = (2.0 * x / SIZE.0 as f32 - 1.0, 1.0 - 2.0 * y / SIZE.1 as f32);
            ShadedVertex::flat(x, y, depth, viewport.half_width, viewport.half_height, color)
        });
        let mut pass = frame.pass(pass).unwrap();
        pass.draw_vertices(&pipeline, Primitive::TriangleStrip, &corners, &NoUniforms, &NoUniforms).unwrap();
    }

    fn pixels(&self, frame: Frame<'_, Model>) -> Vec<[u8; 4]> {
        let fence = frame.submit().unwrap();
        self.device.wait(fence).unwrap();
        assert_eq!(self.model.take_faults(), []);
        let mut bytes = vec![0; (4 * SIZE.0 * SIZE.1) as usize];
        self.target.read(&self.device, &mut bytes).unwrap();
        bytes.as_chunks().0.to_vec()
    }
}

fn assert_picture(pixels: &[[u8; 4]], expected: impl Fn((u32, u32)) -> [u8; 4]) {
    for (n, &pixel) in (0..).zip(pixels) {
        let at = (n % SIZE.0, n / SIZE.0);
        assert_eq!(pixel, expected(at), "{at:?}");
    }
}

#[test]
fn depths_are_kept_from_pass_to_pass_if_asked_for() {
    let model = Model::new(4 << 20, Config::default());
    let stage = Fixture::new(&model);
    let kept = DepthTarget::new(&stage.device, "depths", SIZE.0, SIZE.1).unwrap();
    let near = rectangle(20, 30, 70, 80);
    let far = rectangle(10, 10, 130, 120);
    let tested = Colors { depth: Depth::LESS, ..colors() };
    for (load, double_buffer) in
        [(LoadOp::Load, false), (LoadOp::Clear, false), (LoadOp::Load, true), (LoadOp::Clear, true)]
    {
        let mut frame = stage.device.frame().unwrap();
        let to = PassDescriptor { double_buffer, ..PassDescriptor::to(&stage.target) };
        let first = to.clear(unorm(CLEAR)).with_depth(&kept, LoadOp::Clear, StoreOp::Store);
        stage.fill(&mut frame, &first, &tested, (near, 0.25, RED));
        let second = to.with_depth(&kept, load, StoreOp::Discard);
        stage.fill(&mut frame, &second, &tested, (far, 0.75, GREEN));
        let pixels = stage.pixels(frame);
        assert_picture(&pixels, |at| match (contains(near, at), contains(far, at)) {
            (true, _) if load == LoadOp::Load => RED,
            (_, true) => GREEN,
            _ => CLEAR,
        });
    }
}

#[test]
fn stencils_are_kept_with_depths() {
    let model = Model::new(4 << 20, Config::default());
    let stage = Fixture::new(&model);
    let kept = DepthTarget::new(&stage.device, "stencils", SIZE.0, SIZE.1).unwrap();
    let (marked, drawn) = (rectangle(40, 5, 50, 130), rectangle(0, 50, 150, 40));
    let side = |test, pass| StencilSide { test, reference: 9, pass, ..StencilSide::KEEP };
    let with = |side| Colors { stencil: Some(Stencil { front: side, back: side }), ..colors() };
    let mut frame = stage.device.frame().unwrap();
    let first = PassDescriptor::to(&stage.target).clear(unorm(CLEAR)).with_depth(&kept, LoadOp::Clear, StoreOp::Store);
    let marking = Colors { color_mask: [0; 4], ..with(side(Compare::Always, StencilChange::Replace)) };
    stage.fill(&mut frame, &first, &marking, (marked, 0.5, RED));
    let second = PassDescriptor::to(&stage.target).with_depth(&kept, LoadOp::Load, StoreOp::Discard);
    stage.fill(&mut frame, &second, &with(side(Compare::Equal, StencilChange::Keep)), (drawn, 0.5, GREEN));
    let pixels = stage.pixels(frame);
    assert_picture(&pixels, |at| if contains(marked, at) && contains(drawn, at) { GREEN } else { CLEAR });
}

/// Parts that cross tiles, end at tile borders, or are one pixel large: the rest of the picture is unchanged, also in tiles that are drawn.
#[test]
fn a_part_of_a_picture_is_drawn_anew() {
    let model = Model::new(4 << 20, Config::default());
    let stage = Fixture::new(&model);
    for area in [
        rectangle(30, 50, 70, 60),
        rectangle(64, 64, 64, 64),
        rectangle(64, 32, 64, 32),
        rectangle(128, 0, 22, 64),
        rectangle(70, 71, 1, 1),
        rectangle(149, 139, 1, 1),
        rectangle(100, 100, u16::MAX, u16::MAX),
        rectangle(0, 0, 150, 140),
    ] {
        let clear = Some([7, 8, 9, 10]);
        for (clear, double_buffer) in [(None, false), (clear, false), (None, true), (clear, true)] {
            let before = rectangle(5, 5, 135, 125);
            let drawn = rectangle(60, 0, 30, 140);
            let mut frame = stage.device.frame().unwrap();
            let whole = PassDescriptor { double_buffer, ..PassDescriptor::to(&stage.target).clear(unorm(CLEAR)) };
            stage.fill(&mut frame, &whole, &colors(), (before, 0.5, RED));
            let part = PassDescriptor {
                clear: clear.map(unorm),
                double_buffer,
                ..PassDescriptor::to(&stage.target).within(area)
            };
            stage.fill(&mut frame, &part, &colors(), (drawn, 0.5, GREEN));
            let pixels = stage.pixels(frame);
            assert_picture(&pixels, |at| match (contains(area, at), clear) {
                (true, _) if contains(drawn, at) => GREEN,
                (true, Some(clear)) => clear,
                _ if contains(before, at) => RED,
                _ => CLEAR,
            });
        }
    }
}

/// A scissor cannot extend the part.
#[test]
fn scissors_stay_within_the_part() {
    let model = Model::new(4 << 20, Config::default());
    let stage = Fixture::new(&model);
    let (area, scissor) = (rectangle(30, 30, 50, 50), rectangle(60, 10, 80, 40));
    let pipeline = Pipeline::new(&stage.device, &colors()).unwrap();
    let corners = [(-1.0, -1.0), (3.0, -1.0), (-1.0, 3.0)].map(|(x, y)| {
        let viewport = stage.target.viewport();
        ShadedVertex::flat(x, y, 0.5, viewport.half_width, viewport.half_height, [0.0, 1.0, 0.0])
    });
    let mut frame = stage.device.frame().unwrap();
    frame.pass(&PassDescriptor::to(&stage.target).clear(unorm(CLEAR))).unwrap();
    let mut pass = frame.pass(&PassDescriptor::to(&stage.target).within(area)).unwrap();
    pass.set_scissor(Some(scissor));
    pass.draw_vertices(&pipeline, Primitive::Triangles, &corners, &NoUniforms, &NoUniforms).unwrap();
    let pixels = stage.pixels(frame);
    assert_picture(&pixels, |at| if contains(area, at) && contains(scissor, at) { GREEN } else { CLEAR });
}

#[test]
fn what_passes_cannot_do_has_a_name() {
    let model = Model::new(4 << 20, Config::default());
    let stage = Fixture::new(&model);
    let small = DepthTarget::new(&stage.device, "small", 100, 140).unwrap();
    let kept = DepthTarget::new(&stage.device, "depths", SIZE.0, SIZE.1).unwrap();
    let other_model = Model::new(4 << 20, Config::default());
    let other = Fixture::new(&other_model);
    let foreign = DepthTarget::new(&other.device, "foreign", SIZE.0, SIZE.1).unwrap();
    let used = stage.device.pool().used();
    let mut frame = stage.device.frame().unwrap();
    let to = PassDescriptor::to(&stage.target);
    let mut refused = |descriptor: PassDescriptor<'_>| frame.pass(&descriptor).map(drop).unwrap_err();
    let error = refused(to.with_depth(&small, LoadOp::Clear, StoreOp::Store));
    assert_eq!(error.to_string(), "small: the depth target has 100 x 140 pixels, and the colour target has 150 x 140");
    assert_eq!(
        refused(to.with_depth(&foreign, LoadOp::Clear, StoreOp::Store)),
        Error::ForeignDevice { label: "foreign" }
    );
    let four = PassDescriptor {
        samples: Samples::Four,
        ..to.clear(unorm(CLEAR)).with_depth(&kept, LoadOp::Clear, StoreOp::Store)
    };
    assert_eq!(refused(four).to_string(), "depths: depths are loaded and stored only with one sample per pixel");
    let four = PassDescriptor { samples: Samples::Four, ..to.clear(unorm(CLEAR)).double_buffered() };
    assert_eq!(refused(four).to_string(), "picture: a double tile buffer holds one sample per pixel only");
    let error = refused(to.clear([0.0, f32::INFINITY, 0.0, 1.0]));
    assert_eq!(error.to_string(), "picture: a clear colour of inf is not valid");
    let error = refused(to.within(rectangle(150, 0, 10, 10)));
    assert_eq!(error.to_string(), "picture: 10 x 10 pixels at 150, 0 are outside of 150 x 140 pixels");
    let part = PassDescriptor { samples: Samples::Four, ..to.clear(unorm(CLEAR)).within(rectangle(1, 0, 40, 40)) };
    assert!(matches!(refused(part), Error::Impossible { label: "picture", .. }));
    assert!(matches!(DepthTarget::new(&stage.device, "none", 0, 5), Err(Error::TargetSize { label: "none", .. })));
    drop(frame);
    assert_eq!(stage.device.pool().used(), used);
}
