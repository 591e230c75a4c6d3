//! The facts at the beginning of a board's report: kernel, board, firmware, clocks, memory, display, previous boot

use alloc::{
    format,
    string::{String, ToString},
    vec::Vec,
};
use core::fmt::Display;

use super::Output;
use crate::{
    arch::{clock as core_clock, cpu},
    board::{
        boot_requests,
        firmware::{self, BehindMailbox},
        property::{
            GetArmMemory, GetBoardRevision, GetClockRate, GetFirmwareRevision, GetMeasuredClockRate, GetTemperature,
            GetThrottled, GetVideoCoreMemory, clock, throttling,
        },
        revision::Revision,
    },
    boot::{progress, trace::BootStage},
    crc32,
    logging::logger,
    mm::layout,
    shell::session::Session,
};

/// The clocks of the report.
const CLOCKS: [(u32, &str); 3] = [(clock::ARM, "ARM"), (clock::CORE, "core"), (clock::V3D, "V3D")];

const MIB: u32 = 1 << 20;
const MHZ: u32 = 1_000_000;

/// Writes all facts, in lines of a name and values.
///
/// Bit n of `hung` is set if the board hung in step n of an earlier test.
pub(super) fn write(session: &Session, output: &mut Output, hung: u32) {
    let mut fact = |name: &str, value: String| output.line(&format!("{name:10} {value}"));
    let image = layout::code_and_constants();
    fact(
        "kernel",
        format!(
            "{}, CRC-32 {:08X} of the image's first {} bytes, entered at EL{}",
            env!("CARGO_PKG_VERSION"),
            crc32::of_bytes(image),
            image.len(),
            session.handover.entry_level
        ),
    );
    fact("CPU", format!("MIDR {:#010x}, counter {} kHz", cpu::identity(), core_clock::frequency_hz() / 1000));
    fact("board", known(firmware::ask(&GetBoardRevision {}).map(|revision| Revision(revision.code).to_string())));
    let built = firmware::ask(&GetFirmwareRevision {});
    fact("firmware", known(built.map(|firmware| format!("built {} s after 1970", firmware.built_at))));
    fact("memory", memory());
    fact("clocks", clocks());
    fact("throttling", known(firmware::ask(&GetThrottled { clear_mask: 0 }).map(|answer| throttling(answer.bits))));
    let temperature = firmware::ask(&GetTemperature { sensor: 0 });
    fact("chip", known(temperature.map(|now| format!("{} degrees Celsius", now.millidegrees / 1000))));
    fact("display", display(session));
    let tree = if session.handover.device_tree.is_some() { "a" } else { "no" };
    let line = match boot_requests::command_line(&BehindMailbox) {
        Ok(line) => format!("a command line of {} bytes", line.length_bytes),
        Err(error) => format!("no command line ({error})"),
    };
    fact("loader", format!("{tree} device tree, {line}"));
    fact("last boot", last_boot());
    if hung != 0 {
        let steps: Vec<String> =
            (1..u32::BITS).filter(|step| hung >> step & 1 != 0).map(|step| step.to_string()).collect();
        fact("hung", format!("in step {} of an earlier test since power-on", steps.join(" and ")));
    }
    fact("refused", format!("by the firmware: {}", firmware::refusals()));
    for warning in warnings(&logger::text()) {
        fact("warning", warning);
    }
    match &session.gpu {
        Ok(_) => fact("driver", "has the V3D".to_string()),
        Err(reason) => fact("driver", format!("none: {reason}")),
    }
}

/// A value, or why it is unknown.
fn known<E: Display>(value: Result<String, E>) -> String {
    value.unwrap_or_else(|error| format!("unknown: {error}"))
}

fn memory() -> String {
    let arm = firmware::ask(&GetArmMemory {});
    let videocore = firmware::ask(&GetVideoCoreMemory {});
    let part = |base: u32, bytes: u32| format!("{} MiB at {base:#x}", bytes / MIB);
    format!(
        "ARM {}, VideoCore {}",
        known(arm.map(|arm| part(arm.base, arm.size_bytes))),
        known(videocore.map(|videocore| part(videocore.base, videocore.size_bytes)))
    )
}

/// The rates of the clocks, as set and as measured.
fn clocks() -> String {
    let rate = |(number, name): (u32, &str)| {
        let megahertz = |rate: Result<u32, _>| rate.map_or_else(|_| "?".to_string(), |hz| format!("{}", hz / MHZ));
        let set = firmware::ask(&GetClockRate { clock: number }).map(|clock| clock.rate_hz);
        let measured = firmware::ask(&GetMeasuredClockRate { clock: number }).map(|clock| clock.rate_hz);
        format!("{name} {} measured {}", megahertz(set), megahertz(measured))
    };
    format!("{} MHz", CLOCKS.map(rate).join(", "))
}

fn display(session: &Session) -> String {
    match &session.framebuffer {
        Some(pages) => format!(
            "{}x{}, {} pages at {:#x}, pitch {} bytes",
            pages.width,
            pages.height,
            pages.count,
            pages.address(0),
            pages.pitch_bytes
        ),
        None => "none".to_string(),
    }
}

/// How far the boot before this one came.
fn last_boot() -> String {
    match progress::trace().boot_before() {
        Some(before) => format!("stage {} of {}, \"{}\"", before.last as u32, BootStage::ALL.len(), before.last.name()),
        None => "no trace in memory".to_string(),
    }
}

/// The warnings and errors of a log, without times and modules.
fn warnings(log: &str) -> Vec<String> {
    let is_bad = |line: &&str| line.contains("] WARN ") || line.contains("] ERROR ");
    let text = |line: &str| line.split_once(": ").map_or(line, |(_, text)| text).to_string();
    log.lines().filter(is_bad).map(text).collect()
}
