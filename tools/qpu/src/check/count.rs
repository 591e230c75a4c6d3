//! Intervals of counts, over all paths to an instruction.

/// The smallest and the greatest number over all paths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Count {
    pub(super) min: u16,
    pub(super) max: u16,
}

/// Counts saturate here, so that the analysis of loops terminates.
const MAX_COUNTED: u16 = 4096;

/// No upper bound is known.
pub(super) const UNBOUNDED: u16 = u16::MAX;

impl Count {
    pub(super) const ZERO: Self = Self { min: 0, max: 0 };
    pub(super) const ANY: Self = Self { min: 0, max: UNBOUNDED };

    pub(super) fn add(self, min: u16, max: u16) -> Self {
        let up = |a: u16, b: u16| if a == UNBOUNDED || b == UNBOUNDED { UNBOUNDED } else { a.saturating_add(b) };
        Self { min: self.min.saturating_add(min).min(MAX_COUNTED), max: up(self.max, max) }
    }

    pub(super) fn minus_one(self) -> Self {
        let down = |a: u16| if a == UNBOUNDED { UNBOUNDED } else { a.saturating_sub(1) };
        Self { min: self.min.saturating_sub(1), max: down(self.max) }
    }

    /// The join of two paths; `widen` makes counts in loops unbounded, so that the analysis reaches a fixed point.
    pub(super) fn join(self, other: Self, widen: bool) -> Self {
        let joined = Self { min: self.min.min(other.min), max: self.max.max(other.max) };
        if widen && joined != self {
            return Self { min: if joined.min < self.min { 0 } else { joined.min }, max: UNBOUNDED };
        }
        joined
    }

    /// The number, if it is the same on all paths.
    pub(super) fn exact(self) -> Option<u16> {
        (self.min == self.max).then_some(self.min)
    }
}
