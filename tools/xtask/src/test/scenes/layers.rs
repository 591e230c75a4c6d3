//! The chart of all blend states, by the OpenGL specifications: ES 2.0, section 4.1.6, and 1.5, section 4.1.10.
//!
//! One cell of each kind shows the source colour alone, and one the destination; they are compared with the gradients that the scene draws. All other cells are
//! computed from these two, pixel by pixel.

use super::is_near;
use crate::picture::Picture;
use anyhow::{Context, Result, ensure};

/// Red, green, blue, alpha; 0 to 1.
type Color = [f64; 4];

const ABOVE: Color = [0.05, 0.35, 0.75, 1.0];
const BELOW: Color = [1.0, 0.75, 0.25, 0.2];
const LEFT: Color = [0.2, 0.9, 0.3, 0.0];
const MIDDLE: Color = [0.8, 0.8, 0.9, 0.5];
const RIGHT: Color = [0.95, 0.25, 0.55, 1.0];
const CONSTANT: Color = [1.0, 160.0 / 255.0, 64.0 / 255.0, 128.0 / 255.0];

/// Number of factors; equations, logic operations and masks, all in the chart's order.
const FACTORS: usize = 15;
const EQUATIONS: [&str; 5] = ["s + d", "s - d", "d - s", "min", "max"];
const LOGIC: usize = 16;
/// The logic operations that show one of the two colours alone.
const COPY: usize = 3;
const NOOP: usize = 5;
const MASKS: [[u8; 3]; 4] = [[0xff, 0, 0], [0, 0xff, 0], [0, 0, 0xff], [0xf0, 0xf0, 0xf0]];

/// The error of two products of eight bits, and of operands that are rounded before.
const TOLERANCE: f64 = 4.0;

/// A cell: left, top, width and height in pixels.
type Cell = [f64; 4];

fn factor_cell(column: usize, row: usize) -> Cell {
    [92.0 + 44.0 * column as f64, 112.0 + 39.0 * row as f64, 41.0, 36.0]
}

fn large_cell(top: f64, number: usize) -> Cell {
    [800.0 + 92.0 * (number % 5) as f64, top + 114.0 * (number / 5) as f64, 84.0, 76.0]
}

fn mix(from: Color, to: Color, share: f64) -> Color {
    [0, 1, 2, 3].map(|n| from[n] + (to[n] - from[n]) * share)
}

/// Pixels well inside of a cell's diamond, relative to the cell's corner, with source and destination colour.
fn inside([_, _, width, height]: Cell) -> Vec<(usize, usize, Color, Color)> {
    let mut pixels = Vec::new();
    for y in 0..height as usize {
        for x in 0..width as usize {
            let (at_x, at_y) = (x as f64 + 0.5, y as f64 + 0.5);
            // In the first frame, diamonds are slightly right of the centre.
            let right = (at_x - 0.56 * width) / (0.42 * width);
            let down = (at_y - 0.5 * height) / (0.42 * height);
            if right.abs() + down.abs() < 0.85 {
                let fragment = mix(MIDDLE, if right < 0.0 { LEFT } else { RIGHT }, right.abs());
                pixels.push((x, y, fragment, mix(ABOVE, BELOW, at_y / height)));
            }
        }
    }
    pixels
}

fn factor(number: usize, channel: usize, s: Color, d: Color) -> f64 {
    let c = CONSTANT;
    let values = [s[channel], d[channel], s[3], d[3], c[channel], c[3]];
    match number {
        0 => 0.0,
        1 => 1.0,
        14 => s[3].min(1.0 - d[3]),
        n if n % 2 == 0 => values[n / 2 - 1],
        n => 1.0 - values[n / 2 - 1],
    }
}

fn logic(number: usize, s: u8, d: u8) -> u8 {
    // Truth tables in the chart's order: bit 3 for s and d, bit 2 for s alone, bit 1 for d alone, bit 0 for neither.
    const TRUTH: [u8; LOGIC] = [0, 8, 4, 12, 2, 10, 6, 14, 1, 9, 5, 13, 3, 11, 7, 15];
    let pairs = [!s & !d, !s & d, s & !d, s & d];
    (0..4).filter(|bit| TRUTH[number] >> bit & 1 == 1).map(|bit| pairs[bit]).fold(0, |all, bits| all | bits)
}

/// Reads pixels of a picture by their position in a cell.
struct Reader<'p>(&'p Picture);

impl Reader<'_> {
    fn pixel(&self, cell: Cell, x: usize, y: usize) -> Result<[u8; 3]> {
        self.0.pixel(cell[0] as usize + x, cell[1] as usize + y).context("a cell is partly outside of the picture")
    }
}

/// The colour that the picture has, with the alpha that it should have.
fn seen(rgb: [u8; 3], expected: Color) -> Color {
    let [red, green, blue] = rgb.map(|channel| f64::from(channel) / 255.0);
    [red, green, blue, expected[3]]
}

fn scaled(color: [f64; 3]) -> [f64; 3] {
    color.map(|channel| 255.0 * channel.clamp(0.0, 1.0))
}

/// Compares the whole chart.
pub(super) fn check(picture: &Picture) -> Result<String> {
    let read = Reader(picture);
    let mut compared = 0;
    let (source, target) = (factor_cell(1, 0), factor_cell(0, 1));
    for &(x, y, s, d) in &inside(source) {
        for (cell, expected) in [(source, s), (target, d)] {
            let (pixel, rgb) = (read.pixel(cell, x, y)?, [expected[0], expected[1], expected[2]]);
            ensure!(is_near(pixel, scaled(rgb), 4.0), "({x}, {y}) of {cell:?} is {pixel:?} instead of {expected:?}");
        }
        let (s, d) = (seen(read.pixel(source, x, y)?, s), seen(read.pixel(target, x, y)?, d));
        for column in 0..FACTORS {
            for row in 0..FACTORS {
                let expected = [0, 1, 2].map(|n| s[n] * factor(column, n, s, d) + d[n] * factor(row, n, s, d));
                let pixel = read.pixel(factor_cell(column, row), x, y)?;
                ensure!(
                    is_near(pixel, scaled(expected), TOLERANCE),
                    "factors {column} and {row}: ({x}, {y}) is {pixel:?} instead of {:.1?}",
                    scaled(expected)
                );
                compared += 1;
            }
        }
    }
    compared += check_large(&read)?;
    Ok(format!("{compared} pixels are as the specifications define"))
}

/// Whether a channel is the result of an operation on two values, each of which may differ by one: the same gradient at another position is rounded
/// differently.
fn is_made_of(is: u8, s: u8, d: u8, operation: impl Fn(u8, u8) -> u8) -> bool {
    let near = |channel: u8| channel.saturating_sub(1)..=channel.saturating_add(1);
    near(s).any(|s| near(d).any(|d| operation(s, d) == is))
}

/// Equations, logic operations and masks.
fn check_large(read: &Reader<'_>) -> Result<usize> {
    let mut compared = 0;
    let cell = |number| large_cell(254.0, number);
    for (x, y, ..) in inside(cell(0)) {
        let (s, d) = (read.pixel(cell(COPY), x, y)?, read.pixel(cell(NOOP), x, y)?);
        for number in 0..LOGIC {
            let pixel = read.pixel(cell(number), x, y)?;
            ensure!(
                (0..3).all(|n| is_made_of(pixel[n], s[n], d[n], |s, d| logic(number, s, d))),
                "logic operation {number}: ({x}, {y}) is {pixel:?}, of {s:?} and {d:?}"
            );
        }
        for (number, mask) in MASKS.into_iter().enumerate() {
            let pixel = read.pixel(cell(LOGIC + number), x, y)?;
            ensure!(
                (0..3).all(|n| is_made_of(pixel[n], s[n], d[n], |s, d| s & mask[n] | d & !mask[n])),
                "mask {number}: ({x}, {y}) is {pixel:?}, of {s:?} and {d:?}"
            );
        }
        for (number, name) in EQUATIONS.into_iter().enumerate() {
            let expected = [0, 1, 2].map(|n| {
                let (s, d) = (f64::from(s[n]), f64::from(d[n]));
                [s + d, s - d, d - s, s.min(d), s.max(d)][number].clamp(0.0, 255.0)
            });
            let pixel = read.pixel(large_cell(112.0, number), x, y)?;
            ensure!(is_near(pixel, expected, 2.0), "{name}: ({x}, {y}) is {pixel:?} instead of {expected:?}");
        }
        compared += LOGIC + MASKS.len() + EQUATIONS.len();
    }
    Ok(compared)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_of_truth() {
        let check = |number, expected| assert_eq!(logic(number, 0b1100, 0b1010) & 0b1111, expected, "{number}");
        check(1, 0b1000);
        check(6, 0b0110);
        check(10, 0b0101);
        check(14, 0b0111);
    }
}
