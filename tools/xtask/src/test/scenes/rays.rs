//! An eye: rays through pixels, as scenes say where they look from.

use super::vector::{Vector, cross, direction, sum};
use super::{HEIGHT, WIDTH};

/// An eye that sees an eighth of a turn from top to bottom.
pub(super) struct Eye {
    /// Right, up, forward; right and up for the edges of the picture.
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

    /// The direction of length 1 to a place of the picture, in pixels from its top left corner.
    pub(super) fn ray(&self, x: f64, y: f64) -> Vector {
        let [right, up, forward] = self.axes;
        direction(sum(sum(forward, 2.0 * x / WIDTH as f64 - 1.0, right), 1.0 - 2.0 * y / HEIGHT as f64, up))
    }
}
