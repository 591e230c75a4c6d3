//! Shapes that several scenes use, with normals and texture coordinates
//!
//! Triangles are counterclockwise as seen from outside. Textures are upright on all sides: t = 0 is the top.

use alloc::vec::Vec;

use renderer::glam::{Vec2, Vec3};

/// A corner of a shape.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Corner {
    /// Its position.
    pub position: [f32; 3],
    /// The normal, of length 1.
    pub normal: [f32; 3],
    /// Texture coordinates s and t.
    pub uv: [f32; 2],
}

/// Corners and triangles.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Shape {
    /// The corners.
    pub corners: Vec<Corner>,
    /// Indices of corners, three for each triangle.
    pub indices: Vec<u16>,
}

impl Shape {
    /// A box around the origin with sides of length `extent`; each side shows the whole texture.
    pub fn cuboid(extent: Vec3) -> Self {
        let mut shape = Self::default();
        for normal in [Vec3::X, Vec3::NEG_X, Vec3::Y, Vec3::NEG_Y, Vec3::Z, Vec3::NEG_Z] {
            // The direction that is up on this side as seen from outside; on the top and the bottom it points to the back.
            let up = if normal.y == 0.0 { Vec3::Y } else { Vec3::NEG_Z * normal.y };
            let right = up.cross(normal);
            shape.quad(0.5 * extent * normal, 0.5 * extent * right, 0.5 * extent * up, Vec2::ONE);
        }
        shape
    }

    /// A horizontal square around the origin with sides of length `side`, facing up. The texture is repeated `repeats` times each way.
    pub fn floor(side: f32, repeats: f32) -> Self {
        let mut shape = Self::default();
        shape.quad(Vec3::ZERO, Vec3::X * 0.5 * side, Vec3::NEG_Z * 0.5 * side, Vec2::splat(repeats));
        shape
    }

    /// Appends a rectangle, given by its centre, the vectors from there to the middle of its right and upper edges, and the texture coordinates of its far
    /// corner.
    fn quad(&mut self, center: Vec3, right: Vec3, up: Vec3, uv: Vec2) {
        let first = self.corners.len() as u16;
        let normal = right.cross(up).normalize().to_array();
        for (x, y) in [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)] {
            let position = (center + x * right + y * up).to_array();
            let uv = (uv * Vec2::new(0.5 + 0.5 * x, 0.5 - 0.5 * y)).to_array();
            self.corners.push(Corner { position, normal, uv });
        }
        self.indices.extend([0, 1, 2, 0, 2, 3].map(|corner| first + corner));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn triangles_look_away_from_the_middle() {
        let shape = Shape::cuboid(Vec3::new(2.0, 4.0, 6.0));
        assert_eq!((shape.corners.len(), shape.indices.len()), (24, 36));
        for triangle in shape.indices.as_chunks::<3>().0 {
            let [a, b, c] = triangle.map(|index| shape.corners[usize::from(index)]);
            let [pa, pb, pc] = [a, b, c].map(|corner| Vec3::from_array(corner.position));
            let normal = (pb - pa).cross(pc - pa).normalize();
            assert!(normal.dot(pa) > 0.0 && normal.distance(Vec3::from_array(a.normal)) < 1e-6, "{a:?}");
            assert_eq!(pa.abs(), Vec3::new(1.0, 2.0, 3.0));
        }
    }

    #[test]
    fn textures_stand_upright() {
        let shape = Shape::cuboid(Vec3::ONE);
        for corner in shape.corners.iter().filter(|corner| corner.normal[1] == 0.0) {
            assert_eq!(corner.uv[1] == 0.0, corner.position[1] > 0.0, "{corner:?}");
        }
    }
}
