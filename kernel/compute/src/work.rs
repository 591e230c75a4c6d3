//! What an operation has to do at least, and how long the hardware needs for that.

use core::fmt;
use core::ops::AddAssign;

/// The V3D's clock in megahertz.
const CLOCK_MHZ: u64 = 250;

/// What an operation has to do, however it is programmed: the measure of its program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Work {
    /// Operations of the ALUs on one element: additions, products, comparisons.
    pub operations: u64,
    /// Bytes that are looked up by TMUs, each once.
    pub looked_up_bytes: u64,
    /// Lookups of 16 elements.
    pub lookups: u64,
    /// Bytes that VPM DMA stores.
    pub stored_bytes: u64,
}

impl Work {
    /// Nothing.
    pub const NONE: Self = Self { operations: 0, looked_up_bytes: 0, lookups: 0, stored_bytes: 0 };

    /// What takes longest, and for how many cycles of the V3D's clock.
    pub fn bound(&self) -> (Bound, u64) {
        // 12 QPUs, 4 elements a cycle, an addition and a product: 24 thousand million operations a second [AG p.17].
        let arithmetic = self.operations.div_ceil(96);
        // A line of 64 bytes in 5 cycles: LPDDR2-800, 32 bits wide.
        let memory = (self.looked_up_bytes + self.stored_bytes).div_ceil(64) * 5;
        // 1,120 MB/s were measured for stores: 14 cycles a line.
        let stores = self.stored_bytes.div_ceil(64) * 14;
        // Six TMUs, 16 cycles for 16 elements: 1.5 thousand million lookups a second.
        let lookups = (self.lookups * 16).div_ceil(6);
        let all = [
            (Bound::Arithmetic, arithmetic),
            (Bound::Memory, memory),
            (Bound::Stores, stores),
            (Bound::Lookups, lookups),
        ];
        all.into_iter().max_by_key(|(_, cycles)| *cycles).unwrap_or((Bound::Arithmetic, 0))
    }

    /// Microseconds that so many cycles take.
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

/// What an operation cannot be faster than.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// 24 GFLOP/s of the QPUs' two ALUs.
    Arithmetic,
    /// The memory's bandwidth, 3.2 GB/s.
    Memory,
    /// The VPM DMA's stores, 1.14 GB/s.
    Stores,
    /// Lookups of the six TMUs, 1.5 thousand million a second.
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
