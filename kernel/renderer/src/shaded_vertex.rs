//! Shaded vertices, for NV mode.
//!
//! In NV mode no vertex shader is executed: a vertex in memory has the format of a vertex shader's output. Screen coordinates are relative to the viewport's
//! centre.
//!
//! # Pitfalls
//! - The hardware does not clip such vertices, and boards do not draw triangles with vertices that are far outside: seven half widths of the picture from its
//!   middle work, eight do not [piegpu], though the range of coordinates reaches 2048 pixels. The program that generates the vertices has to clip them.

use alloc::vec::Vec;
use shader_interface::VertexData;
use v3d::hw::Layout;
use v3d::hw::shaded_vertex::ScreenXy;

/// A shaded vertex with `N` varyings.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ShadedVertex<const N: usize> {
    /// In sixteenths of a pixel, relative to the viewport's centre.
    pub position: ScreenXy,
    /// Depth, 0 to 1.
    pub depth: f32,
    /// 1/Wc.
    pub reciprocal_w: f32,
    /// Varyings.
    pub varyings: [f32; N],
}

impl<const N: usize> ShadedVertex<N> {
    /// A vertex in normalised device coordinates, with Wc = 1. `half_width` and `half_height` are those of the viewport, in sixteenths of a pixel.
    ///
    /// The coordinates equal those of a vertex shader, whose multiplications and conversions all round towards zero: the exact product, which an f64 can
    /// represent, is truncated once.
    pub fn flat(x: f32, y: f32, depth: f32, half_width: f32, half_height: f32, varyings: [f32; N]) -> Self {
        let scaled = |coordinate: f32, half: f32| (f64::from(coordinate) * f64::from(half)) as i16;
        let position = ScreenXy { x: scaled(x, half_width), y: scaled(y, half_height) };
        Self { position, depth, reciprocal_w: 1.0, varyings }
    }
}

impl<const N: usize> VertexData for ShadedVertex<N> {
    const BYTES: usize = 4 * (3 + N);

    fn push(&self, words: &mut Vec<u32>) {
        // `ScreenXy` has two 16-bit fields, so encoding never fails.
        words.push(self.position.to_word().unwrap_or(0));
        words.push(self.depth.to_bits());
        words.push(self.reciprocal_w.to_bits());
        words.extend(self.varyings.iter().map(|varying| varying.to_bits()));
    }
}
