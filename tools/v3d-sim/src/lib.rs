//! A model of the whole VideoCore IV 3D engine: control list bytes in, pixels out.
//!
//! [`V3d`] is the block of registers that software accesses. A write that starts something (a control list thread, a user program) executes it at once,
//! as far as possible: to its end, to a wait for the other thread or for memory, or to an error. The result is a pure function of memory and of the
//! writes so far: it depends neither on time nor on the order of host threads. How long the hardware would take is estimated by [`timing`], from
//! traces of what has been executed.
//!
//! There is a module for each hardware unit, and some for what they share. Each imports only modules below it:
//!
//! | module | what it holds |
//! |---|---|
//! | [`dump`] | jobs in words |
//! | [`job`] | job folders: files, execution, pictures |
//! | [`timing::workload`] | workloads that boards were timed with, and their times |
//! | [`stepper`] | programs instruction by instruction, forward and back |
//! | [`lists`] | control lists, run through the registers as by a driver |
//! | [`device`] | the register block, interrupts |
//! | [`cle`] | control list executor (CLE), both threads |
//! | [`ptb`] | binner (PTB): clipping, tile lists, tile memory |
//! | [`render`] | tiles of a frame: PSE, FEP, early Z, CAP, TLB, stores and loads |
//! | [`vcm`] | VCM and VCD: attribute fetch, batches, vertex and coordinate shading |
//! | [`qpu`] | quad processors (QPUs): instruction set, execution, scheduler (QPS) |
//! | [`tmu`] | texture and memory lookup units (TMUs) |
//! | [`vpm`] | vertex pipeline memory (VPM), its DMA (VDW, VDR) and its allocator |
//! | [`primitive_list`] | compressed primitive lists, read and written |
//! | [`primitive_assembly`] | vertex indices to points, lines, triangles and RHTs |
//! | [`state`] | pipeline state, as state records set it |
//! | [`device::supervision`] | how far lists and programs are, for other threads, and a request to stop them |
//! | [`counters`] | performance counters, and counts for each program and tile |
//! | [`device::coherence`] | the check of the V3D's and the CPU's caches |
//! | [`timing`] | the timing model: caches, queues, stalls, and traces of programs |
//! | [`fault`] | what is undefined or an error, unit by unit |
//! | `simd` | SIMD dispatch, and vector operations for each SIMD level |
//! | `qpu::float` | the QPU's floating point arithmetic |
//! | `threads` | work on several host threads, with the feature of this name |
//! | [`random`] | random numbers for suites and tests |
//! | [`memory`] | guest memory as the GPU accesses it |
//! | [`qpu::lanes`] | vectors of 16 elements, the contents of a QPU register |
//!
//! There is no module for blending, because the hardware has no unit for it: fragment programs load the colour from the tile buffer, blend, and store.
//!
//! # Undefined behaviour is reported
//! Where the guide calls something undefined, the model goes on with some value, and reports a [`Fault`] with its place. Nothing that guest
//! memory contains makes the model panic, loop for ever, or access anything but guest memory.

#![deny(unsafe_code)]

mod binning;
pub mod cle;
pub mod counters;
pub mod device;
#[cfg(feature = "jobs")]
pub mod dump;
pub mod fault;
#[cfg(feature = "jobs")]
pub mod job;
pub mod lists;
pub mod memory;
pub mod qpu;
pub mod random;
pub mod render;
pub(crate) mod simd;
pub mod state;
pub mod stepper;
mod threads;
pub mod timing;
pub mod tmu;
pub mod vpm;

pub use binning::{primitive_assembly, primitive_list, ptb, vcm};
pub use device::{Config, V3d};
pub use fault::Fault;
pub use memory::Memory;
pub use v3d_hw::registers::Register;
pub use v3d_hw::{BusAddr, tiling};

/// Makes the examples of the README documentation tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
