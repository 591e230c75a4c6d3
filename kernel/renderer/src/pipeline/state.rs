//! State of a pipeline.

use v3d::draw_state::DrawState;
use v3d::hw::control_list::{DepthOffset, Float187, Oversample};

use super::PipelineDescriptor;
use super::blend::AlphaTest;
use crate::error::Error;

pub use shader_interface::tail::{Compare, Depth};

/// Samples per pixel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Samples {
    /// One, at the pixel's centre.
    One,
    /// Four; the target receives their average.
    Four,
}

impl Samples {
    /// How many there are.
    pub const fn count(self) -> u8 {
        match self {
            Self::One => 1,
            Self::Four => 4,
        }
    }
}

/// Which faces of triangles are culled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cull {
    /// None.
    None,
    /// Front faces.
    Front,
    /// Back faces.
    Back,
}

/// Which triangles are front faces, by the winding of their corners on the screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrontFace {
    /// Counterclockwise ones, as in OpenGL.
    CounterClockwise,
    /// Clockwise ones.
    Clockwise,
}

/// An offset added to the depths of triangles: `factor` times the slope, plus `units` times the smallest depth
/// difference.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PolygonOffset {
    /// Multiplied by the triangle's slope.
    pub factor: f32,
    /// Added to all triangles alike.
    pub units: f32,
}

impl PolygonOffset {
    /// No offset.
    pub const NONE: Self = Self { factor: 0.0, units: 0.0 };
}

/// Returns an error for numbers that are out of range.
pub(super) fn check<V, U, F, const N: usize>(descriptor: &PipelineDescriptor<'_, V, U, F, N>) -> Result<(), Error> {
    let PipelineDescriptor { label, polygon_offset, line_width_px, point_size_px, .. } = *descriptor;
    for (what, value, positive) in [
        ("a line width", line_width_px, true),
        ("a point size", point_size_px, true),
        ("an offset for slopes", polygon_offset.factor, false),
        ("an offset of depths", polygon_offset.units, false),
    ] {
        if !value.is_finite() || (positive && value <= 0.0) {
            return Err(Error::Number { label, what, value });
        }
    }
    Ok(())
}

/// The fixed-function state, with a viewport that each pass replaces.
pub(super) fn draw_state<V, U, F, const N: usize>(descriptor: &PipelineDescriptor<'_, V, U, F, N>) -> DrawState {
    let PipelineDescriptor { depth, cull, front, polygon_offset, line_width_px, point_size_px, .. } = *descriptor;
    let mut state = DrawState::display(0, 0);
    let bits = &mut state.configuration;
    bits.depth_test = depth.test.function();
    bits.z_updates = depth.write;
    // Early Z supports only limits that decrease, and it discards fragments by their triangle's depth before any other test.
    let late = descriptor.fragment.writes_depth()
        || descriptor.stencil.is_some_and(|stencil| !stencil.keeps_on_depth_fail())
        || descriptor.alpha_test != AlphaTest::NONE
        || descriptor.alpha_to_coverage;
    bits.early_z = matches!(depth.test, Compare::Less | Compare::LessOrEqual) && !late;
    if descriptor.samples == Samples::Four {
        bits.oversample = Oversample::X4;
    }
    bits.early_z_updates = bits.early_z && depth.write;
    bits.forward_facing = cull != Cull::Front;
    bits.reverse_facing = cull != Cull::Back;
    // The first row in memory is the top of the picture, which mirrors the winding.
    bits.clockwise = front == FrontFace::CounterClockwise;
    bits.depth_offset = polygon_offset != PolygonOffset::NONE;
    let PolygonOffset { factor, units } = polygon_offset;
    state.depth_offset = DepthOffset { units: Float187::truncate(units), factor: Float187::truncate(factor) };
    state.flat_varyings = descriptor.fragment.flat_varyings();
    state.line_width_px = line_width_px;
    state.point_size_px = point_size_px;
    state
}
