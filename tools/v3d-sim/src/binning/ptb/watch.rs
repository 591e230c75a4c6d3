//! The watched pixel in the PTB: primitives that would cover it, but never get into the list of its tile.

use super::draw::{Coordinates, Draw};
use super::pieces::{Piece, clip_window};
use crate::render::pixel_trace::{ClipPlanes, Event};

/// Whether a convex outline, in 1/16 pixel, has the centre of a pixel inside or on its edge.
pub fn covers(outline: &[(i64, i64)], (x, y): (u32, u32)) -> bool {
    let (x, y) = (i64::from(x) * 16 + 8, i64::from(y) * 16 + 8);
    let ends = outline.iter().cycle().skip(1);
    let mut sides = outline.iter().zip(ends).map(|(from, to)| {
        let side = (to.0 - from.0) * (y - from.1) - (to.1 - from.1) * (x - from.0);
        side.signum()
    });
    let sides: Vec<i64> = sides.by_ref().filter(|&side| side != 0).collect();
    !sides.is_empty() && sides.windows(2).all(|pair| pair[0] == pair[1])
}

/// A primitive as it is seen here.
pub(super) struct Seen<'a> {
    /// Its number in the draw.
    pub(super) number: usize,
    pub(super) coordinates: &'a [Coordinates; 3],
    /// Its pieces.
    pub(super) pieces: &'a [Piece],
    /// The clipper has cut or dropped it.
    pub(super) is_clipped: bool,
}

impl Seen<'_> {
    /// What keeps the primitive from the watched pixel, if it would cover that.
    #[cold]
    pub(super) fn event(&self, draw: &Draw, vertices: [u32; 3], pixel: (u32, u32)) -> Option<Event> {
        let Self { number: primitive, coordinates, pieces, is_clipped } = *self;
        let shader = draw.state.shader.as_ref().map(|shader| shader.address()).filter(|shader| shader.0 != 0);
        if pieces.iter().any(|piece| covers(piece.outline(), pixel)) {
            let window = clip_window(&draw.state);
            let inside = (window.x..window.x_end).contains(&i64::from(pixel.0))
                && (window.y..window.y_end).contains(&i64::from(pixel.1));
            return (!inside).then_some(Event::OutsideWindow { primitive, shader });
        }
        if !is_clipped {
            return None;
        }
        let clip = &coordinates.map(|corner| corner.clip)[..draw.corners()];
        // Vertices behind the eye have no place on the screen.
        if clip.iter().any(|[.., w]| *w <= 0.0) || !covers(draw.whole(vertices, coordinates)?.outline(), pixel) {
            return None;
        }
        let beyond = |is: fn(f32, f32) -> bool| clip.iter().any(|&[.., z, w]| is(z, w));
        let planes = ClipPlanes { near: beyond(|z, w| z < -w), far: beyond(|z, w| z > w) };
        Some(Event::Clipped { primitive, planes, shader })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outlines_cover_the_pixels_whose_centres_are_inside() {
        let check = |outline: &[(i64, i64)], pixel, expected| {
            assert_eq!(covers(outline, pixel), expected, "{outline:?}, {pixel:?}");
            let reversed: Vec<_> = outline.iter().rev().copied().collect();
            assert_eq!(covers(&reversed, pixel), expected, "{reversed:?}, {pixel:?}");
        };
        let triangle = [(0, 0), (64, 0), (0, 64)];
        check(&triangle, (0, 0), true);
        check(&triangle, (1, 1), true);
        check(&triangle, (2, 2), false);
        check(&triangle, (3, 0), true);
        check(&triangle, (4, 0), false);
        check(&[(0, 0), (64, 0), (0, 64), (0, 64)], (0, 3), true);
        check(&[(5, 5), (5, 5), (5, 5)], (0, 0), false);
    }
}
