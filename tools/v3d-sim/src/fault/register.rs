//! Faults of register accesses.

use v3d_hw::registers::Register;

/// An illegal or undefined register access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RegisterFault {
    /// VPMBASE must not change once vertices have been shaded [AG p.92] (HW-2791).
    #[error("VPMBASE is written after vertices have been shaded since reset")]
    VpmBaseAfterShading,
    /// Only a stopped thread accepts a new current address [AG p.86].
    #[error("{0} is written while its thread is running: the write is ignored")]
    ThreadRunning(Register),
    /// A limit of 0 raises VPAERGL [aros].
    #[error("VPACNTL is written with 0: the renderer's requests for VPM are greater than that")]
    VpmLimit,
}
