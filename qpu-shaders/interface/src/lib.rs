//! What feeds a QPU program: types of its vertices, uniforms and varyings.
//!
//! A program is words; what it reads and writes is a matter of agreement. Here is the agreement as types: a vertex is a structure with the attributes that
//! a shader reads ([`VertexData`]), uniforms are a structure that writes itself into the stream that the program reads ([`UniformData`]), and how many
//! varyings a shader writes or reads is a part of its type. So a mesh for another shader, a matrix where a colour belongs, or a fragment
//! shader that reads what the vertex shader does not write, does not compile.
//!
//! A fragment shader may leave its end to whoever makes a pipeline of it; what pipelines put there is made in [`tail`].
//!
//! Nobody has to write such types: `shader-build` makes them from the directives in a shader's source. A crate of shaders needs only this crate and `v3d-hw`.
//!
//! # Sources
//! [AG p.51, p.60-61] for what shaders are given and what they write.
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

mod compute;
mod program;
pub mod tail;
mod texture;
mod uniform;
mod vertex;

pub use compute::{ComputeProgram, ComputeUniforms, Share, Storage, StorageMut, Workgroups};
pub use half::f16;
pub use program::{Ending, Fragment, PrimitiveKind, UserProgram, VertexShading};
pub use texture::{
    Child, CubeMap, Texture2d, Texture2d64, TextureBinding, TextureChild, TextureCube, TwoDimensional, TwoDimensional64,
};
pub use uniform::{NoUniforms, Owner, UniformData, UniformStream, UniformValue, VertexUniforms, ViewportUniforms};
pub use vertex::{Attribute, AttributeComponent, VertexData, push_attribute};

/// Has the examples of the README tested.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
