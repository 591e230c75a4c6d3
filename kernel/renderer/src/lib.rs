//! Devices, meshes, pipelines, passes and frames on top of the V3D driver.
//!
//! # The whole of it
//! ```text
//! let device = Device::new(driver);                                  // clones are the same device
//! let mesh = Mesh::indexed(&device, "cube", Primitive::Triangles, &vertices, &indices)?;
//! let pipeline = Pipeline::new(&device, &PipelineDescriptor {
//!     depth: Depth::LESS,
//!     ..PipelineDescriptor::new("cube", &transformed::SHADING, &smooth::FRAGMENT)
//! })?;
//! let target = Target::new(&device, &TargetDescriptor { .. })?;      // or Target::page(..): a page of a display
//!
//! let mut frame = device.frame()?;                                   // waits until the frame before the last is done
//! let mut pass = frame.pass(&PassDescriptor::to(&target).clear([16, 24, 48, 255]))?;
//! pass.draw(&pipeline, &mesh, &transformed::Uniforms { matrix: rows(&matrix) }, &NoUniforms)?;
//! let fence = frame.submit()?;
//! device.wait(fence)?;
//! ```
//!
//! - A [`Device`] is a driver that resources share; [`Device::driver`] borrows it.
//! - A [`Mesh`] is vertices in GPU memory, a [`Buffer`] any bytes, a [`Target`] a picture that is drawn to, a [`Texture`] one that is read.
//! - A [`Pipeline`] is the programs and the state that something is drawn with. It carries the types of the vertices and uniforms that its programs
//!   read, so that only what belongs together can be drawn. Programs come from a crate that `shader-build` has made.
//! - A [`DrawList`] is what embedded-graphics draws: shapes, text, images in two dimensions.
//! - A [`Canvas`] is what that crate lacks: alpha, smooth edges, turned images, proportional text.
//! - A [`Frame`] is [passes](Pass) in their order; each draws to one target.
//!
//! Everything is an owned value that can be dropped at any time: what is submitted owns what it uses until the GPU is done with it. Nothing is
//! given back by hand, and what fails half-way gives everything back that it had. An [`Error`] names the resource by the label that it was made with.
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

pub mod asset;
pub mod buffer;
pub mod canvas;
pub mod device;
pub mod draw_list;
pub mod error;
pub mod frame;
mod heap;
pub mod mesh;
pub mod pass;
pub mod pipeline;
pub mod shaded_vertex;
pub mod target;
pub mod texture;

pub use buffer::Buffer;
pub use canvas::Canvas;
pub use device::Device;
pub use draw_list::DrawList;
pub use error::Error;
pub use frame::Frame;
pub use glam;
pub use mesh::{Indices, Mesh, Primitive};
pub use pass::{Pass, PassDescriptor, Rectangle};
pub use pipeline::blend::{AlphaTest, Blend, BlendPart, Equation, Factor, Logic};
pub use pipeline::state::{Compare, Cull, Depth, FrontFace, PolygonOffset, Samples};
pub use pipeline::stencil::{Stencil, StencilChange, StencilSide};
pub use pipeline::{Pipeline, PipelineDescriptor, Shading};
pub use shader_interface::PrimitiveKind;
pub use target::{Format, Target, TargetDescriptor};
pub use texture::{CubeTexture, Sampler, Texture, TextureDescriptor};

/// A matrix row by row, as shaders read it.
pub fn rows(matrix: &glam::Mat4) -> [f32; 16] {
    matrix.transpose().to_cols_array()
}
