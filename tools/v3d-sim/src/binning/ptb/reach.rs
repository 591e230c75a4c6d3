//! How far from the picture vertices may be that no shader has made and no clipper clips: those of NV mode.
//!
//! They have 16 bits in 1/16 pixel, but boards lose triangles long before those are used up, without any sign. [`FarVertex`] says what is known.

use crate::fault::binning::FarVertex;
use crate::state::PipelineState;
use v3d_hw::shaded_vertex::ScreenXy;

/// The greatest distance at which boards were seen to draw, in half widths.
const SAFE_DISTANCE: f32 = 7.0;
/// Steps of half a pixel.
const HALF_PIXEL: f32 = 8.0;

/// What distances are measured by.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Reach {
    /// Middle, in 1/16 pixel from the viewport's centre.
    middle: [f32; 2],
    /// Half of the size in 1/16 pixel.
    half: [f32; 2],
    relative_to: &'static str,
}

impl Reach {
    /// The viewport of a state, or else its clip window; `None` if that has no area.
    pub(super) fn of(state: &PipelineState) -> Option<Self> {
        let viewport = [state.clipper_xy.half_width.abs(), state.clipper_xy.half_height.abs()];
        let has_area = |half: [f32; 2]| half.iter().all(|half| *half > 0.0 && half.is_finite());
        if has_area(viewport) {
            return Some(Self { middle: [0.0; 2], half: viewport, relative_to: "viewport" });
        }
        let (window, offset) = (state.clip_window, state.viewport_offset);
        let half = [window.width, window.height].map(|size| f32::from(size) * HALF_PIXEL);
        let first = [window.left, window.bottom].map(|first| 2.0 * f32::from(first) * HALF_PIXEL);
        let middle = [first[0] + half[0] - f32::from(offset.x), first[1] + half[1] - f32::from(offset.y)];
        has_area(half).then_some(Self { middle, half, relative_to: "clip window" })
    }

    /// What is wrong with the position of a vertex, if anything is.
    pub(super) fn check(&self, vertex: u32, position: ScreenXy) -> Option<FarVertex> {
        let distance = |axis: usize, at: i16| (f32::from(at) - self.middle[axis]).abs() / self.half[axis];
        let far = |(distance, of): &(f32, &'static str)| {
            let relative_to = self.relative_to;
            (*distance > SAFE_DISTANCE).then_some(FarVertex { vertex, distance: *distance, of, relative_to })
        };
        [(distance(0, position.x), "widths"), (distance(1, position.y), "heights")].iter().find_map(far)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use v3d_hw::control_list::{ClipWindow, ClipperXyScaling, ViewportOffset};

    fn state(width: u16, height: u16) -> PipelineState {
        PipelineState { clip_window: ClipWindow { left: 0, bottom: 0, width, height }, ..PipelineState::default() }
    }

    /// Whether a column of pixels, counted from the left edge of the picture, is too far.
    fn is_far(state: &PipelineState, x_px: i16) -> bool {
        let x = (i32::from(x_px) * 16 - i32::from(state.viewport_offset.x)) as i16;
        Reach::of(state).and_then(|reach| reach.check(3, ScreenXy { x, y: 0 })).is_some()
    }

    #[test]
    fn what_boards_drew_is_safe_and_what_they_lost_is_not() {
        for (width, x) in [(320, -960), (320, 1280), (640, -1000), (640, 1640)] {
            assert!(!is_far(&state(width, 240), x), "{x} of {width}");
        }
        for (width, x) in [(320, -1120), (320, 1440)] {
            assert!(is_far(&state(width, 240), x), "{x} of {width}");
        }
    }

    #[test]
    fn the_viewport_counts_before_the_clip_window() {
        let scissored = PipelineState {
            viewport_offset: ViewportOffset { x: 2560, y: 1920 },
            clipper_xy: ClipperXyScaling { half_width: 2560.0, half_height: -1920.0 },
            ..state(4, 4)
        };
        assert!(!is_far(&scissored, 319));
        let far = Reach::of(&scissored).and_then(|reach| reach.check(9, ScreenXy { x: 0, y: 7 * 1920 + 1 })).unwrap();
        assert_eq!((far.vertex, far.of, far.relative_to), (9, "heights", "viewport"));
        assert!(is_far(&PipelineState { clipper_xy: ClipperXyScaling::default(), ..scissored }, 319));
    }
}
