//! The V3D model as a C library, over memory that the caller owns.
//!
//! The simulator of Mesa's vc4 driver (`vc4_simulator.c`) is written for a library of this name, which was never published: it copies a job's buffers into
//! one block of memory, validates the job as the kernel does, and calls the library to run its lists. [`ffi`] has the five functions that it
//! calls, and some more; [`simulator`] does what they say, in safe code. `cargo xtask mesa` builds Mesa with it.
//!
//! | module | what it holds |
//! |---|---|
//! | [`ffi`] | the C interface, and the caller's memory |
//! | [`simulator`] | the V3D, its jobs, and what is reported of them |
//! | [`buffers`] | the caller's buffer objects, outside of which nothing may be accessed |
//! | [`options`] | the environment variables |
//! | [`costs`] | what a job would cost on a chip, as a line of JSON |

#![deny(unsafe_code)]

pub mod buffers;
pub mod costs;
#[allow(unsafe_code, reason = "the C interface, and memory that belongs to its caller")]
pub mod ffi;
pub mod options;
pub mod simulator;
