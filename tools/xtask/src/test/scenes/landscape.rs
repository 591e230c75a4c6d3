//! Hills and sky by their formulas.
//!
//! Rays meet the triangles between the points of the mesh, and the texture of slopes is noise that is computed again. Where a tree may be, nothing is
//! compared. A pixel's texels are the mean of those around the ray in the area that the pixel covers on the ground.

use super::noise::random;
use super::rays::Eye;
use super::vector::{Vector, direction, dot, sum};
use super::{HEIGHT, WIDTH, is_near};
use crate::picture::Picture;
use anyhow::{Result, ensure};

const EYE_ANGLE: f64 = 0.3;
const CIRCLE: f64 = 30.0;
const EYE_HEIGHT: f64 = 6.2;
const TO_SUN: Vector = [-0.62, 0.36, -0.70];
const SUN: Vector = [1.75, 1.30, 0.75];
const SKY: Vector = [0.20, 0.26, 0.38];
const LUSH: Vector = [0.10, 0.19, 0.035];
const DRY: Vector = [0.36, 0.29, 0.10];
const ROCK: Vector = [0.34, 0.29, 0.25];
const HAZE: Vector = [0.38, 0.47, 0.60];
const GLOW: Vector = [0.50, 0.24, 0.02];
const ZENITH: Vector = [0.06, 0.16, 0.42];
const CLOUD: Vector = [0.72, 0.66, 0.64];
const DENSITY: f64 = 0.00022;
/// Distance between the points of the mesh, and half of its side.
const CELL: f64 = 2.0;
const HALF_SIDE: f64 = 96.0;
const TREES: u32 = 2600;
/// Texels across the texture, hills of the first size, sizes, steepness.
const SIDE: usize = 256;
const HILLS: usize = 4;
const SIZES: usize = 6;
const STEEPNESS: f64 = 7.0;
/// Distance between compared pixels; greatest difference, of 255, and how many of a thousand may differ more: ridges, and where few texels are under a pixel.
const STEP: usize = 6;
const TOLERANCE: f64 = 9.0;
const OTHERS: usize = 50;

fn mix(a: Vector, b: Vector, share: f64) -> Vector {
    [0, 1, 2].map(|n| a[n] + (b[n] - a[n]) * share)
}

/// The texture: slopes along x and z, and the height, from 0 to 1.
struct Detail(Vec<Vector>);

impl Detail {
    fn new() -> Self {
        let height = |x: usize, y: usize| {
            let (mut sum, mut weights) = (0.0, 0.0);
            for octave in 0..SIZES {
                let cells = HILLS << octave;
                let texels = SIDE / cells;
                let at = |column: usize, row: usize| {
                    random(((octave << 24) + (row % cells) * cells + column % cells) as u32)
                };
                let (column, row) = (x / texels, y / texels);
                let share = |at: usize| {
                    let t = (at % texels) as f64 / texels as f64;
                    t * t * (3.0 - 2.0 * t)
                };
                let (s, t, weight) = (share(x), share(y), 0.5f64.powi(octave as i32 + 1));
                let upper = at(column, row) * (1.0 - s) + at(column + 1, row) * s;
                let lower = at(column, row + 1) * (1.0 - s) + at(column + 1, row + 1) * s;
                sum += weight * (upper * (1.0 - t) + lower * t);
                weights += weight;
            }
            sum / weights
        };
        let heights: Vec<f64> = (0..SIDE * SIDE).map(|n| height(n % SIDE, n / SIDE)).collect();
        let at = |x: usize, y: usize| heights[(y % SIDE) * SIDE + x % SIDE];
        let slope = |before: f64, after: f64| (0.5 + 0.5 * STEEPNESS * (before - after)).clamp(0.0, 1.0);
        let texel = |n: usize| {
            let (x, y) = (n % SIDE + SIDE, n / SIDE + SIDE);
            [slope(at(x - 1, y), at(x + 1, y)), slope(at(x, y - 1), at(x, y + 1)), at(x, y)]
        };
        Self((0..SIDE * SIDE).map(texel).collect())
    }

    /// The mean over an area around a place, which two vectors span.
    fn mean(&self, at: [f64; 2], spans: [[f64; 2]; 2], scale: f64) -> Vector {
        const ACROSS: i32 = 6;
        (0..ACROSS * ACROSS).fold([0.0; 3], |mean, n| {
            let share = |n: i32| (f64::from(n) + 0.5) / f64::from(ACROSS) - 0.5;
            let (a, b) = (share(n % ACROSS), share(n / ACROSS));
            let texel = [0, 1].map(|k| scale * (at[k] + a * spans[0][k] + b * spans[1][k]) * SIDE as f64 - 0.5);
            let [s, t] = texel.map(|at| at - at.floor());
            let of = |dx: i64, dy: i64| {
                let within = |at: f64, step: i64| (at.floor() as i64 + step).rem_euclid(SIDE as i64) as usize;
                self.0[within(texel[1], dy) * SIDE + within(texel[0], dx)]
            };
            let between = mix(mix(of(0, 0), of(1, 0), s), mix(of(0, 1), of(1, 1), s), t);
            sum(mean, 1.0 / f64::from(ACROSS * ACROSS), between)
        })
    }
}

fn height(x: f64, z: f64) -> f64 {
    let hills = 2.4 * (0.105 * x + 0.7).sin() * (0.088 * z + 1.57).sin()
        + 1.3 * (0.19 * x + 0.27 * z + 1.3).sin()
        + 0.6 * (0.43 * x - 0.37 * z + 0.4).sin();
    let rise = ((x.hypot(z) - 44.0) / 50.0).clamp(0.0, 1.0);
    hills + 17.0 * rise * rise * (1.0 + 0.45 * (0.09 * x + 1.0).sin() * (0.11 * z + 0.5).sin())
}

fn normal(x: f64, z: f64) -> Vector {
    let step = 0.25;
    let along = |dx: f64, dz: f64| (height(x - dx, z - dz) - height(x + dx, z + dz)) / (2.0 * step);
    direction([along(step, 0.0), 1.0, along(0.0, step)])
}

/// The corners of the triangle of the mesh at a place, with their weights.
fn corners(x: f64, z: f64) -> [(f64, [f64; 2]); 3] {
    let [column, row] = [x, z].map(|at| ((at + HALF_SIDE) / CELL).floor() * CELL - HALF_SIDE);
    let (s, t) = ((x - column) / CELL, (z - row) / CELL);
    let (right, below) = ([column + CELL, row], [column, row + CELL]);
    if s + t < 1.0 {
        [(1.0 - s - t, [column, row]), (s, right), (t, below)]
    } else {
        [(s + t - 1.0, [column + CELL, row + CELL]), (1.0 - t, right), (1.0 - s, below)]
    }
}

/// Height of the mesh.
fn ground(x: f64, z: f64) -> f64 {
    corners(x, z).into_iter().map(|(weight, [x, z])| weight * height(x, z)).sum()
}

/// Where a ray meets the ground.
fn met(eye: Vector, ray: Vector) -> Option<f64> {
    let above = |far: f64| {
        let [x, y, z] = sum(eye, far, ray);
        if x.abs().max(z.abs()) >= HALF_SIDE { f64::INFINITY } else { y - ground(x, z) }
    };
    let mut far = 0.5;
    while far < 230.0 {
        let step = 0.1 + 0.004 * far;
        if above(far + step) < 0.0 {
            let (mut low, mut high) = (far, far + step);
            for _ in 0..20 {
                let middle = 0.5 * (low + high);
                if above(middle) < 0.0 { high = middle } else { low = middle }
            }
            return Some(high);
        }
        far += step;
    }
    None
}

/// Rectangles of pixels that a tree may cover: left, top, right, bottom.
fn trees(eye: Vector, [right, up, forward]: [Vector; 3]) -> Vec<[f64; 4]> {
    let half = (std::f64::consts::FRAC_PI_4 / 2.0).tan() / (HEIGHT as f64 / 2.0);
    let boxed = |number: u32| {
        let [x, z] = [0, 1].map(|n| 1.8 * HALF_SIDE * (random(4 * number + n) - 0.5));
        let away = sum([x, height(x, z), z], -1.0, eye);
        let ahead = dot(away, forward);
        // The largest trees are 2.28 to each side and 5.3 high.
        (ahead > 0.5).then(|| {
            let pixel = half * ahead;
            let column = WIDTH as f64 / 2.0 + dot(away, right) / pixel;
            let row = HEIGHT as f64 / 2.0 - dot(away, up) / pixel;
            [column - 2.4 / pixel, row - 5.5 / pixel, column + 2.4 / pixel, row + 0.6 / pixel]
        })
    };
    (0..TREES).filter(|&number| random(4 * number + 2) >= 0.45 - 0.8 * groups(number)).filter_map(boxed).collect()
}

/// How dense the trees are where a tree may be.
fn groups(number: u32) -> f64 {
    let [x, z] = [0, 1].map(|n| 1.8 * HALF_SIDE * (random(4 * number + n) - 0.5));
    (0.13 * x + 2.0).sin() * (0.15 * z).sin()
}

/// Compares ground and sky.
pub(super) fn check(picture: &Picture) -> Result<String> {
    let (sin, cos) = EYE_ANGLE.sin_cos();
    let place = [CIRCLE * cos, EYE_HEIGHT, CIRCLE * sin];
    let ahead = [-sin - 0.25 * cos, -0.13, cos - 0.25 * sin];
    let eye = Eye::new(place, sum(place, 1.0, ahead));
    let forward = direction(ahead);
    let right = direction([-forward[2], 0.0, forward[0]]);
    let up = super::vector::cross(right, forward);
    let (detail, trees, to_sun) = (Detail::new(), trees(place, [right, up, forward]), direction(TO_SUN));
    let (mut counts, mut wrong) = ([0; 2], Vec::new());
    for (y, x) in (4..HEIGHT).step_by(STEP).flat_map(|y| (4..WIDTH).step_by(STEP).map(move |x| (y, x))) {
        let (column, row) = (x as f64 + 0.5, y as f64 + 0.5);
        let is_in =
            |&[left, top, right, bottom]: &[f64; 4]| (left..right).contains(&column) && (top..bottom).contains(&row);
        if trees.iter().any(is_in) {
            continue;
        }
        let ray = eye.ray(column, row);
        let toward = dot(ray, to_sun).max(0.0);
        let air = sum(HAZE, toward.powi(4), GLOW);
        let found = picture.pixel(x, y).unwrap_or_default();
        let film = |light: Vector| light.map(|light| 255.0 * light.clamp(0.0, 1.0).sqrt());
        let Some(far) = met(place, ray) else {
            // Between the clear sky and a cloud: the share of the cloud is what red shows.
            let high = (1.7 * ray[1]).clamp(0.0, 1.0);
            let clear = sum(mix(air, ZENITH, high * (2.0 - high)), toward.powi(256), [1.6, 1.1, 0.6]);
            let cloud = sum(CLOUD, toward.powi(4), GLOW);
            let red = (f64::from(found[0]) / 255.0).powi(2);
            let share = ((red - clear[0]) / (cloud[0] - clear[0])).clamp(0.0, 1.0);
            counts[0] += 1;
            if !is_near(found, film(mix(clear, cloud, share)), TOLERANCE) {
                wrong.push((x, y, found, film(mix(clear, cloud, share))));
            }
            continue;
        };
        let at = sum(place, far, ray);
        let weights = corners(at[0], at[2]);
        let facing = weights.iter().fold([0.0; 3], |all, (weight, [x, z])| sum(all, *weight, normal(*x, *z)));
        let even = direction(facing);
        // What a pixel covers: the way from the ray of one neighbour to the other one's, on the plane of the ground here.
        let spans = [(1.0, 0.0), (0.0, 1.0)].map(|(dx, dy)| {
            let ends = [-0.5, 0.5].map(|n| {
                let ray = eye.ray(column + n * dx, row + n * dy);
                sum(place, dot(sum(at, -1.0, place), even) / dot(ray, even), ray)
            });
            [ends[1][0] - ends[0][0], ends[1][2] - ends[0][2]]
        });
        // At ridges, neighbours see something else.
        if dot(ray, even) > -0.06 || spans.iter().flatten().any(|span| span.abs() > 3.0) {
            continue;
        }
        let near = detail.mean([at[0], at[2]], spans, 0.21);
        let wide = detail.mean([at[0], at[2]], spans, 0.023);
        let bumps = [0, 1].map(|n| 1.4 * (near[n] - 0.5) + wide[n] - 0.5);
        let normal = direction(sum(facing, 1.0, [bumps[0], 0.0, bumps[1]]));
        let steep = (9.0 * (0.86 - facing[1]) + 2.0 * (wide[2] - 0.5)).clamp(0.0, 1.0);
        let grass = mix(LUSH, DRY, (2.5 * wide[2] - 0.75).clamp(0.0, 1.0));
        let base = mix(grass, ROCK, steep).map(|channel| channel * (0.3 + 1.4 * near[2]));
        let (sun, sky) = (dot(normal, to_sun).max(0.0), 0.6 + 0.4 * normal[1]);
        let lit = [0, 1, 2].map(|n| base[n] * (SUN[n] * sun + SKY[n] * sky));
        counts[1] += 1;
        let expected = film(mix(air, lit, (-DENSITY * far * far).exp2()));
        if !is_near(found, expected, TOLERANCE) {
            wrong.push((x, y, found, expected));
        }
    }
    let [sky, hills] = counts;
    ensure!(sky > 800 && hills > 2000, "only {sky} pixels of sky and {hills} of hills can be compared");
    ensure!(
        1000 * wrong.len() <= OTHERS * (sky + hills),
        "{} of {sky} and {hills} pixels differ, among them {:?}",
        wrong.len(),
        &wrong[..wrong.len().min(4)]
    );
    Ok(format!("{sky} pixels of sky and {hills} of hills, but for {}", wrong.len()))
}
