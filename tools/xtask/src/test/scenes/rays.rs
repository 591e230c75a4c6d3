//! An eye: rays through pixels, as scenes define their camera.

use super::vector::{Vector, cross, direction, sum};
use super::{HEIGHT, WIDTH};

/// An eye with a vertical field of view of 45 degrees.
pub(super) struct Eye {
    /// Right, up, forward; right and up are scaled to the edges of the picture.
    axes: [Vector; 3],
}

impl Eye {
    pub(super) fn new(place: Vector, looked_at: Vector) -> Self {
        let forward = direction(sum(looked_at, -1.0, place));
        let right = direction(cross(forward, [0.0, 1.0, 0.0]));
        let up = cross(right, forward);
        let half = (std::f64::consts::FRAC_PI_4 / 2.0).tan();
        let wide = half * WIDTH as f64 / HEIGHT as f64;
        Self { axes: [sum([0.0; 3], wide, right), sum([0.0; 3], half, up), forward] }
    }

    /// The direction, of length 1, through a point of the picture, in pixels from its top left corner.
    pub(super) fn ray(&self, x: f64, y: f64) -> Vector {
        let [right, up, forward] = self.axes;
        direction(sum(sum(forward, 2.0 * x / WIDTH as f64 - 1.0, right), 1.0 - 2.0 * y / HEIGHT as f64, up))
    }
}
