//! A turning cube: indices, perspective, depth test
//!
//! Eight corners, coloured by their position, and twelve triangles that refer to them by index. The vertex shaders multiply each corner by a matrix, which is a
//! uniform and changes from frame to frame; the depth test in the tile buffer hides surfaces that are behind others.

use alloc::boxed::Box;
use core::f32::consts::{FRAC_PI_4, TAU};

use qpu_shaders::{
    NoUniforms,
    transformed::{FRAGMENT, SHADING, Uniforms, Vertex},
};
use renderer::{
    Depth, Mesh, PassDescriptor, Pipeline, PipelineDescriptor, Primitive,
    glam::{Mat4, Vec3, camera::rh::proj::opengl::perspective},
    rows, unorm,
};
use v3d::Fence;

use super::{Scene, SceneContext, SceneEntry, SceneError};
use crate::scene_parts::moment::Moment;

/// The entry in the table of scenes.
pub(super) const ENTRY: SceneEntry = SceneEntry {
    name: "cube",
    description: "a turning cube: indexed, in perspective, depth-tested",
    start: |context| Ok(Box::new(Cube::new(context)?)),
};

/// Frames of one turn around the vertical axis.
const TURN: u64 = 360;
/// Frames of one turn around the horizontal axis; the whole motion repeats after their least common multiple.
const TILT: u64 = 1000;

/// The corners of a cube around the origin with sides of length 2, each coloured by its position: bits 0, 1, 2 of `n` tell whether corner `n` is at the high
/// end of x, y, z.
fn corners() -> [Vertex; 8] {
    core::array::from_fn(|n| {
        let high = [n & 1 != 0, n & 2 != 0, n & 4 != 0];
        Vertex {
            position: high.map(|high| if high { 1.0 } else { -1.0 }),
            color: high.map(|high| if high { 1.0 } else { 0.1 }),
        }
    })
}

/// Two triangles per side.
const INDICES: [u16; 36] = [
    0, 2, 1, 1, 2, 3, // z = -1
    4, 5, 6, 5, 7, 6, // z = 1
    0, 1, 4, 1, 5, 4, // y = -1
    2, 6, 3, 3, 6, 7, // y = 1
    0, 4, 2, 2, 4, 6, // x = -1
    1, 3, 5, 3, 7, 5, // x = 1
];

#[derive(Debug)]
struct Cube {
    mesh: Mesh<Vertex>,
    pipeline: Pipeline<Vertex, Uniforms, NoUniforms>,
}

impl Cube {
    fn new(context: &mut SceneContext<'_>) -> Result<Self, SceneError> {
        let descriptor =
            PipelineDescriptor { depth: Depth::LESS, ..PipelineDescriptor::new("cube", &SHADING, &FRAGMENT) };
        Ok(Self {
            mesh: Mesh::indexed(context.device, "cube", Primitive::Triangles, &corners(), &INDICES)?,
            pipeline: Pipeline::new(context.device, &descriptor)?,
        })
    }
}

/// Transforms the cube's coordinates to clip coordinates in frame `number`.
fn matrix(moment: &Moment, aspect: f32) -> Mat4 {
    let angle = |period: u64| moment.ticks(period) / period as f32 * TAU;
    let turned = Mat4::from_rotation_x(0.5 + angle(TILT)) * Mat4::from_rotation_y(angle(TURN));
    let moved = Mat4::from_translation(Vec3::new(0.0, 0.0, -5.0));
    perspective(FRAC_PI_4, aspect, 1.0, 10.0) * moved * turned
}

impl Scene for Cube {
    fn frame(&mut self, context: &mut SceneContext<'_>, moment: &Moment) -> Result<Fence, SceneError> {
        let matrix = matrix(moment, context.target.aspect());
        let mut frame = context.device.frame()?;
        let mut pass = frame.pass(&PassDescriptor::to(&context.target).clear(unorm([16, 24, 48, 255])))?;
        pass.draw(&self.pipeline, &self.mesh, &Uniforms { matrix: rows(&matrix) }, &NoUniforms)?;
        Ok(frame.submit()?)
    }
}
