//! A lighthouse in the sea at sunset, with waves that reflect it
//!
//! The first pass draws the lighthouse reflected at the sea's plane to a texture. Its alpha is the coverage, and its colours are multiplied by it, as the
//! average of four samples has them at edges. The second pass draws a rectangle over the whole picture. Its fragment shader, `water.wgsl`, computes for each
//! pixel the point on the sea, the slope of the waves there, and the reflected light: the sky's, or the texture's at a position that the slope shifts. The
//! lighthouse is drawn last. The rays reach the horizon, which a mesh of triangles would have to end before.

use alloc::{boxed::Box, vec::Vec};
use core::f32::consts::{FRAC_PI_4, SQRT_2, TAU};

use qpu_shaders::{
    NoUniforms,
    shore::{FRAGMENT, FragmentUniforms, SHADING, Uniforms, Vertex},
    water,
};
use renderer::{
    Cull, Depth, Format, FrontFace, Indices, Mesh, PassDescriptor, Pipeline, PipelineDescriptor, Primitive, Sampler,
    Samples, Shading, Target, TargetDescriptor, Texture,
    glam::{
        Mat4, Vec2, Vec3,
        camera::rh::{proj::opengl::perspective, view::look_at_mat4},
    },
    rows,
    shaded_vertex::ShadedVertex,
};
use v3d::{Fence, hw::tiling::Tiling};

use super::{Scene, SceneContext, SceneEntry, SceneError, flight::whole};
use crate::{
    gpu::{GpuDevice, GpuPass},
    scene_parts::{assets::LIGHTHOUSE, moment::Moment},
};

/// The entry in the table of scenes.
pub(super) const ENTRY: SceneEntry = SceneEntry {
    name: "water",
    description: "a lighthouse in the sea at sunset: waves that reflect it, a shader in WGSL",
    start: |context| Ok(Box::new(Water::new(context)?)),
};

/// Frames in which the eye swings from side to side and back.
const SWING: u64 = 900;
/// Half of the picture's height at distance 1.
const HALF: f32 = SQRT_2 - 1.0;
/// Height of the sea in the model's coordinates; in the water's shader it is 0.
const LEVEL: f32 = 0.28;
/// Direction to the sun; its length is the sun's intensity.
const TO_SUN: Vec3 = Vec3::new(-0.52, 0.16, -0.84);
/// Texels across and down of the reflection.
const MIRRORED_PX: [u32; 2] = [1024, 512];

type Standing = Pipeline<Vertex, Uniforms, FragmentUniforms>;

/// A mesh of the lighthouse, and its colour.
type Object = (Mesh<Vertex>, [f32; 3]);

#[derive(Debug)]
struct Water {
    /// The parts of the lighthouse, one per material.
    parts: Vec<Object>,
    upright: Standing,
    mirrored: Standing,
    water: Pipeline<ShadedVertex<3>, NoUniforms, water::FragmentUniforms>,
    reflection: Target,
}

impl Water {
    fn new(context: &mut SceneContext<'_>) -> Result<Self, SceneError> {
        let device = context.device;
        let (depth, cull, samples) = (Depth::LESS, Cull::Back, Samples::Four);
        let standing =
            PipelineDescriptor { depth, cull, samples, ..PipelineDescriptor::new("shore", &SHADING, &FRAGMENT) };
        let water = PipelineDescriptor::new("water", Shading::PreShaded, &water::FRAGMENT);
        let [width_px, height_px] = MIRRORED_PX;
        let (format, tiling) = (Format::Rgba8888, Tiling::TFormat);
        let reflection = TargetDescriptor { label: "reflection", width_px, height_px, format, tiling };
        Ok(Self {
            parts: parts(device)?,
            upright: Pipeline::new(device, &standing)?,
            mirrored: Pipeline::new(device, &PipelineDescriptor { front: FrontFace::Clockwise, ..standing })?,
            water: Pipeline::new(device, &PipelineDescriptor { samples, ..water })?,
            reflection: Target::new(device, &reflection)?,
        })
    }

    fn stand(&self, pass: &mut GpuPass<'_>, pipeline: &Standing, camera: &Mat4) -> Result<(), SceneError> {
        let uniforms = Uniforms { matrix: rows(camera), level: LEVEL };
        for (mesh, color) in &self.parts {
            let material = FragmentUniforms { base_color: *color, to_sun: TO_SUN.to_array() };
            pass.draw(pipeline, mesh, &uniforms, &material)?;
        }
        Ok(())
    }
}

fn parts(device: &GpuDevice) -> Result<Vec<Object>, SceneError> {
    let part = |part: &renderer::asset::ModelPart| {
        let material = LIGHTHOUSE.materials[part.material];
        let color = Vec3::from_slice(&material.base_color) + Vec3::from_array(material.emissive);
        let indices = Some(Indices::Bytes16(part.indices));
        let mesh = Mesh::from_bytes(device, material.name, Primitive::Triangles, part.vertices, indices)?;
        Ok((mesh, color.to_array()))
    };
    LIGHTHOUSE.parts.iter().map(part).collect()
}

impl Scene for Water {
    fn frame(&mut self, context: &mut SceneContext<'_>, moment: &Moment) -> Result<Fence, SceneError> {
        let (target, aspect) = (&context.target, context.target.aspect());
        let swing = Vec2::from_angle(moment.ticks(SWING) / SWING as f32 * TAU + 0.6).y;
        let eye = Mat4::from_rotation_y(0.35 * swing).transform_point3(Vec3::new(1.6, 1.5, 10.5));
        let view = look_at_mat4(eye, Vec3::new(-0.9, 2.1, 0.0), Vec3::Y);
        let camera = perspective(FRAC_PI_4, aspect, 0.5, 60.0) * view;
        // Reflects at the sea's plane.
        let below = Mat4::from_translation(Vec3::Y * 2.0 * LEVEL) * Mat4::from_scale(Vec3::new(1.0, -1.0, 1.0));

        let mut frame = context.device.frame()?;
        let samples = Samples::Four;
        let mut pass =
            frame.pass(&PassDescriptor { samples, ..PassDescriptor::to(&self.reflection).clear([0.0; 4]) })?;
        self.stand(&mut pass, &self.mirrored, &(camera * below))?;

        let mut pass = frame.pass(&PassDescriptor { samples, ..PassDescriptor::to(target).clear([0.0; 4]) })?;
        let (turned, half) = (view.inverse(), HALF);
        let rays =
            whole(target, |x, y| turned.transform_vector3(Vec3::new(half * aspect * x, half * y, -1.0)).to_array());
        let sea = water::FragmentUniforms {
            eye: (eye - Vec3::Y * LEVEL).to_array(),
            time: moment.seconds(),
            to_sun: TO_SUN.normalize().to_array(),
            pixel: [1.0 / target.width_px() as f32, 1.0 / target.height_px() as f32],
            mirrored: Texture::of_target(&self.reflection)?.bind(&Sampler::LINEAR)?,
        };
        pass.draw_vertices(&self.water, Primitive::TriangleStrip, &rays, &NoUniforms, &sea)?;
        self.stand(&mut pass, &self.upright, &camera)?;
        Ok(frame.submit()?)
    }
}
