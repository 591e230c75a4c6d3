//! The dashboard: the colours of cells by the formula of the waves, the gauge by angles, the panels by their contents.

use super::{HEIGHT, WIDTH, is_near};
use crate::picture::Picture;
use anyhow::{Context, Result, ensure};
use std::f64::consts::TAU;

/// Left and top of the first cell, number of columns and rows, spacing in pixels.
const FIELD: (usize, usize) = (69, 172);
const COLUMNS: i64 = 125;
const ROWS: i64 = 80;
const CELL: usize = 6;
/// Number of lit cells in the first picture, and of those at the rim that are small and dark.
const GLOWING: usize = 3600;
const RIM: usize = 900;
/// Colours from low to high waves.
const STOPS: [[f64; 3]; 4] = [[28.0, 30.0, 74.0], [112.0, 52.0, 150.0], [238.0, 108.0, 92.0], [255.0, 220.0, 130.0]];
/// Colours of a panel at its top and bottom.
const PANEL: [[f64; 3]; 2] = [[27.0, 35.0, 52.0], [20.0, 26.0, 40.0]];
const LIT: [f64; 3] = [56.0, 208.0, 190.0];
const RAIL: [f64; 3] = [42.0, 52.0, 70.0];

/// The colour of a cell in the first picture.
fn glow(column: i64, row: i64) -> [f64; 3] {
    let (x, y) = (column as f64, row as f64);
    let from_center = f64::hypot(x - COLUMNS as f64 / 2.0, y - ROWS as f64 / 2.0);
    let wave = (0.09 * x).sin() + (0.11 * y).sin() + (0.17 * from_center).sin();
    let place = (0.5 + wave / 5.2).clamp(0.0, 1.0) * 3.0;
    let first = (place as usize).min(2);
    [0, 1, 2].map(|n| STOPS[first][n] + (STOPS[first + 1][n] - STOPS[first][n]) * (place - first as f64))
}

/// Compares the first picture.
pub(super) fn check(picture: &Picture) -> Result<String> {
    let pixel = |x: usize, y: usize| picture.pixel(x, y).context("the dashboard is partly outside of the screen");
    let mut cells: Vec<_> = (0..ROWS).flat_map(|row| (0..COLUMNS).map(move |column| (column, row))).collect();
    let squared = |value: i64, count: i64| (2 * value - count + 1).pow(2);
    cells.sort_by_key(|&(column, row)| squared(column, COLUMNS) + squared(row, ROWS));
    let (mut whole, mut dark) = (0, 0);
    for (order, &(column, row)) in cells.iter().enumerate() {
        let (left, top) = (FIELD.0 + CELL * column as usize, FIELD.1 + CELL * row as usize);
        let down = (top as f64 + 0.5 - 116.0) / 560.0;
        let panel = [0, 1, 2].map(|n| PANEL[0][n] + (PANEL[1][n] - PANEL[0][n]) * down);
        let place = || format!("cell ({column}, {row})");
        if order < GLOWING - RIM {
            let expected = glow(column, row);
            for (x, y) in (0..25).map(|n| (left + n % 5, top + n / 5)) {
                let found = pixel(x, y)?;
                ensure!(is_near(found, expected, 1.5), "{}: ({x}, {y}) is {found:?}, not {expected:.1?}", place());
            }
            let gap = pixel(left + 5, top + 5)?;
            ensure!(is_near(gap, panel, 2.0), "{}: the gap beside it is {gap:?}, not {panel:.1?}", place());
            whole += 1;
        } else if order >= GLOWING {
            let found = pixel(left + 2, top + 2)?;
            ensure!(is_near(found, panel, 2.0), "{} is lit: {found:?} instead of {panel:.1?}", place());
            dark += 1;
        }
    }
    // From the lower left clockwise: 36 of 100 parts of three quarters of a circle.
    let (mut lit, mut rail) = (0, 0);
    for tenth in 5..2695 {
        let share = f64::from(tenth) / 2700.0;
        let angle = (135.0 + f64::from(tenth) / 10.0) / 360.0 * TAU;
        let at = |center: f64, offset: f64| (center + 74.0 * offset) as usize;
        let found = pixel(at(966.0, angle.cos()), at(272.0, angle.sin()))?;
        let end = GLOWING as f64 / 10_000.0;
        if (share - end).abs() > 0.01 {
            let expected = if share < end { LIT } else { RAIL };
            ensure!(is_near(found, expected, 0.0), "the gauge at {share:.3} is {found:?} instead of {expected:?}");
            *(if share < end { &mut lit } else { &mut rail }) += 1;
        }
    }
    // There are no failures: three lamps are lit.
    for row in 0..3 {
        let found = pixel(1020, 439 + 30 * row)?;
        ensure!(is_near(found, LIT, 0.0), "lamp {row} of the driver is {found:?}");
    }
    let ground = pixel(WIDTH - 1, HEIGHT - 1)?;
    ensure!(is_near(ground, [8.0, 10.0, 18.0], 1.0), "the corner is {ground:?}");
    Ok(format!("{whole} cells by their waves, {dark} free places, {lit} and {rail} places of the gauge"))
}
