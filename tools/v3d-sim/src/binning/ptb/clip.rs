//! Clipper: cuts primitives at the near and far planes and at the guard band.
//!
//! A primitive is cut only where necessary: where Z leaves -Wc to Wc, or where a screen coordinate would leave the 16 bits in which it is stored. The
//! sides of the viewport cut nothing: the clip window and the choice of tiles take care of them. But a line both of whose ends lie beyond the same
//! side is dropped, though a wide one could reach into the viewport, and the guard band would hold it. A triangle becomes a convex polygon, and that
//! a fan of triangles. Each refers to the original's vertices, and gives for those that are replaced their position and how the varyings of the
//! original are mixed there: the three coefficients sum to 1 [AG p.78].
//!
//! # Sources
//! [AG p.60-61], [AG p.70] records 105 and 106, [AG p.78]. That Z is limited to -Wc to Wc is OpenGL's rule, to which records 104 and 106 fit; the
//! guard band is what a signed 16-bit coordinate in 1/16 pixel can hold. That lines are dropped, but neither points so nor lines cut at the sides, follows
//! from tests with wide lines that a Pi 3 fails (wide_line_clip_viewport) and passes (line_strip_wide) [deqp].

use v3d_hw::control_list::{ClipperXyScaling, ClipperZScaleOffset};
use v3d_hw::primitive_list::{ClippedVertex, ClippedVertexCoefficients};

/// Clip coordinates Xc, Yc, Zc, Wc.
pub type ClipCoordinates = [f32; 4];

/// Maximum screen coordinate in 1/16 pixel from the viewport centre.
const GUARD_BAND: f64 = 32767.0;

/// Viewport transform, as records 105 and 106 give it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Viewport {
    /// Record 105.
    pub xy: ClipperXyScaling,
    /// Record 106.
    pub z: ClipperZScaleOffset,
}

/// A vertex of a clipped primitive.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum CutVertex {
    /// One of the original's.
    Original(usize),
    /// A new one.
    New {
        /// Xs, Ys, Zs, 1/Wc, and the coefficient of vertex 0.
        vertex: ClippedVertex,
        /// The other coefficients.
        coefficients: ClippedVertexCoefficients,
    },
}

/// Result of clipping.
#[derive(Clone, Debug, PartialEq)]
pub enum Clipped {
    /// Nothing is cut.
    Whole,
    /// Nothing is left.
    Nothing,
    /// The corners that are left, in the original's order: 2 of a line, 3 or more of a triangle.
    Cut(Vec<CutVertex>),
}

/// A clipping plane: how far inside a point is.
type Plane = fn(&Viewport, &[f64; 4]) -> f64;

const PLANES: [Plane; 6] = [
    |_, [_, _, z, w]| w + z,
    |_, [_, _, z, w]| w - z,
    |viewport, [x, _, _, w]| GUARD_BAND * w - x * f64::from(viewport.xy.half_width),
    |viewport, [x, _, _, w]| GUARD_BAND * w + x * f64::from(viewport.xy.half_width),
    |viewport, [_, y, _, w]| GUARD_BAND * w - y * f64::from(viewport.xy.half_height),
    |viewport, [_, y, _, w]| GUARD_BAND * w + y * f64::from(viewport.xy.half_height),
];

/// The sides of the viewport: a line is beyond one if both its ends are.
const SIDES: [fn(&[f64; 4]) -> f64; 4] =
    [|[x, _, _, w]| w + x, |[x, _, _, w]| w - x, |[_, y, _, w]| w + y, |[_, y, _, w]| w - y];

/// Whether the distance from a plane is inside of it. NaN is not.
fn inside(distance: f64) -> bool {
    distance >= 0.0
}

/// A corner while it is being cut: the weights of the original vertices.
#[derive(Clone, Copy, Debug)]
struct Corner {
    position: [f64; 4],
    weights: [f64; 3],
}

impl Corner {
    fn between(self, other: Self, along: f64) -> Self {
        let mix = |a: f64, b: f64| a + (b - a) * along;
        Self {
            position: std::array::from_fn(|i| mix(self.position[i], other.position[i])),
            weights: std::array::from_fn(|i| mix(self.weights[i], other.weights[i])),
        }
    }
}

/// Whether a vertex is inside of all planes. Points and triangles of such vertices stay whole.
pub fn is_inside(vertex: &ClipCoordinates, viewport: &Viewport) -> bool {
    let position = vertex.map(f64::from);
    PLANES.iter().all(|plane| inside(plane(viewport, &position)))
}

/// Clips a point, line or triangle of 1, 2 or 3 vertices.
pub fn clip(vertices: &[ClipCoordinates], viewport: &Viewport) -> Clipped {
    let beyond = |side: &fn(&[f64; 4]) -> f64| vertices.iter().all(|vertex| side(&vertex.map(f64::from)) < 0.0);
    if vertices.len() == 2 && SIDES.iter().any(beyond) {
        return Clipped::Nothing;
    }
    if vertices.iter().all(|vertex| is_inside(vertex, viewport)) {
        return Clipped::Whole;
    }
    let mut corners: Vec<Corner> = Vec::with_capacity(9);
    for (i, vertex) in vertices.iter().enumerate().take(3) {
        let mut weights = [0.0; 3];
        weights[i] = 1.0;
        corners.push(Corner { position: vertex.map(f64::from), weights });
    }
    for plane in PLANES {
        let distance = |corner: &Corner| plane(viewport, &corner.position);
        if corners.iter().all(|corner| inside(distance(corner))) {
            continue;
        }
        corners = cut(&corners, distance);
        if corners.len() < vertices.len().min(3) {
            return Clipped::Nothing;
        }
    }
    Clipped::Cut(corners.iter().map(|corner| corner.finish(viewport)).collect())
}

/// Cuts a polygon, or the line between two corners, at one plane.
fn cut(corners: &[Corner], distance: impl Fn(&Corner) -> f64) -> Vec<Corner> {
    let mut left = Vec::with_capacity(corners.len() + 1);
    let sides = if corners.len() > 2 { corners.len() } else { corners.len().saturating_sub(1) };
    for (i, corner) in corners.iter().enumerate() {
        let here = distance(corner);
        if inside(here) {
            left.push(*corner);
        }
        if i < sides
            && let Some(next) = corners.get((i + 1) % corners.len())
        {
            let there = distance(next);
            if inside(here) != inside(there) {
                let along = here / (here - there);
                if along.is_finite() {
                    left.push(corner.between(*next, along));
                }
            }
        }
    }
    left
}

impl Corner {
    fn finish(&self, viewport: &Viewport) -> CutVertex {
        if let Some(original) = self.weights.iter().position(|&weight| weight == 1.0) {
            return CutVertex::Original(original);
        }
        let [x, y, z, w] = self.position;
        let reciprocal_w = 1.0 / w;
        // The casts saturate, and turn NaN into 0.
        let screen = |position: f64, half: f32| (position * reciprocal_w * f64::from(half)).round() as i16;
        CutVertex::New {
            vertex: ClippedVertex {
                x: screen(x, viewport.xy.half_width),
                y: screen(y, viewport.xy.half_height),
                z: (z * reciprocal_w * f64::from(viewport.z.scale) + f64::from(viewport.z.offset)) as f32,
                reciprocal_w: reciprocal_w as f32,
                coefficient0: self.weights[0] as f32,
            },
            coefficients: ClippedVertexCoefficients {
                coefficient1: self.weights[1] as f32,
                coefficient2: self.weights[2] as f32,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn viewport() -> Viewport {
        Viewport {
            xy: ClipperXyScaling { half_width: 320.0 * 16.0, half_height: 240.0 * 16.0 },
            z: ClipperZScaleOffset { scale: 0.5, offset: 0.5 },
        }
    }

    #[test]
    fn what_is_inside_stays_whole_even_beyond_the_viewport() {
        let triangle = [[-3.0, 0.0, 0.0, 1.0], [0.5, 4.0, -1.0, 1.0], [6.0, 0.0, 1.0, 1.0]];
        assert_eq!(clip(&triangle, &viewport()), Clipped::Whole);
    }

    #[test]
    fn what_is_behind_the_eye_vanishes() {
        let triangle = [[0.0, 0.0, -3.0, -1.0], [1.0, 0.0, -3.0, -1.0], [0.0, 1.0, -3.0, -2.0]];
        assert_eq!(clip(&triangle, &viewport()), Clipped::Nothing);
        assert_eq!(clip(&[[0.0, 0.0, 2.0, 1.0]], &viewport()), Clipped::Nothing);
        assert_eq!(clip(&[[f32::NAN; 4]; 3], &viewport()), Clipped::Nothing);
    }

    #[test]
    fn one_corner_in_front_of_the_near_plane_leaves_four() {
        // Vertex 0 is as far in front of the near plane as the others are behind it.
        let triangle = [[0.0, 0.0, -2.0, 1.0], [1.0, 0.0, 0.0, 1.0], [0.0, 1.0, 0.0, 1.0]];
        let Clipped::Cut(corners) = clip(&triangle, &viewport()) else { panic!("not cut") };
        let new = |x, y, c0, c1, c2| CutVertex::New {
            vertex: ClippedVertex { x, y, z: 0.0, reciprocal_w: 1.0, coefficient0: c0 },
            coefficients: ClippedVertexCoefficients { coefficient1: c1, coefficient2: c2 },
        };
        assert_eq!(
            corners,
            [new(2560, 0, 0.5, 0.5, 0.0), CutVertex::Original(1), CutVertex::Original(2), new(0, 1920, 0.5, 0.0, 0.5)]
        );
    }

    #[test]
    fn a_line_is_cut_at_both_ends() {
        let line = [[0.0, 0.0, -4.0, 2.0], [0.0, 0.0, 4.0, 2.0]];
        let Clipped::Cut(corners) = clip(&line, &viewport()) else { panic!("not cut") };
        let weights: Vec<f32> = corners
            .iter()
            .map(|corner| if let CutVertex::New { vertex, .. } = corner { vertex.coefficient0 } else { 9.0 })
            .collect();
        assert_eq!(weights, [0.75, 0.25]);
    }

    #[test]
    fn lines_beyond_one_side_are_dropped() {
        let line = |from: (f32, f32), to: (f32, f32)| {
            clip(&[[from.0, from.1, 0.0, 1.0], [2.0 * to.0, 2.0 * to.1, 0.0, 2.0]], &viewport())
        };
        for (x, y) in [(1.01, 0.0), (-1.01, 0.0), (0.0, 1.01), (0.0, -1.01)] {
            assert_eq!(line((x, y), (3.0 * x, 3.0 * y)), Clipped::Nothing, "{x}, {y}");
            // One end on the side, or beyond another one: it might cross the viewport.
            assert_eq!(line((x / 1.01, y / 1.01), (x, y)), Clipped::Whole, "{x}, {y}");
            assert_eq!(line((x, y), (y, x)), Clipped::Whole, "{x}, {y}");
            assert_eq!(line((x, y), (-x, -y)), Clipped::Whole, "{x}, {y}");
        }
        // Points and triangles are not dropped at the sides.
        assert_eq!(clip(&[[1.5, 0.0, 0.0, 1.0]], &viewport()), Clipped::Whole);
        assert_eq!(
            clip(&[[1.5, 0.0, 0.0, 1.0], [2.0, 0.0, 0.0, 1.0], [2.0, 1.0, 0.0, 1.0]], &viewport()),
            Clipped::Whole
        );
    }

    #[test]
    fn coordinates_that_do_not_fit_16_bits_are_cut() {
        let triangle = [[0.0, 0.0, 0.0, 1.0], [100.0, 0.0, 0.0, 1.0], [0.0, 0.5, 0.0, 1.0]];
        let Clipped::Cut(corners) = clip(&triangle, &viewport()) else { panic!("not cut") };
        let largest =
            corners.iter().map(|corner| if let CutVertex::New { vertex, .. } = corner { vertex.x } else { 0 });
        assert_eq!(largest.max(), Some(32767));
        assert_eq!(corners.len(), 4);
    }
}
