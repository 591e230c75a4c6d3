//! Shapes that several scenes use, with normals and texture coordinates
//!
//! Triangles are counterclockwise as seen from outside. Textures are upright on all sides: t = 0 is the top.

use alloc::vec::Vec;

use core::f32::consts::TAU;

use renderer::glam::{Mat4, Vec2, Vec3};

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

    /// A surface of revolution around the y axis. The outline runs upwards on the outside, in steps of radius and height; a closed one ends with its first
    /// point. Neighbouring segments share their normals unless there is an edge between them. A part of a revolution, in units of whole ones, has flat ends,
    /// for which the outline must be convex.
    pub fn revolved(outline: &[[f32; 2]], sides: u16, revolution: f32) -> Self {
        /// Cosine of the angle beyond which there is an edge.
        const EDGE: f32 = 0.6;
        let mut shape = Self::default();
        let outline: Vec<Vec2> = outline.iter().map(|&point| Vec2::from_array(point)).collect();
        let normals: Vec<Vec2> =
            outline.windows(2).map(|pair| -(pair[1] - pair[0]).perp().normalize_or_zero()).collect();
        let is_closed = outline.first() == outline.last();
        let last = normals.len().saturating_sub(1);
        for (at, (ends, &normal)) in outline.windows(2).zip(&normals).enumerate() {
            let beside = |neighbour: Option<usize>| {
                let other = neighbour.and_then(|at| normals.get(at)).copied().unwrap_or(normal);
                if normal.dot(other) > EDGE { (normal + other).normalize() } else { normal }
            };
            let before = at.checked_sub(1).or(is_closed.then_some(last));
            let after = if at < last { Some(at + 1) } else { is_closed.then_some(0) };
            let first = shape.corners.len() as u16;
            for side in 0..=sides {
                let share = f32::from(side) / f32::from(sides);
                let to = Vec2::from_angle(share * revolution * TAU);
                let place = |at: Vec2| Vec3::new(at.x * to.x, at.y, at.x * to.y).to_array();
                for (end, normal, v) in [(ends[0], beside(before), 1.0), (ends[1], beside(after), 0.0)] {
                    shape.corners.push(Corner { position: place(end), normal: place(normal), uv: [share, v] });
                }
            }
            for side in 0..sides {
                let near = first + 2 * side;
                // The ends of an outline may be on the axis, where one of both triangles is empty.
                let triangles = [(ends[1].x > 0.0, [0, 1, 3]), (ends[0].x > 0.0, [0, 3, 2])];
                let indices = triangles.into_iter().filter(|(has_area, _)| *has_area).flat_map(|(_, corners)| corners);
                shape.indices.extend(indices.map(|corner| near + corner));
            }
        }
        if revolution < 1.0 {
            for (turn, out) in [(0.0, -1.0), (revolution, 1.0)] {
                let to = Vec2::from_angle(turn * TAU);
                let normal = (out * Vec3::new(-to.y, 0.0, to.x)).to_array();
                let first = shape.corners.len() as u16;
                let corner = |at: &Vec2| Corner { position: [at.x * to.x, at.y, at.x * to.y], normal, uv: [0.0; 2] };
                shape.corners.extend(outline.iter().map(corner));
                for after in 1..outline.len().saturating_sub(1) as u16 {
                    let fan = if out > 0.0 { [0, after, after + 1] } else { [0, after + 1, after] };
                    shape.indices.extend(fan.map(|corner| first + corner));
                }
            }
        }
        shape
    }

    /// Appends another shape, rotated and translated. Together they may have 65,536 corners.
    pub fn append(&mut self, other: &Self, to: &Mat4) {
        let first = self.corners.len() as u16;
        self.corners.extend(other.corners.iter().map(|corner| Corner {
            position: to.transform_point3(Vec3::from_array(corner.position)).to_array(),
            normal: to.transform_vector3(Vec3::from_array(corner.normal)).to_array(),
            uv: corner.uv,
        }));
        self.indices.extend(other.indices.iter().map(|index| first + index));
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

    /// Sums of the signed volumes under the triangles, which are those of the bodies if all triangles face outwards.
    fn volume(shape: &Shape) -> f32 {
        let corner = |index: u16| Vec3::from_array(shape.corners[usize::from(index)].position);
        let under = |[a, b, c]: &[u16; 3]| corner(*a).cross(corner(*b)).dot(corner(*c)) / 6.0;
        shape.indices.as_chunks::<3>().0.iter().map(under).sum()
    }

    #[test]
    fn surfaces_of_revolution_enclose_their_bodies() {
        // A cylinder, a cone, and a ring of 8/9 of a circle, whose circles are polygons of 96 sides: 0.07 % smaller.
        let circle = TAU / 2.0 * 0.9993;
        let near =
            |found: f32, expected: f32| assert!((found - expected).abs() < 2e-4 * expected, "{found} {expected}");
        near(volume(&Shape::revolved(&[[0.0, 0.0], [2.0, 0.0], [2.0, 3.0], [0.0, 3.0]], 96, 1.0)), circle * 12.0);
        near(volume(&Shape::revolved(&[[0.0, -1.0], [2.0, -1.0], [0.0, 2.0]], 96, 1.0)), circle * 4.0);
        let ring = [[2.0, 0.0], [3.0, 0.0], [3.0, 1.0], [2.0, 1.0], [2.0, 0.0]];
        let part = Shape::revolved(&ring, 96, 8.0 / 9.0);
        near(volume(&part), TAU / 2.0 * 0.99945 * 5.0 * 8.0 / 9.0);
        let mut two = part.clone();
        two.append(&part, &(Mat4::from_translation(Vec3::new(9.0, 1.0, 0.0)) * Mat4::from_rotation_x(1.0)));
        near(volume(&two), 2.0 * volume(&part));
    }

    #[test]
    fn normals_are_smooth_but_for_edges() {
        let ball: Vec<[f32; 2]> =
            (0..=32).map(|n| Vec2::from_angle((n as f32 / 64.0 - 0.25) * TAU).to_array()).collect();
        for corner in Shape::revolved(&ball, 24, 1.0).corners {
            let (place, normal) = (Vec3::from_array(corner.position), Vec3::from_array(corner.normal));
            assert!(place.dot(normal) > 0.998 && (normal.length() - 1.0).abs() < 1e-5, "{corner:?}");
        }
        let can = Shape::revolved(&[[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]], 12, 1.0);
        assert!(can.corners.iter().all(|corner| corner.normal[1] == 0.0 || corner.normal[1].abs() == 1.0));
    }

    #[test]
    fn textures_stand_upright() {
        let shape = Shape::cuboid(Vec3::ONE);
        for corner in shape.corners.iter().filter(|corner| corner.normal[1] == 0.0) {
            assert_eq!(corner.uv[1] == 0.0, corner.position[1] > 0.0, "{corner:?}");
        }
    }
}
