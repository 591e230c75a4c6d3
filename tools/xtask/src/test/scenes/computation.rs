//! The first picture of the scene `compute`: the Mandelbrot set, computed point by point.

use super::{HEIGHT, WIDTH, is_near};
use crate::picture::Picture;
use anyhow::{Result, ensure};

/// The centre and the height of the picture in the complex plane.
const CENTER: [f64; 2] = [-0.743_64, 0.131_83];
const PLANE_HEIGHT: f64 = 2.6;
/// Most iterations.
const MAX_ITERATIONS: u32 = 128;
/// Columns to the right of this are free of the list.
const LIST_WIDTH: usize = WIDTH / 2;
/// Percentage of points that may differ: at the border, rounding decides.
const MAY_DIFFER: usize = 5;

/// Compares each seventh point of each fifth row.
pub(super) fn check(picture: &Picture) -> Result<String> {
    let points = (0..HEIGHT).step_by(5).flat_map(|y| (LIST_WIDTH + 40..WIDTH).step_by(7).map(move |x| (x, y)));
    let (mut all, mut differ, mut inside) = (0, 0, 0);
    for (x, y) in points {
        let pixel = PLANE_HEIGHT / HEIGHT as f64;
        let at = |center: f64, side: usize, place: usize| center + pixel * (place as f64 - 0.5 * side as f64);
        let count = escape(at(CENTER[0], WIDTH, x), at(CENTER[1], HEIGHT, y));
        let found = picture.pixel(x, y).unwrap_or_default();
        all += 1;
        inside += usize::from(count == MAX_ITERATIONS);
        differ += usize::from(!is_near(found, color(count), 1.0));
    }
    ensure!(100 * differ <= MAY_DIFFER * all, "{differ} of {all} points have another colour");
    ensure!(inside > 100 && inside < all / 2, "{inside} of {all} points are in the set");
    Ok(format!("{all} points, {differ} at the border differ"))
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
