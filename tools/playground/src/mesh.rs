//! What is drawn: a quad over the whole picture, a triangle, a cube or a sphere.

use core::f32::consts::{PI, TAU};
use renderer::glam::{Vec2, Vec3};

/// A shape.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Shape {
    /// Over the whole picture.
    #[default]
    Quad,
    /// With its base at the bottom.
    Triangle,
    /// From -1 to 1 along each axis.
    Cube,
    /// Of radius 1.
    Sphere,
}

impl Shape {
    /// The shape of this name.
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "quad" => Some(Self::Quad),
            "triangle" => Some(Self::Triangle),
            "cube" => Some(Self::Cube),
            "sphere" => Some(Self::Sphere),
            _ => None,
        }
    }

    /// Its corners, and its triangles by the numbers of their corners.
    pub fn mesh(self) -> (Vec<Corner>, Vec<u16>) {
        match self {
            Self::Quad => quad(),
            Self::Triangle => triangle(),
            Self::Cube => cube(),
            Self::Sphere => sphere(),
        }
    }
}

/// A corner.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Corner {
    /// Its place.
    pub place: Vec3,
    /// The normal there.
    pub normal: Vec3,
    /// Texture coordinates, from the upper left corner of the picture.
    pub uv: Vec2,
}

const SQUARE: [Vec2; 4] = [Vec2::new(-1.0, -1.0), Vec2::new(1.0, -1.0), Vec2::new(-1.0, 1.0), Vec2::new(1.0, 1.0)];

/// The two triangles of squares whose corners follow each other.
fn triangles_of_squares(squares: u16) -> Vec<u16> {
    (0..squares).flat_map(|square| [0, 1, 2, 2, 1, 3].map(|corner| 4 * square + corner)).collect()
}

/// Texture coordinates of a place on a square.
fn downwards(place: Vec2) -> Vec2 {
    0.5 + 0.5 * Vec2::new(place.x, -place.y)
}

fn quad() -> (Vec<Corner>, Vec<u16>) {
    let corner = |place: Vec2| Corner { place: place.extend(0.0), normal: Vec3::Z, uv: downwards(place) };
    (SQUARE.map(corner).to_vec(), triangles_of_squares(1))
}

fn triangle() -> (Vec<Corner>, Vec<u16>) {
    let places = [Vec2::new(0.0, 0.8), Vec2::new(-0.7, -0.8), Vec2::new(0.7, -0.8)];
    let corner = |place: Vec2| Corner { place: place.extend(0.0), normal: Vec3::Z, uv: downwards(place) };
    (places.map(corner).to_vec(), vec![0, 1, 2])
}

fn cube() -> (Vec<Corner>, Vec<u16>) {
    let axes = [Vec3::X, Vec3::NEG_X, Vec3::Y, Vec3::NEG_Y, Vec3::Z, Vec3::NEG_Z];
    let face = |normal: Vec3| {
        let right = if normal.y == 0.0 { Vec3::Y.cross(normal) } else { Vec3::X };
        let up = normal.cross(right);
        SQUARE.map(|at| Corner { place: normal + at.x * right + at.y * up, normal, uv: downwards(at) })
    };
    (axes.into_iter().flat_map(face).collect(), triangles_of_squares(6))
}

/// Circles of latitude from the north pole on, each closed by a corner of its own, whose texture coordinate is at the other end.
fn sphere() -> (Vec<Corner>, Vec<u16>) {
    const ROUND: u16 = 96;
    const DOWN: u16 = 48;
    let corner = |n: u16| {
        let (x, y) = (n % (ROUND + 1), n / (ROUND + 1));
        let Vec2 { x: height, y: radius } = Vec2::from_angle(PI * f32::from(y) / f32::from(DOWN));
        let round = radius * Vec2::from_angle(TAU * f32::from(x) / f32::from(ROUND));
        let place = Vec3::new(round.x, height, -round.y);
        let uv = Vec2::new(f32::from(x) / f32::from(ROUND), f32::from(y) / f32::from(DOWN));
        Corner { place, normal: place, uv }
    };
    let square = |n: u16| {
        let upper = n / ROUND * (ROUND + 1) + n % ROUND;
        let lower = upper + ROUND + 1;
        [upper, lower, lower + 1, upper, lower + 1, upper + 1]
    };
    ((0..(ROUND + 1) * (DOWN + 1)).map(corner).collect(), (0..ROUND * DOWN).flat_map(square).collect())
}
