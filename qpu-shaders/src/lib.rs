//! QPU shaders, assembled and checked at build time into typed constants.
//!
//! The sources are in `shaders/`. Each is compiled to a module with its words and with the types of its vertices and uniforms, as [`shader_interface`]
//! defines and `shader-build` generates them. A mismatch does not compile: a mesh for another shader, a matrix instead of a colour, a fragment shader that
//! reads varyings that the vertex shader does not write.
//!
//! ```
//! use qpu_shaders::{VertexShading, triangle};
//! let shading: VertexShading<triangle::Vertex, triangle::Uniforms, 3> = triangle::SHADING;
//! ```
//! Vertices of another shader do not compile:
//! ```compile_fail
//! use qpu_shaders::{VertexShading, transformed, triangle};
//! let shading: VertexShading<triangle::Vertex, transformed::Uniforms, 3> = transformed::SHADING;
//! ```
//! Nor does another number of varyings:
//! ```compile_fail
//! use qpu_shaders::{Fragment, NoUniforms, smooth};
//! let fragment: Fragment<NoUniforms, 4> = smooth::FRAGMENT;
//! ```
//!
//! # Operations
//! `operations/` has the instructions of other GPUs as macros for any shader: integers and floats of all sizes, comparisons, conversions, functions, control
//! flow. Shaders of any crate that `shader-build` assembles include them as `.include "operations/integer.qinc"`; `qpu -I qpu-shaders` finds them by that name.
//! `OPERATIONS.md`, written by the tests, lists all operations with their registers, costs and errors.
//!
//! # Sources
//! [AG section 3] for the instructions, [AG p.51, p.60-61] for the inputs and outputs of shaders.
#![no_std]
#![forbid(unsafe_code)]

pub use shader_interface::*;

include!(concat!(env!("OUT_DIR"), "/shaders.rs"));

/// Runs the README's examples as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
