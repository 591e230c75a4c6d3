//! The expected picture of the lighthouse, by its colours.

use super::bands::bands;
use super::{HEIGHT, WIDTH, is_near};
use crate::picture::Picture;
use anyhow::{Context, Result, ensure};

const SKY: [f64; 3] = [176.0, 204.0, 226.0];
const SEA: [f64; 3] = [0.22, 0.42, 0.56];
/// Light on surfaces that face up: ambient light, and the sun's contribution.
const LIGHT_FROM_ABOVE: f64 = 0.35 + 0.4;
/// A column of the tower that has no window.
const TOWER: usize = 670;
/// Number of the tower's bands, from its gallery down to its foot.
const BANDS: usize = 6;

/// The sky is above the sea, and a tower of white and red bands is in the middle.
pub(super) fn check(picture: &Picture) -> Result<String> {
    let sea = SEA.map(|channel| 255.0 * LIGHT_FROM_ABOVE * channel);
    let column = |x: usize| (0..HEIGHT).filter_map(move |y| picture.pixel(x, y));
    for x in [0, WIDTH / 8, WIDTH * 7 / 8, WIDTH - 1] {
        let horizon = column(x).position(|pixel| !is_near(pixel, SKY, 1.0)).context("there is only sky")?;
        ensure!((HEIGHT / 8..HEIGHT * 7 / 8).contains(&horizon), "the horizon is in row {horizon} at column {x}");
        // One row contains the horizon: some of its four samples are sky.
        let wrong = column(x).skip(horizon + 1).find(|&pixel| !is_near(pixel, sea, 2.0));
        ensure!(wrong.is_none(), "column {x} has {wrong:?} instead of sea");
    }
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
    Ok(format!("sky, sea, and a tower of {} bands", wide.len()))
}
