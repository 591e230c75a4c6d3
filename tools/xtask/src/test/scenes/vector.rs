//! Vectors of three numbers.

/// x, y, z; or red, green, blue.
pub(super) type Vector = [f64; 3];

/// `a + times * b`.
pub(super) fn sum(a: Vector, times: f64, b: Vector) -> Vector {
    [0, 1, 2].map(|n| a[n] + times * b[n])
}

/// The scalar product.
pub(super) fn dot(a: Vector, b: Vector) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

/// The vector product.
pub(super) fn cross(a: Vector, b: Vector) -> Vector {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

/// The vector of length 1 in the same direction.
pub(super) fn direction(a: Vector) -> Vector {
    sum([0.0; 3], 1.0 / dot(a, a).sqrt(), a)
}

/// The vector rotated around y: z turns towards x.
pub(super) fn turned([x, y, z]: Vector, angle: f64) -> Vector {
    let (sin, cos) = angle.sin_cos();
    [x * cos + z * sin, y, z * cos - x * sin]
}
