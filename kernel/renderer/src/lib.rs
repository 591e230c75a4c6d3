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
//! # A guided way
//! Ten complete programs under `kernel/renderer/examples` lead from an empty frame to "textured, lit, multisampled" and to a kernel of one's own. Each runs
//! on the developer's machine, against the model of the GPU, and writes a PNG file: `cargo run -p renderer --example 03_texture` writes
//! `target/guide/03_texture.png`, and with `-- --dump` prints what the GPU got. `kernel/renderer/guide` is the book to them, with their pictures and
//! the bytes that they produced.
//!
//! | `--example` | what it shows | types |
//! |---|---|---|
//! | `01_frame` | bring a device up, begin a picture with a colour | [`Device`], [`Target`], [`Frame`], [`PassDescriptor`] |
//! | `02_triangle` | what is drawn, and how | [`Mesh`], [`Pipeline`], [`Pass::draw`] |
//! | `03_texture` | a picture on a square, sharp and blended | [`Texture`], [`Sampler`] |
//! | `04_transform` | one mesh in many places, seen by a camera | [`Mesh::indexed`], [`glam`], [`rows`], [`Cull`] |
//! | `05_depth` | what is nearer hides what is farther | [`Depth`] |
//! | `06_light` | surfaces as bright as they face the light | `qpu_shaders::model` |
//! | `07_blend` | transparency, light on light, the order of drawing | [`Blend`], [`Shading::Done`], [`Pass::draw_vertices`] |
//! | `08_render_to_texture` | a pass that uses what the one before has drawn | [`Frame::pass`], [`Texture::of_target`] |
//! | `09_multisample` | textured, lit, with smaller levels and smooth edges | [`Samples`], [`Texture::generate_mipmaps`] |
//! | `10_own_kernel` | the traits that a kernel implements, and its `main` | [`v3d::platform`], [`Target::page`] |
//!
//! # What there is
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
pub mod rectangle;
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
pub use pass::{KeptDepth, Pass, PassDescriptor};
pub use pipeline::blend::{AlphaTest, Blend, BlendPart, Equation, Factor, Logic};
pub use pipeline::state::{Compare, Cull, Depth, FrontFace, PolygonOffset, Samples};
pub use pipeline::stencil::{Stencil, StencilChange, StencilSide};
pub use pipeline::{Pipeline, PipelineDescriptor, Shading};
pub use rectangle::Rectangle;
pub use shader_interface::PrimitiveKind;
pub use target::{DepthTarget, Format, Target, TargetDescriptor};
pub use texture::{CubeTexture, Sampler, Texture, TextureDescriptor};

/// A matrix row by row, as shaders read it.
pub fn rows(matrix: &glam::Mat4) -> [f32; 16] {
    matrix.transpose().to_cols_array()
}

/// Has the examples of the README tested.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
