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
    // Early Z rejects fragments by their triangle's depth before any other test. It has one direction for a whole frame, which is this one.
    let nearer_passes = matches!(depth.test, Compare::Less | Compare::LessOrEqual);
    let discards =
        descriptor.fragment.discards() || descriptor.alpha_test != AlphaTest::NONE || descriptor.alpha_to_coverage;
    let changes_stencil = descriptor.stencil.is_some_and(|stencil| !stencil.keeps_where_hidden());
    bits.early_z = nearer_passes && !descriptor.fragment.writes_depth() && !discards && !changes_stencil;
    if descriptor.samples == Samples::Four {
        bits.oversample = Oversample::X4;
    }
    // That the depth of early Z rightly follows other draws, which may discard fragments or move depths away, is not published. Where a depth moves away
    // without updates, the binning list turns early Z off.
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

#[cfg(test)]
mod tests {
    use super::super::Shading;
    use super::super::stencil::{Stencil, StencilChange, StencilSide};
    use super::*;
    use crate::shaded_vertex::ShadedVertex;
    use qpu_shaders::smooth;
    use shader_interface::{Fragment, NoUniforms};

    type Descriptor = PipelineDescriptor<'static, ShadedVertex<3>, NoUniforms, NoUniforms, 3>;

    const WITH_OWN_DEPTH: Fragment<NoUniforms, 3> = smooth::FRAGMENT.writing_depth();
    const DISCARDING: Fragment<NoUniforms, 3> = smooth::FRAGMENT.discarding();

    /// Early Z and its updates in a pipeline with this depth test, and another change.
    fn check(depth: Depth, change: impl Fn(&mut Descriptor), expected: (bool, bool)) {
        let mut descriptor = Descriptor::new("early Z", Shading::PreShaded, &smooth::FRAGMENT);
        descriptor.depth = depth;
        change(&mut descriptor);
        let bits = draw_state(&descriptor).configuration;
        assert_eq!((bits.early_z, bits.early_z_updates), expected, "{descriptor:?}");
    }

    #[test]
    fn early_z_is_on_for_nearer_depths_that_nothing_else_decides_about() {
        for test in Compare::ALL {
            let on = matches!(test, Compare::Less | Compare::LessOrEqual);
            check(Depth { test, write: true }, |_| (), (on, on));
            check(Depth { test, write: false }, |_| (), (on, false));
        }
        let off = (false, false);
        check(Depth::LESS, |descriptor| descriptor.fragment = &WITH_OWN_DEPTH, off);
        check(Depth::LESS, |descriptor| descriptor.fragment = &DISCARDING, off);
        let tested = AlphaTest { test: Compare::Greater, reference: 1 };
        check(Depth::LESS, |descriptor| descriptor.alpha_test = tested, off);
        check(Depth::LESS, |descriptor| descriptor.alpha_to_coverage = true, off);
    }

    /// A fragment that is hidden may still change the stencil, in two ways: it fails the stencil test, or it passes that and fails the depth test.
    #[test]
    fn early_z_is_off_where_hidden_fragments_change_the_stencil() {
        let keep = StencilSide::KEEP;
        let replace = StencilChange::Replace;
        for (side, on) in [
            (keep, true),
            (StencilSide { pass: replace, ..keep }, true),
            (StencilSide { depth_fail: replace, ..keep }, false),
            (StencilSide { fail: replace, ..keep }, false),
        ] {
            for stencil in
                [Stencil::both(side), Stencil { front: keep, back: side }, Stencil { front: side, back: keep }]
            {
                check(Depth::LESS, |descriptor| descriptor.stencil = Some(stencil), (on, on));
            }
        }
    }
}
