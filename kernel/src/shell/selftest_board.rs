//! The command `selftest board`: a first test of a board, from the first register access to a frame with interrupts
//!
//! Each step is announced before it runs, so that the last line shows where a board hangs. Each has its own verdict, so that a failure does not prevent the
//! next step. The steps begin with what is as small as possible: a register, a list without work, a tile that is stored to memory. Page flips come late, and
//! interrupts last, because they are most likely to stop the communication with the firmware.
//!
//! The output is a text for a report: [`Report`] has its lines without the announcements, for the screen of a board without a serial cable.
//!
//! # Verdicts
//! `passed`, `failed`, or `skipped`: the machine lacks the hardware for the step, as QEMU has no power registers.

mod debug_registers;
mod facts;
mod jobs;
mod registers;

use alloc::{
    format,
    string::{String, ToString},
};

use super::{
    card,
    session::{CommandResult, Session},
};
use crate::{
    arch::{clock, cpu},
    board::{firmware, property::GetFirmwareRevision},
    boot::progress,
    gpu::v3d_platform::V3dPlatform,
    println,
    report::Report,
    shell::command::Destination,
    terminal::console,
};
use debug_registers::DebugRegisters;

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
type Step = (&'static str, fn(&mut Session, &mut Output) -> Verdict);

const STEPS: [Step; 19] = [
    ("IDENT0: is there a V3D with power?", registers::identity),
    ("PM_GRAFX and the bus bridges", registers::power),
    ("INTENA, INTCTL and PCS: is the V3D idle?", registers::quiet),
    ("ERRSTAT", registers::errors),
    ("reservations of QPUs and VPM", registers::reservations),
    ("10 messages to the firmware", mailbox),
    ("an empty list in each thread", jobs::empty_lists),
    ("one tile that is cleared and stored to memory", jobs::one_tile),
    ("four tiles, likewise", jobs::four_tiles),
    ("the binner's memory for 1, 60 and 240 empty tiles", jobs::binner_memory),
    ("a triangle of one colour, by the driver alone", jobs::plain_triangle),
    ("a program of 12 instructions, likewise", jobs::plain_program),
    ("a triangle in memory, without a page flip", jobs::triangle_in_memory),
    ("a triangle on the display, without interrupts", jobs::triangle_polled),
    ("a user program", jobs::user_program),
    ("the recorded results of the QPUs' arithmetic", jobs::arithmetic),
    ("ERRSTAT, after all that", registers::errors),
    ("a triangle, with interrupts", jobs::triangle_by_interrupt),
    ("10 messages to the firmware, after the interrupts", mailbox),
];

/// Which steps run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Steps {
    /// All of them.
    All,
    /// All but those in which the board hung since power-on.
    WithoutThoseThatHung,
}

/// Prints lines, and collects those of the report.
#[derive(Debug, Default)]
struct Output {
    report: Report,
    /// A failed job has been described in full.
    has_details: bool,
}

impl Output {
    fn line(&mut self, line: &str) {
        println!("{line}");
        if Report::has(line) {
            self.report.line(line);
        }
    }
}

/// Tests the board, and writes the report to the SD card if it is to be there, also after failures.
pub(super) fn selftest_to(session: &mut Session, steps: Steps, destination: Destination) -> CommandResult {
    let tested = selftest(session, steps);
    let Destination::Card(file) = destination else { return tested };
    let saved = save_report(session, file);
    tested.and(saved)
}

/// Writes the last report to the SD card.
pub(super) fn save_report(session: &mut Session, file: Option<String>) -> CommandResult {
    let report = session.last_report.as_ref().ok_or("there is no report yet")?.to_string();
    card::save(session, file, ["report", "txt"], report.as_bytes())
        .map_err(|why| format!("the report is not on the card: {why}"))
}

pub(super) fn selftest(session: &mut Session, steps: Steps) -> CommandResult {
    let mut output = Output::default();
    let hung = progress::trace().hung_steps();
    output.line("---- board report, to be pasted as a whole ----");
    facts::write(session, &mut output, hung);
    // Without a driver, the V3D's registers are only read.
    let platform = V3dPlatform::installed().filter(|_| session.gpu.is_ok());
    let was_polling = platform.is_none_or(V3dPlatform::is_polling);
    if let Some(platform) = platform {
        platform.poll();
    }
    let mut debug_registers = platform.map(DebugRegisters::read);
    if let Some(values) = &debug_registers {
        output.line(&format!("before the first step: {values}"));
    }
    let (mut passed, mut failed, mut skipped) = (0, 0, 0);
    for (index, (what, step)) in STEPS.into_iter().enumerate() {
        let number = index + 1;
        // Scenes draw over the text.
        console::return_screen();
        output.line(&format!("step {number:2}: {what} ..."));
        let start_us = clock::now_us();
        let is_left_out = steps == Steps::WithoutThoseThatHung && hung >> number & 1 != 0;
        let verdict = match is_left_out {
            true => Verdict::Failed("the board hung in this step earlier; it was left out this time".into()),
            false => recorded(number as u32, || step(session, &mut output)),
        };
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
        output.line(&format!("step {number:2}: {word}, {ms} ms: {remark}"));
        if let (Some(platform), Some(before)) = (platform, &mut debug_registers) {
            let after = DebugRegisters::read(platform);
            if after != *before {
                output.line(&format!("after step {number}: {}", after.changes_since(before)));
                *before = after;
            }
        }
    }
    if let (Some(platform), false) = (platform, was_polling) {
        platform.use_interrupt();
    }
    console::return_screen();
    output.line(&format!("---- {passed} passed, {failed} failed, {skipped} skipped ----"));
    session.last_report = Some(output.report);
    if failed == 0 { Ok(()) } else { Err(format!("{failed} of {} steps failed", STEPS.len())) }
}

/// Runs a step, which the boot trace records until it ends.
fn recorded(number: u32, step: impl FnOnce() -> Verdict) -> Verdict {
    let trace = progress::trace();
    trace.begin_step(number);
    if trace.take_hang_in_step(number) {
        console::flush();
        cpu::halt();
    }
    let verdict = step();
    trace.end_step();
    verdict
}

fn mailbox(_: &mut Session, _: &mut Output) -> Verdict {
    const MESSAGES: u64 = 10;
    if firmware::is_silent() {
        return Verdict::Failed("the firmware no longer answers".into());
    }
    let start_us = clock::now_us();
    for number in 1..=MESSAGES {
        if let Err(error) = firmware::ask(&GetFirmwareRevision {}) {
            return Verdict::Failed(format!("message {number}: {error}"));
        }
    }
    Verdict::Passed(format!("{MESSAGES} messages, {} us each", (clock::now_us() - start_us) / MESSAGES))
}
