//! Frames a second of scenes: reached on this machine, and estimated for the chip.
//!
//! The rate on this machine is that of the kernel's command `bench NAME`: without CRCs, and without the first frame, in which scenes prepare what they keep.
//!
//! The chip's rate is estimated from the cycles that the model counts for the frames after the first one, at the clock that a board was measured at, and at
//! most the display's rate. It is what the V3D allows: time of the CPU and of the firmware is not in it. The V3D has no counter of cycles for user programs;
//! their instructions are counted instead, as if they never waited.

use crate::far_end::console::Console;
use crate::run::gpu_cycles::{QPUS, QpuCycles, count, counted};
use anyhow::{Context, Result};
use std::fmt;
use std::time::{Duration, Instant};

/// The V3D's clock in MHz: a Raspberry Pi Zero W was measured at it [bm].
const CHIP_MHZ: u64 = 300;
/// The display's frames a second.
const DISPLAY_HZ: f64 = 60.0;
/// Frames after the first one for which cycles are counted.
const COUNTED_FRAMES: u64 = 2;
/// The counter of executed instructions, in cycles, user programs included.
const INSTRUCTION_CYCLES: &str = "QPU clock cycles executing instructions";

/// The rates of a scene.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct FrameRate {
    /// Its name.
    scene: String,
    /// Frames a second on this machine.
    reached: f64,
    /// Modelled cycles of a frame.
    cycles: u64,
}

impl FrameRate {
    /// Measures and estimates a scene; each of its runs has the time limit `patience`.
    pub(crate) fn of(console: &Console, scene: &str, frames: u64, patience: Duration) -> Result<Self> {
        let arguments = format!(" {scene} frames {frames}");
        let lines = console.command("bench", &arguments, Instant::now() + patience, |_| {})?.lines()?;
        let reached = lines.iter().find_map(|line| rate(line)).context("the kernel's `bench` prints no rate")?;
        let counts = |frames| {
            let stats = count(console, "cycles", scene, frames, patience)?;
            let executed =
                counted(&stats, INSTRUCTION_CYCLES).context("the kernel's counters do not count instructions")?;
            Ok::<_, anyhow::Error>((QpuCycles::of(&stats)?, executed))
        };
        let ((first, executed_in_first), (all, executed_in_all)) = (counts(1)?, counts(1 + COUNTED_FRAMES)?);
        let executed = executed_in_all.saturating_sub(executed_in_first);
        let in_shaders = all.executing().saturating_sub(first.executing());
        let in_programs = executed.saturating_sub(in_shaders);
        let cycles = (all.all.saturating_sub(first.all) + in_programs) / QPUS / COUNTED_FRAMES;
        Ok(Self { scene: scene.to_owned(), reached, cycles })
    }

    /// Frames a second of the chip.
    fn estimated(&self) -> f64 {
        ((CHIP_MHZ * 1_000_000) as f64 / self.cycles.max(1) as f64).min(DISPLAY_HZ)
    }
}

/// Rates of several scenes, with a heading.
#[derive(Debug, Default)]
pub(crate) struct Table(pub(crate) Vec<FrameRate>);

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = self.0.iter().map(|rate| rate.scene.len()).max().unwrap_or(0).max("scene".len());
        writeln!(f, "{:width$} {:>13} {:>23} {:>7}", "scene", "frames/s here", "of the chip, estimated", "share")?;
        for rate in &self.0 {
            let FrameRate { scene, reached, cycles } = rate;
            let estimated = rate.estimated();
            let share = 100.0 * reached / estimated;
            writeln!(
                f,
                "{scene:width$} {reached:13.1} {estimated:23.1} {share:6.0}% ({cycles} modelled cycles a frame)"
            )?;
        }
        write!(f, "(the chip at {CHIP_MHZ} MHz, at most {DISPLAY_HZ} frames a second)")
    }
}

/// The rate in `after the first frame 12.345 a second`.
fn rate(line: &str) -> Option<f64> {
    line.strip_prefix("after the first frame ")?.strip_suffix(" a second")?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_has_a_line_for_each_scene() {
        let rate = |scene: &str, reached, cycles| FrameRate { scene: scene.to_owned(), reached, cycles };
        let table = Table(vec![rate("cube", 30.0, 500_000), rate("flight", 7.5, 10_000_000)]);
        assert_eq!(
            table.to_string(),
            "scene  frames/s here  of the chip, estimated   share\n\
             cube            30.0                    60.0     50% (500000 modelled cycles a frame)\n\
             flight           7.5                    30.0     25% (10000000 modelled cycles a frame)\n\
             (the chip at 300 MHz, at most 60 frames a second)"
        );
    }

    #[test]
    fn rates_are_read_from_the_kernels_line() {
        assert_eq!(rate("after the first frame 12.345 a second"), Some(12.345));
        assert_eq!(rate("30 frames in 100 ms, 300.000 a second"), None);
    }
}
