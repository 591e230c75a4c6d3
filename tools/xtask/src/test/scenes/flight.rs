//! The flight through the sponge: the same rays in double precision.

use super::vector::{Vector, direction, dot, sum};
use super::{HEIGHT, WIDTH, is_near};
use crate::picture::Picture;
use anyhow::{Result, ensure};

const FAR: f64 = 7.0;
/// Distance from a wall within which another one makes it darker.
const CORNER: f64 = 0.2;
const FOG: Vector = [0.50, 0.70, 0.95];
const TO_LIGHT: Vector = [0.48, 0.64, 0.6];
/// The eye in the first frame, its rotations about y, x and z, and half of the picture's height at distance 1.
const EYE: Vector = [0.0, 0.0, 0.9];
const HALF: f64 = 0.75;
/// Distance in pixels between compared pixels, across and down.
const STEP: usize = 10;
/// Greatest difference, of 255, and how many of a thousand pixels may differ more: those whose neighbours show another wall, and those whose ray ends a step
/// earlier or later.
const TOLERANCE: f64 = 5.0;
const OTHERS: usize = 40;

/// The distance to the sponge, which has holes of three sizes along the axes where the other two coordinates are near the edges of their cell.
fn sponge(place: Vector) -> f64 {
    let mut distance = -1.0f64;
    for size in [1.0f64, 3.0, 9.0] {
        let a = place.map(|p| {
            let cell = (p.abs() * size).rem_euclid(2.0) - 1.0;
            (1.0 - 3.0 * cell.abs()).abs()
        });
        let holes = a[0].max(a[1]).min(a[1].max(a[2])).min(a[2].max(a[0])) - 1.0;
        distance = distance.max(holes / (3.0 * size));
    }
    distance
}

/// The colour in a direction, 0 to 1; `None` where rounding decides.
fn color(ray: Vector) -> Option<Vector> {
    let (mut gone, mut steps) = (0.02, 0.0);
    loop {
        let distance = sponge(sum(EYE, gone, ray));
        if distance < 0.001 * gone || gone > FAR || steps > 40.0 {
            break;
        }
        gone += distance;
        steps += 1.0;
    }
    let place = sum(EYE, gone, ray);
    let little = 0.0008;
    let axes: [Vector; 3] = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
    let slope = axes.map(|axis| sponge(sum(place, little, axis)) - sponge(place));
    let normal = direction(slope);
    // At an edge, the normal is a mixture of two walls' normals.
    if gone < FAR && normal.iter().all(|part| part.abs() < 0.99) {
        return None;
    }
    let open = 0.4 + 0.6 * (sponge(sum(place, CORNER, normal)) / CORNER).clamp(0.0, 1.0);
    let upward = 0.5 + 0.5 * normal[1];
    let stone = [(0.96, 1.0), (0.50, 0.93), (0.18, 0.80)].map(|(from, to)| from + (to - from) * upward);
    let light = 0.22 + 0.75 * dot(normal, TO_LIGHT).max(0.0) + 0.40 * (-dot(normal, ray)).max(0.0);
    let clear = (-0.18 * gone * gone).exp2();
    Some([0, 1, 2].map(|n| (FOG[n] + (stone[n] * light * open - FOG[n]) * clear).clamp(0.0, 1.0)))
}

/// The direction through a point of the picture, from -1 to 1.
fn ray(x: f64, y: f64) -> Vector {
    let turn = |[a, b]: [f64; 2], angle: f64| [a * angle.cos() - b * angle.sin(), a * angle.sin() + b * angle.cos()];
    let aspect = WIDTH as f64 / HEIGHT as f64;
    let [x, y, z] = [HALF * aspect * x, HALF * y, -1.0];
    // Rotations about z, then x, then y.
    let [x, y] = turn([x, y], 0.35);
    let [y, z] = turn([y, z], 0.3 * 2f64.sin());
    let [z, x] = turn([z, x], 0.55 * 0.5f64.sin());
    direction([x, y, z])
}

/// Compares a grid of pixels, where the four pixels of the smaller picture around each show the same wall.
pub(super) fn check(picture: &Picture) -> Result<String> {
    let (mut compared, mut wrong) = (0, Vec::new());
    for (row, column) in (1..HEIGHT - 1).step_by(STEP).flat_map(|y| (1..WIDTH - 1).step_by(STEP).map(move |x| (y, x))) {
        // The picture is computed at half its size: the two of its pixels between which a pixel is, and the weight of the second.
        let between = |at: usize| {
            let at = (at as f64 + 0.5) / 2.0 - 0.5;
            (at.floor(), at - at.floor())
        };
        let ((left, across), (upper, down)) = (between(column), between(row));
        let at = |dx: f64, dy: f64| {
            let (x, y) = ((left + dx + 0.5) / (WIDTH as f64 / 2.0), (upper + dy + 0.5) / (HEIGHT as f64 / 2.0));
            color(ray(2.0 * x - 1.0, 1.0 - 2.0 * y))
        };
        let (Some(a), Some(b), Some(c), Some(d)) = (at(0.0, 0.0), at(1.0, 0.0), at(0.0, 1.0), at(1.0, 1.0)) else {
            continue;
        };
        let mixed = |n: usize| {
            let (upper, lower) = (a[n] + (b[n] - a[n]) * across, c[n] + (d[n] - c[n]) * across);
            255.0 * (upper + (lower - upper) * down)
        };
        compared += 1;
        let found = picture.pixel(column, row).unwrap_or_default();
        if !is_near(found, [0, 1, 2].map(mixed), TOLERANCE) {
            wrong.push((column, row, found, [0, 1, 2].map(mixed)));
        }
    }
    ensure!(compared > 5000, "only {compared} pixels can be compared");
    ensure!(
        1000 * wrong.len() <= OTHERS * compared,
        "{} of {compared} pixels differ, among them {:?}",
        wrong.len(),
        &wrong[..wrong.len().min(4)]
    );
    Ok(format!("{compared} pixels as rays in 64 bits have them, but for {}", wrong.len()))
}
