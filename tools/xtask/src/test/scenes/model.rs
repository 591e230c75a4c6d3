//! The lighthouse by day.
//!
//! Sky and sea by their formulas in double precision, a level horizon, and the tower by its bands.

use super::bands::bands;
use super::rays::Eye;
use super::vector::{Vector, direction, dot, sum};
use super::{HEIGHT, WIDTH, is_near};
use crate::picture::Picture;
use anyhow::{Context, Result, ensure};

const SKY: [f64; 3] = [176.0, 204.0, 226.0];
const ZENITH: Vector = [0.26, 0.47, 0.70];
const DEEP: Vector = [0.05, 0.24, 0.34];
const TO_SUN: Vector = [0.55, 0.4, 0.5];
const GLITTER: Vector = [0.85, 0.80, 0.66];
/// Corners of the box around the model in `lighthouse.glb`.
const LOW: Vector = [-2.772_236_3, -0.799_218_9, -2.504_123];
const HIGH: Vector = [2.477_414_4, 6.5, 2.458_245];
/// The sea's level, as a fraction of the model's height.
const TIDE: f64 = 0.07;
/// The eye's place, seen from the middle of the model, in heights of it.
const EYE: Vector = [0.75, 0.09, 1.2];
/// Waves: amplitude, and wave vector.
const WAVES: [(f64, [f64; 2]); 5] =
    [(0.045, [0.7, 0.4]), (0.026, [-0.8, 1.9]), (0.012, [3.4, 1.5]), (0.008, [-2.7, 4.9]), (0.005, [8.1, -6.3])];
/// Columns that contain the model, with a margin.
const STANDING: std::ops::Range<usize> = 420..900;
/// A column of the tower that has no window.
const TOWER: usize = 670;
/// Number of the tower's bands, from its gallery down to its foot.
const BANDS: usize = 6;
/// Distance between compared pixels; greatest difference, of 255; and how many of a thousand may differ more: near the horizon, a wave is smaller than a pixel.
const STEP: usize = 7;
const TOLERANCE: f64 = 4.0;
const OTHERS: usize = 20;

fn sea(eye: Vector, ray: Vector) -> Vector {
    let horizon = SKY.map(|channel| channel / 255.0);
    let far = eye[1] / -ray[1];
    let place = [eye[0] + far * ray[0], eye[2] + far * ray[2]];
    let mut slope = [0.0; 2];
    for (height, along) in WAVES {
        let rise = height * (along[0] * place[0] + along[1] * place[1]).cos();
        slope = [slope[0] + along[0] * rise, slope[1] + along[1] * rise];
    }
    let calm = 1.0 / (1.0 + 0.003 * far * far);
    let normal = direction([-calm * slope[0], 1.0, -calm * slope[1]]);
    let back = sum(ray, -2.0 * dot(ray, normal), normal);
    let mix = |a: Vector, b: Vector, share: f64| sum(sum([0.0; 3], 1.0 - share, a), share, b);
    let height = (1.6 * back[1].abs()).clamp(0.0, 1.0);
    let reflected = mix(horizon, ZENITH, height * (2.0 - height));
    let share = 0.04 + 0.66 * (1.0 - (-dot(ray, normal)).clamp(0.0, 1.0)).powi(5);
    let water = sum(mix(DEEP, reflected, share), dot(back, direction(TO_SUN)).max(0.0).powi(128), GLITTER);
    mix(water, horizon, 1.0 - (-0.004 * far).exp2())
}

/// Compares sky and sea beside the model, whose horizon is level, and the bands of the tower in the middle.
pub(super) fn check(picture: &Picture) -> Result<String> {
    let middle = sum(LOW, 1.0, HIGH).map(|twice| 0.5 * twice);
    let size = HIGH[1] - LOW[1];
    let place = sum(middle, size, EYE);
    let eye = Eye::new(place, middle);
    let above = sum(place, -(LOW[1] + TIDE * size), [0.0, 1.0, 0.0]);
    let column = |x: usize| (0..HEIGHT).filter_map(move |y| picture.pixel(x, y));
    let horizon = |x: usize| column(x).position(|pixel| !is_near(pixel, SKY, 3.0)).context("there is only sky");
    let rows = [0, WIDTH / 8, WIDTH / 4, WIDTH * 3 / 4, WIDTH * 7 / 8, WIDTH - 1].map(horizon);
    let rows = rows.into_iter().collect::<Result<Vec<_>>>()?;
    ensure!(rows.iter().all(|row| row.abs_diff(rows[0]) <= 1), "the horizon is not level: it is in the rows {rows:?}");

    let (mut compared, mut wrong) = (0, Vec::new());
    for (y, x) in (0..HEIGHT).step_by(STEP).flat_map(|y| (0..WIDTH).step_by(STEP).map(move |x| (y, x))) {
        let ray = eye.ray(x as f64 + 0.5, y as f64 + 0.5);
        // The sea ends half a degree below the horizon of a sea without end.
        if STANDING.contains(&x) || (-0.02..0.0).contains(&ray[1]) {
            continue;
        }
        let expected = if ray[1] > 0.0 { SKY } else { sea(above, ray).map(|channel| 255.0 * channel.min(1.0)) };
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
    // Down a column without windows: the colours of the bands, alternating.
    let is_red = |[red, green, blue]: [u8; 3]| red > 120 && red / 2 > green && red / 2 > blue;
    let is_white = |[red, green, blue]: [u8; 3]| red > 140 && green > 140 && blue > 130 && red.abs_diff(blue) < 40;
    let wide = bands(column(TOWER), HEIGHT / 20, |pixel| match pixel {
        pixel if is_red(pixel) => Some('r'),
        pixel if is_white(pixel) && !is_near(pixel, SKY, 1.0) => Some('w'),
        _ => None,
    });
    ensure!(wide.len() >= BANDS, "the tower has the bands {wide:?}");
    ensure!(wide.windows(2).all(|pair| pair[0] != pair[1]), "the tower's bands are {wide:?}");
    Ok(format!(
        "{compared} pixels of sky and sea, but for {}; a level horizon, and a tower of {} bands",
        wrong.len(),
        wide.len()
    ))
}
