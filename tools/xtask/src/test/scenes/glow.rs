//! Lights that are added up and tone-mapped: the sum at each pixel, in double precision.

use super::{HEIGHT, WIDTH, is_near};
use crate::picture::Picture;
use anyhow::{Context, Result, ensure};
use std::f64::consts::TAU;

const LIGHTS: usize = 2400;
const GOLDEN_ANGLE: f64 = 2.399_963_2;
const WARM: [f64; 3] = [1.0, 0.62, 0.3];
const COLD: [f64; 3] = [0.25, 0.5, 1.0];
const EXPOSURE: f64 = 1.5;
/// Sums of hundreds of half floats of 11 bits are truncated as often. The steepest stars change by 30 in a sixteenth of a pixel, to which their centres are
/// rounded.
const TOLERANCE: f64 = 8.0;
/// Number of pixels of stars that may differ more.
const MAX_OFF: usize = 600;
/// Tolerance for those pixels.
const TOLERANCE_OF_STARS: f64 = 40.0;

/// Centre and diameter in pixels, and colour of a light in the first frame.
fn light(number: usize) -> ([f64; 2], f64, [f64; 3]) {
    let share = number as f64 / LIGHTS as f64;
    let angle = number as f64 * GOLDEN_ANGLE;
    let radius = 0.02 + 0.98 * share;
    let (width, height) = (WIDTH as f64, HEIGHT as f64);
    let x = width / 2.0 + angle.cos() * radius * 1.6 * height / 2.0;
    let y = height / 2.0 - angle.sin() * radius * 0.92 * height / 2.0;
    let arm = 0.5 + 0.5 * (2.0 * angle - TAU * 2.2 * share).cos();
    let (middle, inwards) = ((1.0 - 5.0 * share).max(0.0), 1.0 - 0.8 * share);
    let (brightness, size) = if number.is_multiple_of(2) {
        (middle + inwards * (0.1 + 5.0 * arm * arm), 0.007 + 0.004 * arm)
    } else {
        (0.5 * middle + inwards * (0.02 + 0.8 * arm.powi(3)), 0.05 + 0.06 * arm * share)
    };
    ([x, y], height * size, [0, 1, 2].map(|n| brightness * (WARM[n] + share * (COLD[n] - WARM[n]))))
}

/// The light at the centre of each pixel.
fn light_of_pixels() -> Vec<[f64; 3]> {
    let mut sums = vec![[0.0; 3]; WIDTH * HEIGHT];
    for number in 0..LIGHTS {
        let ([x, y], size, color) = light(number);
        let range = |middle: f64, end: usize| {
            let first = (middle - size / 2.0).floor().max(0.0) as usize;
            first..((middle + size / 2.0).ceil().max(0.0) as usize).min(end)
        };
        for row in range(y, HEIGHT) {
            for column in range(x, WIDTH) {
                let (dx, dy) = ((column as f64 + 0.5 - x) / size, (row as f64 + 0.5 - y) / size);
                let falloff = (1.0 - 4.0 * (dx * dx + dy * dy)).max(0.0).powi(2);
                for (sum, channel) in sums[row * WIDTH + column].iter_mut().zip(color) {
                    *sum += falloff * channel;
                }
            }
        }
    }
    sums
}

/// Compares the whole picture.
pub(super) fn check(picture: &Picture) -> Result<String> {
    let (mut off, mut beyond_white) = (0, 0);
    for (at, light) in light_of_pixels().into_iter().enumerate() {
        let (column, row) = (at % WIDTH, at / WIDTH);
        let expected = light.map(|light| 255.0 * (1.0 - (-EXPOSURE * light).exp2()));
        let found = picture.pixel(column, row).context("the picture is too small")?;
        beyond_white += usize::from(light.iter().any(|&light| light > 1.0));
        off += usize::from(!is_near(found, expected, TOLERANCE));
        ensure!(
            is_near(found, expected, TOLERANCE_OF_STARS),
            "pixel ({column}, {row}) is {found:?} instead of {expected:.1?}"
        );
    }
    ensure!(off <= MAX_OFF, "{off} pixels differ by more than {TOLERANCE}");
    ensure!(beyond_white > 1000, "only {beyond_white} pixels are brighter than white");
    Ok(format!("{beyond_white} pixels brighter than white; {off} of all differ by more than {TOLERANCE}/255"))
}
