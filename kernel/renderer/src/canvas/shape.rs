//! Antialiased shapes: rectangles, rounded rectangles, circles and lines, all of which are rounded boxes.

use glam::Vec2;

use super::{Canvas, SHAPE, SegmentKind};
use crate::error::Error;

/// A rounded box at any angle, filled or outlined.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shape {
    center: Vec2,
    /// Half the width and height, along the shape's axes.
    half: Vec2,
    radius: f32,
    /// Unit vector along the first axis.
    axis: Vec2,
    outline: Option<f32>,
}

impl Shape {
    /// A rectangle: left, top, width and height in pixels.
    pub fn rectangle(x: f32, y: f32, width: f32, height: f32) -> Self {
        let half = Vec2::new(width, height) / 2.0;
        Self { center: Vec2::new(x, y) + half, half, radius: 0.0, axis: Vec2::X, outline: None }
    }

    /// A circle: centre and radius in pixels.
    pub fn circle(x: f32, y: f32, radius: f32) -> Self {
        Self { center: Vec2::new(x, y), half: Vec2::splat(radius), radius, axis: Vec2::X, outline: None }
    }

    /// A line from one point to another with round ends.
    pub fn line(from: [f32; 2], to: [f32; 2], width: f32) -> Self {
        let (from, to) = (Vec2::from(from), Vec2::from(to));
        let (along, radius) = (to - from, width / 2.0);
        let half = Vec2::new(along.length() / 2.0 + radius, radius);
        Self { center: (from + to) / 2.0, half, radius, axis: along.normalize_or(Vec2::X), outline: None }
    }

    /// The same with rounded corners.
    #[must_use]
    pub fn rounded(self, radius: f32) -> Self {
        Self { radius: radius.min(self.half.min_element()), ..self }
    }

    /// The same, rotated by an angle around its centre.
    #[must_use]
    pub fn turned(self, angle: f32) -> Self {
        Self { axis: Vec2::from_angle(angle).rotate(self.axis), ..self }
    }

    /// Only the outline: a band of this width inside the edge.
    #[must_use]
    pub const fn outlined(self, width: f32) -> Self {
        Self { outline: Some(width), ..self }
    }
}

/// The colour of a shape: red, green, blue, alpha, not premultiplied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fill {
    top: [u8; 4],
    bottom: [u8; 4],
}

impl Fill {
    /// A gradient from the shape's top to its bottom, along its own axes.
    pub const fn vertical(top: [u8; 4], bottom: [u8; 4]) -> Self {
        Self { top, bottom }
    }
}

impl From<[u8; 4]> for Fill {
    fn from(color: [u8; 4]) -> Self {
        Self { top: color, bottom: color }
    }
}

/// A colour multiplied by its alpha, each channel 0 to 1.
pub(super) fn premultiplied(color: [u8; 4]) -> [f32; 4] {
    let [red, green, blue, alpha] = color.map(|channel| f32::from(channel) / 255.0);
    [red * alpha, green * alpha, blue * alpha, alpha]
}

impl Canvas {
    /// Draws a shape.
    ///
    /// # Errors
    /// When a coordinate is NaN or infinite, or the heap is full.
    pub fn shape(&mut self, shape: &Shape, fill: impl Into<Fill>) -> Result<(), Error> {
        let Shape { center, half, radius, axis, outline } = *shape;
        let center = center + self.origin;
        let Fill { top, bottom } = fill.into();
        let (top, bottom) = (premultiplied(top), premultiplied(bottom));
        let straight = half - radius;
        // Half of the band's width; a band as wide as the shape fills all of it.
        let band = outline.map_or(half.min_element().max(0.0) + 1.0, |width| width / 2.0);
        // The centres of the outermost pixels with partial coverage are half a pixel outside of the shape.
        let reach = half + 1.0;
        let corners = [Vec2::new(-1.0, -1.0), Vec2::new(1.0, -1.0), Vec2::ONE, Vec2::new(-1.0, 1.0)]
            .map(|corner| center + axis.rotate(corner * reach));
        let varyings =
            |at: Vec2| -> [f32; SHAPE] {
                let from_center = at - center;
                let place = Vec2::new(from_center.dot(axis), from_center.dot(axis.perp()));
                let down = (place.y / half.y.max(f32::MIN_POSITIVE) + 1.0) / 2.0;
                let color: [f32; 4] = core::array::from_fn(|n| {
                    if top[n] == bottom[n] { top[n] } else { top[n] + (bottom[n] - top[n]) * down }
                });
                [place.x, place.y, straight.x, straight.y, radius, band, color[0], color[1], color[2], color[3]]
            };
        let polygon = self.window.shade(self.label, &corners, varyings)?;
        self.segments.reserve(self.label)?;
        let count = self.shapes.append(self.label, polygon.vertices())?;
        self.note(SegmentKind::Shapes, count);
        Ok(())
    }
}
