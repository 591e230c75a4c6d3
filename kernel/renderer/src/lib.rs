//! Meshes, materials, text and frames on top of the V3D driver.
//!
//! A [`Mesh`](mesh::Mesh) is vertices in GPU memory, a [`Material`](material::Material) the shaders that draw them; both carry the type of vertex, so
//! that only what belongs together can be drawn. A [`Renderer`](frame::Renderer) has the memory of two frames; a [`Frame`](frame::Frame) collects
//! draws and becomes a job of the driver.
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

pub mod asset;
pub mod font;
pub mod frame;
pub mod material;
pub mod matrix;
pub mod mesh;
pub mod shaded_vertex;
pub mod text;
