//! Pictures computed from formulas, in f64.

/// An image of colours between 0 and 255; NaN where any value is accepted.
pub(crate) struct Picture {
    width: u32,
    pixels: Vec<[f64; 4]>,
}

impl Picture {
    pub(crate) fn new(width: u32, height: u32, color: [u8; 4]) -> Self {
        Self { width, pixels: vec![color.map(f64::from); (width * height) as usize] }
    }

    /// Blends a premultiplied colour (0 to 1) over each pixel for which `color` returns one at its centre; returns the number of these pixels.
    pub(crate) fn blend(&mut self, color: impl Fn([f64; 2]) -> Option<[f64; 4]>) -> usize {
        let mut count = 0;
        for (n, pixel) in self.pixels.iter_mut().enumerate() {
            let at = [(n as u32 % self.width) as f64 + 0.5, (n as u32 / self.width) as f64 + 0.5];
            if let Some(color) = color(at) {
                *pixel = std::array::from_fn(|c| 255.0 * color[c] + pixel[c] * (1.0 - color[3]));
                count += 1;
            }
        }
        count
    }

    pub(crate) fn greatest_difference(&self, found: &[[u8; 4]]) -> f64 {
        let pairs = self.pixels.iter().flatten().zip(found.iter().flatten());
        // The maximum of a number and NaN is the number.
        pairs.map(|(expected, &found)| (expected - f64::from(found)).abs()).fold(0.0, f64::max)
    }
}

/// A rounded box: centre, half sides, radius, angle.
#[derive(Clone, Copy)]
pub(crate) struct Box2 {
    center: [f64; 2],
    half: [f64; 2],
    radius: f64,
    angle: f64,
}

impl Box2 {
    pub(crate) fn rectangle(x: f32, y: f32, width: f32, height: f32, radius: f32) -> Self {
        let [x, y, width, height, radius] = [x, y, width, height, radius].map(f64::from);
        Self { center: [x + width / 2.0, y + height / 2.0], half: [width / 2.0, height / 2.0], radius, angle: 0.0 }
    }

    pub(crate) fn line(from: [f32; 2], to: [f32; 2], width: f32) -> Self {
        let ([x0, y0], [x1, y1], radius) = (from.map(f64::from), to.map(f64::from), f64::from(width) / 2.0);
        let (right, down) = (x1 - x0, y1 - y0);
        Self {
            center: [(x0 + x1) / 2.0, (y0 + y1) / 2.0],
            half: [right.hypot(down) / 2.0 + radius, radius],
            radius,
            angle: down.atan2(right),
        }
    }

    pub(crate) fn turned(self, angle: f32) -> Self {
        Self { angle: self.angle + f64::from(angle), ..self }
    }

    /// A point in the box's coordinates, from its centre.
    fn local(&self, [x, y]: [f64; 2]) -> [f64; 2] {
        let (x, y) = (x - self.center[0], y - self.center[1]);
        let (sin, cos) = self.angle.sin_cos();
        [x * cos + y * sin, y * cos - x * sin]
    }

    /// A point as fractions of the box's sides, from its corner.
    pub(crate) fn along(&self, at: [f64; 2]) -> [f64; 2] {
        let local = self.local(at);
        [0, 1].map(|axis| (local[axis] / self.half[axis] + 1.0) / 2.0)
    }

    pub(crate) fn down(&self, at: [f64; 2]) -> f64 {
        self.along(at)[1]
    }

    /// Distance of a point from the box, or from the band inside its edge.
    pub(crate) fn distance(&self, at: [f64; 2], outline: Option<f32>) -> f64 {
        let local = self.local(at);
        let [x, y] = [0, 1].map(|axis| local[axis].abs() - (self.half[axis] - self.radius));
        let distance = x.max(0.0).hypot(y.max(0.0)) + x.max(y).min(0.0) - self.radius;
        match outline.map(f64::from) {
            None => distance,
            Some(width) => distance.max(-width - distance),
        }
    }
}

/// Bilinear interpolation of the nearest texels, 0 to 1; coordinates in texels, clamped to the edge.
pub(crate) fn bilinear(texels: &[[u8; 4]], (width, height): (i32, i32), s: f64, t: f64) -> [f64; 4] {
    let (left, top) = ((s - 0.5).floor(), (t - 0.5).floor());
    let (right_part, lower_part) = (s - 0.5 - left, t - 0.5 - top);
    let texel = |x: i32, y: i32| texels[(y.clamp(0, height - 1) * width + x.clamp(0, width - 1)) as usize];
    let (x, y) = (left as i32, top as i32);
    std::array::from_fn(|channel| {
        let row = |y: i32| {
            let [left, right] = [texel(x, y), texel(x + 1, y)].map(|texel| f64::from(texel[channel]) / 255.0);
            left + (right - left) * right_part
        };
        row(y) + (row(y + 1) - row(y)) * lower_part
    })
}

/// Generates atlases of distances.
pub(crate) struct Distances;

impl Distances {
    /// A disc in the middle: 128 on its edge, 255 at the spread inside.
    pub(crate) fn of_disc(side: usize, radius: f64, spread: f64) -> Vec<u8> {
        let center = side as f64 / 2.0;
        let texel = |n: usize| {
            let (x, y) = ((n % side) as f64 + 0.5 - center, (n / side) as f64 + 0.5 - center);
            let inside = radius - x.hypot(y);
            (128.0 + 127.0 * inside / spread).round().clamp(0.0, 255.0) as u8
        };
        (0..side * side).map(texel).collect()
    }
}
