//! QPU shaders, assembled and checked at build time into typed constants.
//!
//! The sources are in `shaders/`. Each becomes a module with its words and with types for what feeds it, as [`shader_interface`] has them and `shader-build`
//! makes them: a mesh for another shader, a matrix where a colour belongs, or a fragment shader that reads what the vertex shader does not write, does not
//! compile.
//!
//! ```
//! use qpu_shaders::{VertexShading, triangle};
//! let shading: VertexShading<triangle::Vertex, triangle::Uniforms, 3> = triangle::SHADING;
//! ```
//! Vertices of another shader:
//! ```compile_fail
//! use qpu_shaders::{VertexShading, transformed, triangle};
//! let shading: VertexShading<triangle::Vertex, transformed::Uniforms, 3> = transformed::SHADING;
//! ```
//! Another number of varyings:
//! ```compile_fail
//! use qpu_shaders::{Fragment, NoUniforms, smooth};
//! let fragment: Fragment<NoUniforms, 4> = smooth::FRAGMENT;
//! ```
//!
//! # Operations
//! `operations/` has what programs for other GPUs are made of as macros for everybody's shaders: integers and floats of all sizes, comparisons, conversions,
//! functions, control. Shaders of any crate that `shader-build` assembles include them as `.include "operations/integer.qinc"`; `qpu -I qpu-shaders` finds
//! them from there. `OPERATIONS.md`, written by the tests, lists all with what they take, cost and are wrong by.
//!
//! # Sources
//! [AG section 3] for the instructions, [AG p.51, p.60-61] for what shaders are given and what they write.
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

pub use shader_interface::*;

include!(concat!(env!("OUT_DIR"), "/shaders.rs"));

/// Has the examples of the README tested.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
