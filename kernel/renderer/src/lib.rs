//! Devices, meshes, pipelines, passes and frames on top of the V3D driver.
//!
//! # A whole program
//! ```text
//! let device = Device::new(driver);                                  // clones refer to the same device
//! let mesh = Mesh::indexed(&device, "cube", Primitive::Triangles, &vertices, &indices)?;
//! let pipeline = Pipeline::new(&device, &PipelineDescriptor {
//!     depth: Depth::LESS,
//!     ..PipelineDescriptor::new("cube", &transformed::SHADING, &smooth::FRAGMENT)
//! })?;
//! let target = Target::new(&device, &TargetDescriptor { .. })?;      // or Target::page(..): a page of a display
//!
//! let mut frame = device.frame()?;                                   // waits until the frame before the last is done
//! let mut pass = frame.pass(&PassDescriptor::to(&target).clear(unorm([16, 24, 48, 255])))?;
//! pass.draw(&pipeline, &mesh, &transformed::Uniforms { matrix: rows(&matrix) }, &NoUniforms)?;
//! let fence = frame.submit()?;
//! device.wait(fence)?;
//! ```
//!
//! # A guided tour
//! Fourteen complete programs under `kernel/renderer/examples` lead from an empty frame to a textured, lit and multisampled one, to a kernel and a shader of
//! one's own, to sprites, and to a thousand draws. Each runs on the developer's machine, on the model of the GPU, and writes a PNG file:
//! `cargo run -p renderer --example 03_texture` writes `target/guide/03_texture.png`, and `-- --dump` also prints the GPU's input. `kernel/renderer/guide`
//! explains them, with their pictures and the bytes that they produce, and goes on with a program of one's own, its camera, models, text and keys, and with a
//! game.
//!
//! | `--example` | what it shows | types |
//! |---|---|---|
//! | `01_frame` | bring up a device, clear a picture | [`Device`], [`Target`], [`Frame`], [`PassDescriptor`] |
//! | `02_triangle` | a mesh, a pipeline, a draw | [`Mesh`], [`Pipeline`], [`Pass::draw`] |
//! | `03_texture` | a texture on a square, nearest and bilinear | [`Texture`], [`Sampler`] |
//! | `04_transform` | one mesh in many places, seen through a camera | [`Mesh::indexed`], [`glam`], [`rows`], [`Cull`] |
//! | `05_depth` | the depth test | [`Depth`] |
//! | `06_light` | diffuse lighting | `qpu_shaders::model`, `model_colored` |
//! | `07_blend` | transparency, additive blending, the order of drawing | [`Blend`], [`Shading::PreShaded`], [`Pass::draw_vertices`] |
//! | `08_render_to_texture` | a pass that reads what the one before has rendered | [`Frame::pass`], [`Texture::of_target`] |
//! | `09_multisample` | textures, light, mip levels and antialiasing | [`Samples`], [`Texture::generate_mipmaps`] |
//! | `10_own_kernel` | the traits that a kernel implements, and its `main` | [`v3d::platform`], [`Target::page`] |
//! | `11_own_shader` | a crate of shaders in WGSL | `shader-build` |
//! | `12_shader_at_run_time` | the same shader, compiled while the program runs | `wgsl` |
//! | `13_sprites` | parts of an atlas, turned and tinted; text; a nine-patch | [`Sprites`], [`SpriteAtlas`], [`sprites::nine_patch`] |
//! | `14_prepared_draws` | a thousand draws, each with its own matrix | [`PreparedDraw`], [`Pass::draw_prepared`] |
//!
//! # Blending is shader code
//! The V3D has no blending unit: a fragment program loads the colour from the tile buffer, computes, and stores the result. So [`Blend`], logic operations,
//! colour masks and the stencil set-up are instructions that a [`Pipeline`] appends to its fragment program, and each costs what it computes.
//!
//! # The types
//! - A [`Device`] is a driver that resources share; [`Device::driver`] borrows it.
//! - A [`Mesh`] is vertices in GPU memory, a [`Buffer`] raw bytes, a [`Target`] an image that is rendered to, a [`Texture`] one that is sampled.
//! - A [`Pipeline`] is programs and the fixed state of a draw. Its type parameters are the types of the vertices and uniforms that its programs read, so that
//!   a mesh or uniforms of other types do not compile. Programs come from a crate that `shader-build` has generated.
//! - A [`DrawList`] is a draw target for embedded-graphics: shapes, text and images in two dimensions.
//! - A [`Canvas`] adds what that crate lacks: alpha, antialiasing, rotated images, proportional text.
//! - [`Sprites`] are thousands of parts of one image, or glyphs of a font, in one draw.
//! - A [`PreparedDraw`] is a draw of which only the vertex shader's uniforms are left to give.
//! - A [`Frame`] is a sequence of [passes](Pass), each of which renders to one target.
//!
//! Resources are owned values that can be dropped at any time: a submitted frame holds references to what it uses until the GPU is done with it. Nothing has
//! to be freed explicitly, and a call that fails frees everything that it had allocated. An [`Error`] names the resource by the label that it was created
//! with.
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

pub mod asset;
pub mod buffer;
pub mod canvas;
pub mod color;
pub mod device;
pub mod draw_list;
pub mod error;
pub mod frame;
mod heap;
pub mod mesh;
pub mod pass;
pub mod pipeline;
#[rustfmt::skip]
#[allow(unreachable_pub, reason = "generated for libraries of programs")]
mod programs;
pub mod rectangle;
mod segments;
pub mod shaded_vertex;
pub mod sprites;
pub mod target;
pub mod texture;
pub mod untyped;
#[cfg(feature = "wgsl")]
pub mod wgsl;

pub use buffer::Buffer;
pub use canvas::Canvas;
pub use color::unorm;
pub use device::Device;
pub use draw_list::DrawList;
pub use error::Error;
pub use frame::Frame;
pub use glam;
pub use mesh::{Indices, Mesh, Primitive};
pub use pass::{KeptDepth, LoadOp, Pass, PassDescriptor, PreparedDraw, StoreOp};
pub use pipeline::blend::{AlphaTest, Blend, BlendPart, Equation, Factor, Logic};
pub use pipeline::state::{Compare, Cull, Depth, FrontFace, PolygonOffset, Samples};
pub use pipeline::stencil::{Stencil, StencilChange, StencilSide};
pub use pipeline::{Pipeline, PipelineDescriptor, Shading};
pub use rectangle::Rectangle;
pub use shader_interface::PrimitiveKind;
pub use sprites::{Sprite, SpriteAtlas, Sprites};
pub use target::{DepthTarget, Format, Target, TargetDescriptor};
pub use texture::{CubeTexture, Sampler, Texture, TextureDescriptor};

/// A matrix in row-major order, as shaders read it: the dot product of a row and a vertex is one coordinate of the result. `glam` stores matrices in
/// column-major order; without this function the shader gets the transpose. In WGSL it is a `mat4x4<f32>` that is multiplied from the left as usual, `matrix
/// * vec4(place, 1.0)`.
pub fn rows(matrix: &glam::Mat4) -> [f32; 16] {
    matrix.transpose().to_cols_array()
}

/// Runs the README's examples as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
