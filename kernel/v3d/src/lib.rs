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

pub mod check;
mod diagnosis;
pub mod driver;
pub mod errata;
pub mod error;
pub mod identity;
mod image;
pub mod interrupts;
mod jobs;
mod lists;
mod memory;
pub mod platform;
pub mod validator;

pub use diagnosis::{error_status, performance, register_snapshot, report, statistics};
pub use driver::{Driver, Limits};
pub use error::{Error, Failure};
pub use image::{surface, texture, tile_grid, tiler};
pub use interrupts::Interrupts;
pub use jobs::{
    fence::{self, Fence},
    job::{self, Job, Submission},
    relocation, user_program,
};
pub use lists::{binning_list, draw_state, primitives, record_list, rendering_list, shader_record, tile_area};
pub use memory::{caches, pool, region, tile_memory};
pub use platform::Platform;
pub use v3d_hw as hw;

/// Makes the examples of the README documentation tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
