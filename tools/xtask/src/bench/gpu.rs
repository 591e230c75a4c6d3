//! GPU cycles per frame of each scene: the model's estimate, read from the performance counters.
//!
//! In each cycle, a QPU executes, waits for a TMU, the scoreboard or a varying, or has no program. The most frequent of the five bounds the frame. Times are in
//! cycles of the V3D at the clock for which the model's costs are defined; they are estimates that have not been compared with a board.

use super::PATIENCE;
use crate::qemu::{self, Qemu};
use crate::workspace::Workspace;
use anyhow::{Context, Result};
use std::path::Path;
use std::time::Instant;

/// Number of frames that are measured.
const FRAMES: u64 = 2;
/// QPUs of the V3D.
const QPUS: u64 = 12;
/// The V3D's clock in MHz for which the model's costs are defined.
const CLOCK_MHZ: f64 = 250.0;

/// Cycles summed over all QPUs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct QpuCycles {
    all: u64,
    /// The name and number of cycles of each kind.
    kinds: [(&'static str, u64); 5],
}

impl QpuCycles {
    /// Parses the output of the kernel's command `stats`.
    fn of(stats: &[String]) -> Option<Self> {
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

    /// The most frequent kind of cycle, and its share of all cycles.
    fn bound(&self) -> (&'static str, f64) {
        let (name, count) = self.kinds.into_iter().max_by_key(|(_, count)| *count).unwrap_or_default();
        (name, count as f64 / self.all.max(1) as f64)
    }
}

/// The count of a source of the performance counters.
fn counted(stats: &[String], source: &str) -> Option<u64> {
    stats.iter().find_map(|line| line.trim().strip_suffix(source)?.trim().parse().ok())
}

/// Prints a line for each scene.
pub(super) fn print(workspace: &Workspace, image: &Path, plugin: &Path) -> Result<()> {
    let machine = Qemu::start(qemu::Options::with_v3d(image, plugin), workspace.scratch()?)?;
    let command = |name: &str, arguments: &str| {
        machine.console.command(name, arguments, Instant::now() + PATIENCE, |_| {})?.lines()
    };
    machine.console.wait_ready(Instant::now() + PATIENCE)?;
    for line in command("scene list", "")? {
        let Some((scene, _)) = line.strip_prefix("scene ").and_then(|line| line.split_once(':')) else { continue };
        let stats = |counters: &str| {
            command("stats", counters)?;
            command("scene run", &format!(" {scene} frames {FRAMES}"))?;
            command("stats", "")
        };
        let cycles = QpuCycles::of(&stats(" cycles")?).context("the kernel's counters do not count cycles")?;
        let primitives = counted(&stats(" work")?, "FEP primitives, all tiles").unwrap_or(0) / FRAMES;
        let (bound, share) = cycles.bound();
        let frame = cycles.all / QPUS / FRAMES;
        let seconds = frame.max(1) as f64 / (CLOCK_MHZ * 1e6);
        println!(
            "{scene}: {frame} modelled GPU cycles a frame, bounded by {bound} ({:.0}%); at {CLOCK_MHZ} MHz {:.0} frames and {:.2} million \
             triangles in tiles a second",
            100.0 * share,
            1.0 / seconds,
            primitives as f64 / seconds / 1e6
        );
    }
    machine.check_faults()
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
        assert_eq!(QpuCycles::of(&[]), None);
    }
}
