//! Expected pictures, in f64 and without the renderer: a pinhole camera, ray casting, textures.

use renderer::glam::{DMat4, DVec2, DVec3, Vec3};
use v3d_host::Picture;

/// A camera with a vertical field of view of 45 degrees.
pub(crate) struct Camera {
    eye: DVec3,
    right: DVec3,
    up: DVec3,
    forward: DVec3,
    size_px: DVec2,
}

/// A point and a direction.
#[derive(Clone, Copy)]
pub(crate) struct Ray {
    pub(crate) from: DVec3,
    pub(crate) along: DVec3,
}

impl Camera {
    pub(crate) fn new(eye: Vec3, looks_at: Vec3, [width_px, height_px]: [u32; 2]) -> Self {
        let eye = eye.as_dvec3();
        let forward = (looks_at.as_dvec3() - eye).normalize();
        let right = forward.cross(DVec3::Y).normalize();
        let size_px = DVec2::new(width_px.into(), height_px.into());
        Self { eye, right, up: right.cross(forward), forward, size_px }
    }

    /// The ray through a point of the picture, in pixels from its top left corner.
    pub(crate) fn ray(&self, at: DVec2) -> Ray {
        let half = std::f64::consts::FRAC_PI_8.tan();
        let DVec2 { x, y } = (2.0 * at - self.size_px) / self.size_px.y * half;
        Ray { from: self.eye, along: self.forward + x * self.right - y * self.up }
    }
}

impl Ray {
    /// The point at a distance.
    pub(crate) fn at(self, far: f64) -> DVec3 {
        self.from + far * self.along
    }

    /// The same ray in the coordinates of a body, by the inverse of the body's matrix; lengths along the ray are unchanged.
    pub(crate) fn seen_from(self, back: DMat4) -> Self {
        Self { from: back.transform_point3(self.from), along: back.transform_vector3(self.along) }
    }

    /// Distance to a box around the origin with these half sides, and the normal of the side that is hit.
    pub(crate) fn to_box(self, half: DVec3) -> Option<(f64, DVec3)> {
        let (near, far) = ((-half - self.from) / self.along, (half - self.from) / self.along);
        let (enter, leave) = (near.min(far), near.max(far));
        let first = enter.max_element();
        if first <= 0.0 || first > leave.min_element() {
            return None;
        }
        let axis = if first == enter.x {
            DVec3::X
        } else if first == enter.y {
            DVec3::Y
        } else {
            DVec3::Z
        };
        Some((first, -axis * self.along.dot(axis).signum()))
    }

    /// Distance to a ball.
    pub(crate) fn to_ball(self, middle: DVec3, radius: f64) -> Option<f64> {
        let (from, square) = (self.from - middle, self.along.length_squared());
        let half = from.dot(self.along);
        let root = half * half - square * (from.length_squared() - radius * radius);
        (root >= 0.0).then(|| (-half - root.sqrt()) / square)
    }
}

/// The centre of a pixel.
pub(crate) fn middle(x: u32, y: u32) -> DVec2 {
    DVec2::new(f64::from(x) + 0.5, f64::from(y) + 0.5)
}

/// The centre of a pixel, and the corners of a square around it.
pub(crate) fn around(x: u32, y: u32, reach: f64) -> [DVec2; 5] {
    [(0.0, 0.0), (-1.0, -1.0), (1.0, -1.0), (-1.0, 1.0), (1.0, 1.0)]
        .map(|(right, down)| middle(x, y) + reach * DVec2::new(right, down))
}

/// The value of `what`, if it is the same at all points in and around a pixel; `None` near an edge.
pub(crate) fn agreed<T: PartialEq>(x: u32, y: u32, reach: f64, what: impl Fn(DVec2) -> T) -> Option<T> {
    let [first, rest @ ..] = around(x, y, reach).map(what);
    rest.iter().all(|other| *other == first).then_some(first)
}

/// Every pixel of a picture with its position.
pub(crate) fn pixels(picture: &Picture) -> impl Iterator<Item = (u32, u32, [u8; 4])> {
    let width = picture.width_px;
    picture.pixels.iter().zip(0..).map(move |(pixel, n)| (n % width, n / width, *pixel))
}

/// The bytes of a colour as numbers from 0 to 255.
pub(crate) fn bytes([red, green, blue, _]: [u8; 4]) -> DVec3 {
    DVec3::new(red.into(), green.into(), blue.into())
}

/// A colour from 0 to 1 as numbers from 0 to 255.
pub(crate) fn share(color: [f32; 3]) -> DVec3 {
    255.0 * Vec3::from_array(color).as_dvec3()
}

/// The maximum difference of the channels, in 255ths.
pub(crate) fn difference(pixel: [u8; 4], expected: DVec3) -> f64 {
    (bytes(pixel) - expected.clamp(DVec3::ZERO, DVec3::splat(255.0))).abs().max_element()
}

/// How much a colour changes within an eighth of a pixel: corners are snapped to sixteenths, so surfaces may be
/// displaced by as much.
pub(crate) fn slack(x: u32, y: u32, color: impl Fn(DVec2) -> DVec3) -> f64 {
    let [here, rest @ ..] = around(x, y, 0.125).map(color);
    rest.into_iter().map(|there| (there - here).abs().max_element()).fold(0.0, f64::max)
}

/// Checks that a pixel is close to the expected colour.
pub(crate) fn assert_near(x: u32, y: u32, pixel: [u8; 4], expected: DVec3, most: f64) {
    let found = difference(pixel, expected);
    assert!(found <= most, "({x}, {y}) is {pixel:?} and should be {expected:.1}: {found:.1} of at most {most}");
}

/// A square texture that is repeated, with its texels as bytes.
pub(crate) struct Texels {
    pub(crate) side: u32,
    pub(crate) texel: Box<dyn Fn(u32, u32) -> [u8; 4]>,
}

impl Texels {
    /// The texel at a point; coordinates are 0 to 1.
    pub(crate) fn nearest(&self, uv: DVec2) -> [u8; 4] {
        let at = (uv * f64::from(self.side)).floor().rem_euclid(DVec2::splat(self.side.into()));
        (self.texel)(at.x as u32, at.y as u32)
    }

    /// Bilinear interpolation of the four texels around a point.
    pub(crate) fn linear(&self, uv: DVec2) -> DVec3 {
        let texel = 1.0 / f64::from(self.side);
        let corner = |right: f64, down: f64| bytes(self.nearest(uv + texel * (DVec2::new(right, down) - 0.5)));
        let DVec2 { x, y } = (uv / texel - 0.5).rem_euclid(DVec2::ONE);
        let upper = corner(0.0, 0.0).lerp(corner(1.0, 0.0), x);
        let lower = corner(0.0, 1.0).lerp(corner(1.0, 1.0), x);
        upper.lerp(lower, y)
    }

    /// The mean of all texels.
    pub(crate) fn mean(&self) -> DVec3 {
        let all = (0..self.side * self.side).map(|n| bytes((self.texel)(n % self.side, n / self.side)));
        all.sum::<DVec3>() / f64::from(self.side * self.side)
    }
}
