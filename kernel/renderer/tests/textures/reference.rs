//! A texture sampler by the text of the OpenGL ES 2 specification, in floats
//!
//! Filters, wraps and levels are those of section 3.7, texels those of the guide's table 18.
//! No code of the model's or the driver's textures is used: pictures are rows of colours.

use renderer::texture::Wrap;

/// Red, green, blue and alpha, 0 to 255.
pub(crate) type Color = [f64; 4];

/// A picture: colours row by row, the first row at t = 0.
#[derive(Clone, Debug)]
pub(crate) struct Picture {
    pub(crate) width: u32,
    pub(crate) height: u32,
    pub(crate) texels: Vec<Color>,
}

impl Picture {
    /// A picture whose texels are computed from column and row.
    pub(crate) fn new(width: u32, height: u32, texel: impl Fn(u32, u32) -> Color) -> Self {
        let places = (0..height).flat_map(|y| (0..width).map(move |x| (x, y)));
        Self { width, height, texels: places.map(|(x, y)| texel(x, y)).collect() }
    }

    fn texel(&self, x: i64, y: i64) -> Color {
        self.texels[(y * i64::from(self.width) + x) as usize]
    }

    /// The bytes of the picture with four bytes per texel.
    pub(crate) fn rgba8888(&self) -> Vec<u8> {
        self.texels.iter().flat_map(|color| color.map(|channel| channel as u8)).collect()
    }
}

/// How to sample.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sampling {
    pub(crate) wrap_s: Wrap,
    pub(crate) wrap_t: Wrap,
    pub(crate) border: Color,
}

/// The coordinate of a texel after wrapping; none for the border (section 3.7.7, and OpenGL 2.0's 3.8.7 for borders).
fn wrapped(wrap: Wrap, at: i64, size: u32) -> Option<i64> {
    let size = i64::from(size);
    match wrap {
        Wrap::Repeat => Some(at.rem_euclid(size)),
        Wrap::Clamp => Some(at.clamp(0, size - 1)),
        Wrap::Mirror => {
            let period = at.rem_euclid(2 * size);
            Some(if period < size { period } else { 2 * size - 1 - period })
        }
        Wrap::Border => (0..size).contains(&at).then_some(at),
    }
}

impl Sampling {
    fn fetch(&self, picture: &Picture, x: i64, y: i64) -> Color {
        match (wrapped(self.wrap_s, x, picture.width), wrapped(self.wrap_t, y, picture.height)) {
            (Some(x), Some(y)) => picture.texel(x, y),
            _ => self.border,
        }
    }

    /// The nearest texel.
    pub(crate) fn nearest(&self, picture: &Picture, [s, t]: [f64; 2]) -> Color {
        let (u, v) = (s * f64::from(picture.width), t * f64::from(picture.height));
        self.fetch(picture, u.floor() as i64, v.floor() as i64)
    }

    /// Bilinear interpolation of the nearest 2x2 texels.
    pub(crate) fn linear(&self, picture: &Picture, [s, t]: [f64; 2]) -> Color {
        let (u, v) = (s * f64::from(picture.width) - 0.5, t * f64::from(picture.height) - 0.5);
        let (x, y) = (u.floor() as i64, v.floor() as i64);
        let (a, b) = (u - u.floor(), v - v.floor());
        let row = |y| blend(self.fetch(picture, x, y), self.fetch(picture, x + 1, y), a);
        blend(row(y), row(y + 1), b)
    }
}

/// Linear interpolation of two colours.
pub(crate) fn blend(one: Color, other: Color, share: f64) -> Color {
    std::array::from_fn(|i| one[i] + (other[i] - one[i]) * share)
}

/// Whether a position is so close to the edge of a texel (1/64) that rounding decides which texel is the nearest.
pub(crate) fn near_edge(picture: &Picture, [s, t]: [f64; 2]) -> bool {
    let near = |at: f64| (at - at.round()).abs() < 1.0 / 64.0;
    near(s * f64::from(picture.width)) || near(t * f64::from(picture.height))
}

/// Face and position of a direction (table 3.21 of the OpenGL 2.0 specification). Faces are +x, -x, +y, -y, +z, -z.
pub(crate) fn cube_place([x, y, z]: [f64; 3]) -> (usize, [f64; 2]) {
    let (face, sc, tc, ma) = if x.abs() >= y.abs() && x.abs() >= z.abs() {
        if x > 0.0 { (0, -z, -y, x) } else { (1, z, -y, x) }
    } else if y.abs() >= z.abs() {
        if y > 0.0 { (2, x, z, y) } else { (3, x, -z, y) }
    } else if z > 0.0 {
        (4, x, -y, z)
    } else {
        (5, -x, -y, z)
    };
    (face, [(sc / ma.abs() + 1.0) / 2.0, (tc / ma.abs() + 1.0) / 2.0])
}

/// The 4x4 colours of an ETC1 block, by column and row, from the text of OES_compressed_ETC1_RGB8_texture.
pub(crate) fn etc1_block(block: [u8; 8]) -> [[Color; 4]; 4] {
    const TABLES: [[i32; 2]; 8] = [[2, 8], [5, 17], [9, 29], [13, 42], [18, 60], [24, 80], [33, 106], [47, 183]];
    let differential = block[3] & 2 != 0;
    let flipped = block[3] & 1 != 0;
    let tables = [block[3] >> 5, block[3] >> 2 & 7];
    let bases: [[i32; 3]; 2] = std::array::from_fn(|half| {
        std::array::from_fn(|channel| {
            let byte = i32::from(block[channel]);
            if differential {
                let first = byte >> 3;
                let difference = (byte & 7) - if byte & 4 != 0 { 8 } else { 0 };
                let five = if half == 0 { first } else { first + difference };
                five << 3 | five >> 2
            } else {
                let four = if half == 0 { byte >> 4 } else { byte & 15 };
                four * 17
            }
        })
    });
    let high = u16::from_be_bytes([block[4], block[5]]);
    let low = u16::from_be_bytes([block[6], block[7]]);
    std::array::from_fn(|x| {
        std::array::from_fn(|y| {
            let half = usize::from(if flipped { y >= 2 } else { x >= 2 });
            let bit = x * 4 + y;
            let [small, large] = TABLES[usize::from(tables[half])];
            let modifier = match (high >> bit & 1, low >> bit & 1) {
                (0, 0) => small,
                (0, _) => large,
                (_, 0) => -small,
                _ => -large,
            };
            let [red, green, blue] = bases[half].map(|base| f64::from((base + modifier).clamp(0, 255)));
            [red, green, blue, 255.0]
        })
    })
}
