//! Firmware, and boards around it, that do not behave as QEMU's: the kernel says what it meets, and goes on.

use super::Built;
use super::board::{LAST_STAGE_WORD, ensure_triangle, wait_until};
use super::guest::{PATIENCE, TRIANGLE_CRC, with_machine};
use crate::far_end::qemu::{Options, Qemu};
use crate::run::run_scene;
use crate::target_board::BOOT_TRACE;
use crate::workspace::Workspace;
use anyhow::{Context, Result, bail, ensure};
use std::time::{Duration, Instant};

/// What the kernel says when it leaves the V3D alone after a boot that ended while it was started.
const LEFT_ALONE: &str = "The V3D is left alone during this boot";

/// Boots a machine whose firmware has these behaviours.
fn with_firmware(
    workspace: &Workspace,
    built: &Built,
    firmware: &str,
    work: impl FnOnce(&Qemu, Vec<String>, Instant) -> Result<String>,
) -> Result<String> {
    let options = Options { firmware: Some(firmware), ..Options::with_v3d(built.image()?, built.plugin()?) };
    with_machine(workspace, options, work)
}

/// The first line that contains `words`.
fn find<'a>(lines: &'a [String], words: &str) -> Result<&'a str> {
    let found = lines.iter().find(|line| line.contains(words));
    found.map(String::as_str).with_context(|| format!("no line says \"{words}\": {}", lines.join(" / ")))
}

/// The lines of a command that succeeds.
fn command(machine: &Qemu, name: &str, arguments: &str, deadline: Instant) -> Result<Vec<String>> {
    machine.console.command(name, arguments, deadline, |_| {})?.lines()
}

/// Newer firmware leaves the V3D's clock off until SET_CLOCK_STATE; its own words fill the command line; it has memory for two pages.
pub(super) fn gated_clock(workspace: &Workspace, built: &Built) -> Result<String> {
    with_firmware(workspace, built, "gated-clock+command-line+two-pages", |machine, boot, deadline| {
        find(&boot, "V3D clock switched on")?;
        let clock = find(&boot, "V3D clock 300.000 MHz, measured")?.to_owned();
        find(&boot, "the command line has 300 bytes")?;
        // The last word of the command line.
        find(&command(machine, "interrupts", "", deadline)?, "by interrupt")?;
        find(&command(machine, "info", "", deadline)?, "1280x720, 2 pages")?;
        ensure_triangle(machine, 4, deadline)?;
        Ok(clock)
    })
}

/// Without a clock, no register of the V3D is accessed: neither by the boot, nor by the test of a board, nor by `v3d start`.
pub(super) fn no_clock(workspace: &Workspace, built: &Built) -> Result<String> {
    let scratch = workspace.scratch()?;
    let trace = scratch.path().join("trace");
    let options = Options {
        firmware: Some("no-clock"),
        trace: Some(&trace),
        ..Options::with_v3d(built.image()?, built.plugin()?)
    };
    with_machine(workspace, options, |machine, boot, deadline| {
        const SENTENCE: &str = "the clock of V3D is off: the firmware measures 0 Hz";
        let told = find(&boot, SENTENCE)?.to_owned();
        for (name, arguments) in [("v3d", ""), ("v3d", " start")] {
            let Err(error) = command(machine, name, arguments, deadline) else { bail!("`{name}{arguments}` succeeds") };
            ensure!(error.to_string().contains(SENTENCE), "`{name}{arguments}` says: {error}");
        }
        let report = machine.console.command("selftest", " board", deadline, |_| {})?;
        ensure!(report.result.is_err(), "`selftest board` finds a V3D");
        find(&report.lines, "no register of the V3D has been accessed")?;
        ensure!(run_scene(&machine.console, "triangle", 0..1, deadline).is_err(), "a triangle was drawn");
        let accesses = std::fs::read_to_string(&trace)?;
        ensure!(accesses.is_empty(), "a register was accessed: {accesses}");
        command(machine, "help", "", deadline)?;
        Ok(told)
    })
}

/// An access to the V3D never ends although its clock is measured. The watchdog restarts the machine, and the next boot leaves the V3D alone: once, so that the
/// boot after it tries again.
pub(super) fn endless_access(workspace: &Workspace, built: &Built) -> Result<String> {
    const HUNG: &str = "The previous boot got no further than stage 15 of 20, \"V3D clock and power\"";
    with_firmware(workspace, built, "frozen+board", |machine, boot, deadline| {
        // These are the lines of two boots: the first has ended without its last line.
        let told = find(&boot, HUNG)?.to_owned();
        find(&boot, LEFT_ALONE)?;
        ensure!(run_scene(&machine.console, "triangle", 0..1, deadline).is_err(), "a triangle was drawn");
        let report = machine.console.command("selftest", " board", deadline, |_| {})?;
        find(&report.lines, "no register of the V3D has been accessed")?;
        for typed in ["v3d start\r", "reboot\r"] {
            machine.console.keyboard().press(typed.as_bytes())?;
            let boot = machine.console.wait_ready(deadline)?;
            find(&boot, HUNG).with_context(|| format!("after {typed:?}"))?;
            find(&boot, LEFT_ALONE).with_context(|| format!("after {typed:?}"))?;
        }
        command(machine, "help", "", deadline)?;
        Ok(told)
    })
}

/// After a boot that hung while it reset the V3D, the next one leaves the V3D alone, and `v3d start` starts it.
pub(super) fn hang_in_v3d_stage(workspace: &Workspace, built: &Built) -> Result<String> {
    /// "V3D identity": the reset comes after it.
    const STAGE: u32 = 16;
    with_machine(workspace, Options::with_v3d(built.image()?, built.plugin()?), |machine, _, deadline| {
        machine.console.keyboard().press(format!("fail boot {STAGE}\r").as_bytes())?;
        let stands_still = || {
            let words = machine.memory(BOOT_TRACE, 4 * (LAST_STAGE_WORD + 1))?;
            Ok(words[4 * LAST_STAGE_WORD..] == STAGE.to_le_bytes())
        };
        wait_until(deadline, "the kernel does not hang", stands_still)?;
        machine.reset()?;
        let boot = machine.console.wait_ready(deadline)?;
        let told = find(&boot, LEFT_ALONE)?.to_owned();
        let Err(error) = command(machine, "v3d", "", deadline) else { bail!("`v3d` shows a V3D") };
        ensure!(error.to_string().contains("`v3d start` starts it"), "`v3d` says: {error}");
        find(&command(machine, "v3d", " start", deadline)?, "V3D 2.1: 3 slices")?;
        ensure_triangle(machine, 2, deadline)?;
        Ok(told)
    })
}

/// Interrupts of the basic bank and of the cores' own block, which the firmware enables again after the kernel has disabled them.
pub(super) fn stray_interrupts(workspace: &Workspace, built: &Built) -> Result<String> {
    with_firmware(workspace, built, "stray-interrupt", |machine, _, deadline| {
        let info = command(machine, "info", "", deadline)?;
        let told = find(&info, "came from no line of the two banks")?;
        ensure!(told.ends_with("basic bank 0x4, core 0 0x110"), "the kernel says: {told}");
        let count = find(&info, "interrupts came from no known line")?;
        // The limit is for the time between two ticks, and a tick may come in the middle.
        let number = count.split_whitespace().nth(1).and_then(|number| number.parse().ok());
        ensure!(number.is_some_and(|number: u32| (100..200).contains(&number)), "the kernel says: {count}");
        ensure_triangle(machine, 2, deadline)?;
        Ok(told.to_owned())
    })
}

/// A pitch of 16-bit pixels: no framebuffer is of use, and pictures are drawn into memory.
pub(super) fn pitch_of_16_bits(workspace: &Workspace, built: &Built) -> Result<String> {
    with_firmware(workspace, built, "pitch16", |machine, boot, deadline| {
        for size in ["1280x720", "800x600", "640x480"] {
            find(&boot, &format!("no framebuffer of 1 pages of {size}: "))?;
        }
        let told = find(&boot, "no picture: ")?.to_owned();
        ensure!(told.contains("its pitch is shorter than a line of 32-bit pixels"), "the kernel says: {told}");
        find(&command(machine, "info", "", deadline)?, "display    none")?;
        ensure_triangle(machine, 2, deadline)?;
        Ok(told)
    })
}

/// Shows the triangle until a line contains `words`, for at most `patience`, then ends the scene. Returns that line, and the one that counts frames.
fn watch_triangle(machine: &Qemu, words: &str, patience: Duration) -> Result<(Option<String>, String)> {
    let console = &machine.console;
    let told = console
        .exchange("scene run", "scene run triangle", patience, |line| line.contains(words).then(|| line.to_owned()))?;
    // A carriage return ends the scene.
    let mut speed = String::new();
    let ended = console.exchange("scene run", "", PATIENCE, |line| {
        if line.ends_with(" a second") {
            speed = line.to_owned();
        }
        (line == "ok scene run").then_some(())
    })?;
    ended.context("the scene does not end")?;
    Ok((told, speed))
}

/// The firmware answers the wait for the vertical blanking after a second: it is asked once. Where the HVS counts frames, it is not asked at all.
pub(super) fn slow_vsync(workspace: &Workspace, built: &Built) -> Result<String> {
    const SENTENCE: &str = "frames are not synchronised with the display: the firmware's answer takes more than 100 ms";
    let asked = with_firmware(workspace, built, "slow-vsync", |machine, _, deadline| {
        let (told, speed) = watch_triangle(machine, SENTENCE, PATIENCE)?;
        told.context("the kernel does not say that the firmware takes too long")?;
        ensure_triangle(machine, 2, deadline)?;
        Ok(speed)
    })?;
    let counted = with_firmware(workspace, built, "slow-vsync+board", |machine, _, _| {
        let (told, speed) = watch_triangle(machine, "not synchronised", Duration::from_secs(1))?;
        ensure!(told.is_none(), "the kernel says: {told:?}");
        let rate = speed.split(' ').rev().nth(2).and_then(|rate| rate.parse::<f64>().ok());
        // No run is faster than the display, however slow this host is.
        ensure!(rate.is_some_and(|rate| rate < 61.0), "more frames than the display shows: {speed}");
        Ok(speed)
    })?;
    Ok(format!("asked: {asked}; counted: {counted}"))
}

/// A board's power block: the firmware powers the V3D up, the driver's reset uses the registers, the watchdog restarts the machine.
pub(super) fn power_block(workspace: &Workspace, built: &Built) -> Result<String> {
    with_firmware(workspace, built, "board", |machine, boot, deadline| {
        let status = find(&boot, "before the reset: PM_GRAFX 0x0000107f")?.to_owned();
        find(&boot, "V3D is reset")?;
        ensure!(
            !boot.iter().any(|line| line.contains("reset by the firmware")),
            "the power block cannot reset the V3D"
        );
        let report = machine.console.command("selftest", " board", deadline, |_| {})?;
        let verdict = report.lines.iter().find(|line| line.contains(": passed") && line.contains("PM_GRAFX 0x"));
        verdict.context("`selftest board` does not pass the power block")?;
        ensure!(report.result.is_ok(), "`selftest board` ends with {:?}", report.result);
        machine.console.keyboard().press(b"reboot\r")?;
        machine.console.wait_ready(deadline)?;
        ensure_triangle(machine, 2, deadline)?;
        Ok(status)
    })
}

/// A job that hangs is ended by a reset of the whole V3D, through the power block or, where there is none, through the firmware: not only of its threads.
pub(super) fn reset_after_a_hang(workspace: &Workspace, built: &Built) -> Result<String> {
    for (firmware, by_firmware) in [("board", false), ("two-pages", true)] {
        // The model reports the hang as a fault, so only the console is checked.
        let options = Options { firmware: Some(firmware), ..Options::with_v3d(built.image()?, built.plugin()?) };
        let machine = Qemu::start(options, workspace.scratch()?)?;
        let deadline = Instant::now() + PATIENCE;
        machine.console.wait_ready(deadline)?;
        let lines = command(&machine, "fail", " job", deadline)?;
        let is_by_firmware = lines.iter().any(|line| line.contains("the V3D is reset by the firmware"));
        ensure!(is_by_firmware == by_firmware, "firmware={firmware}: {}", lines.join(" / "));
        let statistics = command(&machine, "stats", "", deadline)?;
        let resets = find(&statistics, "resets ")?;
        ensure!(resets.ends_with(", and 0 failed ones") && !resets.contains(" 0, "), "firmware={firmware}: {resets}");
        let run = run_scene(&machine.console, "triangle", 0..2, deadline)?;
        let right = run.frames.iter().filter(|frame| frame.crc == TRIANGLE_CRC).count();
        ensure!(right == 2, "{right} of 2 frames are right with firmware={firmware}");
    }
    Ok("through the power block, and through the firmware".to_owned())
}

/// A Zero 2 W: the firmware's requests do not power the V3D up, so the ARM does, with the clock off meanwhile; together with whatever else firmware does.
pub(super) fn powered_by_hand(workspace: &Workspace, built: &Built) -> Result<String> {
    let firmware = "by-hand+gated-clock+command-line+two-pages+stray-interrupt+slow-vsync";
    with_firmware(workspace, built, firmware, |machine, boot, deadline| {
        find(&boot, "before the reset: PM_GRAFX 0x00001000")?;
        find(&boot, "the firmware has not powered the V3D up: the graphics are not powered (POWOK)")?;
        let status = find(&boot, "V3D is powered up: PM_GRAFX 0x0000507f")?.to_owned();
        ensure_triangle(machine, 2, deadline)?;
        find(&command(machine, "info", "", deadline)?, "1280x720, 2 pages")?;
        Ok(status)
    })
}
