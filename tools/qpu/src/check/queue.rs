//! What waits in a FIFO, over all paths.

use super::count::MANY;

/// Entries of which the state keeps the sizes; of more, the newest.
const KEPT: u8 = 16;

/// Requests, oldest first, each with a size of 1 to 16: what is there on every path at least, and how many there are on any path at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Queue {
    /// Sizes less one, four bits each, the newest lowest.
    sizes: u64,
    least: u8,
    most: u16,
}

impl Queue {
    pub(super) const EMPTY: Self = Self { sizes: 0, least: 0, most: 0 };
    pub(super) const ANY: Self = Self { sizes: 0, least: 0, most: MANY };

    /// Entries on every path.
    pub(super) fn least(self) -> u8 {
        self.least
    }

    /// Most entries on a path.
    pub(super) fn most(self) -> u16 {
        self.most
    }

    /// Size of all entries, on every path at least.
    pub(super) fn least_size(self) -> u32 {
        (0..self.least).map(|at| self.size(at)).sum()
    }

    /// Size of an entry that is on every path; 0 is the newest.
    fn size(self, at: u8) -> u32 {
        (self.sizes >> (4 * at) & 15) as u32 + 1
    }

    fn with_size(self, at: u8, size: u32) -> Self {
        let shift = 4 * at;
        Self { sizes: self.sizes & !(15 << shift) | u64::from(size.clamp(1, 16) - 1) << shift, ..self }
    }

    pub(super) fn push(self, size: u32) -> Self {
        let most = if self.most == MANY { MANY } else { self.most + 1 };
        Self { sizes: self.sizes << 4, least: (self.least + 1).min(KEPT), most }.with_size(0, size)
    }

    /// Something may have been put in: it is not known.
    pub(super) fn maybe_push(self) -> Self {
        Self { most: MANY, ..self }
    }

    /// The oldest goes.
    pub(super) fn pop(self) -> Self {
        let most = if self.most == MANY { MANY } else { self.most.saturating_sub(1) };
        Self { most, ..self }.keep(self.least.saturating_sub(1))
    }

    /// The oldest becomes smaller by one, and goes when nothing is left of it.
    pub(super) fn shrink(self) -> Self {
        match self.least.checked_sub(1) {
            Some(oldest) if self.size(oldest) > 1 => self.with_size(oldest, self.size(oldest) - 1),
            Some(oldest) => self.keep(oldest),
            None => self,
        }
    }

    /// The newest entries only.
    fn keep(self, least: u8) -> Self {
        let mask = if least >= KEPT { u64::MAX } else { (1 << (4 * least)) - 1 };
        Self { sizes: self.sizes & mask, least, ..self }
    }

    /// What is known where two paths meet. The newest entries are compared with each other: those before them are taken out first on each path.
    pub(super) fn join(self, other: Self, widen: bool) -> Self {
        let least = self.least.min(other.least);
        let mut joined = Self { most: self.most.max(other.most), ..self.keep(least) };
        for at in 0..least {
            joined = joined.with_size(at, self.size(at).min(other.size(at)));
        }
        if widen && joined != self {
            return Self { most: MANY, ..if least < self.least { Self::EMPTY } else { joined } };
        }
        joined
    }
}
