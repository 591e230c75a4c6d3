//! A board's report: its lines, and the QR codes with which the screen shows it.

use super::Built;
use super::board::wait_until;
use super::guest::with_v3d;
use crate::far_end::qemu::Qemu;
use crate::picture::Picture;
use crate::selftest::board_report::Report;
use crate::target_board::BOOT_TRACE;
use crate::workspace::Workspace;
use anyhow::{Context, Result, bail, ensure};
use std::time::{Duration, Instant};

/// Most parts that a report of a board without failures should have: each has to be scanned.
const MAX_PARTS: usize = 4;

/// The word of the boot trace that contains the running step.
const RUNNING_STEP_WORD: usize = 130;

/// What each line of a report begins with that has a fact, and a word that the fact has in QEMU, after the values of its `raspi3b`.
const FACTS: [(&str, &str); 11] = [
    ("kernel ", "CRC-32 "),
    ("board ", "(code a02082, 1024 MiB)"),
    ("firmware ", "built 346337 s after 1970"),
    ("memory ", "ARM 960 MiB at 0x0, VideoCore 64 MiB at 0x3c000000"),
    ("clocks ", "ARM 700 measured ?, core 700 measured 250, V3D 250 measured 300 MHz"),
    ("throttling ", ""),
    ("display ", "1280x720, 3 pages at 0x3c100000, pitch 5184 bytes"),
    ("loader ", "no device tree, a command line of "),
    ("last boot ", "stage 7 of "),
    ("refused ", "by the firmware: "),
    ("driver ", "has the V3D"),
];

/// The descriptions of the first steps, smallest first.
const FIRST_STEPS: [&str; 4] = [
    "an empty list in each thread",
    "one tile that is cleared and stored to memory",
    "four tiles, likewise",
    "a triangle in memory, without a page flip",
];

/// The kernel's test of a board prints facts, steps and registers; its report is saved, and its codes on the screen hold the same lines.
pub(super) fn selftest_board(workspace: &Workspace, built: &Built) -> Result<String> {
    let image = std::fs::read(built.image()?)?;
    with_v3d(workspace, built, |machine, _, deadline| {
        let report = Report::ask(&machine.console, |_| {})?;
        if let Some(sentence) = &report.failure {
            bail!("`selftest board` ends with: {sentence}; {}", report.lines.join(" / "));
        }
        check_steps(&report)?;
        for (name, words) in FACTS {
            let line = report.lines.iter().find(|line| line.starts_with(name));
            let line =
                line.with_context(|| format!("the report has no line \"{name}\": {}", report.lines.join(" / ")))?;
            ensure!(line.contains(words), "the line does not say \"{words}\": {line}");
        }
        check_crc(&report, &image)?;
        check_binner_memory(&report)?;

        let scratch = workspace.scratch()?;
        let remark = report.save(&machine.console, scratch.path())?;
        ensure!(scratch.path().join("job/job.json").is_file(), "the report has no job: {remark}");
        let text = std::fs::read_to_string(scratch.path().join("report.txt"))?;
        ensure!(text.contains("---- board report") && text.contains("IDENT0 0x02443356"), "the report is: {text}");

        let parts = codes(machine, deadline)?;
        ensure!(parts.len() <= MAX_PARTS, "the report has {} parts", parts.len());
        compare(&parts, &report.lines)?;
        let steps = report.steps_without_failure();
        Ok(format!("{steps} steps; {} codes on the screen hold the same lines; job: {remark}", parts.len()))
    })
}

/// Without a key on the serial line, the test starts by itself, and the screen shows the parts of its report in turn until a key is pressed.
pub(super) fn unattended(workspace: &Workspace, built: &Built) -> Result<String> {
    with_v3d(workspace, built, |machine, _, deadline| {
        machine.console.keyboard().press(b"selftest after 1\r")?;
        let lines = shown_in_turn(machine, deadline)?;
        let first = first_code(machine, deadline)?;
        let count = first.lines().next().and_then(|title| title.rsplit(' ').next()?.parse().ok());
        let count: usize = count.context("the title of a code has no number of parts")?;
        let mut parts = vec![first];
        while parts.len() < count {
            let last = parts.last().cloned();
            parts.push(next_code(machine, last.as_deref(), deadline)?);
        }
        compare(&parts, &lines)?;
        // A key ends it, and is the shell's.
        let help = machine.console.command("help", "", deadline, |_| {})?.lines()?;
        ensure!(
            help.iter().any(|line| line.trim_start().starts_with("selftest ")),
            "`help` says: {}",
            help.join(" / ")
        );
        ensure!(code(&machine.screenshot()?).is_err(), "the screen still shows a code");
        Ok(format!("{count} codes, in turn"))
    })
}

/// A key within the time prevents it.
pub(super) fn attended(workspace: &Workspace, built: &Built) -> Result<String> {
    with_v3d(workspace, built, |machine, _, deadline| {
        // The blank is the key; it is ignored by the shell.
        machine.console.command("selftest", " after 600\r ", deadline, |_| {})?.lines()?;
        let reply = machine.console.command("selftest", " code 1", deadline, |_| {})?;
        let Err(sentence) = reply.result else { bail!("there is a report although a key was pressed") };
        ensure!(sentence.starts_with("there is no report yet"), "`selftest code 1` says: {sentence}");
        Ok(sentence)
    })
}

/// A board that hangs in a step and is restarted leaves the step out of the next test that starts by itself, and its report says so.
pub(super) fn hung_step(workspace: &Workspace, built: &Built) -> Result<String> {
    const STEP: u32 = 9;
    with_v3d(workspace, built, |machine, _, deadline| {
        machine.console.command("fail", &format!(" step {STEP}"), deadline, |_| {})?.lines()?;
        machine.console.keyboard().press(b"selftest board\r")?;
        let is_in_step = || {
            let words = machine.memory(BOOT_TRACE, 4 * (RUNNING_STEP_WORD + 1))?;
            Ok(words[4 * RUNNING_STEP_WORD..] == STEP.to_le_bytes())
        };
        wait_until(deadline, "the kernel does not hang in the step", is_in_step)?;
        // On a board, the watchdog resets the machine.
        machine.reset()?;
        machine.console.wait_ready(deadline)?;
        machine.console.keyboard().press(b"selftest after 0\r")?;
        let lines = shown_in_turn(machine, deadline)?;
        let expected =
            format!("step {STEP:2}: FAILED, 0 ms: the board hung in this step earlier; it was left out this time");
        ensure!(lines.contains(&expected), "the report says: {}", lines.join(" / "));
        let hung = format!("hung       in step {STEP} of an earlier test since power-on");
        ensure!(lines.contains(&hung), "the report says: {}", lines.join(" / "));
        let failed = lines.iter().filter(|line| line.contains(": FAILED, ")).count();
        ensure!(failed == 1, "{failed} steps failed: {}", lines.join(" / "));
        Ok(expected)
    })
}

/// Waits for a test that starts by itself; returns the lines of its report with the announcements.
fn shown_in_turn(machine: &Qemu, deadline: Instant) -> Result<Vec<String>> {
    let is_end = |line: &str| line.starts_with("the report's parts are shown in turn: ");
    let mut lines = machine.console.lines_until(deadline, "selftest board", is_end)?;
    let start = lines.iter().position(|line| line.starts_with("---- board report")).context("there is no report")?;
    lines.drain(..start);
    let end = lines.iter().rposition(|line| line.starts_with("---- ")).context("the report has no end")?;
    lines.truncate(end + 1);
    Ok(lines)
}

/// The code that the screen shows first.
fn first_code(machine: &Qemu, deadline: Instant) -> Result<String> {
    next_code(machine, None, deadline)
}

/// The next code on the screen that is not `last`.
fn next_code(machine: &Qemu, last: Option<&str>, deadline: Instant) -> Result<String> {
    loop {
        if let Ok(text) = code(&machine.screenshot()?)
            && Some(text.as_str()) != last
        {
            return Ok(text);
        }
        ensure!(Instant::now() < deadline, "time-out: the screen does not show the next code");
        std::thread::sleep(Duration::from_millis(500));
    }
}

/// Each step is announced and ends without a failure; the first ones are as small as possible.
fn check_steps(report: &Report) -> Result<()> {
    let announced: Vec<&str> = report.lines.iter().filter_map(|line| line.strip_suffix(" ...")).collect();
    let ends = report.steps_without_failure();
    ensure!(announced.len() == ends && ends >= 19, "{} steps begin, and {ends} end well", announced.len());
    let places: Vec<usize> = FIRST_STEPS
        .iter()
        .map(|step| announced.iter().position(|line| line.ends_with(step)).with_context(|| format!("no step: {step}")))
        .collect::<Result<_>>()?;
    ensure!(places.is_sorted(), "the first steps are not in order: {places:?}");
    let registers = report.lines.iter().find(|line| line.starts_with("before the first step: "));
    let registers = registers.context("the report has no registers")?;
    for name in ["PCS ", "ERRSTAT ", "FDBGO ", "FDBGB ", "FDBGS "] {
        ensure!(registers.contains(name), "no value of {name}: {registers}");
    }
    Ok(())
}

/// The CRC of the running image is that of the file's first bytes, which are nearly all of it.
fn check_crc(report: &Report, image: &[u8]) -> Result<()> {
    let line = report.lines.iter().find(|line| line.starts_with("kernel ")).context("there is no kernel")?;
    let words: Vec<&str> = line.split_whitespace().collect();
    let after = |word: &str| words.iter().position(|&other| other == word).and_then(|at| words.get(at + 1).copied());
    let crc = after("CRC-32").and_then(|word| u32::from_str_radix(word, 16).ok()).context("there is no CRC")?;
    let bytes: usize = after("first").and_then(|word| word.parse().ok()).context("there is no number of bytes")?;
    ensure!(bytes > image.len() / 10 * 9, "the CRC is that of {bytes} of {} bytes", image.len());
    let expected = crc32fast::hash(image.get(..bytes).context("the image is shorter")?);
    ensure!(crc == expected, "the CRC of the running image is {crc:08X}, and the file's is {expected:08X}");
    Ok(())
}

/// The binner's memory is reported for each number of tiles: at least their first blocks of 32 bytes.
fn check_binner_memory(report: &Report) -> Result<()> {
    let line = report.lines.iter().find(|line| line.contains("BPCA + ")).context("no line has BPCA")?;
    for tiles in [1, 60, 240] {
        let (_, rest) =
            line.split_once(&format!("{tiles} tiles: BPCA + 0x")).with_context(|| format!("no {tiles}: {line}"))?;
        let moved = usize::from_str_radix(rest.split(',').next().unwrap_or_default(), 16)?;
        ensure!(moved >= 32 * tiles && moved < 64 * 1024, "BPCA moved by {moved} bytes for {tiles} tiles");
    }
    Ok(())
}

/// Shows each part of the last report on the screen, and reads its code from what QEMU displays.
fn codes(machine: &Qemu, deadline: Instant) -> Result<Vec<String>> {
    let mut parts: Vec<String> = Vec::new();
    loop {
        let number = parts.len() + 1;
        let reply = machine.console.command("selftest", &format!(" code {number}"), deadline, |_| {})?;
        let count: usize = match &reply.result {
            Ok(()) => reply
                .lines
                .iter()
                .find_map(|line| line.strip_prefix(&format!("part {number} of "))?.split(' ').next()?.parse().ok()),
            Err(sentence) => bail!("`selftest code {number}` says: {sentence}"),
        }
        .with_context(|| format!("`selftest code {number}` says: {}", reply.lines.join(" / ")))?;
        parts.push(code(&machine.screenshot()?)?);
        if parts.len() == count {
            let beyond = machine.console.command("selftest", &format!(" code {}", count + 1), deadline, |_| {})?;
            ensure!(beyond.result.is_err(), "a part beyond the last is accepted");
            return Ok(parts);
        }
    }
}

/// The text of the only QR code of a picture.
pub(super) fn code(picture: &Picture) -> Result<String> {
    let (width, height) = (picture.width, picture.height);
    let grey = |x: usize, y: usize| picture.pixels[y * width + x][1];
    let mut prepared = rqrr::PreparedImage::prepare_from_greyscale(width, height, grey);
    let grids = prepared.detect_grids();
    ensure!(grids.len() == 1, "the screen shows {} QR codes", grids.len());
    let (_, text) = grids[0].decode().context("the QR code cannot be read")?;
    Ok(text)
}

/// Compares the parts of a report with the lines on the serial line: they hold all of them except the announcements of steps.
pub(super) fn compare(parts: &[String], lines: &[String]) -> Result<()> {
    let told: Vec<&str> = lines.iter().map(String::as_str).filter(|line| !line.ends_with(" ...")).collect();
    let mut read = Vec::new();
    for (index, part) in parts.iter().enumerate() {
        let (title, body) = part.split_once('\n').context("a code has one line")?;
        let expected = format!(", part {} of {}", index + 1, parts.len());
        ensure!(
            title.starts_with("vc4 board report ") && title.ends_with(&expected),
            "the title of a code is: {title}"
        );
        read.extend(body.lines());
    }
    if let Some(at) = (0..told.len().max(read.len())).find(|&at| told.get(at) != read.get(at)) {
        bail!("line {at} of the report is {:?}, and that of the codes is {:?}", told.get(at), read.get(at));
    }
    Ok(())
}
