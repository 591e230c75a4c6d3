//! Abstract contents of a FIFO, over all paths.

use super::count::UNBOUNDED;

/// Number of entries whose sizes are recorded: the newest ones.
const KEPT: u8 = 16;

/// Outstanding requests, oldest first, each with a size of 1 to 16: those that are outstanding on every path, and the maximum number on any path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Queue {
    /// Sizes minus one in four bits each, the newest in the lowest bits.
    sizes: u64,
    min: u8,
    max: u16,
}

impl Queue {
    pub(super) const EMPTY: Self = Self { sizes: 0, min: 0, max: 0 };
    pub(super) const ANY: Self = Self { sizes: 0, min: 0, max: UNBOUNDED };

    /// Number of entries that are there on every path.
    pub(super) fn min(self) -> u8 {
        self.min
    }

    /// Maximum number of entries on any path.
    pub(super) fn max(self) -> u16 {
        self.max
    }

    /// Lower bound of the sum of sizes, on every path.
    pub(super) fn min_size(self) -> u32 {
        (0..self.min).map(|at| self.size(at)).sum()
    }

    /// Size of an entry that is there on every path; 0 is the newest.
    fn size(self, at: u8) -> u32 {
        (self.sizes >> (4 * at) & 15) as u32 + 1
    }

    fn with_size(self, at: u8, size: u32) -> Self {
        let shift = 4 * at;
        Self { sizes: self.sizes & !(15 << shift) | u64::from(size.clamp(1, 16) - 1) << shift, ..self }
    }

    pub(super) fn push(self, size: u32) -> Self {
        let max = if self.max == UNBOUNDED { UNBOUNDED } else { self.max + 1 };
        Self { sizes: self.sizes << 4, min: (self.min + 1).min(KEPT), max }.with_size(0, size)
    }

    /// A request may have been added: the maximum number of entries becomes unbounded.
    pub(super) fn maybe_push(self) -> Self {
        Self { max: UNBOUNDED, ..self }
    }

    /// Removes the oldest.
    pub(super) fn pop(self) -> Self {
        let max = if self.max == UNBOUNDED { UNBOUNDED } else { self.max.saturating_sub(1) };
        Self { max, ..self }.keep(self.min.saturating_sub(1))
    }

    /// Decrements the size of the oldest entry, which is removed when it is 0.
    pub(super) fn shrink(self) -> Self {
        match self.min.checked_sub(1) {
            Some(oldest) if self.size(oldest) > 1 => self.with_size(oldest, self.size(oldest) - 1),
            Some(oldest) => self.keep(oldest),
            None => self,
        }
    }

    /// Keeps the `min` newest entries.
    fn keep(self, min: u8) -> Self {
        let mask = if min >= KEPT { u64::MAX } else { (1 << (4 * min)) - 1 };
        Self { sizes: self.sizes & mask, min, ..self }
    }

    /// The join of two paths. Entries are matched from the newest, because every path removes older ones first.
    pub(super) fn join(self, other: Self, widen: bool) -> Self {
        let min = self.min.min(other.min);
        let mut joined = Self { max: self.max.max(other.max), ..self.keep(min) };
        for at in 0..min {
            joined = joined.with_size(at, self.size(at).min(other.size(at)));
        }
        if widen && joined != self {
            return Self { max: UNBOUNDED, ..if min < self.min { Self::EMPTY } else { joined } };
        }
        joined
    }
}
