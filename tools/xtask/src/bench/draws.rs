//! Instructions and bytes per draw, measured with the kernel's command `draws`, which marks the trace.

use super::{PATIENCE, access};
use crate::far_end::qemu::{self, Qemu};
use crate::run::gpu_cycles::LIMITS;
use crate::target_board::ARM_CLOCK_MHZ;
use crate::workspace::Workspace;
use anyhow::{Context, Result, bail};
use std::path::Path;
use std::time::Instant;

/// Number of draws in the difference of two frames.
const DRAWS: u64 = 1000;
/// Number of draws of a long frame.
const MANY_DRAWS: u64 = 10_000;

/// The kernel marks the trace by reading this register.
const MARK: &str = "IDENT0 ->";

/// A workload.
struct Row {
    /// Its name in the kernel's command.
    argument: &'static str,
    what: &'static str,
    /// The number of instructions per draw that is to be reached.
    goal: u64,
}

const ROWS: [Row; 6] = [
    Row { argument: "same", what: "a draw with unchanged state and its own matrix", goal: 200 },
    Row { argument: "instances", what: "an instance with its own matrix", goal: 200 },
    Row { argument: "changed", what: "a draw with changed state and another mesh", goal: 500 },
    Row { argument: "prepared", what: "a prepared draw with its own matrix", goal: 200 },
    Row { argument: "prepared-changed", what: "a prepared draw with changed state and another mesh", goal: 500 },
    Row { argument: "prepared-at-run-time", what: "a prepared draw of a shader compiled at run time", goal: 300 },
];

/// Prints the cost of draws, of a texture, and of a copy of the same number of bytes.
pub(super) fn print(workspace: &Workspace, image: &Path, plugin: &Path) -> Result<()> {
    for Row { argument, what, goal } in ROWS {
        let [few, many] = frames(workspace, image, plugin, argument, DRAWS)?;
        let each = |many: u64, few: u64| many.saturating_sub(few) / DRAWS;
        let instructions = each(many.instructions, few.instructions);
        println!(
            "{what}: {instructions} instructions (goal: below {goal}), {} bytes of control list; {:.1} million a second if each instruction \
             took a cycle of {ARM_CLOCK_MHZ} MHz",
            each(many.list_bytes, few.list_bytes),
            ARM_CLOCK_MHZ as f64 / instructions.max(1) as f64
        );
    }
    let [few, many] = frames(workspace, image, plugin, "prepared", MANY_DRAWS)?;
    let instructions = many.instructions.saturating_sub(few.instructions);
    println!(
        "{MANY_DRAWS} prepared draws in a frame of two passes: {instructions} instructions, {} per draw; {:.1} ms if each instruction took a \
         cycle of {ARM_CLOCK_MHZ} MHz",
        instructions / MANY_DRAWS,
        instructions as f64 / (1000.0 * ARM_CLOCK_MHZ as f64)
    );
    let [few, many] = frames(workspace, image, plugin, "sprites", MANY_DRAWS)?;
    let instructions = many.instructions.saturating_sub(few.instructions) / MANY_DRAWS;
    println!("a sprite, of {MANY_DRAWS} in one draw: {instructions} instructions (goal: below 60)");
    let marks = marks(&trace(workspace, image, plugin, "draws", " upload")?.0);
    let [start, copied, written] = marks[..] else {
        bail!("the trace has {} marks instead of three around an upload", marks.len())
    };
    let (copy, texture) = (copied.1 - start.1, written.1 - copied.1);
    println!("an RGBA8888 texture of 256 KiB: {texture} instructions; a copy of its bytes to GPU memory: {copy}");
    Ok(())
}

/// A frame with few draws of a workload, and one with `draws` more.
fn frames(workspace: &Workspace, image: &Path, plugin: &Path, workload: &str, draws: u64) -> Result<[TraceSection; 2]> {
    let (trace, _) = trace(workspace, image, plugin, "draws", &format!(" {workload} {draws}"))?;
    let marks = marks(&trace);
    // Marks before and after each of three frames: two with few draws, of which the first also fills caches, and one with many.
    let [_, _, few_start, few_end, start, end] = marks[..] else {
        bail!("the trace has {} marks instead of six around three frames", marks.len())
    };
    Ok([few_start..few_end, start..end].map(|frame| TraceSection::of(&trace, frame)))
}

/// The trace of a single command, and what the command has printed.
pub(super) fn trace(
    workspace: &Workspace,
    image: &Path,
    plugin: &Path,
    name: &str,
    arguments: &str,
) -> Result<(String, Vec<String>)> {
    let folder = workspace.scratch()?;
    let trace = folder.path().join("trace");
    let options = qemu::Options { trace: Some(&trace), ..qemu::Options::with_v3d(image, plugin) };
    let machine = Qemu::start(options, workspace.scratch()?)?;
    let deadline = Instant::now() + PATIENCE;
    machine.console.wait_ready(deadline)?;
    // A job that is tried again on a slow host would count twice, and its report is no line of the command's.
    machine.console.command("limits", &format!(" {LIMITS}"), deadline, |_| {})?.lines()?;
    let read = || std::fs::read_to_string(&trace).context("the plugin has written no trace");
    let before = read()?.len();
    let lines = machine.console.command(name, arguments, deadline, |_| {})?.lines()?;
    machine.check_faults()?;
    Ok((read()?.get(before..).unwrap_or_default().to_owned(), lines))
}

/// The part of a trace between two marks.
struct TraceSection {
    instructions: u64,
    /// Bytes of the first binning list.
    list_bytes: u64,
}

impl TraceSection {
    fn of(trace: &str, marks: std::ops::Range<(usize, u64)>) -> Self {
        let lines = || trace.lines().skip(marks.start.0).take(marks.end.0 - marks.start.0);
        let written = |register: &str| {
            lines()
                .filter_map(|line| line.split_once(register))
                .find_map(|(_, value)| u64::from_str_radix(value.trim().trim_start_matches("0x"), 16).ok())
        };
        let list_bytes = match (written(" CT0CA <-"), written(" CT0EA <-")) {
            (Some(start), Some(end)) => end.saturating_sub(start),
            _ => 0,
        };
        Self { instructions: marks.end.1 - marks.start.1, list_bytes }
    }
}

/// The lines of marks, and the number of instructions executed before each.
pub(super) fn marks(trace: &str) -> Vec<(usize, u64)> {
    let mark = |(number, line): (usize, &str)| {
        let (count, access) = access(line)?;
        access.starts_with(MARK).then_some((number, count))
    };
    trace.lines().enumerate().filter_map(mark).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_between_two_marks_is_counted() {
        let trace = "0.000104 5 IDENT0 -> 0x00000001\n0.000120 9 CT0CA <- 0xc0000010\n0.000121 9 CT0EA <- 0xc0000040\n\
            0.000145 50 IDENT0 -> 0x00000001\n0.000150 60 CT0CA <- 0x00000001\n";
        let marks = marks(trace);
        assert_eq!(marks, [(0, 5), (3, 50)]);
        let part = TraceSection::of(trace, marks[0]..marks[1]);
        assert_eq!((part.instructions, part.list_bytes), (45, 0x30));
    }
}
