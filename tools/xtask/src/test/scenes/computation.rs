//! The first picture of the scene `compute`: the Mandelbrot set, computed point by point.

use super::{HEIGHT, WIDTH, is_near};
use crate::picture::Picture;
use anyhow::{Result, ensure};

/// A point of the complex plane, where it is in the picture as fractions of width and height, and the picture's height in the plane.
const CENTER: [f64; 2] = [-0.743_64, 0.131_83];
const PLACE: [f64; 2] = [0.762, 0.5];
const PLANE_HEIGHT: f64 = 3.2;
/// The area of the set is 1.507 (T. Förstemann, "Numerical estimation of the area of the Mandelbrot set"); points near it need more iterations to leave it.
const AREA: std::ops::Range<f64> = 1.49..1.75;
/// Most iterations.
const MAX_ITERATIONS: u32 = 128;
/// Columns from this one on are free of the list.
const BESIDE: usize = 676;
/// Percentage of points that may differ: at the border, rounding decides.
const MAY_DIFFER: usize = 5;

/// Distances between compared points, across and down.
const ACROSS: usize = 7;
const DOWN: usize = 5;

/// Compares points beside the list, where the whole set is.
pub(super) fn check(picture: &Picture) -> Result<String> {
    let points = (0..HEIGHT).step_by(DOWN).flat_map(|y| (BESIDE..WIDTH).step_by(ACROSS).map(move |x| (x, y)));
    let (mut all, mut differ, mut inside) = (0, 0, 0);
    let pixel = PLANE_HEIGHT / HEIGHT as f64;
    for (x, y) in points {
        let at = |n: usize, side: usize, place: usize| CENTER[n] + pixel * (place as f64 - PLACE[n] * side as f64);
        let count = escape(at(0, WIDTH, x), at(1, HEIGHT, y));
        let found = picture.pixel(x, y).unwrap_or_default();
        all += 1;
        inside += usize::from(is_near(found, color(MAX_ITERATIONS), 1.0));
        differ += usize::from(!is_near(found, color(count), 1.0));
    }
    ensure!(100 * differ <= MAY_DIFFER * all, "{differ} of {all} points have another colour");
    let area = (inside * ACROSS * DOWN) as f64 * pixel * pixel;
    ensure!(AREA.contains(&area), "an area of {area:.3} of the set is beside the list");
    Ok(format!("{all} points, {differ} at the border differ; the set has an area of {area:.3}"))
}

/// How many of z, z² + c and so on, from 0, are within 2.
fn escape(re: f64, im: f64) -> u32 {
    let (mut x, mut y) = (0.0f64, 0.0f64);
    (0..MAX_ITERATIONS)
        .find(|_| {
            let outside = x * x + y * y > 4.0;
            (x, y) = (x * x - y * y + re, 2.0 * x * y + im);
            outside
        })
        .unwrap_or(MAX_ITERATIONS)
}

/// Each channel is a triangle wave of the count, with its own period.
fn color(count: u32) -> [f64; 3] {
    if count == MAX_ITERATIONS {
        return [10.0, 12.0, 20.0];
    }
    [(9, 20), (6, 40), (4, 110)].map(|(speed, phase)| {
        let at = f64::from((count * speed + phase) % 512);
        at.min(511.0 - at)
    })
}
