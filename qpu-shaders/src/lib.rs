//! QPU shaders, assembled and checked at build time into typed constants.
//!
//! The sources are in `shaders/`. Each becomes a module with its words and with types for what feeds it: a vertex is a structure with the attributes that the
//! shader reads, uniforms are a structure with the names and types that the source declares, and how many varyings a shader writes or reads is a
//! part of its type. So a mesh for another shader, a matrix where a colour belongs, or a fragment shader that reads what the vertex shader
//! does not write, does not compile.
//!
//! ```
//! use qpu_shaders::{VertexShading, triangle};
//! let shading: VertexShading<triangle::Vertex, triangle::Uniforms, triangle::Uniforms, 3> = triangle::SHADING;
//! ```
//! Vertices of another shader:
//! ```compile_fail
//! use qpu_shaders::{VertexShading, transformed, triangle};
//! let shading: VertexShading<triangle::Vertex, transformed::Uniforms, transformed::Uniforms, 3> = transformed::SHADING;
//! ```
//! Another number of varyings:
//! ```compile_fail
//! use qpu_shaders::{Fragment, NoUniforms, smooth};
//! let fragment: Fragment<NoUniforms, 4> = smooth::FRAGMENT;
//! ```
//!
//! # Sources
//! [AG section 3] for the instructions, [AG p.51, p.60-61] for what shaders are given and what they write.
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

use alloc::vec::Vec;
use core::marker::PhantomData;
use v3d_hw::BusAddr;
use v3d_hw::control_list::Threading;

include!(concat!(env!("OUT_DIR"), "/shaders.rs"));

/// A vertex as it stands in memory.
pub trait VertexData {
    /// Bytes of one vertex.
    const BYTES: usize;

    /// Appends the vertex's words.
    fn push(&self, words: &mut Vec<u32>);
}

/// The uniforms of one program.
pub trait UniformData {
    /// Appends the words in the order in which the program reads them.
    fn push(&self, words: &mut Vec<u32>);
}

/// The uniforms of a program that reads none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NoUniforms;

impl UniformData for NoUniforms {
    fn push(&self, _words: &mut Vec<u32>) {}
}

/// A value that can be a uniform.
pub trait UniformValue {
    /// Appends the value's words.
    fn push(&self, words: &mut Vec<u32>);
}

impl UniformValue for f32 {
    fn push(&self, words: &mut Vec<u32>) {
        words.push(self.to_bits());
    }
}

impl UniformValue for u32 {
    fn push(&self, words: &mut Vec<u32>) {
        words.push(*self);
    }
}

impl UniformValue for i32 {
    fn push(&self, words: &mut Vec<u32>) {
        words.push(*self as u32);
    }
}

impl UniformValue for BusAddr {
    fn push(&self, words: &mut Vec<u32>) {
        words.push(self.0);
    }
}

/// A colour: red in the lowest byte.
impl UniformValue for [u8; 4] {
    fn push(&self, words: &mut Vec<u32>) {
        words.push(u32::from_le_bytes(*self));
    }
}

/// A vector, or a matrix row by row.
impl<const N: usize> UniformValue for [f32; N] {
    fn push(&self, words: &mut Vec<u32>) {
        words.extend(self.iter().map(|component| component.to_bits()));
    }
}

/// One attribute: where it stands in a vertex in memory, and in a vertex's column in the VPM.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attribute {
    /// Name in the source.
    pub name: &'static str,
    /// Bytes.
    pub bytes: u16,
    /// First byte from the start of the vertex in memory.
    pub memory_offset: u32,
    /// First byte in the column that the vertex shader reads.
    pub vertex_offset: u8,
    /// First byte in the column that the coordinate shader reads, if it reads the attribute.
    pub coordinate_offset: Option<u8>,
}

/// Coordinate and vertex shader of one kind of vertices `V`, with uniforms `U` for the vertex and `C` for the coordinate shader.
#[derive(Clone, Copy, Debug)]
pub struct VertexShading<V, U, C, const VARYINGS: usize> {
    vertex: &'static [u64],
    coordinate: &'static [u64],
    attributes: &'static [Attribute],
    feeds: PhantomData<fn(V, U, C)>,
}

impl<V, U, C, const VARYINGS: usize> VertexShading<V, U, C, VARYINGS> {
    const fn new(vertex: &'static [u64], coordinate: &'static [u64], attributes: &'static [Attribute]) -> Self {
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

/// A fragment shader with uniforms `U`.
#[derive(Clone, Copy, Debug)]
pub struct Fragment<U, const VARYINGS: usize> {
    code: &'static [u64],
    threading: Threading,
    feeds: PhantomData<fn(U)>,
}

impl<U, const VARYINGS: usize> Fragment<U, VARYINGS> {
    const fn new(code: &'static [u64], threading: Threading) -> Self {
        Self { code, threading, feeds: PhantomData }
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
    const fn new(code: &'static [u64]) -> Self {
        Self { code, feeds: PhantomData }
    }

    /// The instructions.
    pub const fn code(&self) -> &'static [u64] {
        self.code
    }
}
