//! Programs: their instructions, and the types of their inputs.

use core::marker::PhantomData;
use v3d_hw::control_list::Threading;

use crate::vertex::Attribute;

/// Coordinate and vertex shader for vertices `V` with uniforms `U`; the last parameter is the number of varyings that
/// they write.
#[derive(Clone, Copy, Debug)]
pub struct VertexShading<V, U, const VARYINGS: usize> {
    vertex: &'static [u64],
    coordinate: &'static [u64],
    attributes: &'static [Attribute],
    point_size: bool,
    feeds: PhantomData<fn(V, U)>,
}

impl<V, U, const VARYINGS: usize> VertexShading<V, U, VARYINGS> {
    /// Two programs that read these attributes of a vertex in memory. The caller guarantees that the types match their
    /// code.
    pub const fn new(vertex: &'static [u64], coordinate: &'static [u64], attributes: &'static [Attribute]) -> Self {
        Self { vertex, coordinate, attributes, point_size: false, feeds: PhantomData }
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

/// The primitives that a fragment shader is for. Points and lines have built-in varyings, which it reads before those
/// of the vertices.
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
    /// Instructions and threading mode for colours of half floats, if the program has both kinds.
    half: Option<(&'static [u64], Threading)>,
    threading: Threading,
    ending: Ending,
    primitive: PrimitiveKind,
    flat_varyings: u32,
    writes_depth: bool,
    feeds: PhantomData<fn(U)>,
}

impl<U, const VARYINGS: usize> Fragment<U, VARYINGS> {
    /// Creates a program. The caller guarantees that the types match its code.
    pub const fn new(code: &'static [u64], threading: Threading, ending: Ending) -> Self {
        let (primitive, feeds) = (PrimitiveKind::Triangles, PhantomData);
        Self { code, half: None, threading, ending, primitive, flat_varyings: 0, writes_depth: false, feeds }
    }

    /// The same program, which ends with [`Ending::Color`], with instructions that end with [`Ending::HalfColor`]: so it draws to targets of either kind. Their
    /// uniforms are those of [`UniformData::push_half`](crate::UniformData::push_half).
    #[must_use]
    pub const fn with_half_color(self, code: &'static [u64], threading: Threading) -> Self {
        Self { half: Some((code, threading)), ..self }
    }

    /// The same program for these primitives.
    #[must_use]
    pub const fn of(self, primitive: PrimitiveKind) -> Self {
        Self { primitive, ..self }
    }

    /// The same program, with a bit set for each varying that is flat: it has the last vertex's value.
    #[must_use]
    pub const fn with_flat_varyings(self, flat_varyings: u32) -> Self {
        Self { flat_varyings, ..self }
    }

    /// The same program, which leaves a depth of its own in rb15.
    #[must_use]
    pub const fn writing_depth(self) -> Self {
        Self { writes_depth: true, ..self }
    }

    /// Flat varyings, which are not interpolated: one bit for each varying.
    pub const fn flat_varyings(&self) -> u32 {
        self.flat_varyings
    }

    /// Whether it leaves a depth of its own.
    pub const fn writes_depth(&self) -> bool {
        self.writes_depth
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

    /// The instructions for colours of half floats, beside those for bytes, and their threading mode.
    pub const fn half(&self) -> Option<(&'static [u64], Threading)> {
        self.half
    }

    /// The threading mode that it is written for.
    pub const fn threading(&self) -> Threading {
        self.threading
    }
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
