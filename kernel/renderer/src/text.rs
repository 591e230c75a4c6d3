//! Text that the GPU draws: letters of dots, in rectangles of shaded vertices.
//!
//! Text stands still and has one colour, so nothing has to be transformed: it goes through the NV pipeline in screen coordinates. Adjacent dots of a
//! column are one rectangle, which halves the triangles.

use alloc::vec::Vec;
use v3d::draw_state::Viewport;
use v3d::hw::shaded_vertex::ScreenXy;

use crate::font::{self, COLUMNS, ROWS};
use crate::shaded_vertex::ShadedVertex;

/// Where and how text is drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Style {
    /// Left edge of the first letter, in pixels from the picture's left edge.
    pub x_px: u16,
    /// Top edge of the first line, in pixels from the display's top.
    pub y_px: u16,
    /// Side of a dot in pixels.
    pub dot_px: u16,
    /// Red, green, blue, 0 to 1.
    pub color: [f32; 3],
}

impl Style {
    /// Distance from one letter to the next, in pixels.
    pub const fn advance_px(&self) -> u16 {
        self.dot_px * (COLUMNS as u16 + 1)
    }

    /// Distance from one line to the next, in pixels.
    pub const fn line_px(&self) -> u16 {
        self.dot_px * (ROWS as u16 + 2)
    }
}

/// The triangles of a text, in front of everything. A line feed begins a new line; what is outside of the picture's coordinates is left out.
pub fn triangles(text: &str, style: &Style, viewport: &Viewport) -> Vec<ShadedVertex<3>> {
    let mut vertices = Vec::new();
    let (mut x, mut y) = (i32::from(style.x_px), i32::from(style.y_px));
    for character in text.chars() {
        if character == '\n' {
            x = i32::from(style.x_px);
            y += i32::from(style.line_px());
            continue;
        }
        for (column, &dots) in font::glyph(character).iter().enumerate() {
            let left = x + column as i32 * i32::from(style.dot_px);
            for (top, bottom) in runs(dots) {
                let dot = i32::from(style.dot_px);
                rectangle(&mut vertices, style.color, viewport, [left, y + top * dot, left + dot, y + bottom * dot]);
            }
        }
        x += i32::from(style.advance_px());
    }
    vertices
}

/// First and end of each run of dots in a column.
fn runs(dots: u8) -> impl Iterator<Item = (i32, i32)> {
    let set = move |row: i32| row >= 0 && row < ROWS as i32 && dots >> row & 1 == 1;
    (0..ROWS as i32).filter(move |&row| set(row) && !set(row - 1)).map(move |top| {
        let end = (top..).find(|&row| !set(row)).unwrap_or(top);
        (top, end)
    })
}

/// Appends a rectangle's two triangles: left, top, right, bottom in pixels.
fn rectangle(vertices: &mut Vec<ShadedVertex<3>>, color: [f32; 3], viewport: &Viewport, sides: [i32; 4]) {
    let [left, top, right, bottom] = sides;
    let relative = |pixels: i32, center: i16| i16::try_from(16 * pixels - i32::from(center)).ok();
    let corner = |x: i32, y: i32| {
        let position = ScreenXy { x: relative(x, viewport.center_x)?, y: relative(y, viewport.center_y)? };
        Some(ShadedVertex { position, depth: 0.0, reciprocal_w: 1.0, varyings: color })
    };
    let corners = [(left, top), (right, top), (left, bottom), (left, bottom), (right, top), (right, bottom)];
    let corners: Option<Vec<_>> = corners.into_iter().map(|(x, y)| corner(x, y)).collect();
    vertices.extend(corners.into_iter().flatten());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_the_dots_of_a_column() {
        assert_eq!(runs(0b101_1011).collect::<Vec<_>>(), [(0, 2), (3, 5), (6, 7)]);
        assert_eq!(runs(0x7f).collect::<Vec<_>>(), [(0, 7)]);
        assert_eq!(runs(0).count(), 0);
    }

    #[test]
    fn letters_stand_beside_and_below_each_other() {
        let style = Style { x_px: 10, y_px: 20, dot_px: 2, color: [1.0; 3] };
        let viewport = Viewport::display(320, 180);
        let vertices = triangles("|\n|", &style, &viewport);
        // Two bars, each one column of seven dots: the third column of its letter.
        assert_eq!(vertices.len(), 12);
        let first = vertices[0].position;
        assert_eq!((first.x, first.y), (16 * 14 - 8 * 320, 16 * 20 - 8 * 180));
        let second = vertices[6].position;
        assert_eq!((second.x, second.y), (first.x, first.y + 16 * 18));
    }
}
