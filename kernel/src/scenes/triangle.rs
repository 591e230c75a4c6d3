//! A triangle through the GL pipeline: coordinate, vertex and fragment shader
//!
//! The classic first picture: an equilateral triangle with a red, a blue and a green corner. Vertices and colours are those of the article "HD 7350 demo: A
//! Triangle" with its first update, which makes the triangle equilateral on a 16:9 picture. The positions are normalised device coordinates already,
//! so the shaders only scale them to the viewport.

use alloc::boxed::Box;

use qpu_shaders::{
    NoUniforms, smooth,
    triangle::{SHADING, Uniforms, Vertex},
};
use renderer::{Mesh, PassDescriptor, Pipeline, PipelineDescriptor, Primitive, unorm};
use v3d::Fence;

use super::{Scene, SceneContext, SceneEntry, SceneError};
use crate::scene_parts::moment::Moment;

/// The entry in the table of scenes.
pub(super) const ENTRY: SceneEntry = SceneEntry {
    name: "triangle",
    description: "a triangle through the GL pipeline, its colours interpolated",
    start: |context| Ok(Box::new(Triangle::new(context)?)),
};

/// The corners.
pub(super) const CORNERS: [Vertex; 3] = [
    Vertex { position: [0.5846, -0.9, 0.0], color: [1.0, 0.0, 0.0] },
    Vertex { position: [-0.5846, -0.9, 0.0], color: [0.0, 0.0, 1.0] },
    Vertex { position: [0.0, 0.9, 0.0], color: [0.0, 1.0, 0.0] },
];

/// The background: black.
pub(super) const CLEAR: [u8; 4] = [0, 0, 0, 255];

#[derive(Debug)]
struct Triangle {
    mesh: Mesh<Vertex>,
    pipeline: Pipeline<Vertex, Uniforms, NoUniforms>,
}

impl Triangle {
    fn new(context: &mut SceneContext<'_>) -> Result<Self, SceneError> {
        let descriptor = PipelineDescriptor::new("triangle", &SHADING, &smooth::FRAGMENT);
        Ok(Self {
            mesh: Mesh::new(context.device, "corners", Primitive::Triangles, &CORNERS)?,
            pipeline: Pipeline::new(context.device, &descriptor)?,
        })
    }
}

impl Scene for Triangle {
    fn frame(&mut self, context: &mut SceneContext<'_>, _: &Moment) -> Result<Fence, SceneError> {
        let mut frame = context.device.frame()?;
        let mut pass = frame.pass(&PassDescriptor::to(&context.target).clear(unorm(CLEAR)))?;
        pass.draw(&self.pipeline, &self.mesh, &Uniforms, &NoUniforms)?;
        Ok(frame.submit()?)
    }
}
