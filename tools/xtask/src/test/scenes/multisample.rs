//! Spokes with one sample per pixel and with four, compared with their coverage of each pixel.

use super::{HEIGHT, WIDTH, is_near};
use crate::picture::Picture;
use anyhow::{Context, Result, ensure};
use std::f64::consts::TAU;

/// Width of the small pictures in pixels, and their magnification.
const SIDE: usize = 128;
const ZOOM: usize = 4;
const SPOKES: usize = 20;
const PAPER: [f64; 3] = [18.0, 24.0, 38.0];
/// Number of points per pixel that are tested, in each direction.
const POINTS: usize = 8;
/// Accuracy of the coverage that four samples measure.
const COVERAGE: f64 = 0.3;

/// A corner: x and y from the centre in halves of the picture, y upwards; and its colour.
type Corner = ([f64; 2], [f64; 3]);

fn spoke(number: usize) -> [Corner; 3] {
    let share = number as f64 / SPOKES as f64;
    let angle = 0.07 + share * TAU;
    let half = 0.3 / SPOKES as f64 * TAU;
    let at = |angle: f64, radius: f64| [radius * angle.cos(), radius * angle.sin()];
    let rim = [1.0 - 0.7 * share, 0.55 + 0.35 * share, 0.25 + 0.75 * share];
    [(at(angle, 0.04), [1.0; 3]), (at(angle - half, 0.94), rim), (at(angle + half, 0.94), rim)]
}

/// Barycentric coordinates of a point in a triangle; all are positive inside.
fn weights(corners: &[Corner; 3], [x, y]: [f64; 2]) -> [f64; 3] {
    let [a, b, c] = corners.map(|(place, _)| place);
    let area = |p: [f64; 2], q: [f64; 2], r: [f64; 2]| (q[0] - p[0]) * (r[1] - p[1]) - (r[0] - p[0]) * (q[1] - p[1]);
    let p = [x, y];
    let whole = area(a, b, c);
    [area(p, b, c) / whole, area(a, p, c) / whole, area(a, b, p) / whole]
}

/// The coverage of a pixel, and the mean colour of what covers it.
fn covered(spokes: &[[Corner; 3]], column: usize, row: usize) -> (f64, [f64; 3]) {
    let (mut inside, mut color) = (0.0, [0.0; 3]);
    for point in 0..POINTS * POINTS {
        let at = |pixel: usize, point: usize| pixel as f64 + (point as f64 + 0.5) / POINTS as f64;
        let x = 2.0 * at(column, point % POINTS) / SIDE as f64 - 1.0;
        let y = 1.0 - 2.0 * at(row, point / POINTS) / SIDE as f64;
        let found = spokes.iter().map(|corners| (corners, weights(corners, [x, y])));
        if let Some((corners, weights)) =
            found.into_iter().find(|(_, weights)| weights.iter().all(|&weight| weight > 0.0))
        {
            inside += 1.0;
            for (n, channel) in color.iter_mut().enumerate() {
                *channel += 255.0 * (0..3).map(|corner| weights[corner] * corners[corner].1[n]).sum::<f64>();
            }
        }
    }
    let share = inside / (POINTS * POINTS) as f64;
    (share, color.map(|sum| if inside > 0.0 { sum / inside } else { 0.0 }))
}

/// Compares both pictures.
pub(super) fn check(picture: &Picture) -> Result<String> {
    let spokes: Vec<_> = (0..SPOKES).map(spoke).collect();
    let middle = |half: usize| (WIDTH / 4 + half * WIDTH / 2 - SIDE * ZOOM / 2, HEIGHT / 2 - SIDE * ZOOM / 2);
    let (mut even, mut partly) = (0, [0; 2]);
    for row in 0..SIDE {
        for column in 0..SIDE {
            let (share, color) = covered(&spokes, column, row);
            for (half, partly) in partly.iter_mut().enumerate() {
                let (left, top) = middle(half);
                let pixel = |n: usize| picture.pixel(left + ZOOM * column + n % ZOOM, top + ZOOM * row + n / ZOOM);
                let first = pixel(0).context("the magnified picture is partly outside of the screen")?;
                let place = || format!("pixel ({column}, {row}) of picture {half}");
                ensure!((0..ZOOM * ZOOM).all(|n| pixel(n) == Some(first)), "{} is not uniform", place());
                let mean = [0, 1, 2].map(|n| PAPER[n] + (color[n] - PAPER[n]) * share);
                if share == 0.0 || share == 1.0 {
                    even += 1;
                    ensure!(is_near(first, mean, 4.0), "{} is {first:?} instead of {mean:.1?}", place());
                } else {
                    let is_mixed = !is_near(first, PAPER, 1.0) && !is_near(first, color, 16.0);
                    *partly += usize::from(is_mixed);
                    let near = |n: usize| (f64::from(first[n]) - mean[n]).abs() <= COVERAGE * 255.0;
                    ensure!(half == 0 || (0..3).all(near), "{} is {first:?} instead of {mean:.1?}", place());
                }
            }
        }
    }
    ensure!(even > 20_000, "only {even} pixels are covered wholly or not at all");
    ensure!(partly[0] == 0, "{} pixels with one sample are neither paper nor spoke", partly[0]);
    ensure!(partly[1] > 1000, "only {} pixels with four samples are between paper and spoke", partly[1]);
    Ok(format!("{even} pixels wholly covered or free, {} mixed, all of them with four samples", partly[1]))
}
