//! A flight through an infinite sponge: a distance field, drawn without triangles
//!
//! One rectangle covers the picture. Its fragment shader, `flight.wgsl`, marches a ray for each pixel: it evaluates the distance to the sponge, advances by
//! that distance, and repeats until it reaches the surface. Rays of a vector need different numbers of steps, and those that have arrived wait for the others.
//! Four more distances give the surface's normal. The picture is drawn at half its size and enlarged.

use alloc::boxed::Box;
use core::f32::consts::TAU;

use qpu_shaders::{
    NoUniforms,
    flight::{FRAGMENT, FragmentUniforms},
    textured,
};
use renderer::{
    Format, PassDescriptor, Pipeline, PipelineDescriptor, Primitive, Sampler, Shading, Target, TargetDescriptor,
    Texture,
    glam::{Mat3, Vec2, Vec3},
    shaded_vertex::ShadedVertex,
};
use v3d::{Fence, hw::tiling::Tiling};

use super::{Scene, SceneContext, SceneEntry, SceneError};
use crate::scene_parts::moment::Moment;

/// The entry in the table of scenes.
pub(super) const ENTRY: SceneEntry = SceneEntry {
    name: "flight",
    description: "a flight through an infinite sponge: ray marching in a distance field, a shader in WGSL",
    start: |context| Ok(Box::new(Flight::new(context)?)),
};

/// Frames in which the camera passes one hole of the sponge; then the motion repeats, except for the camera's roll.
const HOLE: u64 = 240;
/// Frames of one roll of the camera.
const TURN: u64 = 4 * HOLE;
/// Pixels of the picture for each computed pixel, across and down.
const ENLARGED: u32 = 2;

#[derive(Debug)]
struct Flight {
    rays: Pipeline<ShadedVertex<3>, NoUniforms, FragmentUniforms>,
    enlarge: Pipeline<ShadedVertex<2>, NoUniforms, textured::FragmentUniforms>,
    picture: Target,
}

impl Flight {
    fn new(context: &mut SceneContext<'_>) -> Result<Self, SceneError> {
        let device = context.device;
        let (width_px, height_px) = (context.target.width_px() / ENLARGED, context.target.height_px() / ENLARGED);
        let (format, tiling) = (Format::Rgba8888, Tiling::TFormat);
        Ok(Self {
            rays: Pipeline::new(device, &PipelineDescriptor::new("rays", Shading::PreShaded, &FRAGMENT))?,
            enlarge: Pipeline::new(
                device,
                &PipelineDescriptor::new("enlarge", Shading::PreShaded, &textured::FRAGMENT),
            )?,
            picture: Target::new(device, &TargetDescriptor { label: "flight", width_px, height_px, format, tiling })?,
        })
    }
}

/// A rectangle that covers a target, with varyings computed from positions between -1 and 1.
pub(super) fn whole<const N: usize>(target: &Target, varyings: impl Fn(f32, f32) -> [f32; N]) -> [ShadedVertex<N>; 4] {
    let viewport = target.viewport();
    [(-1.0, -1.0), (1.0, -1.0), (-1.0, 1.0), (1.0, 1.0)]
        .map(|(x, y)| ShadedVertex::flat(x, y, 1.0, viewport.half_width, viewport.half_height, varyings(x, y)))
}

impl Scene for Flight {
    fn frame(&mut self, context: &mut SceneContext<'_>, moment: &Moment) -> Result<Fence, SceneError> {
        let way = moment.ticks(TURN);
        let turn = way / TURN as f32 * TAU;
        let wave = |angle: f32| Vec2::from_angle(angle).y;
        // There are holes along all axes where both other coordinates are even. The eye follows one of them and looks around.
        let eye = Vec3::new(0.12 * wave(turn), 0.1 * wave(2.0 * turn), 0.9 - 2.0 * way / HOLE as f32);
        let look = Mat3::from_rotation_y(0.55 * wave(turn + 0.5))
            * Mat3::from_rotation_x(0.3 * wave(turn + 2.0))
            * Mat3::from_rotation_z(turn + 0.35);
        let aspect = context.target.aspect();
        let uniforms = FragmentUniforms { eye: eye.to_array(), to_light: Vec3::new(0.48, 0.64, 0.6).to_array() };
        let mut frame = context.device.frame()?;
        let mut pass = frame.pass(&PassDescriptor::to(&self.picture))?;
        let rays = whole(&self.picture, |x, y| (look * Vec3::new(0.75 * aspect * x, 0.75 * y, -1.0)).to_array());
        pass.draw_vertices(&self.rays, Primitive::TriangleStrip, &rays, &NoUniforms, &uniforms)?;
        let mut pass = frame.pass(&PassDescriptor::to(&context.target))?;
        let corners = whole(&context.target, |x, y| [0.5 + 0.5 * x, 0.5 - 0.5 * y]);
        let image = Texture::of_target(&self.picture)?.bind(&Sampler::LINEAR)?;
        let uniforms = textured::FragmentUniforms { image };
        pass.draw_vertices(&self.enlarge, Primitive::TriangleStrip, &corners, &NoUniforms, &uniforms)?;
        Ok(frame.submit()?)
    }
}
