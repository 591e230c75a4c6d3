//! Hikers on a paved plain.
//!
//! The sky and the slabs by their formulas, shadows where the sun's rays pass a hiker, and shirts where the eye's do. A hiker is an upright axis with a
//! margin: what is near it is covered, what is far from it is not, and nothing is said of what is between.

use super::noise::random;
use super::rays::Eye;
use super::vector::{Vector, direction, sum, turned};
use super::{HEIGHT, WIDTH, is_near};
use crate::picture::Picture;
use anyhow::{Result, ensure};

const EYE: Vector = [0.0, 1.40, 4.1];
const EYE_ANGLE: f64 = 0.62;
const LOOKED_AT: Vector = [0.0, 0.90, -0.25];
/// Where the hikers are, and how tall in comparison.
const HIKERS: [([f64; 2], f64); 3] = [([0.0, 0.25], 1.0), ([1.15, -0.75], 0.94), ([-1.05, -1.0], 1.05)];
/// Within this distance of the axis is the body, between these heights. Farther than an arm nothing hides what is behind, and much farther nothing is at all.
const BODY: f64 = 0.085;
const ARM: f64 = 0.6;
const CHEST: std::ops::Range<f64> = 1.05..1.38;
const NOTHING: f64 = 0.95;
const TALL: f64 = 1.9;
const TO_SUN: Vector = [0.72, 0.42, 0.40];
const HORIZON: Vector = [1.20, 0.68, 0.42];
const ZENITH: Vector = [0.12, 0.24, 0.56];
const GROUND_LIGHT: Vector = [1.05, 0.88, 0.78];
/// What a shadow leaves of the light.
const LEFT: f64 = 0.55;
/// Repetitions of the paving in a metre, its texels, and slabs across it.
const PAVING: f64 = 0.4;
const PAVING_PX: i64 = 256;
const SLABS: i64 = 4;
const STEP: usize = 4;
const TOLERANCE: f64 = 5.0;
/// How many of a thousand pixels may differ more: those at joints and, of shadows, at edges.
const OTHERS: usize = 30;

fn film(light: Vector) -> Vector {
    light.map(|light| 255.0 * (1.0 - (-1.3 * light).exp2()).sqrt())
}

/// The mean colour of the paving at a place; `None` near a joint.
fn paved(x: f64, z: f64, margin: f64) -> Option<Vector> {
    let side = PAVING_PX / SLABS;
    let texel = |at: f64| (PAVING * at * PAVING_PX as f64).rem_euclid(PAVING_PX as f64);
    let row = texel(z) as i64 / side;
    let along = (texel(x) + (row % 2 * side / 2) as f64).rem_euclid(PAVING_PX as f64);
    let slab = row * SLABS + along as i64 / side;
    let edge = |at: f64| {
        let within = at.rem_euclid(side as f64);
        within.min(side as f64 - within)
    };
    let margin = 3.0 + margin * PAVING * PAVING_PX as f64;
    if edge(along) < margin || edge(texel(z)) < margin {
        return None;
    }
    let (tone, warm) = (166.0 + 26.0 * random(slab as u32) + 3.0, 8.0 * random(500 + slab as u32));
    Some([tone + warm, tone - 4.0, tone - 18.0 - warm])
}

/// The least distance of a ray from the hikers' axes, from the ground up; and the same of their chests alone.
fn passes(from: Vector, ray: Vector) -> (f64, f64, usize) {
    let (mut nearest, mut chest, mut which) = (f64::INFINITY, f64::INFINITY, 0);
    for (number, ([x, z], tall)) in HIKERS.into_iter().enumerate() {
        for step in 0..400 {
            let [px, py, pz] = sum(from, 0.02 * f64::from(step), ray);
            let aside = (px - x).hypot(pz - z);
            if (0.0..TALL * tall).contains(&py) {
                nearest = nearest.min(aside);
            }
            if CHEST.contains(&(py / tall)) && aside < chest {
                (chest, which) = (aside, number);
            }
        }
    }
    (nearest, chest, which)
}

/// Whether a colour is a shirt's: of the first, the second and the third hiker.
fn is_shirt(which: usize, [red, green, blue]: [u8; 3]) -> bool {
    match which {
        0 => red > green && green > blue.saturating_add(20),
        1 => blue.saturating_add(10) > red,
        _ => red > green.saturating_add(25),
    }
}

/// Compares sky, ground, shadows and shirts.
pub(super) fn check(picture: &Picture) -> Result<String> {
    let place = turned(EYE, EYE_ANGLE);
    let (eye, to_sun) = (Eye::new(place, LOOKED_AT), direction(TO_SUN));
    let forward = direction(sum(LOOKED_AT, -1.0, place));
    let half = (std::f64::consts::FRAC_PI_4 / 2.0).tan();
    let horizon = -forward[1] / (1.0 - forward[1] * forward[1]).sqrt() / half;
    let (mut counts, mut wrong, mut shirts) = ([0; 3], Vec::new(), [0; 2]);
    for (y, x) in (2..HEIGHT).step_by(STEP).flat_map(|y| (2..WIDTH).step_by(STEP).map(move |x| (y, x))) {
        let (column, row) = (x as f64 + 0.5, y as f64 + 0.5);
        let ray = eye.ray(column, row);
        let found = picture.pixel(x, y).unwrap_or_default();
        let (aside, chest, which) = passes(place, ray);
        if chest < BODY && ray[1] < 0.0 {
            shirts[usize::from(is_shirt(which, found))] += 1;
        }
        if aside < ARM {
            continue;
        }
        let (kind, expected) = if ray[1] < -0.02 {
            let far = -place[1] / ray[1];
            let at = sum(place, far, ray);
            // What a pixel covers, along the way.
            let Some(slab) = paved(at[0], at[2], 0.0016 * far * far / place[1]) else { continue };
            let slab = slab.map(|channel| channel / 255.0);
            let clear = (-0.0022 * far * far).exp2();
            let seen = [0, 1, 2].map(|n| HORIZON[n] + (slab[n] * slab[n] * GROUND_LIGHT[n] - HORIZON[n]) * clear);
            let (to_light, chest, _) = passes(at, to_sun);
            match (aside.min(to_light) > NOTHING, chest < BODY) {
                (true, _) => (0, film(seen)),
                (false, true) => (1, film(seen).map(|channel| LEFT * channel)),
                _ => continue,
            }
        } else if ray[1] > 0.02 && aside > NOTHING {
            let up = 1.0 - 2.0 * row / HEIGHT as f64 - horizon;
            let rows = [(-0.05, 0.0), (0.55, 0.62), (1.9, 1.0)]
                .map(|(up, share)| (up, film([0, 1, 2].map(|n| HORIZON[n] + (ZENITH[n] - HORIZON[n]) * share))));
            let [low, high] = if up < rows[1].0 { [rows[0], rows[1]] } else { [rows[1], rows[2]] };
            let share = (up - low.0) / (high.0 - low.0);
            (2, [0, 1, 2].map(|n| low.1[n] + (high.1[n] - low.1[n]) * share))
        } else {
            continue;
        };
        counts[kind] += 1;
        if !is_near(found, expected, TOLERANCE) {
            wrong.push((x, y, kind, found, expected));
        }
    }
    let [lit, dark, sky] = counts;
    ensure!(lit > 1500 && dark > 12 && sky > 5000, "only {counts:?} pixels can be compared");
    ensure!(
        1000 * wrong.len() <= OTHERS * (lit + dark + sky),
        "{} of {counts:?} pixels differ, among them {:?}",
        wrong.len(),
        &wrong[..wrong.len().min(4)]
    );
    let [other, shirt] = shirts;
    // Straps and arms are in front of some.
    ensure!(shirt > 60 && 5 * other < shirt, "{shirt} pixels have the colours of shirts, {other} have others");
    Ok(format!(
        "{lit} pixels of the ground, {dark} of shadows, {sky} of the sky, but for {}; {shirt} of shirts",
        wrong.len()
    ))
}
