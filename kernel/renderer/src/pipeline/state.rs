//! What a pipeline can say about how something is drawn.

use v3d::draw_state::DrawState;
use v3d::hw::control_list::{DepthOffset, Float187, Oversample};

use super::PipelineDescriptor;
use super::blend::AlphaTest;
use crate::error::Error;

pub use shader_interface::tail::{Compare, Depth};

/// Samples a pixel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Samples {
    /// One, at its centre.
    One,
    /// Four; a target gets their average.
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

/// Which faces of triangles are left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cull {
    /// None.
    None,
    /// Those that face the eye.
    Front,
    /// Those that do not.
    Back,
}

/// Which triangles face the eye, by how their corners run as they are seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrontFace {
    /// Those that run counterclockwise, as in OpenGL.
    CounterClockwise,
    /// Those that run clockwise.
    Clockwise,
}

/// What is added to the depths of triangles: `factor` times how steep they are, and `units` times the smallest difference.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PolygonOffset {
    /// For the slope.
    pub factor: f32,
    /// For all alike.
    pub units: f32,
}

impl PolygonOffset {
    /// Nothing is added.
    pub const NONE: Self = Self { factor: 0.0, units: 0.0 };
}

/// Refuses numbers that mean nothing.
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

/// The fixed functions' state, for a picture without size.
pub(super) fn draw_state<V, U, F, const N: usize>(descriptor: &PipelineDescriptor<'_, V, U, F, N>) -> DrawState {
    let PipelineDescriptor { depth, cull, front, polygon_offset, line_width_px, point_size_px, .. } = *descriptor;
    let mut state = DrawState::display(0, 0);
    let bits = &mut state.configuration;
    bits.depth_test = depth.test.function();
    bits.z_updates = depth.write;
    // Early Z only knows a limit that moves one way, and leaves fragments out before anything else is done with them, by the depth of their triangle.
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
    // Pictures are upright: the first row in memory is the top, which mirrors what runs which way.
    bits.clockwise = front == FrontFace::CounterClockwise;
    bits.depth_offset = polygon_offset != PolygonOffset::NONE;
    let PolygonOffset { factor, units } = polygon_offset;
    state.depth_offset = DepthOffset { units: Float187::truncate(units), factor: Float187::truncate(factor) };
    state.flat_varyings = descriptor.fragment.flat_varyings();
    state.line_width_px = line_width_px;
    state.point_size_px = point_size_px;
    state
}
