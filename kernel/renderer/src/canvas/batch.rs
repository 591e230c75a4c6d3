//! The vertices of one pipeline, collected for drawing.

use alloc::vec::Vec;
use core::ops::Range;

use shader_interface::{NoUniforms, UniformData, VertexData};
use v3d::Platform;
use v3d::hw::shaded_vertex::ScreenXy;

use crate::error::Error;
use crate::heap::reserve;
use crate::mesh::Primitive;
use crate::pass::Pass;
use crate::pipeline::Pipeline;
use crate::shaded_vertex::ShadedVertex;

/// Maximum number of vertices of one draw: whole triangles, and below 2^16.
pub(super) const MAX_VERTICES: usize = 60_000;

/// Vertices of a triangle list.
#[derive(Debug)]
pub(super) struct Batch<const N: usize>(Vec<ShadedVertex<N>>);

impl<const N: usize> Default for Batch<N> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<const N: usize> Batch<N> {
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    pub(super) const fn len(&self) -> usize {
        self.0.len()
    }

    /// Keeps the first `vertices` vertices.
    pub(super) fn truncate(&mut self, vertices: usize) {
        self.0.truncate(vertices);
    }

    /// Size of all vertices in memory, in bytes.
    pub(super) const fn bytes(&self) -> usize {
        ShadedVertex::<N>::BYTES * self.0.len()
    }

    /// Appends a convex polygon as triangles, and returns their number of vertices.
    pub(super) fn append(&mut self, label: &'static str, corners: &[ShadedVertex<N>]) -> Result<usize, Error> {
        let [first, rest @ ..] = corners else { return Ok(0) };
        let before = self.0.len();
        reserve(label, &mut self.0, 3 * rest.len())?;
        for side in rest.windows(2) {
            self.0.extend([*first, side[0], side[1]]);
        }
        Ok(self.0.len() - before)
    }

    /// Draws a range of the vertices, translated by `shift` sixteenths of a pixel.
    pub(super) fn draw<P: Platform, F: UniformData>(
        &self,
        pass: &mut Pass<'_, '_, P>,
        pipeline: &Pipeline<ShadedVertex<N>, NoUniforms, F>,
        range: Range<usize>,
        shift: [i16; 2],
        uniforms: &F,
    ) -> Result<(), Error> {
        for chunk in self.0[range].chunks(MAX_VERTICES) {
            if shift == [0, 0] {
                pass.draw_vertices(pipeline, Primitive::Triangles, chunk, &NoUniforms, uniforms)?;
                continue;
            }
            let moved = |vertex: &ShadedVertex<N>| {
                let ScreenXy { x, y } = vertex.position;
                ShadedVertex { position: ScreenXy { x: x + shift[0], y: y + shift[1] }, ..*vertex }
            };
            let vertices: Vec<_> = chunk.iter().map(moved).collect();
            pass.draw_vertices(pipeline, Primitive::Triangles, &vertices, &NoUniforms, uniforms)?;
        }
        Ok(())
    }
}
