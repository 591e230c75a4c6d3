//! State of a pipeline.

use v3d::draw_state::DrawState;
use v3d::hw::control_list::{DepthOffset, Float187, Oversample};

use super::blend::{AlphaTest, Blend, Logic};
use super::programs::FragmentCode;
use super::stencil::Stencil;
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

/// The fixed state of a pipeline, without its programs; [`PipelineDescriptor`](super::PipelineDescriptor) describes the fields.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct State {
    /// Whether it draws to targets of half floats.
    pub half_color: bool,
    /// Depth test.
    pub depth: Depth,
    /// Stencil test, if there is one.
    pub stencil: Option<Stencil>,
    /// How the fragment shader's colour is combined with the pixel's.
    pub blend: Blend,
    /// A bitwise operation on colours, instead of blending.
    pub logic: Logic,
    /// The bits of each channel that are written: red, green, blue, alpha.
    pub color_mask: [u8; 4],
    /// A test of the fragment's alpha.
    pub alpha_test: AlphaTest,
    /// Samples per pixel.
    pub samples: Samples,
    /// Whether alpha determines how many of four samples are written.
    pub alpha_to_coverage: bool,
    /// Which faces are culled.
    pub cull: Cull,
    /// The winding of front faces.
    pub front: FrontFace,
    /// An offset added to depths.
    pub polygon_offset: PolygonOffset,
    /// Width of lines in pixels.
    pub line_width_px: f32,
    /// Width and height of points in pixels, unless vertices carry a size.
    pub point_size_px: f32,
}

impl State {
    /// No depth test, blending or culling: each draw replaces the pixels that it covers. Targets have 8 bits per channel.
    pub const PLAIN: Self = Self {
        half_color: false,
        depth: Depth::NONE,
        stencil: None,
        blend: Blend::NONE,
        logic: Logic::Copy,
        color_mask: [0xff; 4],
        alpha_test: AlphaTest::NONE,
        samples: Samples::One,
        alpha_to_coverage: false,
        cull: Cull::None,
        front: FrontFace::CounterClockwise,
        polygon_offset: PolygonOffset::NONE,
        line_width_px: 1.0,
        point_size_px: 1.0,
    };
}

/// Returns an error for numbers that are out of range.
pub(super) fn check(label: &'static str, state: &State) -> Result<(), Error> {
    let State { polygon_offset, line_width_px, point_size_px, .. } = *state;
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
pub(super) fn draw_state(pipeline: &State, fragment: &FragmentCode<'_>) -> DrawState {
    let State { depth, cull, front, polygon_offset, line_width_px, point_size_px, .. } = *pipeline;
    let mut state = DrawState::display(0, 0);
    let bits = &mut state.configuration;
    bits.depth_test = depth.test.function();
    bits.z_updates = depth.write;
    // Early Z rejects fragments by their triangle's depth before any other test. The direction of its comparison is the same for a whole frame: less.
    let nearer_passes = matches!(depth.test, Compare::Less | Compare::LessOrEqual);
    let discards = fragment.discards || pipeline.alpha_test != AlphaTest::NONE || pipeline.alpha_to_coverage;
    let changes_stencil = pipeline.stencil.is_some_and(|stencil| !stencil.keeps_where_hidden());
    bits.early_z = nearer_passes && !fragment.writes_depth && !discards && !changes_stencil;
    if pipeline.samples == Samples::Four {
        bits.oversample = Oversample::X4;
    }
    // Whether early Z handles draws that discard fragments or increase depths is not published. If a draw may increase depths without updating early Z, the
    // binning list turns it off.
    bits.early_z_updates = bits.early_z && depth.write;
    bits.forward_facing = cull != Cull::Front;
    bits.reverse_facing = cull != Cull::Back;
    // The first row in memory is the top of the picture, which mirrors the winding.
    bits.clockwise = front == FrontFace::CounterClockwise;
    bits.depth_offset = polygon_offset != PolygonOffset::NONE;
    let PolygonOffset { factor, units } = polygon_offset;
    state.depth_offset = DepthOffset { units: Float187::truncate(units), factor: Float187::truncate(factor) };
    state.flat_varyings = fragment.flat_varyings;
    state.line_width_px = line_width_px;
    state.point_size_px = point_size_px;
    state
}

#[cfg(test)]
mod tests {
    use super::super::stencil::{Stencil, StencilChange, StencilSide};
    use super::super::{PipelineDescriptor, Shading};
    use super::*;
    use crate::shaded_vertex::ShadedVertex;
    use qpu_shaders::smooth;
    use shader_interface::{Fragment, NoUniforms};

    type Descriptor = PipelineDescriptor<'static, ShadedVertex<3>, NoUniforms, NoUniforms, 3>;

    const WITH_OWN_DEPTH: Fragment<NoUniforms, 3> = smooth::FRAGMENT.writing_depth();
    const DISCARDING: Fragment<NoUniforms, 3> = smooth::FRAGMENT.discarding();

    /// Early Z and its updates in a pipeline with this depth test and one other change.
    fn check(depth: Depth, change: impl Fn(&mut Descriptor), expected: (bool, bool)) {
        let mut descriptor = Descriptor::new("early Z", Shading::PreShaded, &smooth::FRAGMENT);
        descriptor.depth = depth;
        change(&mut descriptor);
        let bits = draw_state(&descriptor.state(), &FragmentCode::of(descriptor.fragment)).configuration;
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

    /// A hidden fragment can change the stencil in two ways: it fails the stencil test, or it passes that and fails the depth test.
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
