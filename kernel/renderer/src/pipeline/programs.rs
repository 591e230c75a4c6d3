//! The programs of a pipeline, without the types of their inputs.

use shader_interface::{Attribute, Ending, Fragment, Origin, PrimitiveKind, VertexShading};
use v3d::hw::control_list::Threading;

use crate::error::Error;

/// All programs, and the properties that they share.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Programs<'a> {
    /// Coordinate and vertex shader; without them, vertices are already shaded.
    pub(crate) vertex: Option<VertexCode<'a>>,
    pub(crate) fragment: FragmentCode<'a>,
    /// Bytes of a vertex in memory.
    pub(crate) vertex_bytes: usize,
    pub(crate) varyings: usize,
}

/// Coordinate and vertex shader.
#[derive(Clone, Copy, Debug)]
pub(crate) struct VertexCode<'a> {
    pub(crate) vertex: &'a [u64],
    pub(crate) coordinate: &'a [u64],
    pub(crate) attributes: &'a [Attribute],
    pub(crate) point_size: bool,
    pub(crate) vertex_origin: Option<&'static Origin>,
    pub(crate) coordinate_origin: Option<&'static Origin>,
}

impl VertexCode<'_> {
    pub(crate) const fn of<V, U, const N: usize>(programs: &VertexShading<V, U, N>) -> Self {
        Self {
            vertex: programs.vertex(),
            coordinate: programs.coordinate(),
            attributes: programs.attributes(),
            point_size: programs.point_size(),
            vertex_origin: programs.vertex_origin(),
            coordinate_origin: programs.coordinate_origin(),
        }
    }
}

/// The fragment shader.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FragmentCode<'a> {
    pub(crate) code: &'a [u64],
    pub(crate) threading: Threading,
    /// Instructions and threading mode for targets of half floats, if the program has a variant for them.
    pub(crate) half: Option<(&'a [u64], Threading)>,
    pub(crate) ending: Ending,
    pub(crate) primitive: PrimitiveKind,
    pub(crate) flat_varyings: u32,
    pub(crate) writes_depth: bool,
    pub(crate) discards: bool,
    pub(crate) origin: Option<&'static Origin>,
    pub(crate) half_origin: Option<&'static Origin>,
}

impl<'a> FragmentCode<'a> {
    pub(crate) const fn of<F, const N: usize>(fragment: &Fragment<F, N>) -> Self {
        Self {
            code: fragment.code(),
            threading: fragment.threading(),
            half: fragment.half(),
            ending: fragment.ending(),
            primitive: fragment.primitive(),
            flat_varyings: fragment.flat_varyings(),
            writes_depth: fragment.writes_depth(),
            discards: fragment.discards(),
            origin: fragment.origin(),
            half_origin: fragment.half_origin(),
        }
    }

    /// The variant for the target's colours: instructions and threading mode.
    pub(crate) fn for_colors(&self, label: &'static str, half_color: bool) -> Result<(&'a [u64], Threading), Error> {
        let impossible = |why| Err(Error::Impossible { label, why });
        match (self.ending, half_color) {
            (Ending::Color, true) => match self.half {
                Some(half) => Ok(half),
                None => impossible("the fragment shader is not for targets of half floats"),
            },
            (Ending::HalfColor, false) => impossible("the fragment shader is only for targets of half floats"),
            (Ending::Color, false) | (Ending::HalfColor, true) | (Ending::Own, _) => Ok((self.code, self.threading)),
        }
    }
}
