//! How many of something there are, over all paths to an instruction.

/// How many there are at least and at most, over all paths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Count {
    pub(super) least: u16,
    pub(super) most: u16,
}

/// No upper bound is known.
pub(super) const MANY: u16 = u16::MAX;

impl Count {
    pub(super) const ZERO: Self = Self { least: 0, most: 0 };
    pub(super) const ANY: Self = Self { least: 0, most: MANY };

    pub(super) fn add(self, least: u16, most: u16) -> Self {
        let up = |a: u16, b: u16| if a == MANY || b == MANY { MANY } else { a.saturating_add(b) };
        Self { least: self.least.saturating_add(least).min(4096), most: up(self.most, most) }
    }

    pub(super) fn minus_one(self) -> Self {
        let down = |a: u16| if a == MANY { MANY } else { a.saturating_sub(1) };
        Self { least: self.least.saturating_sub(1), most: down(self.most) }
    }

    /// What is known where two paths meet; `widen` ends counting in loops.
    pub(super) fn join(self, other: Self, widen: bool) -> Self {
        let joined = Self { least: self.least.min(other.least), most: self.most.max(other.most) };
        if widen && joined != self {
            return Self { least: if joined.least < self.least { 0 } else { joined.least }, most: MANY };
        }
        joined
    }

    /// The number, if it is the same on all paths.
    pub(super) fn exact(self) -> Option<u16> {
        (self.least == self.most).then_some(self.least)
    }
}
