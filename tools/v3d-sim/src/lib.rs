//! A model of the whole VideoCore IV 3D engine: control list bytes in, pixels out.
//!
//! [`V3d`] is the block of registers that software sees. A write that starts something (a control list thread, a user program) executes it at
//! once, as far as it goes: to its end, to a wait for the other thread or for memory, or to an error. What it computes is a pure function of
//! memory and of the writes so far: there is no clock in it and no dependence on the order of host threads. Who wants to know how long it would take asks
//! the [`timing`], which looks at what has been done.
//!
//! There is one module for each hardware unit, and some for what all of them share:
//!
//! | module | what it holds |
//! |---|---|
//! | [`device`] | registers, interrupts |
//! | [`cle`] | control list executor, both threads |
//! | [`state`] | what state records set up |
//! | [`vcm`] | VCM and VCD: attribute fetch, batches, vertex and coordinate shading |
//! | [`vpm`] | VPM, VDW and VDR |
//! | [`primitive_assembly`] | vertex numbers to points, lines, triangles and RHTs |
//! | [`ptb`] | binner: clipping, tile lists, tile memory |
//! | [`primitive_list`] | compressed primitive lists, read and written |
//! | [`render`] | tiles of a frame, PSE, FEP, early Z, CAP, TLB, stores and loads |
//! | [`qpu`] | quad processors: arithmetic, engines, scheduler |
//! | [`tmu`] | texture and memory lookup |
//! | [`counters`] | performance counters |
//! | [`timing`] | estimated time: caches, stalls |
//! | [`job`] | job folders |
//! | [`dump`] | jobs in words |
//! | [`memory`] | guest memory as the GPU sees it |
//! | [`lanes`] | vectors of 16 elements, what every QPU register holds |
//! | [`fault`] | what is undefined or an error, with its place |
//!
//! # What is undefined stays undefined
//! Where the guide calls something undefined, the model goes on with some value, and reports a [`Fault`] with its place. Nothing that guest
//! memory contains makes the model panic, loop for ever, or access anything but guest memory.

#![deny(unsafe_code)]

pub mod cle;
pub mod counters;
pub mod device;
#[cfg(feature = "jobs")]
pub mod dump;
pub mod fault;
mod float;
#[cfg(feature = "jobs")]
pub mod job;
pub mod lanes;
pub mod memory;
pub mod primitive_assembly;
pub mod primitive_list;
pub mod ptb;
pub mod qpu;
pub mod random;
pub mod render;
pub(crate) mod simd;
pub mod state;
pub mod timing;
pub mod tmu;
pub mod vcm;
pub mod vpm;
#[cfg(feature = "jobs")]
pub mod whole_file;

pub use device::{Config, V3d};
pub use fault::Fault;
pub use memory::Memory;
pub use v3d_hw::registers::Register;

/// Has the examples of the README tested.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
