//! Conditions of real boards that QEMU can reproduce.
//!
//! Other load addresses, interrupts enabled and disabled, a dead serial port, a hang during boot.

use super::Built;
use super::guest::{INK, MIN_INK, PATIENCE, TRIANGLE_CRC, with_machine};
use crate::far_end::qemu::{Options, Qemu};
use crate::run::run_scene;
use crate::target_board::{BOOT_TRACE, PERSISTENT_LOG};
use crate::workspace::Workspace;
use anyhow::{Context, Result, bail, ensure};
use std::time::{Duration, Instant};

/// The word of the boot trace that contains the last stage.
pub(super) const LAST_STAGE_WORD: usize = 2;

/// A kernel that is loaded where current firmware loads 64-bit kernels, and where the image overlaps its link address, relocates itself and draws.
pub(super) fn other_addresses(workspace: &Workspace, built: &Built) -> Result<String> {
    const ADDRESSES: [u64; 2] = [0x20_0000, 0x9_0000];
    for address in ADDRESSES {
        // QEMU starts at 0x80000, where this code jumps to the image: `mov x9, #address; br x9`, in two halves.
        let halves = [0xd280_0009 | (address as u32 & 0xffff) << 5, 0xf2a0_0009 | (address as u32 >> 16) << 5];
        let words = [halves[0], halves[1], 0xd61f_0120u32];
        let scratch = workspace.scratch()?;
        let jump = scratch.path().join("jump");
        std::fs::write(&jump, words.map(u32::to_le_bytes).concat())?;
        let image = built.image()?;
        let options = Options { loaded: Some((image, address)), ..Options::with_v3d(&jump, built.plugin()?) };
        with_machine(workspace, options, |machine, _, deadline| {
            let lines = machine.console.command("boot", "", deadline, |_| {})?.lines()?;
            ensure!(
                lines.iter().any(|line| line.ends_with("image in its place")),
                "`boot` says: {}",
                lines.join(" / ")
            );
            ensure_triangle(machine, 2, deadline)?;
            Ok(String::new())
        })
        .with_context(|| format!("loaded at {address:#x}"))?;
    }
    Ok("0x200000, and 0x90000, where the image overlaps its place".to_owned())
}

/// Draws the triangle and checks its CRCs.
pub(super) fn ensure_triangle(machine: &Qemu, frames: usize, deadline: Instant) -> Result<()> {
    let run = run_scene(&machine.console, "triangle", 0..frames as u64, deadline)?;
    let right = run.frames.iter().filter(|frame| frame.crc == TRIANGLE_CRC).count();
    ensure!(right == frames, "{right} of {frames} frames are right");
    Ok(())
}

/// The V3D's interrupts stay disabled until they are requested; with them, the same frames are drawn.
pub(super) fn polling_and_interrupts(workspace: &Workspace, built: &Built) -> Result<String> {
    const FRAMES: u64 = 10;
    let scratch = workspace.scratch()?;
    let trace = scratch.path().join("trace");
    let options = Options { trace: Some(&trace), ..Options::with_v3d(built.image()?, built.plugin()?) };
    with_machine(workspace, options, |machine, _, deadline| {
        let command = |name: &str, arguments: &str| machine.console.command(name, arguments, deadline, |_| {})?.lines();
        let enables = || -> Result<usize> {
            Ok(std::fs::read_to_string(&trace)?.lines().filter(|line| line.contains(" INTENA <- ")).count())
        };
        let raised = || -> Result<u64> {
            let lines = command("stats", "")?;
            let line = lines.iter().find(|line| line.starts_with("interrupts")).context("`stats` has no interrupts")?;
            let count = line.split_whitespace().rev().nth(1).and_then(|word| word.parse().ok());
            count.with_context(|| format!("`stats` says: {line}"))
        };
        let way = command("interrupts", "")?;
        ensure!(way.iter().any(|line| line.ends_with("by polling")), "`interrupts` says: {}", way.join(" / "));
        let polled = run_scene(&machine.console, "cube", 0..FRAMES, deadline)?;
        ensure!((enables()?, raised()?) == (0, 0), "the V3D's interrupts are enabled although they were not requested");
        let way = command("interrupts", " on")?;
        ensure!(way.iter().any(|line| line.ends_with("by interrupt")), "`interrupts on` says: {}", way.join(" / "));
        let woken = run_scene(&machine.console, "cube", 0..FRAMES, deadline)?;
        let interrupts = raised()?;
        ensure!(enables()? > 0 && interrupts > 0, "no interrupt was raised");
        ensure!(polled.frames == woken.frames, "the frames differ: {:x?} and {:x?}", polled.frames, woken.frames);
        ensure!(polled.frames.len() as u64 == FRAMES, "{} frames were drawn", polled.frames.len());
        command("interrupts", " off")?;
        let polled = run_scene(&machine.console, "cube", 0..FRAMES, deadline)?;
        ensure!(raised()? == interrupts && polled.frames == woken.frames, "`interrupts off` leaves them on");
        Ok(format!("{FRAMES} equal frames each way, {interrupts} interrupts"))
    })
}

/// With a serial port whose transmitter never has room, the kernel boots, shows its output on the screen, processes input, and logs a panic.
pub(super) fn stuck_serial_port(workspace: &Workspace, built: &Built) -> Result<String> {
    const LAST_WORDS: &[u8] = b"panic: ";
    let options = Options { stuck_uart: Some("fail panic"), ..Options::with_v3d(built.image()?, built.plugin()?) };
    let machine = Qemu::start(options, workspace.scratch()?)?;
    let deadline = Instant::now() + PATIENCE;
    let has_last_words = || {
        // The serial line does not show when QEMU can be queried.
        let memory = machine.memory(PERSISTENT_LOG.0, PERSISTENT_LOG.1).unwrap_or_default();
        Ok(memory.windows(LAST_WORDS.len()).any(|bytes| bytes == LAST_WORDS))
    };
    wait_until(deadline, "the log does not contain the panic", has_last_words)?;
    let ink = || -> Result<usize> { Ok(machine.screenshot()?.pixels.iter().filter(|&&pixel| pixel == INK).count()) };
    wait_until(deadline, "the screen does not show the panic", || Ok(ink()? > MIN_INK))?;
    let memory = machine.memory(PERSISTENT_LOG.0, PERSISTENT_LOG.1)?;
    let warning = b"the serial port does not send";
    ensure!(
        memory.windows(warning.len()).any(|bytes| bytes == warning),
        "the log does not report that the port is dead"
    );
    machine.check_faults()?;
    Ok(format!("{} pixels of text", ink()?))
}

/// Polls until a condition is true.
pub(super) fn wait_until(deadline: Instant, otherwise: &str, is_so: impl Fn() -> Result<bool>) -> Result<()> {
    while !is_so()? {
        if Instant::now() > deadline {
            bail!("time-out: {otherwise}");
        }
        std::thread::sleep(Duration::from_millis(200));
    }
    Ok(())
}

/// A hang during boot is reported by the next boot, with its log.
pub(super) fn hang_in_boot(workspace: &Workspace, built: &Built) -> Result<String> {
    /// "screen".
    const STAGE: u32 = 13;
    with_machine(workspace, Options::with_v3d(built.image()?, built.plugin()?), |machine, boot, deadline| {
        let says_so = |line: &String| line.starts_with("The previous boot got no further");
        ensure!(!boot.iter().any(says_so), "a complete boot is reported as a hang");
        machine.console.keyboard().press(format!("fail boot {STAGE}\r").as_bytes())?;
        let stands_still = || {
            let words = machine.memory(BOOT_TRACE, 4 * (LAST_STAGE_WORD + 1))?;
            Ok(words[4 * LAST_STAGE_WORD..] == STAGE.to_le_bytes())
        };
        wait_until(deadline, "the kernel does not hang", stands_still)?;
        // On a board, the watchdog resets the machine.
        machine.reset()?;
        let boot = machine.console.wait_ready(deadline)?;
        let told = boot.iter().find(|line| says_so(line)).context("the next boot does not report the hang")?;
        ensure!(told.contains("stage 13 of 20, \"screen\""), "the next boot reports: {told}");
        let has_log = boot.iter().any(|line| line.contains("its log: ") && line.contains("framebuffer 1280x720"));
        ensure!(has_log, "the next boot does not print the log");
        ensure_triangle(machine, 1, deadline)?;
        Ok(told.clone())
    })
}

/// An interrupt storm: the kernel continues and reports its line.
pub(super) fn interrupt_storm(workspace: &Workspace, built: &Built) -> Result<String> {
    with_machine(workspace, Options::without_v3d(built.image()?), |machine, _, deadline| {
        let lines = machine.console.command("fail", " storm", deadline, |_| {})?.lines()?;
        let told = lines.iter().find(|line| line.starts_with("interrupt line 3 was asserted more than"));
        let told = told.with_context(|| format!("`fail storm` says: {}", lines.join(" / ")))?;
        machine.console.command("help", "", deadline, |_| {})?.lines()?;
        Ok(told.clone())
    })
}

/// Checks config.txt of the card.
pub(super) fn check_config(config: &str) -> Result<()> {
    let lines: Vec<&str> = config.lines().map(str::trim).filter(|line| !line.starts_with('#')).collect();
    for wanted in [
        "arm_64bit=1",
        "kernel=kernel8.img",
        "kernel_address=0x80000",
        "device_tree=",
        "gpu_mem=64",
        "framebuffer_depth=32",
        "max_framebuffer_width=2048",
        "max_framebuffer_height=4096",
    ] {
        ensure!(lines.contains(&wanted), "config.txt has no line {wanted}");
    }
    // The mini UART's rate depends on the core clock, so whoever selects it finds the clock's line beside.
    ensure!(config.contains("#enable_uart=1\n#core_freq=250\n"), "config.txt does not fix the clock of the mini UART");
    ensure!(!lines.contains(&"disable_splash=1"), "config.txt disables the coloured square");
    Ok(())
}
