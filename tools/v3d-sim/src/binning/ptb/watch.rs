//! The watched pixel in the PTB: primitives that would cover it, but never get into the list of its tile.

use super::draw::{Coordinates, Draw};
use super::{Context, clip_window};
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

/// Adds what keeps the draw's current primitive, whose pieces are made, from the watched pixel.
#[cold]
pub(super) fn note(
    draw: &Draw,
    primitive: [u32; 3],
    coordinates: &[Coordinates; 3],
    is_clipped: bool,
    context: &mut Context<'_>,
) {
    let Some(pixel) = context.watched else { return };
    let (number, shader) = (draw.number, draw.state.shader.as_ref().map(|shader| shader.address()));
    let shader = shader.filter(|shader| shader.0 != 0);
    if draw.pieces.iter().any(|piece| covers(&piece.outline[..piece.corners], pixel)) {
        let window = clip_window(&draw.state);
        let inside = (window.x..window.x_end).contains(&i64::from(pixel.0))
            && (window.y..window.y_end).contains(&i64::from(pixel.1));
        if !inside {
            context.pixel_trace.record(draw.at, Event::OutsideWindow { primitive: number, shader });
        }
        return;
    }
    if !is_clipped {
        return;
    }
    let clip = &coordinates.map(|corner| corner.clip)[..draw.corners()];
    // Vertices behind the eye have no place on the screen.
    if clip.iter().any(|[.., w]| *w <= 0.0) {
        return;
    }
    if draw.whole(primitive, coordinates).is_some_and(|whole| covers(&whole.outline[..whole.corners], pixel)) {
        let beyond = |is: fn(f32, f32) -> bool| clip.iter().any(|&[.., z, w]| is(z, w));
        let planes = ClipPlanes { near: beyond(|z, w| z < -w), far: beyond(|z, w| z > w) };
        context.pixel_trace.record(draw.at, Event::Clipped { primitive: number, planes, shader });
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
