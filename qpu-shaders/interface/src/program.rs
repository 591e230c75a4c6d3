//! Programs: their instructions, and the types of what feeds them.

use core::marker::PhantomData;
use v3d_hw::control_list::Threading;

use crate::vertex::Attribute;

/// Coordinate and vertex shader of one kind of vertices `V`, with uniforms `U`, that write so many varyings.
#[derive(Clone, Copy, Debug)]
pub struct VertexShading<V, U, const VARYINGS: usize> {
    vertex: &'static [u64],
    coordinate: &'static [u64],
    attributes: &'static [Attribute],
    feeds: PhantomData<fn(V, U)>,
}

impl<V, U, const VARYINGS: usize> VertexShading<V, U, VARYINGS> {
    /// Two programs that read these attributes of a vertex in memory. That the types fit is the caller's word.
    pub const fn new(vertex: &'static [u64], coordinate: &'static [u64], attributes: &'static [Attribute]) -> Self {
        Self { vertex, coordinate, attributes, feeds: PhantomData }
    }

    /// The vertex shader's instructions.
    pub const fn vertex(&self) -> &'static [u64] {
        self.vertex
    }

    /// The coordinate shader's instructions.
    pub const fn coordinate(&self) -> &'static [u64] {
        self.coordinate
    }

    /// The attributes of a vertex in memory.
    pub const fn attributes(&self) -> &'static [Attribute] {
        self.attributes
    }
}

/// How a fragment shader ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// It writes to the tile buffer and ends by itself.
    Own,
    /// It has no end: the fragment's colour is in r0, red in the lowest byte, rb15 holds the fragment's depth as when it was started, and whoever makes a
    /// pipeline of it puts behind what is to become of the colour.
    Color,
}

/// A fragment shader with uniforms `U`, that reads so many varyings.
#[derive(Clone, Copy, Debug)]
pub struct Fragment<U, const VARYINGS: usize> {
    code: &'static [u64],
    threading: Threading,
    ending: Ending,
    feeds: PhantomData<fn(U)>,
}

impl<U, const VARYINGS: usize> Fragment<U, VARYINGS> {
    /// A program. That the types fit is the caller's word.
    pub const fn new(code: &'static [u64], threading: Threading, ending: Ending) -> Self {
        Self { code, threading, ending, feeds: PhantomData }
    }

    /// How it ends.
    pub const fn ending(&self) -> Ending {
        self.ending
    }

    /// The instructions.
    pub const fn code(&self) -> &'static [u64] {
        self.code
    }

    /// The threads it is written for.
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
    /// A program. That the types fit is the caller's word.
    pub const fn new(code: &'static [u64]) -> Self {
        Self { code, feeds: PhantomData }
    }

    /// The instructions.
    pub const fn code(&self) -> &'static [u64] {
        self.code
    }
}
