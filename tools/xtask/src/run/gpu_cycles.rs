//! Cycles of the V3D, from the counts that the kernel's command `stats` prints.
//!
//! In each cycle, a QPU executes, waits for a TMU, the scoreboard or a varying, or has no program.

use crate::far_end::console::Console;
use anyhow::{Context, Result, ensure};
use std::time::{Duration, Instant};

/// The kernel's time limits of jobs during a measurement, in multiples of the usual ones. Counting cycles makes the model about ten times slower, and other
/// work may slow the host: a tile then takes longer than the kernel usually waits for progress, and a job longer than it may take.
pub(crate) const LIMITS: u32 = 100;

/// Draws frames of a scene and returns what the kernel's `stats` then prints, with the counts of `counters`, which is `work` or `cycles`.
///
/// # Errors
/// When a job was tried again, whose counts would be wrong.
pub(crate) fn count(
    console: &Console,
    counters: &str,
    scene: &str,
    frames: u64,
    patience: Duration,
) -> Result<Vec<String>> {
    let command =
        |name: &str, arguments: &str| console.command(name, arguments, Instant::now() + patience, |_| {})?.lines();
    command("limits", &format!(" {LIMITS}"))?;
    let before = retries(&command("stats", "")?)?;
    command("stats", &format!(" {counters}"))?;
    command("scene run", &format!(" {scene} frames {frames}"))?;
    let stats = command("stats", "")?;
    // What follows runs at the model's usual speed again.
    command("stats", " work")?;
    command("limits", " 1")?;
    let after = retries(&stats)?;
    ensure!(before == after, "{} jobs of scene {scene} were tried again: their counts are wrong", after - before);
    Ok(stats)
}

/// The number of jobs that were tried again since boot.
fn retries(stats: &[String]) -> Result<u64> {
    let count = |line: &String| {
        line.strip_prefix("jobs ")?.split(',').find_map(|part| part.trim().strip_suffix(" retried")?.parse().ok())
    };
    stats.iter().find_map(count).context("the kernel's `stats` does not tell how many jobs were tried again")
}

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

    #[test]
    fn jobs_that_were_tried_again_are_counted() {
        let stats = ["jobs           1203 done, 0 dropped, 14 retried", "user programs  4 done"].map(str::to_owned);
        assert_eq!(retries(&stats).unwrap(), 14);
        assert!(retries(&stats[1..]).is_err());
    }
}
