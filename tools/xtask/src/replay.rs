//! `cargo xtask replay`: a job folder, run by the V3D of a kernel instead of the model.
//!
//! The kernel's command `replay` takes the job over the serial line, in QEMU and on a board alike: spans of memory, which it puts where it has room, then
//! blocks of bytes, each with its CRC-32. A block that arrives damaged, or is not answered in time, is sent again. The kernel moves the job to its new place,
//! has it validated, runs it, and tells the CRC of every page that it has stored. The model runs the same job at its own place; pages that differ
//! are fetched and compared byte by byte. Tile lists are not compared: how the binner divides its memory is its own business.

mod job;

use crate::build;
use crate::capture::{memory_block, packed};
use crate::console::Console;
use crate::far_end::FarEnd;
use crate::interrupt;
use crate::span::{PAGE_BYTES, Span};
use crate::workspace::Workspace;
use anyhow::{Context, Result, bail, ensure};
use data_encoding::BASE64;
pub(crate) use job::Job;
use lexopt::prelude::*;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const HELP: &str = "\
cargo xtask replay JOB [--board DEVICE] [--within N]

Runs the job in the folder JOB, as `cargo xtask capture` writes it and as tools/v3d-sim/tests/captures has them, on a kernel: in QEMU, or on the board at
the end of a serial line. The kernel's validator has to pass it. What it stores is compared with what the model stores; exit status 0 if that is the same.
  --board DEVICE   a serial line, such as /dev/ttyUSB0; 115200 baud carry about 8 KiB a second
  --within N       bytes that differ by at most N count as equal

Refused by name: folders of several jobs, jobs with user programs, jobs for whose memory the kernel has no room, and jobs that the validator does not pass.
";

/// Bytes of a block.
const BLOCK_BYTES: usize = 1024;
/// How often a block is sent.
const ATTEMPTS: usize = 5;
/// How long the kernel may take to answer a block: a line takes a tenth of a second.
const BLOCK_PATIENCE: Duration = Duration::from_secs(3);
/// How long a job may run, and its result be told.
const PATIENCE: Duration = Duration::from_secs(300);
/// Pages that are fetched to be compared byte by byte, at most: each takes half a second.
const MAX_FETCHED: usize = 64;

/// Runs the task.
pub(crate) fn task(mut arguments: lexopt::Parser) -> Result<()> {
    let (mut folder, mut device): (Option<PathBuf>, Option<PathBuf>) = (None, None);
    let mut within = 0;
    while let Some(argument) = arguments.next()? {
        match argument {
            Long("help") | Short('h') => {
                eprint!("{HELP}");
                return Ok(());
            }
            Long("board") => device = Some(arguments.value()?.into()),
            Long("within") => within = arguments.value()?.parse()?,
            Value(path) if folder.is_none() => folder = Some(path.into()),
            other => return Err(other.unexpected().into()),
        }
    }
    let folder = folder.context("say which job folder; see `cargo xtask replay --help`")?;
    interrupt::watch()?;
    let workspace = Workspace::find()?;
    let job = Job::read(&folder)?;
    let expected = expected(&workspace, &build::replayer(&workspace)?, &folder)?;
    let far_end = FarEnd::connect(&workspace, device.as_deref())?;
    let result = replay(far_end.console(), &job, &expected, within);
    far_end.check_faults()?;
    println!("{}: {}", folder.display(), result?);
    Ok(())
}

/// The memory that the model leaves, from the job's first byte on.
pub(crate) fn expected(workspace: &Workspace, model: &Path, folder: &Path) -> Result<Vec<u8>> {
    let scratch = workspace.scratch()?;
    let memory = scratch.path().join("memory");
    let output = Command::new(model)
        .args(["replay", "--silicon-samples", "--memory-out"])
        .args([&memory, folder])
        .stdin(Stdio::null())
        .output()
        .context("`v3d` cannot be started")?;
    ensure!(
        output.status.success(),
        "the model does not run the job: {}{}",
        String::from_utf8_lossy(&output.stdout).trim(),
        String::from_utf8_lossy(&output.stderr).trim()
    );
    std::fs::read(&memory).with_context(|| format!("cannot read {}", memory.display()))
}

/// Has the kernel run a job, and compares what it stores with the memory that the model has left. Returns a remark.
pub(crate) fn replay(console: &Console, job: &Job, expected: &[u8], within: u8) -> Result<String> {
    let command = |arguments: &str| -> Result<Vec<String>> {
        console.command("replay", arguments, Instant::now() + PATIENCE, |_| {})?.lines()
    };
    command(" clear")?;
    for Span { address, bytes } in job.places() {
        command(&format!(" place {address:08x} {bytes:x}"))?;
    }
    upload(console, job)?;
    let [binning, rendering] = [&job.binning, &job.rendering].map(|list| format!("{:x} {:x}", list.start, list.end));
    let told = command(&format!(" run {binning} {rendering}"))?;
    let took = told.iter().find_map(|line| line.strip_prefix("it ran for ")).unwrap_or("an unknown time").to_owned();
    let pages = stored_pages(&told)?;
    ensure!(!pages.is_empty(), "the job stores nothing that could be compared");
    let part = |Span { address, bytes }: Span| {
        let start = address.checked_sub(job.base)? as usize;
        expected.get(start..start + bytes as usize)
    };
    let mut different = Vec::new();
    for (span, crc) in &pages {
        let part = part(*span).with_context(|| format!("the model has no memory at {:#x}", span.address))?;
        if crc32fast::hash(part) != *crc {
            different.push((*span, part));
        }
    }
    let mut difference = Difference::default();
    for (span, part) in different.iter().take(MAX_FETCHED) {
        let mut found = vec![0; part.len()];
        for line in command(&format!(" read {:x} {:x}", span.address, span.bytes))? {
            let Some(text) = line.strip_prefix("capture memory ") else { continue };
            let (address, bytes) = memory_block(text)?;
            let at = address.checked_sub(span.address as usize).context("a block was not asked for")?;
            found.get_mut(at..at + bytes.len()).context("a block was not asked for")?.copy_from_slice(&bytes);
        }
        difference.count(span.address, &found, part, within);
    }
    command(" clear")?;
    let total: u64 = pages.iter().map(|(span, _)| u64::from(span.bytes)).sum();
    let counts = format!("{} of {} pages are not the model's", different.len(), pages.len());
    if let Difference { bytes, greatest, first: Some(first) } = difference {
        let compared = different.len().min(MAX_FETCHED);
        bail!(
            "{counts}; in the first {compared} of them, {bytes} bytes differ by more than {within}, by {greatest} at most, the first at {first:#x}"
        );
    }
    if different.len() > MAX_FETCHED {
        bail!(
            "{counts}; the first {MAX_FETCHED} of them differ by at most {within}, and no more than these are fetched"
        );
    }
    Ok(format!("{total} bytes stored in {took}, as the model's"))
}

/// Sends the memory, block by block.
fn upload(console: &Console, job: &Job) -> Result<()> {
    let blocks: Vec<(u32, &[u8])> = job.blocks(BLOCK_BYTES).collect();
    let repeated = while_loading(console, || {
        let mut repeated = 0;
        let mut shown = Instant::now();
        for (number, (address, bytes)) in blocks.iter().enumerate() {
            repeated += send(console, *address, bytes)?;
            if shown.elapsed() > Duration::from_secs(2) {
                shown = Instant::now();
                let [sent, all] = [number + 1, blocks.len()].map(|blocks| blocks * BLOCK_BYTES / 1024);
                eprintln!("{sent} of {all} KiB sent ...");
            }
        }
        Ok(repeated)
    })?;
    if repeated > 0 {
        eprintln!("{repeated} lines had to be sent again");
    }
    Ok(())
}

/// Has the kernel read blocks, does `work`, and ends the blocks.
fn while_loading<T>(console: &Console, work: impl FnOnce() -> Result<T>) -> Result<T> {
    let begin = |line: &str| match line {
        "replay loads" => Some(Ok(())),
        line => line.strip_prefix("error replay: ").map(|why| Err(why.to_owned())),
    };
    match exchange(console, "replay load", begin)? {
        Some(Ok(())) => {}
        Some(Err(why)) => bail!("the kernel says: {why}"),
        None => bail!("the kernel does not answer `replay load`"),
    }
    let done = work()?;
    let end = |line: &str| (line == "ok replay").then_some(());
    exchange(console, "end", end)?.context("the kernel does not answer the end of the job's memory")?;
    Ok(done)
}

/// Sends a line of the command `replay`; what `take` makes of the answer, `None` if none comes in time.
fn exchange<T>(console: &Console, line: &str, take: impl FnMut(&str) -> Option<T>) -> Result<Option<T>> {
    console.exchange("replay", line, BLOCK_PATIENCE, take)
}

/// Sends a block until it is taken; how often it had to be sent again.
fn send(console: &Console, address: u32, bytes: &[u8]) -> Result<usize> {
    let name = format!("{address:08x}");
    let line = format!("{name} {:08x} {}", crc32fast::hash(bytes), BASE64.encode(&packed::pack(bytes)));
    let mut refusal = "it does not answer".to_owned();
    for attempt in 0..ATTEMPTS {
        let answer = exchange(console, &line, |line| match line.split_at_checked(2)? {
            ("+ ", taken) => (taken == name).then_some(Ok(())),
            ("- ", why) => Some(Err(why.to_owned())),
            _ => None,
        })?;
        match answer {
            Some(Ok(())) => return Ok(attempt),
            Some(Err(why)) => refusal = why,
            // Perhaps the end of the line got lost: this ends it.
            None => console.keyboard().press(b"\r")?,
        }
    }
    bail!("the kernel did not take the block at {address:#x}, which was sent {ATTEMPTS} times: {refusal}")
}

/// Sends a block whose bytes are not those of its CRC, for tests; how the kernel refuses it.
pub(crate) fn send_damaged(console: &Console, address: u32) -> Result<String> {
    let line = format!("{address:08x} 352441c3 AmFiYw==");
    let why = while_loading(console, || exchange(console, &line, |line| line.strip_prefix("- ").map(str::to_owned)))?;
    why.context("a damaged block is taken")
}

/// The pages that the kernel has stored, with their CRCs.
fn stored_pages(lines: &[String]) -> Result<Vec<(Span, u32)>> {
    let number =
        |word: &str| u32::from_str_radix(word, 16).with_context(|| format!("{word:.20} is no hexadecimal number"));
    let (mut pages, mut end) = (Vec::new(), 0);
    for line in lines {
        let words: Vec<&str> = line.split(' ').collect();
        match words.as_slice() {
            ["replay", "stored", address, bytes] => {
                end = number(address)?.checked_add(number(bytes)?).context("a span leaves memory")?;
            }
            ["replay", "crc", address, crc] => {
                let address = number(address)?;
                let bytes = end.checked_sub(address).context("a page was not stored")?.min(PAGE_BYTES);
                pages.push((Span { address, bytes }, number(crc)?));
            }
            _ => {}
        }
    }
    Ok(pages)
}

/// How far memory is from what was expected.
#[derive(Debug, Default, PartialEq, Eq)]
struct Difference {
    /// Bytes that differ.
    bytes: usize,
    /// By how much at most.
    greatest: u8,
    /// Where the first is.
    first: Option<u32>,
}

impl Difference {
    fn count(&mut self, address: u32, found: &[u8], expected: &[u8], within: u8) {
        for (at, (found, expected)) in (address..).zip(found.iter().zip(expected)) {
            let distance = found.abs_diff(*expected);
            if distance > within {
                self.bytes += 1;
                self.greatest = self.greatest.max(distance);
                self.first.get_or_insert(at);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_have_their_places() {
        let lines = [
            "it took 5 us",
            "replay stored 00001000 1010",
            "replay crc 00001000 0000000a",
            "replay crc 00002000 0000000b",
        ];
        let pages = stored_pages(&lines.map(str::to_owned)).unwrap();
        let span = |address, bytes| Span { address, bytes };
        assert_eq!(pages, [(span(0x1000, 0x1000), 10), (span(0x2000, 0x10), 11)]);
        assert!(stored_pages(&["replay crc 00001000 0000000a".to_owned()]).is_err());
        assert!(stored_pages(&["replay stored 1000 lots".to_owned()]).is_err());
    }

    #[test]
    fn differences_are_counted() {
        let mut difference = Difference::default();
        difference.count(0x100, &[1, 2, 3, 4], &[1, 3, 3, 9], 1);
        assert_eq!(difference, Difference { bytes: 1, greatest: 5, first: Some(0x103) });
    }

    /// A far end that damages the first line: the block comes again, and what is answered for another is passed over.
    #[test]
    fn a_block_is_sent_until_it_is_taken() {
        let console = |answers: &'static str| Console::new(answers.as_bytes(), std::io::sink(), Vec::new());
        assert_eq!(send(&console("- 00001000 damaged\n+ 00000c00\n+ 00001000\n"), 0x1000, b"abc").unwrap(), 1);
        let refusals = "- 00001000 the block is outside of all ranges\n".repeat(ATTEMPTS);
        let error = send(
            &Console::new(std::io::Cursor::new(refusals.into_bytes()), std::io::sink(), Vec::new()),
            0x1000,
            b"abc",
        );
        assert!(
            error
                .unwrap_err()
                .to_string()
                .ends_with("which was sent 5 times: 00001000 the block is outside of all ranges")
        );
    }
}
