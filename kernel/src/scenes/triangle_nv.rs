//! The same triangle without vertex shading: NV mode
//!
//! In NV mode, vertices in memory have the format of a vertex shader's output: screen coordinates in 1/16 pixel from the centre of the viewport, depth, 1/Wc,
//! and the varyings. Here the CPU computes what the shaders of the other triangle compute; the picture is the same.

use alloc::boxed::Box;

use qpu_shaders::{NoUniforms, smooth};
use renderer::{
    Mesh, PassDescriptor, Pipeline, PipelineDescriptor, Primitive, Shading, shaded_vertex::ShadedVertex, unorm,
};
use v3d::Fence;

use super::{Scene, SceneContext, SceneEntry, SceneError, triangle};
use crate::scene_parts::moment::Moment;

/// The entry in the table of scenes.
pub(super) const ENTRY: SceneEntry = SceneEntry {
    name: "triangle-nv",
    description: "the same triangle in NV mode, without vertex shading",
    start: |context| Ok(Box::new(TriangleNv::new(context)?)),
};

#[derive(Debug)]
struct TriangleNv {
    mesh: Mesh<ShadedVertex<3>>,
    pipeline: Pipeline<ShadedVertex<3>, NoUniforms, NoUniforms>,
}

impl TriangleNv {
    fn new(context: &mut SceneContext<'_>) -> Result<Self, SceneError> {
        let viewport = context.target.viewport();
        let corners = triangle::CORNERS.map(|corner| {
            let [x, y, z] = corner.position;
            let depth = z * viewport.z_scale + viewport.z_offset;
            ShadedVertex::flat(x, y, depth, viewport.half_width, viewport.half_height, corner.color)
        });
        let descriptor = PipelineDescriptor::new("triangle", Shading::PreShaded, &smooth::FRAGMENT);
        Ok(Self {
            mesh: Mesh::new(context.device, "corners", Primitive::Triangles, &corners)?,
            pipeline: Pipeline::new(context.device, &descriptor)?,
        })
    }
}

impl Scene for TriangleNv {
    fn frame(&mut self, context: &mut SceneContext<'_>, _: &Moment) -> Result<Fence, SceneError> {
        let mut frame = context.device.frame()?;
        let mut pass = frame.pass(&PassDescriptor::to(&context.target).clear(unorm(triangle::CLEAR)))?;
        pass.draw(&self.pipeline, &self.mesh, &NoUniforms, &NoUniforms)?;
        Ok(frame.submit()?)
    }
}
