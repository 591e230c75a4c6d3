//! Beads of glass with lamps, and their bloom: the discs, the smaller pictures and their sum, in double precision.

use super::vector::{Vector, dot, sum, turned};
use super::{HEIGHT, WIDTH, is_near};
use crate::picture::Picture;
use anyhow::{Context, Result, ensure};
use std::f64::consts::TAU;

const BEADS: u32 = 132;
const RADIUS: f64 = 0.105;
const FLOOR: f64 = -1.5;
const WARM: Vector = [22.0, 7.5, 1.6];
const COLD: Vector = [1.8, 6.5, 20.0];
const MIRRORED: f64 = 0.14;
const EYE: Vector = [0.0, 0.9, 5.6];
const LOOKED_AT: Vector = [0.0, -0.4, 0.0];
/// Rotation of the knot about x.
const TILT: f64 = 0.62;
const GLASS: Vector = [0.035, 0.050, 0.075];
const TO_WINDOW: Vector = [-0.45, 0.68, 0.578];
/// Light of the room at the bottom, at the horizon, at the top.
const ROOM: [Vector; 3] = [[0.004, 0.004, 0.008], [0.050, 0.058, 0.090], [0.010, 0.013, 0.030]];
const NEAR_SHARE: f64 = 0.16;
const FAR_SHARE: f64 = 0.30;
const EXPOSURE: f64 = 1.2;
/// The Gaussian: binomial coefficients of 12 without the outermost two on both sides.
const WEIGHTS: [f64; 5] = [924.0, 792.0, 495.0, 220.0, 66.0];
/// Greatest difference, of 255, and how many of a thousand pixels may differ more: those at edges, since centres are rounded to a sixteenth of a pixel.
const TOLERANCE: f64 = 3.0;
const OTHERS: usize = 10;

/// A picture of light.
struct Light {
    width: usize,
    height: usize,
    pixels: Vec<Vector>,
}

impl Light {
    fn new(width: usize, height: usize, at: impl Fn(usize, usize) -> Vector) -> Self {
        Self { width, height, pixels: (0..width * height).map(|n| at(n % width, n / width)).collect() }
    }

    /// A pixel; the nearest one outside of the picture.
    fn at(&self, x: isize, y: isize) -> Vector {
        let within = |at: isize, end: usize| at.clamp(0, end as isize - 1) as usize;
        self.pixels[within(y, self.height) * self.width + within(x, self.width)]
    }

    /// Means of four by four pixels, less a threshold.
    fn bright(&self, threshold: f64) -> Self {
        Self::new(self.width / 4, self.height / 4, |x, y| {
            let mean = (0..16).fold([0.0; 3], |mean, n| {
                sum(mean, 1.0 / 16.0, self.at((4 * x + n % 4) as isize, (4 * y + n / 4) as isize))
            });
            mean.map(|channel| (channel - threshold).max(0.0))
        })
    }

    fn blurred(&self) -> Self {
        let total = WEIGHTS[0] + 2.0 * WEIGHTS[1..].iter().sum::<f64>();
        let along = |from: &Self, dx: isize, dy: isize| {
            Self::new(from.width, from.height, |x, y| {
                (-4..=4isize).fold([0.0; 3], |light, n| {
                    let weight = WEIGHTS[n.unsigned_abs()] / total;
                    sum(light, weight, from.at(x as isize + n * dx, y as isize + n * dy))
                })
            })
        };
        along(&along(self, 1, 0), 0, 1)
    }

    /// Bilinear interpolation at a place from 0 to 1.
    fn between(&self, s: f64, t: f64) -> Vector {
        let (x, y) = (s * self.width as f64 - 0.5, t * self.height as f64 - 0.5);
        let (left, top) = (x.floor(), y.floor());
        let row = |down: isize| {
            let [a, b] = [0, 1].map(|right| self.at(left as isize + right, top as isize + down));
            sum(sum([0.0; 3], 1.0 - (x - left), a), x - left, b)
        };
        sum(sum([0.0; 3], 1.0 - (y - top), row(0)), y - top, row(1))
    }
}

/// A bead's place and light.
fn bead(number: u32) -> (Vector, Vector) {
    let share = f64::from(number) / f64::from(BEADS);
    let (around, wound) = (2.0 * share * TAU, 3.0 * share * TAU);
    let radius = 1.25 + 0.52 * wound.cos();
    let [x, y, z] = [radius * around.cos(), 0.62 * wound.sin(), radius * around.sin()];
    let place = [x, y * TILT.cos() - z * TILT.sin(), y * TILT.sin() + z * TILT.cos()];
    let glow = |offset: f64| {
        let behind = (offset - share).rem_euclid(1.0);
        (1.0 - 1.3 * behind).max(0.0).powi(6) + 0.6 * (1.0 - 40.0 * (1.0 - behind)).max(0.0)
    };
    (place, sum(WARM.map(|channel| glow(0.0) * channel), glow(0.5), COLD))
}

/// The light of the first pass.
fn drawn() -> Light {
    let half = (std::f64::consts::FRAC_PI_4 / 2.0).tan();
    let (sin, cos) = ((LOOKED_AT[1] - EYE[1]) / EYE[2]).atan().sin_cos();
    let horizon = -sin / cos / half;
    let mut light = Light::new(WIDTH, HEIGHT, |_, row| {
        let y = 1.0 - 2.0 * (row as f64 + 0.5) / HEIGHT as f64;
        let (from, to, share) = if y < horizon {
            (ROOM[0], ROOM[1], (y + 1.0) / (horizon + 1.0))
        } else {
            (ROOM[1], ROOM[2], (y - horizon) / (1.0 - horizon))
        };
        sum(sum([0.0; 3], 1.0 - share, from), share, to)
    });
    let mut beads: Vec<(bool, f64, [f64; 3], Vector)> = (0..BEADS)
        .flat_map(|number| {
            let (place, lamp) = bead(number);
            let below = [place[0], 2.0 * FLOOR - place[1], place[2]];
            [(true, place, lamp), (false, below, lamp.map(|channel| MIRRORED * channel))]
        })
        .map(|(is_above, place, lamp)| {
            let [x, y, z] = turned(sum(place, -1.0, EYE), 0.0);
            let (up, ahead) = (y * cos + z * sin, -z * cos + y * sin);
            let pixels = HEIGHT as f64 / 2.0 / half;
            let (column, row) = (WIDTH as f64 / 2.0 + pixels * x / ahead, HEIGHT as f64 / 2.0 - pixels * up / ahead);
            (is_above, ahead, [column, row, 2.0 * RADIUS * pixels / ahead], lamp)
        })
        .collect();
    beads.sort_by(|a, b| a.0.cmp(&b.0).then(b.1.total_cmp(&a.1)));
    for (_, _, [column, row, size], lamp) in beads {
        let range = |middle: f64, end: usize| {
            ((middle - size / 2.0).floor().max(0.0) as usize)..((middle + size / 2.0).ceil().max(0.0) as usize).min(end)
        };
        for (y, x) in range(row, HEIGHT).flat_map(|y| range(column, WIDTH).map(move |x| (y, x))) {
            let [across, up] = [2.0 * (x as f64 + 0.5 - column) / size, 2.0 * (row - y as f64 - 0.5) / size];
            // Beyond the point itself nothing is drawn.
            if across.abs() > 1.0 || up.abs() > 1.0 {
                continue;
            }
            let inside = 1.0 - across * across - up * up;
            let facing2 = inside.max(0.0);
            let window = dot([across, up, facing2.sqrt()], TO_WINDOW).max(0.0);
            let coverage = (0.25 * inside * size + 0.5).clamp(0.0, 1.0);
            let pixel = &mut light.pixels[y * WIDTH + x];
            *pixel = [0, 1, 2].map(|n| {
                let glass = GLASS[n] * (0.4 + window) + 0.8 * window.powi(32);
                let color = lamp[n] * (0.25 + 0.75 * facing2) + glass;
                pixel[n] + (color - pixel[n]) * coverage
            });
        }
    }
    light
}

/// Compares the whole picture.
pub(super) fn check(picture: &Picture) -> Result<String> {
    let light = drawn();
    let near = light.bright(1.0).blurred();
    let far = near.bright(0.0).blurred();
    let (mut off, mut blooms, mut first) = (0, 0, None);
    for (y, x) in (0..HEIGHT).flat_map(|y| (0..WIDTH).map(move |x| (y, x))) {
        let (s, t) = ((x as f64 + 0.5) / WIDTH as f64, (y as f64 + 0.5) / HEIGHT as f64);
        let bloom = sum(near.between(s, t).map(|channel| NEAR_SHARE * channel), FAR_SHARE, far.between(s, t));
        let film = |light: f64| 255.0 * (1.0 - (-EXPOSURE * light).exp2());
        let expected = sum(light.at(x as isize, y as isize), 1.0, bloom).map(film);
        blooms += usize::from(bloom.iter().any(|&channel| film(channel) > 12.0));
        let found = picture.pixel(x, y).context("the picture is too small")?;
        if !is_near(found, expected, TOLERANCE) {
            off += 1;
            first.get_or_insert((x, y, found, expected));
        }
    }
    ensure!(blooms > 50_000, "only {blooms} pixels have bloom");
    ensure!(1000 * off <= OTHERS * WIDTH * HEIGHT, "{off} pixels differ, the first is {first:?}");
    Ok(format!("{blooms} pixels with bloom; {off} of all differ by more than {TOLERANCE}/255"))
}
