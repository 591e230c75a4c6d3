//! The interface of a QPU program as types: its vertices, uniforms and varyings.
//!
//! A program is only words; these types describe what it reads and writes. A vertex is a structure with the attributes that a shader reads ([`VertexData`]),
//! uniforms are a structure that writes itself into the stream that the program reads ([`UniformData`]), and the number of varyings that a shader writes or
//! reads is a part of its type. So a mesh for another shader, a matrix in place of a colour, or a fragment shader that reads varyings that the vertex shader
//! does not write, does not compile.
//!
//! A fragment shader can leave blending and tests to its pipeline, which appends code that [`tail`] generates.
//!
//! `shader-build` generates such types from the directives in a shader's source. A crate of shaders needs only this crate.
//!
//! # Sources
//! [AG p.51, p.60-61] for the inputs and outputs of shaders.
#![no_std]
#![forbid(unsafe_code)]

/// What generated modules name besides this crate's own items.
#[doc(hidden)]
pub extern crate alloc;

mod compute;
mod origin;
mod program;
pub mod tail;
mod texture;
mod uniform;
mod vertex;

pub use compute::{ComputeProgram, ComputeUniforms, Share, Storage, StorageMut, Workgroups};
pub use half::f16;
pub use origin::Origin;
pub use program::{Ending, Fragment, PrimitiveKind, UserProgram, VertexShading};
pub use texture::{
    AnyKind, Child, CubeMap, Texture2d, Texture2d64, TextureBinding, TextureChild, TextureCube, TwoDimensional,
    TwoDimensional64,
};
pub use uniform::{
    NoUniforms, Owner, UniformData, UniformStream, UniformValue, VertexUniforms, ViewportUniforms, place_own_addresses,
};
#[doc(hidden)]
pub use v3d_hw;
pub use vertex::{Attribute, AttributeComponent, VertexData, push_attribute};

/// Runs the README's examples as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
