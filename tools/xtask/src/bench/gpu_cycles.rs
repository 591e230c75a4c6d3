//! Cycles of the V3D, from the counts that the kernel's command `stats` prints.
//!
//! In each cycle, a QPU executes, waits for a TMU, the scoreboard or a varying, or has no program.

use anyhow::{Context, Result};

/// QPUs of the V3D.
pub(crate) const QPUS: u64 = 12;

/// Cycles summed over all QPUs, without those of user programs, for which the V3D has no counter of cycles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct QpuCycles {
    pub(crate) all: u64,
    /// The name and number of cycles of each kind.
    pub(crate) kinds: [(&'static str, u64); 5],
}

impl QpuCycles {
    /// Parses the output of `stats` after a scene during which cycles were counted.
    pub(crate) fn of(stats: &[String]) -> Result<Self> {
        Self::parse(stats).context("the kernel's counters do not count cycles")
    }

    fn parse(stats: &[String]) -> Option<Self> {
        let count = |source| counted(stats, source);
        let idle = count("QPU idle clock cycles")?;
        let busy = count("QPU clock cycles of vertex and coordinate shading")?
            + count("QPU clock cycles of fragment shading")?;
        let waiting = [
            ("QPUs waiting for TMUs", count("QPU clock cycles stalled by TMUs")?),
            ("QPUs waiting for the scoreboard", count("QPU clock cycles stalled by the scoreboard")?),
            ("QPUs waiting for varyings", count("QPU clock cycles stalled by varyings")?),
        ];
        let executing = busy.saturating_sub(waiting.iter().map(|(_, count)| count).sum());
        let [tmu, scoreboard, varyings] = waiting;
        let kinds = [
            ("QPUs executing", executing),
            tmu,
            scoreboard,
            varyings,
            ("the fixed functions: QPUs without work", idle),
        ];
        Some(Self { all: idle + busy, kinds })
    }

    /// The cycles in which QPUs executed instructions of shaders.
    pub(crate) fn executing(&self) -> u64 {
        self.kinds[0].1
    }

    /// The most frequent kind of cycle, and its share of all cycles.
    pub(crate) fn bound(&self) -> (&'static str, f64) {
        let (name, count) = self.kinds.into_iter().max_by_key(|(_, count)| *count).unwrap_or_default();
        (name, count as f64 / self.all.max(1) as f64)
    }
}

/// The count of a source of the performance counters.
pub(crate) fn counted(stats: &[String], source: &str) -> Option<u64> {
    stats.iter().find_map(|line| line.trim().strip_suffix(source)?.trim().parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_bounds_a_frame_is_what_most_cycles_are() {
        let stats = [
            "last scene     2 frames of 1 to 2 us, 1 us on average; in total:",
            "           100 QPU idle clock cycles",
            "            50 QPU clock cycles of vertex and coordinate shading",
            "           850 QPU clock cycles of fragment shading",
            "           500 QPU clock cycles stalled by TMUs",
            "             0 QPU clock cycles stalled by the scoreboard",
            "            30 QPU clock cycles stalled by varyings",
        ];
        let cycles = QpuCycles::of(&stats.map(str::to_owned)).unwrap();
        assert_eq!(cycles.all, 1000);
        assert_eq!(cycles.bound(), ("QPUs waiting for TMUs", 0.5));
        assert_eq!(cycles.kinds[0], ("QPUs executing", 370));
        assert_eq!(cycles.executing(), 370);
        assert!(QpuCycles::of(&[]).is_err());
    }
}
