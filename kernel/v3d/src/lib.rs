//! Driver of the VideoCore IV 3D engine, over registers, memory, time and power.
//!
//! The driver is generic over the traits in [`platform`]: the same code drives the hardware in the kernel and the model in tests.
//!
//! # From vertices to a picture
//! 1. [`Driver::bring_up`](driver::Driver::bring_up) checks the identity, clears reservations, enables the L2 cache, and gives the binner overflow memory.
//! 2. Vertices, shader code and uniforms are written to memory from the [`memory::pool`].
//! 3. A [`lists::shader_record`] combines programs, uniforms and vertices.
//! 4. A [`lists::binning_list`] has the draws with their [`lists::draw_state`]; a [`lists::rendering_list`] loads, renders and stores each tile.
//! 5. [`Driver::submit`](driver::Driver::submit) takes both lists and returns a [`jobs::fence`] to wait for.
//!
//! # Sources
//! Tags are those of [`v3d_hw`]. Order of operations and errata: [linux vc4_render_cl.c, vc4_irq.c, vc4_gem.c, vc4_validate.c, vc4_v3d.c],
//! [mesa vc4_draw.c, vc4_emit.c], [asurati], [aros], [reactos].
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

pub mod check;
pub mod driver;
pub mod errata;
pub mod error;
pub mod identity;
pub mod image;
pub mod jobs;
pub mod lists;
pub mod memory;
pub mod platform;
pub mod report;
pub mod validator;

pub use driver::interrupts::Interrupts;
pub use driver::{Driver, Limits};
pub use error::{Error, Failure};
pub use jobs::fence::Fence;
pub use jobs::job::{Job, Submission};
pub use platform::Platform;
pub use v3d_hw as hw;

/// Makes the examples of the README documentation tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
