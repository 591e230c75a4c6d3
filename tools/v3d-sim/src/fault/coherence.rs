//! Faults of coherence: reads of what memory no longer holds, and accesses to memory that the CPU caches.

use crate::memory::Access;
use std::fmt;
use v3d_hw::BusAddr;

/// A kind of cache of the V3D.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cache {
    /// The instruction caches of all slices.
    Instructions,
    /// The uniforms caches of all slices.
    Uniforms,
    /// The caches of TMU 0 or TMU 1 of all slices.
    Texture(u8),
    /// L2.
    L2,
}

impl Cache {
    /// The field that clears it.
    const fn field(self) -> &'static str {
        match self {
            Self::Instructions => "ICCS of SLCACTL",
            Self::Uniforms => "UCCS of SLCACTL",
            Self::Texture(0) => "T0CCS of SLCACTL",
            Self::Texture(_) => "T1CCS of SLCACTL",
            Self::L2 => "L2CCLR of L2CACTL",
        }
    }
}

impl fmt::Display for Cache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Instructions => f.write_str("the instruction caches"),
            Self::Uniforms => f.write_str("the uniforms caches"),
            Self::Texture(unit) => write!(f, "the caches of TMU {unit}"),
            Self::L2 => f.write_str("the L2 cache"),
        }
    }
}

/// An access by which a board may get something else than memory holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CoherenceFault {
    /// A cache may hold lines from before memory changed.
    #[error(
        "{first} is read through {cache}, and memory has changed there since they read it: {} must be written in between \
         ({lines} such lines of 64 bytes)", .cache.field()
    )]
    StaleLines {
        /// The cache.
        cache: Cache,
        /// Number of such lines.
        lines: u32,
        /// Address of the first line.
        first: BusAddr,
    },
    /// The CPU caches memory that the V3D accesses.
    #[error(
        "the page at {first} is {}, and the CPU's translation tables map it as cached ({pages} such pages of 4096 bytes)",
        if *.access == Access::Read { "read" } else { "written" }
    )]
    CachedByCpu {
        /// Whether it reads or writes.
        access: Access,
        /// Number of such pages.
        pages: u32,
        /// Address of the first page.
        first: BusAddr,
    },
}
