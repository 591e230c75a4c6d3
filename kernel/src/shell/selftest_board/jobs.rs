//! The steps that run lists, jobs and programs, smallest first

use alloc::{
    format,
    string::{String, ToString},
};

use v3d::check;

use super::{Output, Verdict, registers::platform};
use crate::{
    board::{framebuffer::DEFAULT_SIZE, interrupt_controller, interrupt_lines},
    gpu::Gpu,
    print,
    scenes::{SCENES, SceneEntry},
    selftest::pictures,
    shell::{
        scene, selftest,
        session::{NO_V3D, Session},
    },
};

/// The verdict of a step of the driver's own check, with its reports of failed jobs.
fn of_driver(session: &mut Session, output: &mut Output, step: impl FnOnce(&mut Gpu) -> check::Verdict) -> Verdict {
    let verdict = session.gpu().and_then(|mut gpu| step(&mut gpu));
    if verdict.is_err() {
        tell_reports(session, output);
    }
    Verdict::of(verdict)
}

pub(super) fn empty_lists(session: &mut Session, output: &mut Output) -> Verdict {
    of_driver(session, output, check::empty_lists)
}

pub(super) fn one_tile(session: &mut Session, output: &mut Output) -> Verdict {
    of_driver(session, output, |gpu| check::cleared_tiles(gpu, 64))
}

pub(super) fn four_tiles(session: &mut Session, output: &mut Output) -> Verdict {
    of_driver(session, output, |gpu| check::cleared_tiles(gpu, 128))
}

pub(super) fn binner_memory(session: &mut Session, output: &mut Output) -> Verdict {
    of_driver(session, output, check::binner_memory)
}

pub(super) fn plain_triangle(session: &mut Session, output: &mut Output) -> Verdict {
    of_driver(session, output, check::triangle)
}

pub(super) fn plain_program(session: &mut Session, output: &mut Output) -> Verdict {
    of_driver(session, output, check::program)
}

/// Prints the driver's reports of failed jobs, and keeps the job for `capture`. The first of them becomes a part of the board's report, of the others a line.
fn tell_reports(session: &mut Session, output: &mut Output) {
    let reports = session.gpu().map(|mut gpu| gpu.take_reports()).unwrap_or_default();
    for report in reports {
        let text = report.to_string();
        if output.has_details {
            output.report.line(text.lines().next().unwrap_or_default());
            print!("{text}");
        } else {
            text.lines().for_each(|line| output.line(line));
            output.has_details = true;
        }
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
        _ if crcs[0] != crcs[1] => Err(format!("picture {:08X}, and {:08X} when it was drawn again", crcs[0], crcs[1])),
        Some(recorded) if recorded != crcs[0] => Err(format!("picture {:08X} instead of {recorded:08X}", crcs[0])),
        Some(_) => Ok(format!("picture {:08X}, as recorded", crcs[0])),
        None => Ok(format!("picture {:08X} twice; there is no record for {}x{}", crcs[0], size.0, size.1)),
    }
}

/// Draws the triangle into memory, as without a display: nothing is asked of the firmware.
pub(super) fn triangle_in_memory(session: &mut Session, output: &mut Output) -> Verdict {
    let framebuffer = session.framebuffer.take();
    let drawn = triangle(session);
    session.framebuffer = framebuffer;
    tell_reports(session, output);
    Verdict::of(drawn)
}

pub(super) fn triangle_polled(session: &mut Session, output: &mut Output) -> Verdict {
    let raised = interrupt_controller::count(interrupt_lines::V3D);
    let drawn = triangle(session);
    tell_reports(session, output);
    let came = interrupt_controller::count(interrupt_lines::V3D) - raised;
    match drawn {
        Ok(remark) if came == 0 => Verdict::Passed(remark),
        Ok(remark) => {
            Verdict::Failed(format!("{remark}; but {came} interrupts were raised although they were disabled"))
        }
        Err(reason) => Verdict::Failed(reason),
    }
}

pub(super) fn triangle_by_interrupt(session: &mut Session, output: &mut Output) -> Verdict {
    let platform = match platform() {
        Ok(platform) if session.gpu.is_ok() => platform,
        _ => return Verdict::Failed(NO_V3D.to_string()),
    };
    platform.use_interrupt();
    let raised = interrupt_controller::count(interrupt_lines::V3D);
    let drawn = triangle(session);
    tell_reports(session, output);
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

pub(super) fn user_program(session: &mut Session, output: &mut Output) -> Verdict {
    let result = selftest::one_program(session);
    tell_reports(session, output);
    Verdict::of(result)
}

pub(super) fn arithmetic(session: &mut Session, output: &mut Output) -> Verdict {
    let result = selftest::arithmetic_in_short(session);
    tell_reports(session, output);
    Verdict::of(result)
}
