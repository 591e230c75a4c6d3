//! Geometry of the workloads: functions that make vertices, three for each triangle.

/// Width of the target in pixels.
pub const WIDTH: u16 = 640;
/// Height of the target in pixels.
pub const HEIGHT: u16 = 360;

/// A vertex as NV mode reads it: shaded, on the screen.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Vertex {
    /// Pixels from the left.
    pub x: f32,
    /// Pixels from the first row.
    pub y: f32,
    /// Depth, 0 to 1.
    pub z: f32,
    /// 1/W.
    pub reciprocal_w: f32,
    /// Varyings: a colour, or s, t and a brightness.
    pub varyings: [f32; 3],
}

/// No triangle: nothing is binned.
pub const fn nothing() -> Vec<Vertex> {
    Vec::new()
}

fn corner(x: f32, y: f32, z: f32, varyings: [f32; 3]) -> Vertex {
    Vertex { x, y, z, reciprocal_w: 1.0, varyings }
}

/// A triangle with a colour for each corner.
pub fn triangle() -> Vec<Vertex> {
    let corners = [(320.0, 40.0, [1.0, 0.0, 0.0]), (80.0, 320.0, [0.0, 1.0, 0.0]), (560.0, 320.0, [0.0, 0.0, 1.0])];
    corners.map(|(x, y, color)| corner(x, y, 0.5, color)).to_vec()
}

/// The random numbers of [`small`]: a linear congruential generator, whose upper 24 bits count.
struct Numbers(u32);

impl Numbers {
    fn between(&mut self, low: f32, high: f32) -> f32 {
        self.0 = self.0.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        low + (high - low) * (self.0 >> 8) as f32 / 16_777_216.0
    }
}

/// 20,000 triangles of 63 pixels each, anywhere on the screen and at any depth.
pub fn small() -> Vec<Vertex> {
    let mut numbers = Numbers(12_345);
    let triangles = (0..20_000).flat_map(|_| {
        let x = numbers.between(0.0, f32::from(WIDTH) - 12.0);
        let y = numbers.between(0.0, f32::from(HEIGHT) - 12.0);
        let z = numbers.between(0.05, 0.95);
        let color = [numbers.between(0.0, 1.0); 3];
        [(0.0, 0.0), (12.0, 2.0), (3.0, 11.0)].map(|(dx, dy)| corner(x + dx, y + dy, z, color))
    });
    triangles.collect()
}

/// A rectangle of two triangles; s and t go from 0 to 1.
fn rectangle(from: (f32, f32), to: (f32, f32), z: f32, reciprocal_w: f32) -> [Vertex; 6] {
    let [top_left, top_right, low_left, low_right] = [(0.0, 0.0), (1.0, 0.0), (0.0, 1.0), (1.0, 1.0)].map(|(s, t)| {
        let (x, y) = (from.0 + s * (to.0 - from.0), from.1 + t * (to.1 - from.1));
        Vertex { x, y, z, reciprocal_w, varyings: [s, t, 1.0] }
    });
    [top_left, top_right, low_left, top_right, low_right, low_left]
}

/// The whole screen 20 times, each time nearer.
pub fn screens() -> Vec<Vertex> {
    let size = (f32::from(WIDTH), f32::from(HEIGHT));
    (0..20u8).flat_map(|i| rectangle((0.0, 0.0), size, 0.9 - 0.04 * f32::from(i), 1.0)).collect()
}

/// One rectangle of 400x240 pixels.
pub fn one_quad() -> Vec<Vertex> {
    rectangle((120.0, 60.0), (520.0, 300.0), 0.5, 1.0).to_vec()
}

/// An ellipse of 600x340 pixels around the middle, as 48 triangles with a common corner.
pub fn fan() -> Vec<Vertex> {
    const TRIANGLES: u8 = 48;
    let rim = |i: u8| {
        let angle = f32::from(i) * std::f32::consts::TAU / f32::from(TRIANGLES);
        let share = f32::from(i) / f32::from(TRIANGLES);
        corner(320.0 + 300.0 * angle.cos(), 180.0 + 170.0 * angle.sin(), 0.5, [share, 1.0 - share, 0.6])
    };
    (0..TRIANGLES).flat_map(|i| [corner(320.0, 180.0, 0.5, [1.0; 3]), rim(i), rim(i + 1)]).collect()
}

/// N rectangles of 320x180 pixels, each in another quarter of the screen than the one before, and nearer.
pub fn quads<const N: u16>() -> Vec<Vertex> {
    let quads = (0..N).flat_map(|i| {
        let distance = 40.0 * 0.9985_f32.powi(i32::from(i));
        let from = (f32::from(i & 1) * 320.0, f32::from(i >> 1 & 1) * 180.0);
        rectangle(from, (from.0 + 320.0, from.1 + 180.0), 1.0 - 0.1 / distance, 1.0 / distance)
    });
    quads.collect()
}

/// N grids of 16x16 squares of two triangles, each triangle of about 4 pixels; where they are on the screen is not known.
pub fn grids<const N: u16>() -> Vec<Vertex> {
    const SQUARE: f32 = 2.83;
    let grids = (0..N).flat_map(|grid| {
        let (left, top) = (f32::from(grid % 6) * 100.0 + 20.0, f32::from(grid / 6) * 110.0 + 20.0);
        (0..256u16).flat_map(move |square| {
            let (x, y) = (left + f32::from(square % 16) * SQUARE, top + f32::from(square / 16) * SQUARE);
            rectangle((x, y), (x + SQUARE, y + SQUARE), 0.5, 1.0)
        })
    });
    grids.collect()
}

/// A corner of the floor as the camera sees it: to the right, up, away, and the texture coordinates.
type Seen = [f32; 5];

/// A square of half-size 7 on the ground, seen in perspective from a height of 1: the camera looks down by 0.35 radians, 70 degrees wide, and the middle of the
/// square is 6 away. It is clipped to what the camera sees.
pub fn floor() -> Vec<Vertex> {
    let (sine, cosine) = 0.35_f32.sin_cos();
    let focal = f32::from(WIDTH) / 2.0 / 35.0_f32.to_radians().tan();
    let square = [(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0)].map(|(s, t): (f32, f32)| {
        let (x, z) = (14.0 * s - 7.0, 6.0 + 7.0 - 14.0 * t);
        [x, z * sine - cosine, z * cosine + sine, s, t]
    });
    let (half_width, half_height) = (f32::from(WIDTH) / 2.0 / focal, f32::from(HEIGHT) / 2.0 / focal);
    let planes: [fn(&Seen, f32, f32) -> f32; 4] = [
        |corner, _, _| corner[2] - 0.1,
        |corner, width, _| corner[2] * width - corner[0],
        |corner, width, _| corner[2] * width + corner[0],
        |corner, _, height| corner[2] * height + corner[1],
    ];
    let mut polygon = square.to_vec();
    for plane in planes {
        polygon = clip(&polygon, |corner| plane(corner, half_width, half_height));
    }
    let on_screen = |[x, up, away, s, t]: Seen| Vertex {
        x: f32::from(WIDTH) / 2.0 + focal * x / away,
        y: f32::from(HEIGHT) / 2.0 - focal * up / away,
        z: 1.0 - 0.1 / away,
        reciprocal_w: 1.0 / away,
        varyings: [s, t, 1.0],
    };
    let corners: Vec<Vertex> = polygon.into_iter().map(on_screen).collect();
    let first = corners.first().copied().unwrap_or_default();
    corners.windows(2).skip(1).flat_map(|pair| [first].into_iter().chain(pair.iter().copied())).collect()
}

/// The part of a polygon in which a linear function of the corners is not negative.
fn clip(polygon: &[Seen], inside: impl Fn(&Seen) -> f32) -> Vec<Seen> {
    let mut clipped = Vec::new();
    for (from, to) in polygon.iter().zip(polygon.iter().cycle().skip(1)) {
        let (a, b) = (inside(from), inside(to));
        if a >= 0.0 {
            clipped.push(*from);
        }
        if (a >= 0.0) != (b >= 0.0) {
            let share = a / (a - b);
            clipped.push(std::array::from_fn(|i| from[i] + share * (to[i] - from[i])));
        }
    }
    clipped
}
