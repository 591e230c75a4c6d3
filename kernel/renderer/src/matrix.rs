//! Matrices of 4x4 floats, row by row, as shaders read them.
//!
//! A matrix takes a column (x, y, z, 1) to clip coordinates. As in OpenGL the eye looks along -z, and what lies between the planes `near` and `far` comes to
//! depths from -1 to 1 after the division by Wc.

use core::ops::Mul;

/// A matrix.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Matrix(
    /// Row by row.
    pub [f32; 16],
);

impl Matrix {
    /// Changes nothing.
    pub const IDENTITY: Self = Self([1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0]);

    /// Moves.
    pub const fn translation(x: f32, y: f32, z: f32) -> Self {
        Self([1.0, 0.0, 0.0, x, 0.0, 1.0, 0.0, y, 0.0, 0.0, 1.0, z, 0.0, 0.0, 0.0, 1.0])
    }

    /// Turns around the x axis, by an angle in radians; y turns towards z.
    pub fn rotation_x(angle: f32) -> Self {
        let (sin, cos) = libm::sincosf(angle);
        Self([1.0, 0.0, 0.0, 0.0, 0.0, cos, -sin, 0.0, 0.0, sin, cos, 0.0, 0.0, 0.0, 0.0, 1.0])
    }

    /// Turns around the y axis, by an angle in radians; z turns towards x.
    pub fn rotation_y(angle: f32) -> Self {
        let (sin, cos) = libm::sincosf(angle);
        Self([cos, 0.0, sin, 0.0, 0.0, 1.0, 0.0, 0.0, -sin, 0.0, cos, 0.0, 0.0, 0.0, 0.0, 1.0])
    }

    /// Perspective: `field` is the angle in radians that the picture's height covers, `aspect` its width over its height.
    pub fn perspective(field: f32, aspect: f32, near: f32, far: f32) -> Self {
        let scale = 1.0 / libm::tanf(field / 2.0);
        let depth = near - far;
        let (z, w) = ((near + far) / depth, 2.0 * near * far / depth);
        Self([scale / aspect, 0.0, 0.0, 0.0, 0.0, scale, 0.0, 0.0, 0.0, 0.0, z, w, 0.0, 0.0, -1.0, 0.0])
    }

    /// Where a point goes.
    pub fn apply(&self, point: [f32; 4]) -> [f32; 4] {
        core::array::from_fn(|row| (0..4).map(|column| self.0[4 * row + column] * point[column]).sum())
    }
}

/// First the right one, then the left one.
impl Mul for Matrix {
    type Output = Self;

    fn mul(self, right: Self) -> Self {
        Self(core::array::from_fn(|at| {
            let (row, column) = (at / 4, at % 4);
            (0..4).map(|inner| self.0[4 * row + inner] * right.0[4 * inner + column]).sum()
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::f32::consts::FRAC_PI_2;

    fn assert_near(actual: [f32; 4], expected: [f32; 4]) {
        for (a, e) in actual.iter().zip(expected) {
            assert!((a - e).abs() < 1e-5, "{actual:?} is not {expected:?}");
        }
    }

    #[test]
    fn turns_go_the_right_way_round() {
        assert_near(Matrix::rotation_x(FRAC_PI_2).apply([0.0, 1.0, 0.0, 1.0]), [0.0, 0.0, 1.0, 1.0]);
        assert_near(Matrix::rotation_y(FRAC_PI_2).apply([0.0, 0.0, 1.0, 1.0]), [1.0, 0.0, 0.0, 1.0]);
    }

    #[test]
    fn the_right_matrix_comes_first() {
        let both = Matrix::translation(1.0, 2.0, 3.0) * Matrix::rotation_y(FRAC_PI_2);
        assert_near(both.apply([0.0, 0.0, 1.0, 1.0]), [2.0, 2.0, 3.0, 1.0]);
        assert_eq!(Matrix::IDENTITY * both, both);
    }

    #[test]
    fn near_and_far_come_to_minus_one_and_one() {
        let perspective = Matrix::perspective(FRAC_PI_2, 16.0 / 9.0, 1.0, 10.0);
        let [_, y, z, w] = perspective.apply([0.0, 1.0, -1.0, 1.0]);
        assert!((z / w + 1.0).abs() < 1e-5 && (y / w - 1.0).abs() < 1e-5);
        let [_, _, z, w] = perspective.apply([0.0, 0.0, -10.0, 1.0]);
        assert!((z / w - 1.0).abs() < 1e-5);
    }
}
