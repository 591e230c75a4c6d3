//! `cargo xtask replay`: runs a job folder on the V3D of a kernel, and compares the result with the model's.
//!
//! The kernel's command `replay` receives the job over the serial line, in QEMU and on a board alike: first memory ranges, for which it allocates memory, then
//! blocks of bytes with a CRC-32 each. A block that arrives damaged, or is not acknowledged in time, is sent again. The kernel relocates the job, validates it,
//! runs it, and prints the CRC of each page that it has stored. The model runs the same job at its original addresses; pages that differ are transferred and
//! compared byte by byte. Tile lists are not compared, because the binner's use of its memory is not specified.

mod job;

use crate::build;
use crate::capture::memory_block;
use crate::capture::span::{PAGE_BYTES, Span};
use crate::far_end::FarEnd;
use crate::far_end::blocks::{self, BLOCK_BYTES, BLOCK_PATIENCE};
use crate::far_end::console::Console;
use crate::interrupt;
use crate::workspace::Workspace;
use anyhow::{Context, Result, bail, ensure};
pub(crate) use job::Job;
use lexopt::prelude::*;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const HELP: &str = "\
cargo xtask replay JOB [--board DEVICE] [--within N]

Runs a captured job on a kernel, in QEMU or on a board, and compares the memory that it stores with the model's. JOB is a folder written by
`cargo xtask capture`, or one of tools/v3d-sim/tests/captures. The kernel's validator checks the job first. Exit status 0 if the results are the same.
  --board DEVICE   a board that is connected by a serial line, such as /dev/ttyUSB0; 115200 baud carry about 8 KiB per second
  --within N       bytes that differ by at most N count as equal

Not supported: folders with several jobs, and jobs with user programs. Rejected: jobs that need too much memory, or that the validator rejects.
";

/// Time limit for running a job and printing its result.
const PATIENCE: Duration = Duration::from_secs(300);
/// Most pages that are transferred for comparison: each takes half a second.
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
    let folder = folder.context("a job folder is needed; see `cargo xtask replay --help`")?;
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

/// The memory after the model has run the job, from the job's first byte on.
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

/// Runs a job on the kernel, and compares what it stores with the model's memory. Returns a remark.
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
            let at = address.checked_sub(span.address as usize).context("an unexpected block was received")?;
            found.get_mut(at..at + bytes.len()).context("an unexpected block was received")?.copy_from_slice(&bytes);
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

/// Sends the memory block by block.
fn upload(console: &Console, job: &Job) -> Result<()> {
    let blocks: Vec<(u32, &[u8])> = job.blocks(BLOCK_BYTES).collect();
    let repeated = while_loading(console, || {
        let mut repeated = 0;
        let mut shown = Instant::now();
        for (number, (address, bytes)) in blocks.iter().enumerate() {
            repeated += blocks::send(console, "replay", *address, bytes)?;
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

/// Makes the kernel receive blocks, calls `work`, and ends the blocks.
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

/// Sends a line during the command `replay`, and returns the value of `take` for the answer, or `None` after a timeout.
fn exchange<T>(console: &Console, line: &str, take: impl FnMut(&str) -> Option<T>) -> Result<Option<T>> {
    console.exchange("replay", line, BLOCK_PATIENCE, take)
}

/// Sends a block whose CRC is wrong, for tests; returns the kernel's error.
pub(crate) fn send_damaged(console: &Console, address: u32) -> Result<String> {
    let line = format!("{address:08x} 352441c3 AmFiYw==");
    let why = while_loading(console, || exchange(console, &line, |line| line.strip_prefix("- ").map(str::to_owned)))?;
    why.context("a damaged block was accepted")
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
                end = number(address)?.checked_add(number(bytes)?).context("a range exceeds memory")?;
            }
            ["replay", "crc", address, crc] => {
                let address = number(address)?;
                let bytes = end.checked_sub(address).context("a page is outside of the stored ranges")?.min(PAGE_BYTES);
                pages.push((Span { address, bytes }, number(crc)?));
            }
            _ => {}
        }
    }
    Ok(pages)
}

/// Difference between two memories.
#[derive(Debug, Default, PartialEq, Eq)]
struct Difference {
    /// Number of bytes that differ.
    bytes: usize,
    /// The greatest difference.
    greatest: u8,
    /// Address of the first one.
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
}
