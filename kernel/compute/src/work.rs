//! Lower bounds of an operation's work and time.

use core::fmt;
use core::ops::AddAssign;

/// The V3D's clock in megahertz.
const CLOCK_MHZ: u64 = 250;

/// The minimum work of an operation, independent of its implementation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Work {
    /// ALU operations on single elements: additions, multiplications, comparisons.
    pub operations: u64,
    /// Bytes that TMUs load, each once.
    pub looked_up_bytes: u64,
    /// TMU lookups of 16 elements.
    pub lookups: u64,
    /// Bytes that VPM DMA stores.
    pub stored_bytes: u64,
}

impl Work {
    /// No work.
    pub const NONE: Self = Self { operations: 0, looked_up_bytes: 0, lookups: 0, stored_bytes: 0 };

    /// The resource that takes longest, and its time in cycles of the V3D's clock.
    pub fn bound(&self) -> (Bound, u64) {
        // 12 QPUs, 4 elements per cycle, an addition and a multiplication: 24 billion operations per second [AG p.17].
        let arithmetic = self.operations.div_ceil(96);
        // A line of 64 bytes takes 5 cycles: LPDDR2-800, 32 bits wide.
        let memory = (self.looked_up_bytes + self.stored_bytes).div_ceil(64) * 5;
        // Stores measured 1,120 MB/s: 14 cycles per line.
        let stores = self.stored_bytes.div_ceil(64) * 14;
        // Six TMUs, 16 cycles for 16 elements: 1.5 billion lookups per second.
        let lookups = (self.lookups * 16).div_ceil(6);
        let all = [
            (Bound::Arithmetic, arithmetic),
            (Bound::Memory, memory),
            (Bound::Stores, stores),
            (Bound::Lookups, lookups),
        ];
        all.into_iter().max_by_key(|(_, cycles)| *cycles).unwrap_or((Bound::Arithmetic, 0))
    }

    /// Converts cycles to microseconds.
    pub const fn microseconds(cycles: u64) -> u64 {
        cycles / CLOCK_MHZ
    }
}

impl AddAssign for Work {
    fn add_assign(&mut self, other: Self) {
        self.operations += other.operations;
        self.looked_up_bytes += other.looked_up_bytes;
        self.lookups += other.lookups;
        self.stored_bytes += other.stored_bytes;
    }
}

/// The resource that limits an operation's speed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// 24 GFLOP/s of the QPUs' two ALUs.
    Arithmetic,
    /// The memory's bandwidth, 3.2 GB/s.
    Memory,
    /// The VPM DMA's stores, 1.14 GB/s.
    Stores,
    /// Lookups of the six TMUs, 1.5 billion per second.
    Lookups,
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Arithmetic => "arithmetic",
            Self::Memory => "memory",
            Self::Stores => "VPM DMA",
            Self::Lookups => "TMU",
        })
    }
}
