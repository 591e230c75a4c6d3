//! What a person gives to shaders beside numbers: a picture, six pictures around a point, a model.

use crate::model::Model;
use renderer::glam::Vec3;
use renderer::texture::Face;

/// Most pixels of a picture's side.
pub const MOST_SIDE_PX: u32 = 512;

/// What the page has been given, or what stands in for it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Assets {
    /// The picture for textures; none if a model's own pictures, or tiles, are to be seen.
    pub image: Option<Image>,
    /// The pictures for cube maps.
    pub cube: Cube,
    /// The model that the shape `model` is.
    pub model: Option<Model>,
}

/// A picture for textures.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    /// Width and height.
    pub size_px: [u32; 2],
    /// Red, green, blue, alpha, from the top left corner.
    pub rgba: Vec<u8>,
}

impl Image {
    /// Takes a picture.
    ///
    /// # Errors
    /// When it has no pixels, more than [`MOST_SIDE_PX`] a side, or another number of bytes.
    pub fn new(size_px: [u32; 2], rgba: Vec<u8>) -> Result<Self, String> {
        let is_possible = size_px.iter().all(|side| (1..=MOST_SIDE_PX).contains(side));
        if !is_possible || rgba.len() as u32 != 4 * size_px[0] * size_px[1] {
            return Err(format!("a texture has 1 to {MOST_SIDE_PX} pixels in width and height"));
        }
        Ok(Self { size_px, rgba })
    }

    /// One white pixel: by it a model's colours stay what they are.
    pub fn white() -> Self {
        Self { size_px: [1; 2], rgba: vec![255; 4] }
    }
}

impl Default for Image {
    /// Squares of two colours with a joint between.
    fn default() -> Self {
        const SIDE: u32 = 64;
        let texel = |n: u32| {
            let (x, y) = (n % SIDE, n / SIDE);
            let is_joint = x % 16 == 0 || y % 16 == 0;
            let is_light = (x / 16 + y / 16) % 2 == 0;
            if is_joint {
                [40, 44, 58, 255]
            } else if is_light {
                [236, 222, 186, 255]
            } else {
                [196, 92, 60, 255]
            }
        };
        Self { size_px: [SIDE; 2], rgba: (0..SIDE * SIDE).flat_map(texel).collect() }
    }
}

/// Six pictures around a point.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cube {
    /// Pixels of a face's side.
    pub side_px: u32,
    /// Red, green, blue, alpha of each face, in the order of [`Face::ALL`], as one sees it from the middle: rows from the top.
    pub faces: Vec<Vec<u8>>,
}

impl Cube {
    /// Takes the pixels of six faces, one after the other.
    ///
    /// # Errors
    /// When a face has no pixels, more than [`MOST_SIDE_PX`] a side, or the number of bytes is not that of six faces.
    pub fn new(side_px: u32, rgba: &[u8]) -> Result<Self, String> {
        if !(1..=MOST_SIDE_PX).contains(&side_px) {
            return Err(format!("a cube map's faces have 1 to {MOST_SIDE_PX} pixels a side"));
        }
        let bytes = 4 * (side_px * side_px) as usize;
        if rgba.len() != Face::ALL.len() * bytes {
            return Err("a cube map has six faces of the same size".to_owned());
        }
        Ok(Self { side_px, faces: rgba.chunks(bytes).map(<[u8]>::to_vec).collect() })
    }
}

impl Default for Cube {
    /// A clear sky with a low sun over a plain of squares.
    fn default() -> Self {
        const SIDE: u32 = 64;
        let face = |face: Face| {
            let texel = |n: u32| {
                let across = |at: u32| (at as f32 + 0.5) / (SIDE as f32 / 2.0) - 1.0;
                sky(face.direction(across(n % SIDE), across(n / SIDE)))
            };
            (0..SIDE * SIDE).flat_map(texel).collect()
        };
        Self { side_px: SIDE, faces: Face::ALL.map(face).to_vec() }
    }
}

/// The direction to the sun of the built-in sky: that of the uniform `to_sun` before anybody moves it.
pub const TO_SUN: Vec3 = Vec3::new(-0.75, 0.35, 0.561_249);

/// The colour of the built-in surroundings in a direction.
fn sky(direction: Vec3) -> [u8; 4] {
    let at = direction.normalize();
    let color = if at.y >= 0.0 {
        let blue = Vec3::new(0.82, 0.88, 0.92).lerp(Vec3::new(0.16, 0.38, 0.74), at.y.sqrt());
        let near = at.dot(TO_SUN.normalize()).max(0.0);
        blue + Vec3::new(1.0, 0.86, 0.6) * (0.35 * near.powi(12) + if near > 0.985 { 1.0 } else { 0.0 })
    } else {
        // The plain is one unit below: squares of two units, which fade towards the horizon.
        let (x, z) = (at.x / -at.y, at.z / -at.y);
        let is_light = ((x * 0.5).floor() + (z * 0.5).floor()).rem_euclid(2.0) < 1.0;
        let stone = if is_light { Vec3::new(0.78, 0.70, 0.56) } else { Vec3::new(0.42, 0.36, 0.30) };
        Vec3::new(0.72, 0.76, 0.76).lerp(stone, (-3.0 * at.y).min(1.0))
    };
    let [red, green, blue] = color.clamp(Vec3::ZERO, Vec3::ONE).to_array().map(|part| (part * 255.0).round() as u8);
    [red, green, blue, 255]
}
