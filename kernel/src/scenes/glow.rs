//! Lights that are added up in half floats, and then tone-mapped for the display
//!
//! Each light is a point sprite whose colour is added to the target, which has 64 bits per pixel: where many lights overlap, the sum is far beyond the range of
//! a byte, and nothing is lost. A second pass looks up the sums and maps them to the display as film does, by 1 - 2^(-exposure * light): bright colours
//! approach white and never reach it.

use alloc::{boxed::Box, vec::Vec};
use core::f32::consts::TAU;

use qpu_shaders::{
    NoUniforms, glow,
    points::{SHADING, Uniforms, Vertex},
    tone_mapped,
};
use renderer::{
    Blend, BlendPart, Factor, Format, PassDescriptor, Pipeline, PipelineDescriptor, Primitive, Sampler, Shading,
    Target, TargetDescriptor, Texture,
    glam::{Mat4, Vec2, Vec3},
    rows,
    shaded_vertex::ShadedVertex,
};
use v3d::{Fence, hw::tiling::Tiling};

use super::{Scene, SceneContext, SceneEntry, SceneError};
use crate::scene_parts::moment::Moment;

/// The entry in the table of scenes.
pub(super) const ENTRY: SceneEntry = SceneEntry {
    name: "glow",
    description: "lights that are added up as half floats, and shown by exposure",
    start: |context| Ok(Box::new(Glow::new(context)?)),
};

/// Number of lights.
const LIGHTS: u16 = 2400;
/// The angle from one light to the next around the centre: the golden angle, as in the head of a sunflower.
const GOLDEN_ANGLE: f32 = 2.399_963_2;
/// Frames of half a rotation of the arms.
const TURN: u64 = 240;
/// Colours of the lights in the centre and at the rim.
const WARM: Vec3 = Vec3::new(1.0, 0.62, 0.3);
const COLD: Vec3 = Vec3::new(0.25, 0.5, 1.0);
/// Exposure of the tone mapping.
const EXPOSURE: f32 = 1.5;
/// Adds the fragment to the target.
const SUM: BlendPart = BlendPart::sum(Factor::One, Factor::One);

#[derive(Debug)]
struct Glow {
    lights: Pipeline<Vertex, Uniforms, NoUniforms>,
    film: Pipeline<ShadedVertex<2>, NoUniforms, tone_mapped::FragmentUniforms>,
    light: Target,
}

impl Glow {
    fn new(context: &mut SceneContext<'_>) -> Result<Self, SceneError> {
        let (device, screen) = (context.device, &context.target);
        let (width_px, height_px) = (screen.width_px(), screen.height_px());
        let (format, tiling) = (Format::Rgba16Float, Tiling::TFormat);
        let lights = PipelineDescriptor::new("lights", &SHADING, &glow::FRAGMENT);
        let film = PipelineDescriptor::new("film", Shading::PreShaded, &tone_mapped::FRAGMENT);
        Ok(Self {
            lights: Pipeline::new(device, &PipelineDescriptor { blend: Blend::both(SUM), ..lights })?,
            film: Pipeline::new(device, &film)?,
            light: Target::new(device, &TargetDescriptor { label: "light", width_px, height_px, format, tiling })?,
        })
    }
}

/// A light at a time from 0 to 1 within a rotation. The lights form a disk that is brightest in its centre and along two spiral arms. Every other light is a
/// small, bright star; the others are large and faint.
fn light(number: u16, time: f32, height_px: f32) -> Vertex {
    let share = f32::from(number) / f32::from(LIGHTS);
    let angle = f32::from(number) * GOLDEN_ANGLE;
    let place = Vec2::from_angle(angle) * (0.02 + 0.98 * share) * Vec2::new(1.6, 0.92);
    let arm = 0.5 + 0.5 * Vec2::from_angle(2.0 * angle - TAU * (2.2 * share + time)).x;
    let (middle, inwards) = ((1.0 - 5.0 * share).max(0.0), 1.0 - 0.8 * share);
    let (brightness, size) = match number % 2 {
        0 => (middle + inwards * (0.1 + 5.0 * arm * arm), 0.007 + 0.004 * arm),
        _ => (0.5 * middle + inwards * (0.02 + 0.8 * arm * arm * arm), 0.05 + 0.06 * arm * share),
    };
    let color = WARM.lerp(COLD, share) * brightness;
    Vertex { position: [place.x, place.y, 0.0], size: [height_px * size], color: color.to_array() }
}

impl Scene for Glow {
    fn frame(&mut self, context: &mut SceneContext<'_>, moment: &Moment) -> Result<Fence, SceneError> {
        let target = &context.target;
        let time = moment.ticks(TURN) / TURN as f32;
        let lights: Vec<_> = (0..LIGHTS).map(|number| light(number, time, target.height_px() as f32)).collect();
        let matrix = rows(&Mat4::from_scale(Vec3::new(1.0 / target.aspect(), 1.0, 1.0)));
        let mut frame = context.device.frame()?;
        let mut pass = frame.pass(&PassDescriptor::to(&self.light).clear([0.0; 4]))?;
        pass.draw_vertices(&self.lights, Primitive::Points, &lights, &Uniforms { matrix }, &NoUniforms)?;

        let mut pass = frame.pass(&PassDescriptor::to(target).clear([0.0; 4]))?;
        let viewport = target.viewport();
        let corners = [(-1.0, 1.0), (1.0, 1.0), (-1.0, -1.0), (1.0, -1.0)].map(|(x, y): (f32, f32)| {
            let uv = [0.5 + 0.5 * x, 0.5 - 0.5 * y];
            ShadedVertex::flat(x, y, 0.5, viewport.half_width, viewport.half_height, uv)
        });
        let image = Texture::of_target(&self.light)?.bind_64(&Sampler::NEAREST)?;
        let film = tone_mapped::FragmentUniforms { image, exposure: EXPOSURE };
        pass.draw_vertices(&self.film, Primitive::TriangleStrip, &corners, &NoUniforms, &film)?;
        Ok(frame.submit()?)
    }
}
