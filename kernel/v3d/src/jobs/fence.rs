//! Fences: a job's number, by which it is waited for.

use core::fmt;

/// Names one submitted job. Jobs finish in the order of their fences.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fence(pub(crate) u64);

impl Fence {
    /// The fence before the first job: always done.
    pub const NONE: Self = Self(0);

    pub(crate) const fn next(self) -> Self {
        Self(self.0 + 1)
    }

    /// The job's number, counted from 1.
    pub const fn number(self) -> u64 {
        self.0
    }
}

impl fmt::Display for Fence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}
