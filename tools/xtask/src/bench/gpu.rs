//! GPU cycles per frame of each scene: the model's estimate, read from the performance counters.
//!
//! In each cycle, a QPU executes, waits for a TMU, the scoreboard or a varying, or has no program. The most frequent of the five bounds the frame. Times are in
//! cycles of the V3D at the clock for which the model's costs are defined; they are estimates that have not been compared with a board.

use super::PATIENCE;
use crate::far_end::qemu::{self, Qemu};
use crate::run::gpu_cycles::{QPUS, QpuCycles, count, counted};
use crate::workspace::Workspace;
use anyhow::Result;
use std::path::Path;
use std::time::Instant;

/// Number of frames that are measured.
const FRAMES: u64 = 2;
/// The V3D's clock in MHz for which the model's costs are defined.
const CLOCK_MHZ: f64 = 250.0;

/// Prints a line for each scene.
pub(super) fn print(workspace: &Workspace, image: &Path, plugin: &Path) -> Result<()> {
    let machine = Qemu::start(qemu::Options::with_v3d(image, plugin), workspace.scratch()?)?;
    let command = |name: &str, arguments: &str| {
        machine.console.command(name, arguments, Instant::now() + PATIENCE, |_| {})?.lines()
    };
    machine.console.wait_ready(Instant::now() + PATIENCE)?;
    for line in command("scene list", "")? {
        let Some((scene, _)) = line.strip_prefix("scene ").and_then(|line| line.split_once(':')) else { continue };
        let stats = |counters| count(&machine.console, counters, scene, FRAMES, PATIENCE);
        let cycles = QpuCycles::of(&stats("cycles")?)?;
        let primitives = counted(&stats("work")?, "FEP primitives, all tiles").unwrap_or(0) / FRAMES;
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
