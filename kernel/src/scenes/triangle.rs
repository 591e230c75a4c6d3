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
use renderer::{
    frame::{Renderer, Sizes},
    material::Material,
    mesh::Mesh,
};
use v3d::{hw::control_list::PrimitiveMode, rendering_list::ClearValues};

use super::{Scene, SceneContext, SceneEntry, SceneError};
use crate::machine::Gpu;

/// This scene in the table.
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

/// What is around the triangle: black.
pub(super) const CLEAR: ClearValues = ClearValues::color([0, 0, 0, 255]);

#[derive(Debug)]
struct Triangle {
    renderer: Renderer,
    mesh: Mesh<Vertex>,
    material: Material<Vertex, Uniforms, Uniforms, NoUniforms, 3>,
}

impl Triangle {
    fn new(context: &mut SceneContext<'_>) -> Result<Self, SceneError> {
        let SceneContext { gpu, target, .. } = context;
        Ok(Self {
            renderer: Renderer::new(gpu, target.width, target.height, Sizes::default())?,
            mesh: Mesh::new(gpu, PrimitiveMode::Triangles, &CORNERS)?,
            material: Material::new(gpu, &SHADING, &smooth::FRAGMENT)?,
        })
    }
}

impl Scene for Triangle {
    fn frame(&mut self, context: &mut SceneContext<'_>, _number: u64) -> Result<(), SceneError> {
        let surface = context.target.surface()?;
        let state = self.renderer.state();
        let uniforms = Uniforms {
            half_width: state.viewport.half_width,
            half_height: state.viewport.half_height,
            z_scale: state.viewport.z_scale,
            z_offset: state.viewport.z_offset,
        };
        let mut frame = self.renderer.begin(context.gpu, surface, CLEAR)?;
        frame.draw(&state, &self.material, &self.mesh, &uniforms, &uniforms, &NoUniforms)?;
        let fence = frame.submit()?;
        Ok(context.gpu.wait(fence)?)
    }

    fn end(self: Box<Self>, gpu: &mut Gpu) {
        self.mesh.free(gpu);
        self.material.free(gpu);
        self.renderer.free(gpu);
    }
}
