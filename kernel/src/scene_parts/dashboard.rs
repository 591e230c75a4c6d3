//! The dashboard of the scene `ui`, drawn with embedded-graphics
//!
//! It can be drawn to any `DrawTarget`: to the kernel's draw list, and to framebuffers.

use alloc::{collections::BTreeMap, format, vec::Vec};
use core::f32::consts::TAU;

use embedded_graphics::{
    mono_font::{
        MonoTextStyle,
        ascii::{FONT_7X13, FONT_10X20},
    },
    pixelcolor::Rgb888,
    prelude::*,
    primitives::{Arc, Polyline, PrimitiveStyle, PrimitiveStyleBuilder, Rectangle, StrokeAlignment},
    text::{Alignment, Baseline, Text, TextStyleBuilder},
};
use renderer::glam::{FloatExt, Vec2};
use v3d::statistics::Statistics;

/// Width and height of the dashboard in pixels.
pub const SIZE: [i32; 2] = [1280, 720];
/// Cells of the field.
pub const MAX_CELLS: usize = 10_000;

/// Layout of the field's cells: left and top of the first cell, number of columns and rows, and spacing in pixels.
const FIELD: [i32; 2] = [69, 172];
const COLUMNS: i32 = 125;
const ROWS: i32 = 80;
const CELL: i32 = 6;

const TEXT: Rgb888 = Rgb888::new(226, 232, 240);
const MUTED: Rgb888 = Rgb888::new(122, 136, 158);
const RAIL: Rgb888 = Rgb888::new(42, 52, 70);
const ACCENT: Rgb888 = Rgb888::new(56, 208, 190);
const WARM: Rgb888 = Rgb888::new(255, 170, 76);
const BAR: Rgb888 = Rgb888::new(24, 74, 82);
const BAD: Rgb888 = Rgb888::new(240, 82, 82);

/// How many cells of the field are lit at a time in sixtieths of a second: more from frame to frame, up to [`MAX_CELLS`].
#[must_use]
pub fn glowing(tick: u64) -> usize {
    usize::try_from(3600 + 40 * tick).map_or(MAX_CELLS, |count| count.min(MAX_CELLS))
}

/// A cell of the field.
#[derive(Clone, Copy, Debug)]
struct Cell {
    column: i32,
    row: i32,
    /// Index of its distance from the centre of the waves.
    distance: usize,
}

/// The field's cells, ordered by distance from its centre.
#[derive(Debug)]
pub struct Field {
    cells: Vec<Cell>,
    /// The cells' distances from the centre of the waves, each of them once: most are those of several cells.
    distances: Vec<f32>,
    /// The cells of the middle row, from left to right.
    middle_row: Vec<Cell>,
}

impl Default for Field {
    fn default() -> Self {
        Self::new()
    }
}

impl Field {
    /// All cells.
    #[must_use]
    pub fn new() -> Self {
        let (mut known, mut distances) = (BTreeMap::new(), Vec::new());
        let mut cell = |column: i32, row: i32| {
            let twice = [2 * column - COLUMNS, 2 * row - ROWS];
            let distance = *known.entry(twice[0].pow(2) + twice[1].pow(2)).or_insert_with(|| {
                distances.push(Vec2::from(twice.map(|twice| twice as f32 / 2.0)).length());
                distances.len() - 1
            });
            Cell { column, row, distance }
        };
        let places = (0..ROWS).flat_map(|row| (0..COLUMNS).map(move |column| (column, row)));
        let mut cells: Vec<_> = places.map(|(column, row)| cell(column, row)).collect();
        let middle_row = cells.iter().filter(|cell| cell.row == ROWS / 2).copied().collect();
        // Twice the distance: the centre is between four cells, or on one.
        cells.sort_by_key(|cell| (2 * cell.column - COLUMNS + 1).pow(2) + (2 * cell.row - ROWS + 1).pow(2));
        Self { cells, distances, middle_row }
    }

    /// The waves at a time in sixtieths of a second.
    #[must_use]
    pub fn waves(&self, tick: u64) -> Waves {
        let sine = |angle: f32| Vec2::from_angle(angle).y;
        let time = (tick % 3600) as f32 * TAU / 180.0;
        Waves {
            along_columns: core::array::from_fn(|column| sine(0.09 * column as f32 + time)),
            along_rows: core::array::from_fn(|row| sine(0.11 * row as f32 - time)),
            outwards: self.distances.iter().map(|distance| sine(0.17 * distance - 2.0 * time)).collect(),
        }
    }
}

/// Three waves over the field: sines are costly for a CPU, so that each is computed once.
#[derive(Debug)]
pub struct Waves {
    along_columns: [f32; COLUMNS as usize],
    along_rows: [f32; ROWS as usize],
    /// By the index of the distance from the centre.
    outwards: Vec<f32>,
}

impl Waves {
    /// Their height at a cell, from -3 to 3.
    fn at(&self, cell: &Cell) -> f32 {
        let Cell { column, row, distance } = *cell;
        self.along_columns[column as usize] + self.along_rows[row as usize] + self.outwards[distance]
    }
}

/// Interpolates between four colours, by a value from 0 to 1.
fn glow(value: f32) -> Rgb888 {
    const STOPS: [[f32; 3]; 4] =
        [[28.0, 30.0, 74.0], [112.0, 52.0, 150.0], [238.0, 108.0, 92.0], [255.0, 220.0, 130.0]];
    let place = value.clamp(0.0, 1.0) * 3.0;
    let first = (place as usize).min(2);
    let [red, green, blue] =
        core::array::from_fn(|n| STOPS[first][n].lerp(STOPS[first + 1][n], place - first as f32) as u8);
    Rgb888::new(red, green, blue)
}

/// Draws waves over a field of cells, from the centre outwards, and the frame's number above it.
///
/// # Errors
/// The target's.
pub fn field<D: DrawTarget<Color = Rgb888>>(
    target: &mut D,
    field: &Field,
    waves: &Waves,
    tick: u64,
    frame: u64,
) -> Result<(), D::Error> {
    let style = MonoTextStyle::new(&FONT_7X13, MUTED);
    Text::with_alignment(&format!("frame {frame}"), Point::new(818, 144), style, Alignment::Right).draw(target)?;
    let count = glowing(tick);
    for (index, cell) in field.cells.iter().take(count).enumerate() {
        let at = Point::new(FIELD[0] + CELL * cell.column, FIELD[1] + CELL * cell.row);
        // The outermost cells are small and dark.
        let edge = if count == MAX_CELLS { 1.0 } else { ((count - index) as f32 / 900.0).min(1.0) };
        let size = (1.0 + 4.0 * edge) as u32;
        let inset = Point::new_equal((5 - size as i32) / 2);
        let color = glow((0.5 + waves.at(cell) / 5.2) * edge);
        target.fill_solid(&Rectangle::new(at + inset, Size::new_equal(size)), color)?;
    }
    Ok(())
}

/// Draws the share of lit cells as an arc.
///
/// # Errors
/// The target's.
pub fn gauge<D: DrawTarget<Color = Rgb888>>(target: &mut D, tick: u64) -> Result<(), D::Error> {
    let center = Point::new(966, 272);
    let count = glowing(tick);
    let arc = |sweep: f32, color| {
        let style = PrimitiveStyleBuilder::new().stroke_color(color).stroke_width(16);
        let style = style.stroke_alignment(StrokeAlignment::Inside).build();
        Arc::with_center(center, 164, 135.0.deg(), sweep.deg()).into_styled(style)
    };
    arc(270.0, RAIL).draw(target)?;
    arc(270.0 * count as f32 / MAX_CELLS as f32, ACCENT).draw(target)?;
    let middle = TextStyleBuilder::new().alignment(Alignment::Center).baseline(Baseline::Middle).build();
    let large = MonoTextStyle::new(&FONT_10X20, TEXT);
    let small = MonoTextStyle::new(&FONT_7X13, MUTED);
    Text::with_text_style(&format!("{count}"), center - Point::new(0, 6), large, middle).draw(target)?;
    Text::with_text_style("cells", center + Point::new(0, 16), small, middle).draw(target)?;
    Text::with_text_style(&format!("of {MAX_CELLS}"), center + Point::new(0, 66), small, middle).draw(target)?;
    Ok(())
}

/// Draws a label, and a number to its right.
fn line<D: DrawTarget<Color = Rgb888>>(
    target: &mut D,
    at: Point,
    width: i32,
    name: &str,
    value: &str,
) -> Result<(), D::Error> {
    Text::new(name, at, MonoTextStyle::new(&FONT_7X13, MUTED)).draw(target)?;
    let end = at + Point::new(width, 0);
    Text::with_alignment(value, end, MonoTextStyle::new(&FONT_7X13, TEXT), Alignment::Right).draw(target)?;
    Ok(())
}

/// Draws the work of the frame so far: rectangles, draws, triangles, bytes of vertices.
///
/// # Errors
/// The target's.
pub fn counters<D: DrawTarget<Color = Rgb888>>(target: &mut D, counts: [usize; 4]) -> Result<(), D::Error> {
    const NAMES: [&str; 4] = ["rectangles", "draws", "triangles", "vertex bytes"];
    const FULL_SCALE: [usize; 4] = [16_000, 20, 32_000, 1_000_000];
    const LAMPS: usize = 28;
    for (row, name) in NAMES.into_iter().enumerate() {
        let at = Point::new(1094, 184 + 56 * row as i32);
        line(target, at, 138, name, &format!("{}", counts[row]))?;
        let lit = LAMPS * counts[row] / FULL_SCALE[row];
        for lamp in 0..LAMPS {
            let color = match lamp {
                _ if lamp >= lit => RAIL,
                0..21 => ACCENT,
                _ => WARM,
            };
            let lamp = Rectangle::new(at + Point::new(5 * lamp as i32, 9), Size::new(3, 9));
            target.fill_solid(&lamp, color)?;
        }
    }
    Ok(())
}

/// Draws the number of failures since the driver was started.
///
/// # Errors
/// The target's.
pub fn health<D: DrawTarget<Color = Rgb888>>(target: &mut D, counted: &Statistics) -> Result<(), D::Error> {
    let rows = [
        ("jobs dropped", counted.jobs_dropped),
        ("jobs started again", counted.retries),
        ("resets of the V3D", counted.resets + counted.failed_resets),
    ];
    for (row, (name, count)) in rows.into_iter().enumerate() {
        let at = Point::new(1016, 444 + 30 * row as i32);
        let color = if count == 0 { ACCENT } else { BAD };
        target.fill_solid(&Rectangle::new(at - Point::new(0, 9), Size::new_equal(9)), color)?;
        line(target, at + Point::new(20, 0), 196, name, &format!("{count}"))?;
    }
    Ok(())
}

/// Draws the waves along the field's middle row.
///
/// # Errors
/// The target's.
pub fn profile<D: DrawTarget<Color = Rgb888>>(target: &mut D, field: &Field, waves: &Waves) -> Result<(), D::Error> {
    let (left, middle, step) = (881, 622, 2.8);
    let place = |cell: &Cell| {
        let up = waves.at(cell) * 13.0;
        Point::new(left + (cell.column as f32 * step) as i32, middle - up as i32)
    };
    let points: Vec<Point> = field.middle_row.iter().map(place).collect();
    for &top in &points {
        let bar = Rectangle::new(top, Size::new(2, (middle + 40 - top.y) as u32));
        target.fill_solid(&bar, BAR)?;
    }
    // A wide polyline visits all of its segments in each row of pixels, so it is drawn in short pieces. A piece begins with the last segment of the one before,
    // whose joint it has then, too.
    const PIECE: usize = 8;
    for first in (0..points.len()).step_by(PIECE) {
        let piece = &points[first..points.len().min(first + PIECE + 2)];
        Polyline::new(piece).into_styled(PrimitiveStyle::with_stroke(ACCENT, 2)).draw(target)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use core::convert::Infallible;

    use super::*;

    /// Counts fills, and pixels outside of the dashboard.
    #[derive(Default)]
    struct Count {
        fills: usize,
        outside: usize,
    }

    impl OriginDimensions for Count {
        fn size(&self) -> Size {
            Size::new(SIZE[0] as u32, SIZE[1] as u32)
        }
    }

    impl DrawTarget for Count {
        type Color = Rgb888;
        type Error = Infallible;

        fn draw_iter<I: IntoIterator<Item = Pixel<Rgb888>>>(&mut self, pixels: I) -> Result<(), Infallible> {
            let all = self.bounding_box();
            self.outside += pixels.into_iter().filter(|Pixel(at, _)| !all.contains(*at)).count();
            Ok(())
        }

        fn fill_solid(&mut self, area: &Rectangle, color: Rgb888) -> Result<(), Infallible> {
            self.fills += 1;
            self.fill_contiguous(area, core::iter::repeat_n(color, (area.size.width * area.size.height) as usize))
        }
    }

    #[test]
    fn cells_are_the_field_from_its_centre_outwards() {
        let field = Field::new();
        let mut cells: Vec<_> = field.cells.iter().map(|cell| [cell.column, cell.row]).collect();
        assert_eq!((cells.len(), cells[0]), (MAX_CELLS, [62, 39]));
        assert_eq!(cells.last().map(|[column, row]| (column % 124, row % 79)), Some((0, 0)), "a corner");
        cells.sort_unstable();
        cells.dedup();
        assert_eq!(cells.len(), MAX_CELLS);
        assert!(field.distances.len() < MAX_CELLS / 3, "{} sines", field.distances.len());
    }

    #[test]
    fn waves_are_sines_of_the_place() {
        let field = Field::new();
        let waves = field.waves(77);
        let time = 77.0 * TAU / 180.0;
        for cell in field.cells.iter().step_by(97).chain(&field.middle_row) {
            let (x, y) = (cell.column as f32, cell.row as f32);
            let from_center = (x - 62.5).hypot(y - 40.0);
            let expected = (0.09 * x + time).sin() + (0.11 * y - time).sin() + (0.17 * from_center - 2.0 * time).sin();
            assert!((waves.at(cell) - expected).abs() < 1e-5, "{cell:?}");
        }
        assert!(
            field.middle_row.iter().map(|cell| [cell.column, cell.row]).eq((0..COLUMNS).map(|column| [column, 40]))
        );
    }

    #[test]
    fn at_its_fullest_the_field_has_ten_thousand_fills() {
        let fills = |number| {
            let mut count = Count::default();
            let all = Field::new();
            let Ok(()) = field(&mut count, &all, &all.waves(number), number, number);
            (count.fills, count.outside)
        };
        assert_eq!(
            [0, 1, 159, 160, u64::MAX / 50].map(fills),
            [(3600, 0), (3640, 0), (9960, 0), (10_000, 0), (10_000, 0)]
        );
    }

    #[test]
    fn nothing_leaves_the_dashboard() {
        let field = Field::new();
        for number in (0..720).step_by(45) {
            let mut count = Count::default();
            let Ok(()) = gauge(&mut count, number);
            let Ok(()) = profile(&mut count, &field, &field.waves(number));
            let Ok(()) = health(&mut count, &Statistics::default());
            let Ok(()) = counters(&mut count, [16_000, 20, 32_000, 1_000_000]);
            assert_eq!(count.outside, 0, "frame {number}");
        }
    }
}
