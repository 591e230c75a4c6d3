//! The same picture with one sample per pixel and with four, magnified
//!
//! With one sample, a pixel is inside of a triangle or outside, and edges are jagged. With four samples, a triangle covers none to all of them; the tile buffer
//! holds a colour, a depth and a stencil value for each, and the store writes the mean of the four colours. The fragment shader still runs once per pixel, so
//! multisampling costs little time; it costs tile buffer memory: tiles are 32 pixels wide and high instead of 64.

use alloc::{boxed::Box, vec::Vec};
use core::f32::consts::TAU;

use qpu_shaders::{NoUniforms, smooth, textured};
use renderer::{
    Format, PassDescriptor, Pipeline, PipelineDescriptor, Primitive, Sampler, Samples, Shading, Target,
    TargetDescriptor, Texture,
    canvas::{Canvas, FontAtlas, TextStyle},
    glam::Vec2,
    shaded_vertex::ShadedVertex,
    unorm,
};
use v3d::{Fence, draw_state::Viewport, hw::tiling::Tiling};

use super::{Scene, SceneContext, SceneEntry, SceneError};
use crate::{
    gpu::GpuDevice,
    scene_parts::{assets::TITLE_FONT, moment::Moment},
};

/// The entry in the table of scenes.
pub(super) const ENTRY: SceneEntry = SceneEntry {
    name: "multisample",
    description: "the same spokes with one sample per pixel and with four, magnified",
    start: |context| Ok(Box::new(Multisample::new(context)?)),
};

/// Frames of one turn.
const TURN: u64 = 1800;
/// Width and height in pixels of the picture that is magnified.
const SIDE_PX: u32 = 128;
/// Spokes of the wheel.
const SPOKES: u16 = 20;
const PAPER: [u8; 4] = [18, 24, 38, 255];
const AROUND: [u8; 4] = [40, 48, 66, 255];
const INK: [u8; 4] = [222, 227, 235, 255];

/// One of the two pictures.
#[derive(Debug)]
struct Sampled {
    samples: Samples,
    spokes: Pipeline<ShadedVertex<3>, NoUniforms, NoUniforms>,
    picture: Target,
}

#[derive(Debug)]
struct Multisample {
    pictures: [Sampled; 2],
    magnify: Pipeline<ShadedVertex<2>, NoUniforms, textured::FragmentUniforms>,
    labels: Canvas,
}

impl Sampled {
    fn new(device: &GpuDevice, label: &'static str, samples: Samples) -> Result<Self, SceneError> {
        let spokes =
            PipelineDescriptor { samples, ..PipelineDescriptor::new(label, Shading::PreShaded, &smooth::FRAGMENT) };
        let (format, tiling) = (Format::Rgba8888, Tiling::TFormat);
        let picture = TargetDescriptor { label, width_px: SIDE_PX, height_px: SIDE_PX, format, tiling };
        Ok(Self { samples, spokes: Pipeline::new(device, &spokes)?, picture: Target::new(device, &picture)? })
    }
}

impl Multisample {
    fn new(context: &SceneContext<'_>) -> Result<Self, SceneError> {
        let (device, target) = (context.device, &context.target);
        let (width, height) = (target.width_px() as f32, target.height_px() as f32);
        let mut labels = Canvas::new(device, "labels", target.width_px(), target.height_px())?;
        let font = FontAtlas::new(device, "letters", &TITLE_FONT)?;
        let style = TextStyle { anchor: 0.5, ..TextStyle::new(height / 26.0, INK) };
        for (x, text) in [(0.25, "one sample a pixel"), (0.75, "four samples a pixel")] {
            labels.text(&font, x * width, 0.955 * height, &style, text)?;
        }
        let magnify = PipelineDescriptor::new("magnify", Shading::PreShaded, &textured::FRAGMENT);
        Ok(Self {
            pictures: [
                Sampled::new(device, "one sample", Samples::One)?,
                Sampled::new(device, "four samples", Samples::Four)?,
            ],
            magnify: Pipeline::new(device, &magnify)?,
            labels,
        })
    }
}

/// A wheel of thin triangles that meet in the centre.
fn spokes(viewport: &Viewport, turned: f32) -> Vec<ShadedVertex<3>> {
    let corner = |angle: f32, radius: f32, color: [f32; 3]| {
        let Vec2 { x, y } = Vec2::from_angle(angle) * radius;
        ShadedVertex::flat(x, y, 0.5, viewport.half_width, viewport.half_height, color)
    };
    let wheel = |spoke: u16| {
        let angle = turned + f32::from(spoke) / f32::from(SPOKES) * TAU;
        let half = 0.3 / f32::from(SPOKES) * TAU;
        let share = f32::from(spoke) / f32::from(SPOKES);
        let rim = [1.0 - 0.7 * share, 0.55 + 0.35 * share, 0.25 + 0.75 * share];
        [corner(angle, 0.04, [1.0; 3]), corner(angle - half, 0.94, rim), corner(angle + half, 0.94, rim)]
    };
    (0..SPOKES).flat_map(wheel).collect()
}

/// A square that shows a whole texture: its centre and half its sides in normalised device coordinates.
fn square(viewport: &Viewport, x: f32, half: Vec2) -> [ShadedVertex<2>; 4] {
    [(-1.0, 1.0), (1.0, 1.0), (-1.0, -1.0), (1.0, -1.0)].map(|(right, up)| {
        let uv = [0.5 + 0.5 * right, 0.5 - 0.5 * up];
        let (x, y) = (x + half.x * right, half.y * up);
        ShadedVertex::flat(x, y, 0.5, viewport.half_width, viewport.half_height, uv)
    })
}

impl Scene for Multisample {
    fn frame(&mut self, context: &mut SceneContext<'_>, moment: &Moment) -> Result<Fence, SceneError> {
        let turned = moment.ticks(TURN) / TURN as f32 * TAU + 0.07;
        let mut frame = context.device.frame()?;
        for Sampled { samples, spokes: pipeline, picture } in &self.pictures {
            let descriptor = PassDescriptor { samples: *samples, ..PassDescriptor::to(picture).clear(unorm(PAPER)) };
            let mut pass = frame.pass(&descriptor)?;
            let vertices = spokes(&picture.viewport(), turned);
            pass.draw_vertices(pipeline, Primitive::Triangles, &vertices, &NoUniforms, &NoUniforms)?;
        }
        let target = &context.target;
        let mut pass = frame.pass(&PassDescriptor::to(target).clear(unorm(AROUND)))?;
        // Each pixel is magnified to a whole number of pixels, the greatest for which both pictures fit next to each other.
        let zoom = (target.width_px() / (2 * SIDE_PX + 24)).min(target.height_px() / (SIDE_PX + 12)).max(1);
        let side = (zoom * SIDE_PX) as f32;
        let half = Vec2::new(side / target.width_px() as f32, side / target.height_px() as f32);
        for (picture, x) in self.pictures.iter().zip([-0.5, 0.5]) {
            let image = Texture::of_target(&picture.picture)?.bind(&Sampler::NEAREST)?;
            let uniforms = textured::FragmentUniforms { image };
            let square = square(&target.viewport(), x, half);
            pass.draw_vertices(&self.magnify, Primitive::TriangleStrip, &square, &NoUniforms, &uniforms)?;
        }
        self.labels.draw_to(&mut pass)?;
        Ok(frame.submit()?)
    }
}
