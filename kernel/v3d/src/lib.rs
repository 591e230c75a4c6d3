//! Driver of the VideoCore IV 3D engine, over registers, memory, time and power.
//!
//! The driver is generic over the traits in [`platform`]: the same code drives the hardware in the kernel and the model in tests.
//!
//! # From vertices to a picture
//! 1. [`Driver::bring_up`](driver::Driver::bring_up) checks the identity, clears reservations, enables the L2 cache, and gives the binner overflow memory.
//! 2. Vertices, shader code and uniforms are written to memory from the [`pool`].
//! 3. A [`shader_record`] combines programs, uniforms and vertices.
//! 4. A [`binning_list`] has the draws with their [`draw_state`]; a [`rendering_list`] loads, renders and stores each tile.
//! 5. [`Driver::submit`](driver::Driver::submit) takes both lists and returns a [`fence`] to wait for.
//!
//! # Sources
//! Tags are those of [`v3d_hw`]. Order of operations and errata: [linux vc4_render_cl.c, vc4_irq.c, vc4_gem.c, vc4_validate.c, vc4_v3d.c],
//! [mesa vc4_draw.c, vc4_emit.c], [asurati], [aros], [reactos].
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

pub mod binning_list;
pub mod caches;
pub mod check;
pub mod draw_state;
pub mod driver;
pub mod errata;
pub mod error;
pub mod error_status;
pub mod fence;
pub mod identity;
pub mod interrupts;
pub mod job;
pub mod performance;
pub mod platform;
pub mod pool;
pub mod primitives;
pub mod record_list;
pub mod region;
pub mod register_snapshot;
pub mod relocation;
pub mod rendering_list;
pub mod report;
pub mod shader_record;
pub mod statistics;
pub mod surface;
pub mod texture;
pub mod tile_area;
pub mod tile_grid;
pub mod tile_memory;
pub mod tiler;
pub mod user_program;
pub mod validator;

pub use driver::{Driver, Limits};
pub use error::{Error, Failure};
pub use fence::Fence;
pub use interrupts::Interrupts;
pub use job::{Job, Submission};
pub use platform::Platform;
pub use v3d_hw as hw;

/// Makes the examples of the README documentation tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
