//! Faults of the vertex pipeline memory, its DMA and its allocator.

use crate::memory::OutOfMemory;

/// An illegal or undefined access to the VPM or its DMA.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum VpmError {
    /// More is read than was set up; the value is 0.
    #[error("a vector is read, but no read is set up")]
    ReadExhausted,
    /// A third read set-up while two are queued; it is ignored [AG p.56].
    #[error("two block reads are queued already")]
    ReadQueueFull,
    /// A reserved set-up word; it is ignored.
    #[error("set-up word {0:#010x} is reserved")]
    Setup(u32),
    /// A write or DMA without a set-up.
    #[error("{0} without set-up")]
    NoSetup(&'static str),
    /// Something is read outside of the window.
    #[error("row {row} is read, the window has {rows}")]
    ReadOutside {
        /// The first row outside.
        row: u32,
        /// Rows of the window.
        rows: u32,
    },
    /// Something is written outside of the window; it is not written.
    #[error("row {row} is written, the window has {rows}")]
    WriteOutside {
        /// The first row outside.
        row: u32,
        /// Rows of the window.
        rows: u32,
    },
    /// A DMA outside of memory; the rest of it is done.
    #[error("DMA: {0}")]
    Memory(#[from] OutOfMemory),
    /// A DMA address that is not a multiple of the element size; the lowest bits are ignored.
    #[error("DMA address {0:#010x} is not a multiple of the element size")]
    Alignment(u32),
    /// A store set-up with the bit that must be 0.
    #[error("DMA store in laned mode, which does not exist")]
    StoreLaned,
}

/// Why the allocator cannot give rows of the VPM to a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AllocationError {
    /// VPAERGS.
    #[error("a batch of vertices needs {needed} bytes of VPM, and there are {available} that are not reserved")]
    TooBig {
        /// Bytes needed.
        needed: u32,
        /// Bytes available.
        available: u32,
    },
    /// VPAEBRGL.
    #[error("a batch of vertices needs {needed} bytes of VPM, and VPACNTL allows binning {limit}")]
    BinningLimit {
        /// Bytes needed.
        needed: u32,
        /// The limit.
        limit: u32,
    },
    /// VPAERRGL.
    #[error("a batch of vertices needs {needed} bytes of VPM, and VPACNTL allows rendering {limit}")]
    RenderingLimit {
        /// Bytes needed.
        needed: u32,
        /// The limit.
        limit: u32,
    },
}
