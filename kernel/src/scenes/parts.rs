//! What most scenes are made of: a renderer, a mesh and a material, which come and go together

use qpu_shaders::{VertexData, transformed, triangle};
use renderer::{
    frame::Renderer,
    material::{FragmentMaterial, Material},
    matrix::Matrix,
    mesh::Mesh,
};
use v3d::draw_state::Viewport;

use super::SceneError;
use crate::machine::Gpu;

/// Shaders in GPU memory.
pub(super) trait Shaders {
    /// Gives the memory back.
    fn free(self, gpu: &mut Gpu);
}

impl<V, C, U, F, const N: usize> Shaders for Material<V, C, U, F, N> {
    fn free(self, gpu: &mut Gpu) {
        self.free(gpu);
    }
}

impl<F, const N: usize> Shaders for FragmentMaterial<F, N> {
    fn free(self, gpu: &mut Gpu) {
        self.free(gpu);
    }
}

/// A mesh of vertices `V` with shaders `S`, and what renders it.
#[derive(Debug)]
pub(super) struct Parts<V, S> {
    /// Memory of frames.
    pub(super) renderer: Renderer,
    /// What is drawn.
    pub(super) mesh: Mesh<V>,
    /// How it is drawn.
    pub(super) material: S,
}

impl<V: VertexData, S: Shaders> Parts<V, S> {
    /// Takes all three, one after the other. When one cannot be had the others are given back.
    pub(super) fn new(
        gpu: &mut Gpu,
        renderer: Renderer,
        mesh: impl FnOnce(&mut Gpu) -> Result<Mesh<V>, v3d::Error>,
        material: impl FnOnce(&mut Gpu) -> Result<S, v3d::Error>,
    ) -> Result<Self, SceneError> {
        let mesh = match mesh(gpu) {
            Ok(mesh) => mesh,
            Err(error) => {
                renderer.free(gpu);
                return Err(error.into());
            }
        };
        match material(gpu) {
            Ok(material) => Ok(Self { renderer, mesh, material }),
            Err(error) => {
                mesh.free(gpu);
                renderer.free(gpu);
                Err(error.into())
            }
        }
    }

    /// Gives everything back. No frame may be under way.
    pub(super) fn free(self, gpu: &mut Gpu) {
        self.mesh.free(gpu);
        self.material.free(gpu);
        self.renderer.free(gpu);
    }
}

/// Uniforms of the shaders that only scale to the viewport.
pub(super) fn viewport_uniforms(viewport: &Viewport) -> triangle::Uniforms {
    let Viewport { half_width, half_height, z_scale, z_offset, .. } = *viewport;
    triangle::Uniforms { half_width, half_height, z_scale, z_offset }
}

/// Uniforms of the shaders that multiply with a matrix before.
pub(super) fn transformed_uniforms(matrix: &Matrix, viewport: &Viewport) -> transformed::Uniforms {
    let Viewport { half_width, half_height, z_scale, z_offset, .. } = *viewport;
    transformed::Uniforms { matrix: matrix.0, half_width, half_height, z_scale, z_offset }
}
