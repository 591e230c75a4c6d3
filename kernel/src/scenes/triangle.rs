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
use v3d::{Fence, hw::control_list::PrimitiveMode, rendering_list::ClearValues};

use super::{
    Scene, SceneContext, SceneEntry, SceneError,
    parts::{Parts, viewport_uniforms},
};
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
struct Triangle(Parts<Vertex, Material<Vertex, Uniforms, Uniforms, NoUniforms, 3>>);

impl Triangle {
    fn new(context: &mut SceneContext<'_>) -> Result<Self, SceneError> {
        let SceneContext { gpu, target, .. } = context;
        let renderer = Renderer::new(gpu, target.width, target.height, Sizes::default())?;
        let mesh = |gpu: &mut Gpu| Mesh::new(gpu, PrimitiveMode::Triangles, &CORNERS);
        let material = |gpu: &mut Gpu| Material::new(gpu, &SHADING, &smooth::FRAGMENT);
        Parts::new(gpu, renderer, mesh, material).map(Self)
    }
}

impl Scene for Triangle {
    fn frame(&mut self, context: &mut SceneContext<'_>, _number: u64) -> Result<Fence, SceneError> {
        let Parts { renderer, mesh, material } = &mut self.0;
        let surface = context.target.surface()?;
        let state = renderer.state();
        let uniforms = viewport_uniforms(&state.viewport);
        let mut frame = renderer.begin(context.gpu, surface, CLEAR)?;
        frame.draw(&state, material, mesh, &uniforms, &uniforms, &NoUniforms)?;
        Ok(frame.submit()?)
    }

    fn end(self: Box<Self>, gpu: &mut Gpu) {
        self.0.free(gpu);
    }
}
