//! The outline of a cube that the scene `live` shows.
//!
//! Its corners are projected by the scene's camera in double precision, and their convex hull is what the cube covers.

use super::vector::{Vector, cross, direction, dot, sum};
use super::{HEIGHT, WIDTH};
use crate::picture::Picture;
use anyhow::{Result, ensure};

/// Where the eye is in frame 0, and the tangent of half the picture's angle [kernel/src/scenes/live.rs].
const EYE: Vector = [3.2 * 0.9, 3.2 * 0.4, 0.0];
const HALF: f64 = std::f64::consts::SQRT_2 - 1.0;
/// Pixels around the outline that are not compared.
const EDGE_PX: f64 = 3.0;

/// Where a place is in the picture.
fn projected(place: Vector) -> [f64; 2] {
    let ahead = direction(sum([0.0; 3], -1.0, EYE));
    let right = direction(cross(ahead, [0.0, 1.0, 0.0]));
    let up = cross(right, ahead);
    let from_eye = sum(place, -1.0, EYE);
    let depth = dot(from_eye, ahead);
    let half = HEIGHT as f64 / 2.0;
    let at = |axis| dot(from_eye, axis) / (depth * HALF) * half;
    [WIDTH as f64 / 2.0 + at(right), half - at(up)]
}

/// Checks that exactly the cube with corners at the surface of the sphere of radius 1 is drawn in a colour. Returns how many pixels were compared.
pub(in crate::test) fn check_cube(picture: &Picture, color: [u8; 3]) -> Result<usize> {
    let side = 1.0 / 3f64.sqrt();
    let corners: Vec<[f64; 2]> =
        (0..8).map(|n| projected([0, 1, 2].map(|axis| if n >> axis & 1 == 0 { -side } else { side }))).collect();
    // A pixel is inside if it is on the same side of every edge of the hull: of every line through two corners that has all others on one side.
    let turn = |a: [f64; 2], b: [f64; 2], c: [f64; 2]| {
        let length = (b[0] - a[0]).hypot(b[1] - a[1]);
        ((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])) / length
    };
    let mut edges = Vec::new();
    for &a in &corners {
        for &b in corners.iter().filter(|&&b| b != a) {
            if corners.iter().all(|&c| turn(a, b, c) > -1e-9 || c == a || c == b) {
                edges.push((a, b));
            }
        }
    }
    ensure!(edges.len() >= 4, "the hull has {} edges", edges.len());
    let (mut inside, mut outside) = (0, 0);
    for y in (0..HEIGHT).step_by(5) {
        for x in (0..WIDTH).step_by(5) {
            let at = [x as f64 + 0.5, y as f64 + 0.5];
            let least = edges.iter().map(|&(a, b)| turn(a, b, at)).fold(f64::INFINITY, f64::min);
            if least.abs() < EDGE_PX {
                continue;
            }
            let is_drawn = picture.pixel(x, y) == Some(color);
            ensure!(is_drawn == (least > 0.0), "({x}, {y}) is {:?}, {least:.1} pixels inside", picture.pixel(x, y));
            if is_drawn { inside += 1 } else { outside += 1 }
        }
    }
    ensure!(inside > 500 && outside > 500, "{inside} pixels inside and {outside} outside were compared");
    Ok(inside + outside)
}
