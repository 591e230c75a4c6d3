//! The lighthouse in the sea: sky and waves by their formulas, the tower by its bands, and its reflection.
//!
//! Formulas are computed in double precision.

use super::bands::bands;
use super::rays::Eye;
use super::vector::{Vector, direction, dot, sum, turned};
use super::{HEIGHT, WIDTH, is_near};
use crate::picture::Picture;
use anyhow::{Result, ensure};

const LEVEL: f64 = 0.28;
const TO_SUN: Vector = [-0.52, 0.16, -0.84];
const DEEP: Vector = [0.02, 0.13, 0.17];
const HORIZON: Vector = [0.96, 0.66, 0.44];
const ZENITH: Vector = [0.20, 0.36, 0.62];
/// Waves: amplitude, and wave vector.
const WAVES: [(f64, [f64; 2]); 5] =
    [(0.011, [1.1, 0.7]), (0.009, [-0.9, 2.3]), (0.0055, [4.1, 1.7]), (0.004, [-3.2, 5.9]), (0.0025, [9.7, -7.4])];
/// Columns that contain the lighthouse and its reflection, with a margin for the waves.
const STANDING: std::ops::Range<usize> = 540..930;
/// A column of the tower without windows, and the number of its bands.
const TOWER: usize = 722;
const BANDS: usize = 5;
const STEP: usize = 7;
const TOLERANCE: f64 = 4.0;
/// How many of a thousand pixels may differ more: near the horizon, rays meet waves at a small angle.
const OTHERS: usize = 20;

fn mix(a: Vector, b: Vector, share: f64) -> Vector {
    [0, 1, 2].map(|n| a[n] + (b[n] - a[n]) * share)
}

fn sky(ray: Vector) -> Vector {
    let near = dot(ray, direction(TO_SUN)).max(0.0);
    let height = (1.6 * ray[1]).clamp(0.0, 1.0);
    let glow = [([0.30, 0.14, 0.03], 8), ([0.34, 0.24, 0.10], 64), ([3.0, 2.6, 2.0], 1024)];
    let plain = mix(HORIZON, ZENITH, height * (2.0 - height));
    glow.into_iter().fold(plain, |color, (light, power)| sum(color, near.powi(power), light))
}

fn sea(eye: Vector, ray: Vector) -> Vector {
    let far = eye[1] / -ray[1];
    let place = [eye[0] + far * ray[0], eye[2] + far * ray[2]];
    let mut slope = [0.0; 2];
    for (height, along) in WAVES {
        let rise = height * (along[0] * place[0] + along[1] * place[1]).cos();
        slope = [slope[0] + along[0] * rise, slope[1] + along[1] * rise];
    }
    let calm = 1.0 / (1.0 + 0.012 * far * far);
    let normal = direction([-calm * slope[0], 1.0, -calm * slope[1]]);
    let back = sum(ray, -2.0 * dot(ray, normal), normal);
    let share = 0.03 + 0.97 * (1.0 - (-dot(ray, normal)).clamp(0.0, 1.0)).powi(5);
    let water = mix(DEEP, sky([back[0], back[1].abs(), back[2]]), share);
    mix(water, HORIZON, (0.004 * far - 0.1).clamp(0.0, 1.0))
}

/// The letter of the band that a pixel of the tower belongs to: red, or white in the shade.
fn band([red, green, blue]: [u8; 3]) -> Option<char> {
    if red > 60 && red / 2 > green.max(blue) {
        Some('r')
    } else if red > 90 && blue > red && blue - red < 50 {
        Some('w')
    } else {
        None
    }
}

/// Compares sky and sea beside the lighthouse, the tower's bands, and the red of their reflection in the water.
pub(super) fn check(picture: &Picture) -> Result<String> {
    let place = turned([1.6, 1.5, 10.5], 0.35 * 0.6f64.sin());
    let eye = Eye::new(place, [-0.9, 2.1, 0.0]);
    let above = sum(place, -LEVEL, [0.0, 1.0, 0.0]);
    let (mut compared, mut wrong) = (0, Vec::new());
    for (y, x) in (0..HEIGHT).step_by(STEP).flat_map(|y| (0..WIDTH).step_by(STEP).map(move |x| (y, x))) {
        let ray = eye.ray(x as f64 + 0.5, y as f64 + 0.5);
        if STANDING.contains(&x) || ray[1].abs() < 0.004 {
            continue;
        }
        let color = if ray[1] > 0.0 { sky(ray) } else { sea(above, ray) };
        let expected = color.map(|channel| 255.0 * channel.clamp(0.0, 1.0));
        let found = picture.pixel(x, y).unwrap_or_default();
        compared += 1;
        if !is_near(found, expected, TOLERANCE) {
            wrong.push((x, y, found, expected));
        }
    }
    ensure!(
        1000 * wrong.len() <= OTHERS * compared,
        "{} of {compared} pixels differ, among them {:?}",
        wrong.len(),
        &wrong[..wrong.len().min(4)]
    );
    let column = (0..HEIGHT * 6 / 10).filter_map(|y| picture.pixel(TOWER, y));
    let wide = bands(column, HEIGHT / 30, band);
    ensure!(wide.len() >= BANDS, "the tower has the bands {wide:?}");
    // Deep water is blue and green; where it reflects the bands, it has more red.
    let is_red = |[red, green, blue]: [u8; 3]| red < 80 && red >= blue && red > green.saturating_add(4);
    let mirrored = (HEIGHT * 3 / 4..HEIGHT).flat_map(|y| STANDING.map(move |x| (x, y)));
    let red = mirrored.filter(|&(x, y)| picture.pixel(x, y).is_some_and(is_red)).count();
    ensure!(red > 1000, "only {red} red pixels are in the water");
    Ok(format!(
        "{compared} pixels of sky and sea, but for {}; a tower of {} bands, and its image",
        wrong.len(),
        wide.len()
    ))
}
