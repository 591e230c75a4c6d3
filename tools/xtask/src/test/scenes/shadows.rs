//! Sunlight and shadows on floor and ground: each point is lit unless a body is on its way to the sun.
//!
//! The bodies are cylinders, parts of rings and balls. A pixel is compared where they decide with a margin: it is in a shadow if the way to the sun leads
//! through bodies that are a little smaller, and lit if it misses those that are a little larger.

use super::rays::Eye;
use super::vector::{Vector, direction, dot, sum};
use super::{HEIGHT, WIDTH, is_near};
use crate::picture::Picture;
use anyhow::{Result, ensure};
use std::f64::consts::TAU;

const EYE: Vector = [0.0, 5.2, 14.5];
const LOOKED_AT: Vector = [0.0, 1.75, 0.0];
/// The sun's direction, turned from x to z, in the first frame.
const DAY: f64 = 0.9;
const STONE: Vector = [0.68, 0.59, 0.46];
const SAND: Vector = [0.42, 0.32, 0.20];
const SUN: Vector = [3.4, 2.75, 1.9];
const SKY: Vector = [0.20, 0.31, 0.56];
const HORIZON: Vector = [0.62, 0.66, 0.72];
const HAZE: f64 = 0.00022;
/// Radius and height of each step.
const STEPS: [(f64, f64); 3] = [(5.6, 0.2), (5.2, 0.4), (4.8, 0.6)];
const FLOOR: f64 = 0.6;
/// Columns around the middle; the seventh, counted from 0, is broken.
const COLUMNS: usize = 9;
const BROKEN: usize = 7;
/// Where the first column is, as a part of a turn from x to z, and how much farther the beams reach than the columns.
const FIRST: f64 = 0.472;
const MARGIN: f64 = 0.018;
const RING: f64 = 4.0;
const COLUMN: f64 = 3.5;
/// Nothing is higher.
const HIGHEST: f64 = 4.9;
/// Things on the ground and in the middle, as balls around them.
const BALLS: [(Vector, f64); 5] = [
    ([3.4, 0.34, 6.3], 0.6),
    ([5.1, 0.34, 5.1], 0.6),
    ([-5.3, 0.24, 4.9], 1.0),
    ([0.0, 2.75, 0.0], 1.3),
    ([0.0, 1.0, 0.0], 1.1),
];
/// Distance between compared pixels, greatest difference of 255, and how many of a thousand may differ more.
const STEP: usize = 4;
const TOLERANCE: f64 = 4.0;
const OTHERS: usize = 5;

/// Which side of the margin.
#[derive(Clone, Copy, PartialEq)]
enum Bodies {
    Smaller,
    Larger,
}

/// Whether a place is within a body.
fn is_within(bodies: Bodies, [x, y, z]: Vector) -> bool {
    let is_larger = bodies == Bodies::Larger;
    let margin = if is_larger { 0.07 } else { -0.07 };
    let (radius, turn) = (x.hypot(z), (z.atan2(x) / TAU).rem_euclid(1.0));
    if STEPS.iter().any(|&(wide, high)| radius < wide + margin && y < high - if is_larger { 0.0 } else { 0.02 }) {
        return true;
    }
    let up = y - FLOOR;
    let balls = || {
        BALLS.iter().any(|&(middle, size)| {
            let away = sum(middle, -1.0, [x, y, z]);
            dot(away, away) < size * size
        })
    };
    if !(3.2..=4.8).contains(&radius) {
        return is_larger && balls();
    }
    let column = |number: usize| {
        let angle = (FIRST + number as f64 / COLUMNS as f64) * TAU;
        let aside = (x - RING * angle.cos()).hypot(z - RING * angle.sin());
        match bodies {
            Bodies::Smaller => number != BROKEN && aside < 0.25 && up < COLUMN,
            // The foot, and the slab on top, are wider than the shaft.
            Bodies::Larger if up < 0.3 => aside < 0.53,
            Bodies::Larger => up < COLUMN + 0.05 && aside < if up > 3.0 { 0.75 } else { 0.42 },
        }
    };
    if up > 0.0 && (0..COLUMNS).any(column) {
        return true;
    }
    let end = 5.0 / COLUMNS as f64 + 2.0 * MARGIN + if is_larger { 0.02 } else { -0.01 };
    let beams = if is_larger { (3.45, 4.57, 3.45, 4.2) } else { (3.7, 4.3, 3.55, 4.07) };
    let in_turn = (turn - FIRST + MARGIN).rem_euclid(1.0);
    let is_along = in_turn < end || is_larger && in_turn > 0.98;
    if is_along && beams.0 < radius && radius < beams.1 && beams.2 < up && up < beams.3 {
        return true;
    }
    is_larger && balls()
}

/// Whether a way leads through bodies, up to a length.
fn meets(bodies: Bodies, from: Vector, to: Vector, length: f64) -> bool {
    let step = 0.05;
    (1..(length / step) as usize).any(|n| is_within(bodies, sum(from, step * n as f64, to)))
}

/// The floor or the ground that a ray meets: the distance, and whether it is stone.
fn met(ray: Vector) -> Option<(f64, bool)> {
    let levels = [(FLOOR, 0.0, 4.7), (0.4, 4.9, 5.1), (0.2, 5.3, 5.5), (0.0, 5.7, 40.0)];
    let hit = |&(level, inner, outer): &(f64, f64, f64)| {
        let far = (level - EYE[1]) / ray[1];
        let [x, _, z] = sum(EYE, far, ray);
        (far > 0.0 && (inner..outer).contains(&x.hypot(z))).then_some((far, level > 0.0))
    };
    levels.iter().find_map(hit)
}

/// Compares floor and ground in the sun and in the shadow.
pub(super) fn check(picture: &Picture) -> Result<String> {
    let eye = Eye::new(EYE, LOOKED_AT);
    let to_sun = direction([DAY.cos(), 0.62 + 0.14 * DAY.sin(), DAY.sin()]);
    let (mut counts, mut wrong) = ([0; 2], Vec::new());
    for (y, x) in (0..HEIGHT).step_by(STEP).flat_map(|y| (0..WIDTH).step_by(STEP).map(move |x| (y, x))) {
        let ray = eye.ray(x as f64 + 0.5, y as f64 + 0.5);
        let Some((far, is_stone)) = met(ray) else { continue };
        let place = sum(EYE, far, ray);
        // What stands on the floor begins just above it.
        let above = sum(place, 0.05, [0.0, 1.0, 0.0]);
        let back = ray.map(|part| -part);
        if meets(Bodies::Larger, above, back, HIGHEST / back[1]) {
            continue;
        }
        let way = HIGHEST / to_sun[1];
        let is_lit = !meets(Bodies::Larger, above, to_sun, way);
        if !is_lit && !meets(Bodies::Smaller, above, to_sun, way) {
            continue;
        }
        let (base, haze) = (if is_stone { STONE } else { SAND }, (-HAZE * far * far).exp2());
        let expected = [0, 1, 2].map(|n| {
            let color = base[n] * (if is_lit { SUN[n] * to_sun[1] } else { 0.0 } + SKY[n]);
            255.0 * (1.0 - (-HORIZON[n] - (color - HORIZON[n]) * haze).exp2()).sqrt()
        });
        counts[usize::from(is_lit)] += 1;
        let found = picture.pixel(x, y).unwrap_or_default();
        if !is_near(found, expected, TOLERANCE) {
            wrong.push((x, y, found, expected));
        }
    }
    let [dark, lit] = counts;
    ensure!(dark > 300 && lit > 5000, "only {dark} pixels in shadows and {lit} lit ones can be compared");
    ensure!(
        1000 * wrong.len() <= OTHERS * (dark + lit),
        "{} of {} pixels differ, among them {:?}",
        wrong.len(),
        dark + lit,
        &wrong[..wrong.len().min(4)]
    );
    Ok(format!("{dark} pixels in shadows and {lit} in the sun, but for {}", wrong.len()))
}
