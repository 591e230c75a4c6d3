//! Cube maps: from a direction to a face and a position on it [AG p.44].
//!
//! The faces are +x, -x, +y, -y, +z, -z, oriented as in table 3.21 of the OpenGL 2.0 specification. The program divides the direction by the
//! magnitude of its largest component beforehand; the unit relies on that.

/// The point where a direction meets the cube.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct FacePoint {
    /// 0 to 5.
    pub(super) face: u32,
    /// 0 to 1.
    pub(super) s: f32,
    /// 0 to 1.
    pub(super) t: f32,
    /// The largest component is not 1, within the precision of a reciprocal; or there is no direction.
    pub(super) normalized: bool,
}

/// Maximum difference of the largest component from 1: a reciprocal has 10 to 12 good bits.
pub(super) const NORMALIZED_TOLERANCE: f32 = 1.0 / 256.0;

/// The face and position of a direction.
#[inline(always)]
pub(super) fn face_point(direction: [f32; 3]) -> FacePoint {
    let [x, y, z] = direction;
    let (face, sc, tc, major) = if x.abs() >= y.abs() && x.abs() >= z.abs() {
        if x >= 0.0 { (0, -z, -y, x) } else { (1, z, -y, x) }
    } else if y.abs() >= z.abs() {
        if y >= 0.0 { (2, x, z, y) } else { (3, x, -z, y) }
    } else if z >= 0.0 {
        (4, x, -y, z)
    } else {
        (5, -x, -y, z)
    };
    // Elements without a pixel have no direction; that is no mistake of the program.
    let empty = major == 0.0 || !major.is_finite();
    let normalized = empty || (major.abs() - 1.0).abs() <= NORMALIZED_TOLERANCE;
    FacePoint { face, s: 0.5 * (sc + 1.0), t: 0.5 * (tc + 1.0), normalized }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Table 3.21 of the OpenGL 2.0 specification, at a point whose components all differ.
    #[test]
    fn faces_stand_as_in_opengl() {
        let check = |direction, face, (s, t): (f32, f32)| {
            assert_eq!(face_point(direction), FacePoint { face, s, t, normalized: true }, "{direction:?}");
        };
        check([1.0, 0.5, 0.25], 0, (0.375, 0.25));
        check([-1.0, 0.5, 0.25], 1, (0.625, 0.25));
        check([0.5, 1.0, 0.25], 2, (0.75, 0.625));
        check([0.5, -1.0, 0.25], 3, (0.75, 0.375));
        check([0.5, 0.25, 1.0], 4, (0.75, 0.375));
        check([0.5, 0.25, -1.0], 5, (0.25, 0.375));
        assert!(!face_point([0.5, 0.25, -0.75]).normalized);
        assert!(face_point([0.0; 3]).normalized);
    }
}
