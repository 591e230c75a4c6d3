//! Sparks that user programs move: the same steps in double precision, and the sum of the sparks' light at each pixel.

use super::noise::random;
use super::vector::{Vector, sum};
use super::{HEIGHT, WIDTH, is_near};
use crate::picture::Picture;
use anyhow::{Context, Result, ensure};
use std::f64::consts::TAU;

const SPARKS: u32 = 20_000;
/// Steps before and with the first frame.
const STEPS: u64 = 265;
const STEP_S: f64 = 1.0 / 60.0;
/// Periods, in steps, of the nozzles and of the wind.
const NOZZLES: u64 = 420;
const WIND: u64 = 900;
const RADIUS: f64 = 1.5;
const NOZZLE_HEIGHT: f64 = 0.05;
/// Speed of a jet: outwards, upwards, and along its circle.
const JET: Vector = [-0.9, 5.3, 0.9];
const GRAVITY: f64 = -4.5;
const DRAG: f64 = 0.25;
const GUST: f64 = 2.2;
const EYE: Vector = [0.0, 1.7, 7.4];
const LOOKED_AT: f64 = 1.35;
const SIZE: f64 = 0.034;
const GOLD: Vector = [1.0, 0.42, 0.10];
const ICE: Vector = [0.12, 0.45, 1.0];
/// Brightness of the sparks, and of their mirror images.
const BRIGHT: f64 = 0.62;
const MIRRORED: f64 = 0.13;
/// Colours of the room at the bottom, at the horizon and at the top.
const ROOM: [Vector; 3] = [[0.004, 0.005, 0.012], [0.060, 0.058, 0.085], [0.008, 0.012, 0.040]];
/// Greatest difference, of 255, and how many of a thousand pixels may differ more: each spark is truncated to 8 bits, its position to a sixteenth of a pixel,
/// and a bounce that is a step earlier leads elsewhere.
const TOLERANCE: f64 = 12.0;
const OTHERS: usize = 12;

/// Place and age of a spark in the first frame; `None` if it is still waiting.
fn spark(number: u32) -> Option<(Vector, f64)> {
    let of = |n: u32| random(4 * number + n);
    let (angle, aside) = (of(0) * TAU, 0.9 * of(1));
    let spread = [aside * angle.cos(), 1.1 * (of(2) - 0.5), aside * angle.sin()];
    let rate = 1.0 / (1.8 + 2.4 * of(3));
    let side = if number.is_multiple_of(2) { 1.0 } else { -1.0 };
    let mut age = random(4 * SPARKS + number);
    let (mut place, mut speed, mut is_born) = ([0.0; 3], [0.0; 3], false);
    for step in 0..STEPS {
        age += STEP_S * rate;
        if age > 1.0 {
            (age, is_born) = (age - 1.0, true);
            let (sin, cos) = ((step % NOZZLES) as f64 / NOZZLES as f64 * TAU).sin_cos();
            place = [side * RADIUS * cos, NOZZLE_HEIGHT, side * RADIUS * sin];
            let jet = [side * (JET[0] * cos - JET[2] * sin), JET[1], side * (JET[0] * sin + JET[2] * cos)];
            speed = sum(jet, 1.0, spread);
        }
        if !is_born {
            continue;
        }
        let phase = (step % WIND) as f64 / WIND as f64 * TAU;
        let [x, _, z] = place;
        let wind = [(1.3 * z + phase).sin(), 0.3 * (1.7 * x).sin(), (1.3 * x + phase).cos()];
        let push = sum(sum([0.0, GRAVITY, 0.0], GUST, wind), -DRAG, speed);
        speed = sum(speed, STEP_S, push);
        place = sum(place, STEP_S, speed);
        if place[1] < 0.0 {
            place[1] *= -0.4;
            speed = [0.6 * speed[0], -0.4 * speed[1], 0.6 * speed[2]];
        }
    }
    is_born.then_some((place, age))
}

/// The light of all sparks at each pixel, from 0 to 255.
fn light() -> (Vec<Vector>, usize) {
    let half = (std::f64::consts::FRAC_PI_4 / 2.0).tan();
    let (sin, cos) = ((LOOKED_AT - EYE[1]) / EYE[2]).atan().sin_cos();
    let horizon = -sin / cos / half;
    let mut sums: Vec<Vector> = (0..WIDTH * HEIGHT)
        .map(|at| {
            let y = 1.0 - 2.0 * ((at / WIDTH) as f64 + 0.5) / HEIGHT as f64;
            let (from, to, share) = if y < horizon {
                (ROOM[0], ROOM[1], (y + 1.0) / (horizon + 1.0))
            } else {
                (ROOM[1], ROOM[2], (y - horizon) / (1.0 - horizon))
            };
            [0, 1, 2].map(|n| 255.0 * (from[n] + (to[n] - from[n]) * share))
        })
        .collect();
    let mut count = 0;
    for number in 0..SPARKS {
        let Some((place, age)) = spark(number) else { continue };
        count += 1;
        let heat = 1.0 - age;
        let glow = (0.3 + 0.7 * heat) * (4.0 * heat).min(1.0);
        let tint = if number.is_multiple_of(2) { GOLD } else { ICE };
        for (height, brightness) in [(-1.0, MIRRORED), (1.0, BRIGHT)] {
            let [x, y, z] = [place[0], height * place[1] - EYE[1], EYE[2] - place[2]];
            // The eye looks down a little.
            let (up, ahead) = (y * cos - z * sin, z * cos + y * sin);
            let pixels = HEIGHT as f64 / 2.0 / half;
            let middle = [WIDTH as f64 / 2.0 + pixels * x / ahead, HEIGHT as f64 / 2.0 - pixels * up / ahead];
            let size = (SIZE * pixels / ahead).max(0.125);
            let range = |middle: f64, end: usize| {
                let first = (middle - size / 2.0).floor().max(0.0) as usize;
                first..((middle + size / 2.0).ceil().max(0.0) as usize).min(end)
            };
            for row in range(middle[1], HEIGHT) {
                for column in range(middle[0], WIDTH) {
                    let (dx, dy) = ((column as f64 + 0.5 - middle[0]) / size, (row as f64 + 0.5 - middle[1]) / size);
                    let share = (1.0 - 4.0 * (dx * dx + dy * dy)).max(0.0).powi(2);
                    for (n, sum) in sums[row * WIDTH + column].iter_mut().enumerate() {
                        *sum += 255.0 * (share * brightness * (glow * tint[n] + 0.5 * heat.powi(4))).min(1.0);
                    }
                }
            }
        }
    }
    (sums, count)
}

/// Compares the whole picture.
pub(super) fn check(picture: &Picture) -> Result<String> {
    let (sums, count) = light();
    let (mut off, mut lit, mut first) = (0, 0, None);
    for (at, expected) in sums.into_iter().enumerate() {
        let (column, row) = (at % WIDTH, at / WIDTH);
        let found = picture.pixel(column, row).context("the picture is too small")?;
        let expected = expected.map(|channel| channel.min(255.0));
        lit += usize::from(expected.iter().any(|&channel| channel > 40.0));
        if !is_near(found, expected, TOLERANCE) {
            off += 1;
            first.get_or_insert((column, row, found, expected));
        }
    }
    ensure!(count > 19_990 && lit > 20_000, "only {count} sparks are thrown, and {lit} pixels bright");
    ensure!(1000 * off <= OTHERS * WIDTH * HEIGHT, "{off} pixels differ, the first is {first:?}");
    Ok(format!("{count} sparks, {lit} bright pixels; {off} of all differ by more than {TOLERANCE}/255"))
}
