//! The command `selftest board`: a first test of a board, from the first register access to a frame with interrupts
//!
//! Each step is announced before it runs, so that the last line shows where a board hangs. Each has its own verdict, so that a failure does not prevent the
//! next step. The output is a text for a report. Interrupts come last, because they are most likely to stop the communication with the firmware.
//!
//! # Verdicts
//! `passed`, `failed`, or `skipped`: the machine lacks the hardware for the step, as QEMU has no power registers.

use alloc::{
    format,
    string::{String, ToString},
    vec,
};

use v3d::{
    Job, error_status,
    hw::{
        Layout,
        registers::{IDENT0_VALUE, Register, pipeline::Pcs},
    },
    platform::RegisterAccess,
    record_list::ControlList,
    rendering_list::{ClearValues, RenderingPass},
    surface::Surface,
    tile_grid::{TileBuffer, TileGrid},
};

use super::{
    scene, selftest,
    session::{CommandResult, NO_V3D, Session},
};
use crate::{
    arch::{clock, cpu},
    board::{
        firmware,
        framebuffer::DEFAULT_SIZE,
        interrupt_controller, interrupt_lines,
        property::{GetBoardRevision, GetFirmwareRevision},
        revision::Revision,
    },
    gpu::Gpu,
    print, println,
    scenes::{SCENES, SceneEntry},
    selftest::pictures,
    v3d_platform::V3dPlatform,
};

/// The verdict of a step.
enum Verdict {
    /// Success, with a remark.
    Passed(String),
    /// Failure, with its reason.
    Failed(String),
    /// The machine lacks the hardware for the step; which.
    Skipped(String),
}

impl Verdict {
    fn of(result: Result<String, String>) -> Self {
        match result {
            Ok(remark) => Self::Passed(remark),
            Err(reason) => Self::Failed(reason),
        }
    }
}

/// A step: its description and its function.
type Step = (&'static str, fn(&mut Session) -> Verdict);

const STEPS: [Step; 13] = [
    ("IDENT0: is there a V3D with power?", identity),
    ("PM_GRAFX and the bus bridges", power),
    ("INTENA, INTCTL and PCS: is the V3D idle?", quiet),
    ("ERRSTAT", errors),
    ("reservations of QPUs and VPM", reservations),
    ("10 messages to the firmware", mailbox),
    ("a job that only clears, without interrupts", clearing),
    ("a triangle, without interrupts", triangle_polled),
    ("a user program", user_program),
    ("the recorded results of the QPUs' arithmetic", arithmetic),
    ("ERRSTAT, after all that", errors),
    ("a triangle, with interrupts", triangle_by_interrupt),
    ("10 messages to the firmware, after the interrupts", mailbox),
];

pub(super) fn selftest(session: &mut Session) -> CommandResult {
    println!("---- board report, to be pasted as a whole ----");
    facts(session);
    // Without a driver, the V3D's registers are only read.
    let platform = V3dPlatform::installed().filter(|_| session.gpu.is_ok());
    let was_polling = platform.is_none_or(V3dPlatform::is_polling);
    if let Some(platform) = platform {
        platform.poll();
    }
    let (mut passed, mut failed, mut skipped) = (0, 0, 0);
    for (index, (what, step)) in STEPS.into_iter().enumerate() {
        let number = index + 1;
        println!("step {number:2}: {what} ...");
        let start_us = clock::now_us();
        let verdict = step(session);
        let ms = (clock::now_us() - start_us) / 1000;
        session.watchdog.sign_of_life();
        let (word, remark) = match verdict {
            Verdict::Passed(remark) => {
                passed += 1;
                ("passed", remark)
            }
            Verdict::Failed(reason) => {
                failed += 1;
                ("FAILED", reason)
            }
            Verdict::Skipped(reason) => {
                skipped += 1;
                ("skipped", reason)
            }
        };
        println!("step {number:2}: {word}, {ms} ms: {remark}");
    }
    if let (Some(platform), false) = (platform, was_polling) {
        platform.use_interrupt();
    }
    println!("---- {passed} passed, {failed} failed, {skipped} skipped ----");
    if failed == 0 { Ok(()) } else { Err(format!("{failed} of {} steps failed", STEPS.len())) }
}

/// Prints which board, firmware and kernel these are.
fn facts(session: &Session) {
    println!("kernel {}, entered at EL{}", env!("CARGO_PKG_VERSION"), session.handover.entry_level);
    println!("CPU MIDR {:#010x}, counter {} kHz", cpu::identity(), clock::frequency_hz() / 1000);
    match firmware::ask(&GetBoardRevision {}) {
        Ok(revision) => println!("board {}", Revision(revision.code)),
        Err(error) => println!("board unknown: {error}"),
    }
    match firmware::ask(&GetFirmwareRevision {}) {
        Ok(revision) => println!("firmware built {} s after 1970", revision.built_at),
        Err(error) => println!("firmware unknown: {error}"),
    }
    let tree = if session.handover.device_tree.is_some() { "a" } else { "no" };
    println!("the loader passed {tree} device tree");
    match &session.framebuffer {
        Some(pages) => println!("display {}x{}, {} pages", pages.width, pages.height, pages.count),
        None => println!("display none"),
    }
    if let Err(reason) = &session.gpu {
        println!("driver none: {reason}");
    }
}

/// Access to the V3D's registers, even without a driver.
fn platform() -> Result<&'static V3dPlatform, String> {
    V3dPlatform::installed().ok_or_else(|| "the boot did not get that far".to_string())
}

fn identity(_: &mut Session) -> Verdict {
    Verdict::of(platform().and_then(|platform| match platform.read(Register::IDENT0) {
        IDENT0_VALUE => Ok(format!(
            "IDENT0 {IDENT0_VALUE:#010x}, IDENT1 {:#010x}, IDENT2 {:#010x}",
            platform.read(Register::IDENT1),
            platform.read(Register::IDENT2)
        )),
        other => Err(format!("IDENT0 reads {other:#010x} instead of {IDENT0_VALUE:#010x}")),
    }))
}

fn power(_: &mut Session) -> Verdict {
    let status = match platform() {
        Ok(platform) => platform.power_status(),
        Err(reason) => return Verdict::Failed(reason),
    };
    if (status.grafx, status.bridge_id, status.slave, status.master) == (0, 0, 0, 0) {
        return Verdict::Skipped("all of them read 0, which they do on no board".to_string());
    }
    match status.obstacle() {
        None => Verdict::Passed(status.to_string()),
        Some(obstacle) => Verdict::Failed(format!("{obstacle}: {status}")),
    }
}

fn quiet(_: &mut Session) -> Verdict {
    Verdict::of(platform().and_then(|platform| {
        let [enabled, causes, status] =
            [Register::INTENA, Register::INTCTL, Register::PCS].map(|register| platform.read(register));
        let remark = format!("INTENA {enabled:#x}, INTCTL {causes:#x}, PCS {status:#x}");
        let pcs = Pcs::from_word(status);
        match () {
            () if enabled != 0 => Err(format!("interrupts are enabled: {remark}")),
            () if pcs.bmactive || pcs.rmactive => Err(format!("a thread is running: {remark}")),
            () if pcs.bmoom => Err(format!("the binner lacks memory although there is no job: {remark}")),
            () => Ok(remark),
        }
    }))
}

fn errors(_: &mut Session) -> Verdict {
    Verdict::of(platform().and_then(|platform| {
        let word = platform.read(Register::ERRSTAT);
        let sentences = error_status::sentences(error_status::errors(word)).fold(String::new(), |mut all, sentence| {
            all += if all.is_empty() { "" } else { "; " };
            all + sentence
        });
        if sentences.is_empty() { Ok(format!("{word:#x}")) } else { Err(format!("{word:#x}: {sentences}")) }
    }))
}

fn reservations(session: &mut Session) -> Verdict {
    let has_driver = session.gpu.is_ok();
    Verdict::of(platform().and_then(|platform| {
        let [low, high, vpm] =
            [Register::SQRSV0, Register::SQRSV1, Register::VPMBASE].map(|register| platform.read(register));
        let remark = format!("SQRSV0 {low:#x}, SQRSV1 {high:#x}, VPMBASE {vpm}");
        match () {
            () if !has_driver => Err(format!("there is no driver that would have set them: {remark}")),
            () if (low, high) != (0, 0) => Err(format!("QPUs are reserved: {remark}")),
            () if vpm != u32::from(v3d::user_program::VPM_RESERVATION) => {
                Err(format!("the VPM's reservation did not take effect: {remark}"))
            }
            () => Ok(remark),
        }
    }))
}

fn mailbox(_: &mut Session) -> Verdict {
    const MESSAGES: u64 = 10;
    if firmware::is_silent() {
        return Verdict::Failed("the firmware no longer answers".to_string());
    }
    let start_us = clock::now_us();
    for number in 1..=MESSAGES {
        if let Err(error) = firmware::ask(&GetFirmwareRevision {}) {
            return Verdict::Failed(format!("message {number}: {error}"));
        }
    }
    Verdict::Passed(format!("{} us each", (clock::now_us() - start_us) / MESSAGES))
}

/// Runs a rendering list without binning: all pixels of a small picture must get the clear colour, and the memory after it must not change.
fn clearing(session: &mut Session) -> Verdict {
    const SIZE: u32 = 128;
    const COLOR: [u8; 4] = [0x12, 0x34, 0x56, 0x78];
    const UNTOUCHED: u8 = 0xa5;
    /// Bytes after the picture that must not change.
    const MARGIN: u32 = 4096;

    fn clear(gpu: &mut Gpu, bytes: &mut [u8]) -> Result<(), v3d::Error> {
        let picture = gpu.upload(bytes, 4096)?;
        let grid = TileGrid::new(SIZE, SIZE, TileBuffer::Single)?;
        let pass = RenderingPass {
            grid,
            area: grid.whole(),
            color: Surface::display(picture.address(), SIZE, SIZE),
            clear: Some(ClearValues::color(COLOR)),
            load_color: false,
            depth: None,
            tile_lists: None,
            disable_early_z: false,
        };
        let list = gpu.upload(&pass.list()?.encode()?, 16)?;
        let rendering = ControlList { start: list.address(), end_exclusive: list.region().end_exclusive() };
        let fence = gpu.submit(Job { binning: None, rendering });
        let ended = gpu.wait(fence);
        ended.and(picture.region().load(gpu.platform(), 0, bytes))
    }

    let mut bytes = vec![UNTOUCHED; (4 * SIZE * SIZE + MARGIN) as usize];
    let cleared = session.gpu().and_then(|mut gpu| clear(&mut gpu, &mut bytes).map_err(|error| error.to_string()));
    if let Err(error) = cleared {
        tell_reports(session);
        return Verdict::Failed(error);
    }
    let (picture, margin) = bytes.split_at((4 * SIZE * SIZE) as usize);
    let right = picture.as_chunks().0.iter().filter(|pixel| **pixel == COLOR).count();
    let spilled = margin.iter().filter(|byte| **byte != UNTOUCHED).count();
    let remark =
        format!("{right} of {} pixels have the clear colour, {spilled} bytes beside them changed", SIZE * SIZE);
    if right == (SIZE * SIZE) as usize && spilled == 0 { Verdict::Passed(remark) } else { Verdict::Failed(remark) }
}

/// Prints the driver's report of a failed job, and keeps the job for `capture`.
fn tell_reports(session: &mut Session) {
    let reports = session.gpu().map(|mut gpu| gpu.take_reports()).unwrap_or_default();
    for report in reports {
        print!("{report}");
        session.failed_submission = Some(report.submission);
    }
}

/// Draws the triangle twice, and compares it with the recorded picture; if there is none of this size, only the two with each other.
fn triangle(session: &mut Session) -> Result<String, String> {
    const NAME: &str = "triangle";
    let entry: &'static SceneEntry =
        SCENES.iter().find(|entry| entry.name == NAME).ok_or_else(|| format!("there is no scene {NAME}"))?;
    let size = session.framebuffer.map_or(DEFAULT_SIZE, |pages| (pages.width, pages.height));
    let crcs = [scene::first_picture(session, entry)?, scene::first_picture(session, entry)?];
    let recorded = pictures::recorded(NAME).filter(|_| size == pictures::SIZE);
    match recorded {
        _ if crcs[0] != crcs[1] => Err(format!("{:08X}, and {:08X} when it was drawn again", crcs[0], crcs[1])),
        Some(recorded) if recorded != crcs[0] => Err(format!("{:08X} instead of {recorded:08X}", crcs[0])),
        Some(_) => Ok(format!("{:08X}, as recorded", crcs[0])),
        None => Ok(format!("{:08X} twice; there is no record for {}x{}", crcs[0], size.0, size.1)),
    }
}

fn triangle_polled(session: &mut Session) -> Verdict {
    let raised = interrupt_controller::count(interrupt_lines::V3D);
    let drawn = triangle(session);
    tell_reports(session);
    let came = interrupt_controller::count(interrupt_lines::V3D) - raised;
    match drawn {
        Ok(remark) if came == 0 => Verdict::Passed(remark),
        Ok(remark) => {
            Verdict::Failed(format!("{remark}; but {came} interrupts were raised although they were disabled"))
        }
        Err(reason) => Verdict::Failed(reason),
    }
}

fn triangle_by_interrupt(session: &mut Session) -> Verdict {
    let platform = match platform() {
        Ok(platform) if session.gpu.is_ok() => platform,
        _ => return Verdict::Failed(NO_V3D.to_string()),
    };
    platform.use_interrupt();
    let raised = interrupt_controller::count(interrupt_lines::V3D);
    let drawn = triangle(session);
    tell_reports(session);
    let came = interrupt_controller::count(interrupt_lines::V3D) - raised;
    // It may already be polling because the firmware has stopped answering.
    let has_stayed = !platform.is_polling();
    platform.poll();
    match drawn {
        Ok(remark) if came > 0 && has_stayed => Verdict::Passed(format!("{remark}; {came} interrupts")),
        Ok(remark) if came > 0 => {
            Verdict::Failed(format!("{remark}; {came} interrupts, and then the firmware stopped answering"))
        }
        Ok(remark) => Verdict::Failed(format!("{remark}; but no interrupt was raised")),
        Err(reason) => Verdict::Failed(reason),
    }
}

fn user_program(session: &mut Session) -> Verdict {
    let result = selftest::one_program(session);
    tell_reports(session);
    Verdict::of(result)
}

fn arithmetic(session: &mut Session) -> Verdict {
    let result = selftest::arithmetic_in_short(session);
    tell_reports(session);
    Verdict::of(result)
}
