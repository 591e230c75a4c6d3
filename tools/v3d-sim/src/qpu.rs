//! Quad processors: their state, arithmetic and engines.

pub mod alu;
pub mod io;
pub mod pack;
pub mod sfu;

pub use io::{Io, IoError, Wait};

use v3d_hw::BusAddr;

/// A fault of a QPU program, with the instruction that is to blame.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("instruction at {pc}: {error}")]
pub struct QpuFault {
    /// Address of the instruction.
    pub pc: BusAddr,
    /// What is wrong.
    pub error: IoError,
}
