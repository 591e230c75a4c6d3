//! Crates in front of a mirror: rendering to a texture that is used in the same frame
//!
//! A flat mirror shows the world behind it, reflected at its plane. The first pass draws the reflected world, from the same eye, to a texture. The second pass
//! draws the world itself, and the mirror with the texture: the texture coordinates of the mirror's corners are their positions on the screen, so each pixel of
//! the mirror shows the first pass's pixel at the same position. Both passes have four samples per pixel, which smooth the
//! edges. The GPU executes both passes in order; the CPU waits for neither.
//!
//! A reflection reverses the winding: the corners of front faces are clockwise in the first pass.

use alloc::boxed::Box;
use core::f32::consts::{FRAC_PI_4, TAU};

use qpu_shaders::{
    NoUniforms, smooth,
    textured::{FRAGMENT, FragmentUniforms},
    textured_lit,
};
use renderer::{
    Cull, Depth, Format, FrontFace, PassDescriptor, Pipeline, PipelineDescriptor, Primitive, Sampler, Samples, Shading,
    Target, TargetDescriptor, Texture,
    glam::{
        Mat4, Vec2, Vec3, Vec4,
        camera::rh::{proj::opengl::perspective, view::look_at_mat4},
    },
    shaded_vertex::ShadedVertex,
    unorm,
};
use v3d::{Fence, hw::tiling::Tiling};

use super::{
    Scene, SceneContext, SceneEntry, SceneError,
    textured_cube::{Crates, LitPipeline, SKY},
};
use crate::scene_parts::moment::Moment;

/// The entry in the table of scenes.
pub(super) const ENTRY: SceneEntry = SceneEntry {
    name: "mirror",
    description: "crates in front of a mirror: rendering to a texture that is used in the same frame",
    start: |context| Ok(Box::new(Mirror::new(context)?)),
};

/// Frames in which the eye swings from side to side and back.
const SWING: u64 = 480;
/// The z coordinate of the mirror's plane.
const PLANE: f32 = -2.4;
/// The mirror's glass: left, bottom, right, top.
const GLASS: [f32; 4] = [-2.9, 0.14, 2.9, 3.1];
/// Width of the wooden frame around the glass.
const FRAME: f32 = 0.14;
/// The sky in the mirror, which is darker because the glass absorbs some light.
const DARKER_SKY: [u8; 4] = [118, 142, 166, 255];
/// Texels across and down of the mirror's texture.
const MIRRORED_PX: u32 = 1024;

#[derive(Debug)]
struct Mirror {
    crates: Crates,
    upright: LitPipeline,
    mirrored: LitPipeline,
    frame: Pipeline<ShadedVertex<3>, NoUniforms, NoUniforms>,
    glass: Pipeline<ShadedVertex<2>, NoUniforms, FragmentUniforms>,
    reflection: Target,
}

impl Mirror {
    fn new(context: &mut SceneContext<'_>) -> Result<Self, SceneError> {
        let device = context.device;
        let (depth, samples) = (Depth::LESS, Samples::Four);
        let lit = PipelineDescriptor {
            depth,
            samples,
            cull: Cull::Back,
            ..PipelineDescriptor::new("lit", &textured_lit::SHADING, &textured_lit::FRAGMENT)
        };
        let frame = PipelineDescriptor::new("frame", Shading::PreShaded, &smooth::FRAGMENT);
        let frame = PipelineDescriptor { depth, samples, ..frame };
        let glass = PipelineDescriptor::new("glass", Shading::PreShaded, &FRAGMENT);
        let glass = PipelineDescriptor { depth, samples, ..glass };
        let reflection = TargetDescriptor {
            label: "reflection",
            width_px: MIRRORED_PX,
            height_px: MIRRORED_PX,
            format: Format::Rgba8888,
            tiling: Tiling::TFormat,
        };
        Ok(Self {
            crates: Crates::new(device)?,
            upright: Pipeline::new(device, &lit)?,
            mirrored: Pipeline::new(device, &PipelineDescriptor { front: FrontFace::Clockwise, ..lit })?,
            frame: Pipeline::new(device, &frame)?,
            glass: Pipeline::new(device, &glass)?,
            reflection: Target::new(device, &reflection)?,
        })
    }
}

/// The corners of a rectangle in a plane of constant z, projected to the screen, with varyings computed from their screen positions.
fn rectangle<const N: usize>(
    camera: &Mat4,
    target: &Target,
    [left, bottom, right, top]: [f32; 4],
    z: f32,
    varyings: impl Fn(Vec3) -> [f32; N],
) -> [ShadedVertex<N>; 4] {
    let viewport = target.viewport();
    [(left, bottom), (right, bottom), (left, top), (right, top)].map(|(x, y)| {
        let clip = *camera * Vec4::new(x, y, z, 1.0);
        let place = clip.truncate() / clip.w;
        let depth = place.z * viewport.z_scale + viewport.z_offset;
        ShadedVertex::flat(place.x, place.y, depth, viewport.half_width, viewport.half_height, varyings(place))
    })
}

impl Scene for Mirror {
    fn frame(&mut self, context: &mut SceneContext<'_>, moment: &Moment) -> Result<Fence, SceneError> {
        let target = &context.target;
        let swing = Vec2::from_angle(moment.ticks(SWING) / SWING as f32 * TAU + 0.9).y;
        let eye = Mat4::from_rotation_y(0.75 * swing).transform_point3(Vec3::new(0.0, 2.4, 5.6));
        let camera =
            perspective(FRAC_PI_4, target.aspect(), 0.1, 60.0) * look_at_mat4(eye, Vec3::new(0.0, 1.05, -1.2), Vec3::Y);
        // Reflects at the mirror's plane.
        let behind = Mat4::from_translation(Vec3::Z * 2.0 * PLANE) * Mat4::from_scale(Vec3::new(1.0, 1.0, -1.0));

        let mut frame = context.device.frame()?;
        let samples = Samples::Four;
        let reflected = PassDescriptor::to(&self.reflection).clear(unorm(DARKER_SKY));
        let mut pass = frame.pass(&PassDescriptor { samples, ..reflected })?;
        self.crates.draw(&mut pass, &self.mirrored, &(camera * behind))?;

        let mut pass = frame.pass(&PassDescriptor { samples, ..PassDescriptor::to(target).clear(unorm(SKY)) })?;
        self.crates.draw(&mut pass, &self.upright, &camera)?;
        let [left, bottom, right, top] = GLASS;
        let around = [left - FRAME, bottom - FRAME, right + FRAME, top + FRAME];
        let wood = rectangle(&camera, target, around, PLANE - 0.02, |_| [0.24, 0.15, 0.08]);
        pass.draw_vertices(&self.frame, Primitive::TriangleStrip, &wood, &NoUniforms, &NoUniforms)?;
        let glass = rectangle(&camera, target, GLASS, PLANE, |place| [0.5 + 0.5 * place.x, 0.5 - 0.5 * place.y]);
        let image = FragmentUniforms { image: Texture::of_target(&self.reflection)?.bind(&Sampler::LINEAR)? };
        pass.draw_vertices(&self.glass, Primitive::TriangleStrip, &glass, &NoUniforms, &image)?;
        Ok(frame.submit()?)
    }
}
