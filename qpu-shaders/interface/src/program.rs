//! Programs: their instructions, and the types of their inputs.

use core::marker::PhantomData;
use v3d_hw::control_list::Threading;
use v3d_hw::qpu::Signal;

use crate::origin::{Origin, kept};
use crate::vertex::Attribute;

/// Coordinate and vertex shader for vertices `V` with uniforms `U`; the last parameter is the number of varyings that
/// they write.
#[derive(Clone, Copy, Debug)]
pub struct VertexShading<V, U, const VARYINGS: usize> {
    vertex: &'static [u64],
    coordinate: &'static [u64],
    attributes: &'static [Attribute],
    point_size: bool,
    vertex_origin: Option<&'static Origin>,
    coordinate_origin: Option<&'static Origin>,
    feeds: PhantomData<fn(V, U)>,
}

impl<V, U, const VARYINGS: usize> VertexShading<V, U, VARYINGS> {
    /// Creates a pair of programs that read these attributes of a vertex in memory. The caller guarantees that the types match their code.
    pub const fn new(vertex: &'static [u64], coordinate: &'static [u64], attributes: &'static [Attribute]) -> Self {
        let (vertex_origin, coordinate_origin) = (None, None);
        Self { vertex, coordinate, attributes, point_size: false, vertex_origin, coordinate_origin, feeds: PhantomData }
    }

    /// The same two programs, with their origins.
    #[must_use]
    pub const fn with_origins(self, vertex: &'static Origin, coordinate: &'static Origin) -> Self {
        Self { vertex_origin: kept(vertex), coordinate_origin: kept(coordinate), ..self }
    }

    /// The vertex shader's origin, on a target that keeps it.
    pub const fn vertex_origin(&self) -> Option<&'static Origin> {
        self.vertex_origin
    }

    /// The coordinate shader's origin, on a target that keeps it.
    pub const fn coordinate_origin(&self) -> Option<&'static Origin> {
        self.coordinate_origin
    }

    /// The same two programs, which write a point size after 1/Wc.
    #[must_use]
    pub const fn with_point_size(self) -> Self {
        Self { point_size: true, ..self }
    }

    /// Whether they write a point size.
    pub const fn point_size(&self) -> bool {
        self.point_size
    }

    /// The vertex shader's instructions.
    pub const fn vertex(&self) -> &'static [u64] {
        self.vertex
    }

    /// The coordinate shader's instructions.
    pub const fn coordinate(&self) -> &'static [u64] {
        self.coordinate
    }

    /// The layout of a vertex in memory.
    pub const fn attributes(&self) -> &'static [Attribute] {
        self.attributes
    }
}

/// The primitives that a fragment shader is for. Points and lines have implicit varyings, which it reads before those of the vertices.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PrimitiveKind {
    /// Triangles.
    #[default]
    Triangles,
    /// Lines.
    Lines,
    /// Points.
    Points,
}

impl PrimitiveKind {
    /// The name in the plural.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Triangles => "triangles",
            Self::Lines => "lines",
            Self::Points => "points",
        }
    }
}

/// How a fragment shader ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// It accesses the tile buffer and ends the program itself.
    Own,
    /// It leaves its end to the pipeline: the fragment's colour is in r0, red in the lowest byte, and rb15 holds the
    /// fragment's depth, either the initial one or the program's own. The pipeline appends the code for blending and tests.
    Color,
    /// It leaves its end to the pipeline: the fragment's red and green are in r0, blue and alpha in r1, as half floats,
    /// the first of two in the lower half; otherwise like [`Ending::Color`]. It renders to targets of 64 bits per pixel.
    HalfColor,
}

/// A fragment shader with uniforms `U`; the last parameter is the number of varyings that it reads.
#[derive(Clone, Copy, Debug)]
pub struct Fragment<U, const VARYINGS: usize> {
    code: &'static [u64],
    /// The variant for targets of half floats, if the program has one: instructions and threading mode.
    half: Option<(&'static [u64], Threading)>,
    threading: Threading,
    ending: Ending,
    primitive: PrimitiveKind,
    flat_varyings: u32,
    writes_depth: bool,
    discards: bool,
    origin: Option<&'static Origin>,
    half_origin: Option<&'static Origin>,
    feeds: PhantomData<fn(U)>,
}

impl<U, const VARYINGS: usize> Fragment<U, VARYINGS> {
    /// Creates a program. The caller guarantees that the types match its code.
    ///
    /// A program that is declared for two threads but never switches them is treated as single-threaded: on boards, a frame hangs that has such a program
    /// beside others that do switch [bm docs/DRIVERS.md].
    pub const fn new(code: &'static [u64], threading: Threading, ending: Ending) -> Self {
        let threading = threading_of(code, threading);
        let (primitive, flat_varyings, writes_depth, discards) = (PrimitiveKind::Triangles, 0, false, false);
        let (half, origin, half_origin, feeds) = (None, None, None, PhantomData);
        Self {
            code,
            half,
            threading,
            ending,
            primitive,
            flat_varyings,
            writes_depth,
            discards,
            origin,
            half_origin,
            feeds,
        }
    }

    /// The same program, with its origin.
    #[must_use]
    pub const fn with_origin(self, origin: &'static Origin) -> Self {
        Self { origin: kept(origin), ..self }
    }

    /// The same program, with the origin of its variant for half floats.
    #[must_use]
    pub const fn with_half_origin(self, origin: &'static Origin) -> Self {
        Self { half_origin: kept(origin), ..self }
    }

    /// Its origin, on a target that keeps it.
    pub const fn origin(&self) -> Option<&'static Origin> {
        self.origin
    }

    /// The origin of its variant for half floats, on a target that keeps it.
    pub const fn half_origin(&self) -> Option<&'static Origin> {
        self.half_origin
    }

    /// The same program, which ends with [`Ending::Color`], with a second variant that ends with [`Ending::HalfColor`], so that it can draw to targets of
    /// either type. The uniforms of that variant are written by [`UniformData::push_half`](crate::UniformData::push_half).
    #[must_use]
    pub const fn with_half_color(self, code: &'static [u64], threading: Threading) -> Self {
        Self { half: Some((code, threading_of(code, threading))), ..self }
    }

    /// The same program for these primitives.
    #[must_use]
    pub const fn of(self, primitive: PrimitiveKind) -> Self {
        Self { primitive, ..self }
    }

    /// The same program, with a bit set for each varying that is flat: it has the value of the last vertex.
    #[must_use]
    pub const fn with_flat_varyings(self, flat_varyings: u32) -> Self {
        Self { flat_varyings, ..self }
    }

    /// The same program, which writes a depth to rb15.
    #[must_use]
    pub const fn writing_depth(self) -> Self {
        Self { writes_depth: true, ..self }
    }

    /// The same program, which discards some fragments.
    #[must_use]
    pub const fn discarding(self) -> Self {
        Self { discards: true, ..self }
    }

    /// Flat varyings, which are not interpolated: one bit for each varying.
    pub const fn flat_varyings(&self) -> u32 {
        self.flat_varyings
    }

    /// Whether it writes a depth.
    pub const fn writes_depth(&self) -> bool {
        self.writes_depth
    }

    /// Whether it discards fragments.
    pub const fn discards(&self) -> bool {
        self.discards
    }

    /// The primitives that it is for.
    pub const fn primitive(&self) -> PrimitiveKind {
        self.primitive
    }

    /// How it ends.
    pub const fn ending(&self) -> Ending {
        self.ending
    }

    /// The instructions.
    pub const fn code(&self) -> &'static [u64] {
        self.code
    }

    /// The variant for targets of half floats: instructions and threading mode.
    pub const fn half(&self) -> Option<(&'static [u64], Threading)> {
        self.half
    }

    /// The threading mode that it is written for.
    pub const fn threading(&self) -> Threading {
        self.threading
    }
}

/// Dual threading, but only for programs that switch threads.
const fn threading_of(code: &[u64], declared: Threading) -> Threading {
    let mut at = 0;
    while at < code.len() {
        // The signal is in bits 63:60 [AG p.26].
        let signal = (code[at] >> 60) as u8;
        if signal == Signal::ThreadSwitch.code() || signal == Signal::LastThreadSwitch.code() {
            return declared;
        }
        at += 1;
    }
    Threading::Single
}

/// A user program with uniforms `U`.
#[derive(Clone, Copy, Debug)]
pub struct UserProgram<U> {
    code: &'static [u64],
    feeds: PhantomData<fn(U)>,
}

impl<U> UserProgram<U> {
    /// Creates a program. The caller guarantees that the types match its code.
    pub const fn new(code: &'static [u64]) -> Self {
        Self { code, feeds: PhantomData }
    }

    /// The instructions.
    pub const fn code(&self) -> &'static [u64] {
        self.code
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `nop`, and the same with the signals "thread switch" and "last thread switch" [AG p.29].
    const NOP: u64 = 0x1000_09e7_009e_7000;
    const SWITCH: u64 = 0x2000_09e7_009e_7000;
    const LAST_SWITCH: u64 = 0x6000_09e7_009e_7000;

    #[test]
    fn a_program_that_never_switches_threads_has_one() {
        const fn threading(code: &'static [u64], declared: Threading) -> Threading {
            Fragment::<(), 0>::new(code, declared, Ending::Color).threading()
        }
        const ALONE: &[u64] = &[NOP, NOP];
        assert_eq!(threading(ALONE, Threading::Dual), Threading::Single);
        assert_eq!(threading(&[NOP, SWITCH], Threading::Dual), Threading::Dual);
        assert_eq!(threading(&[LAST_SWITCH], Threading::Dual), Threading::Dual);
        assert_eq!(threading(&[NOP], Threading::Single), Threading::Single);
        let both = Fragment::<(), 0>::new(&[SWITCH], Threading::Dual, Ending::Color);
        assert_eq!(both.with_half_color(ALONE, Threading::Dual).half(), Some((ALONE, Threading::Single)));
    }
}
