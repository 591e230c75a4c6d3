//! Driver of the VideoCore IV 3D engine, generic over registers, memory, time and interrupts.
//!
//! The driver does not know the board: it is written over the traits in [`platform`], so that the same code drives silicon in the kernel and the
//! model in tests.
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

pub mod identity;
pub mod interrupts;
pub mod platform;

pub use platform::Platform;
pub use v3d_hw as hw;
