//! The same triangle without vertex shading: NV mode
//!
//! In NV mode the vertices in memory are what a vertex shader would have written: screen coordinates in 1/16 pixel from the centre of the viewport,
//! depth, 1/Wc, and the varyings. The CPU does here what the shaders of the other triangle do; the picture is the same.

use alloc::boxed::Box;

use qpu_shaders::{NoUniforms, smooth};
use renderer::{
    frame::{Renderer, Sizes},
    material::FragmentMaterial,
    mesh::Mesh,
    shaded_vertex::ShadedVertex,
};
use v3d::{Fence, hw::control_list::PrimitiveMode};

use super::{Scene, SceneContext, SceneEntry, SceneError, parts::Parts, triangle};
use crate::machine::Gpu;

/// This scene in the table.
pub(super) const ENTRY: SceneEntry = SceneEntry {
    name: "triangle-nv",
    description: "the same triangle in NV mode: vertices that are shaded already",
    start: |context| Ok(Box::new(TriangleNv::new(context)?)),
};

#[derive(Debug)]
struct TriangleNv(Parts<ShadedVertex<3>, FragmentMaterial<NoUniforms, 3>>);

impl TriangleNv {
    fn new(context: &mut SceneContext<'_>) -> Result<Self, SceneError> {
        let SceneContext { gpu, target, .. } = context;
        let renderer = Renderer::new(gpu, target.width, target.height, Sizes::default())?;
        let viewport = renderer.state().viewport;
        let corners = triangle::CORNERS.map(|corner| {
            let [x, y, z] = corner.position;
            let depth = z * viewport.z_scale + viewport.z_offset;
            ShadedVertex::flat(x, y, depth, viewport.half_width, viewport.half_height, corner.color)
        });
        let mesh = |gpu: &mut Gpu| Mesh::new(gpu, PrimitiveMode::Triangles, &corners);
        let material = |gpu: &mut Gpu| FragmentMaterial::new(gpu, &smooth::FRAGMENT);
        Parts::new(gpu, renderer, mesh, material).map(Self)
    }
}

impl Scene for TriangleNv {
    fn frame(&mut self, context: &mut SceneContext<'_>, _number: u64) -> Result<Fence, SceneError> {
        let Parts { renderer, mesh, material } = &mut self.0;
        let surface = context.target.surface()?;
        let state = renderer.state();
        let mut frame = renderer.begin(context.gpu, surface, triangle::CLEAR)?;
        frame.draw_shaded(&state, material, mesh, &NoUniforms)?;
        Ok(frame.submit()?)
    }

    fn end(self: Box<Self>, gpu: &mut Gpu) {
        self.0.free(gpu);
    }
}
