//! The command `replay`: a captured job is uploaded, validated and run, and the CRCs of its results are printed
//!
//! `cargo xtask replay` types it; the steps can be typed by hand. All addresses are those that the job was captured with: the kernel puts its memory where
//! there is room, and changes the words that hold addresses (`v3d::relocation`). Nothing of a job is executed that the validator has not passed.
//!
//! ```text
//! replay place 00458000 1000          memory for a span of the job's
//! replay load                         then a line for each block, until `end`:
//! 00458000 5a0c93f1 AAECAwSCAAAA…     offset, CRC-32, and bytes as those of `capture`
//! + 00458000                          the kernel's answer; or `- 00458000 why`, and the block has to come again
//! replay run 45b000 45b05c 560000 5600b4
//! replay stored 00410000 40000        what the job has written, but for tile lists
//! replay crc 00410000 8c31e2a7        the CRC-32 of each page of it
//! replay read 410000 1000             blocks of memory, as `capture` tells them
//! ```

use alloc::{
    format,
    string::{String, ToString},
    vec,
    vec::Vec,
};
use v3d::{
    Job,
    hw::BusAddr,
    platform::GpuMemory,
    record_list::ControlList,
    relocation::{GRANULE_BYTES, PlacedMemory, relocate},
    validator::{MEMORY_BYTES, Span},
};

use super::session::{CommandResult, NO_V3D, Session};
use crate::{
    arch::clock,
    capture::{BLOCK_BYTES, read_block, write_block},
    command::ReplayRequest,
    console,
    console::Terminal,
    crc32,
    keys::CONTROL_C,
    mm::layout::PAGE_BYTES,
    print, println,
    replay::Replay,
};

/// Bytes of a line with a block that cannot be packed, and some more.
const MAX_LINE_BYTES: usize = 1536;
/// How long a sender may be silent, in microseconds.
const PATIENCE_US: u64 = 30_000_000;

pub(super) fn replay(session: &mut Session, request: ReplayRequest) -> CommandResult {
    match request {
        ReplayRequest::Clear => session.replay = Replay::default(),
        ReplayRequest::Place { address, bytes } => place(session, Span { address: BusAddr(address), bytes })?,
        ReplayRequest::Load => load(session)?,
        ReplayRequest::Run { binning, rendering } => run(session, binning, rendering)?,
        ReplayRequest::Read { address, bytes } => read(session, address, bytes)?,
    }
    Ok(())
}

fn place(session: &mut Session, span: Span) -> CommandResult {
    let needed = Replay::needed(span).ok_or("memory has 1 GiB, and a span of it at least a byte")?;
    if let Some(Span { address, bytes }) = session.replay.overlap(span) {
        return Err(format!("it overlaps the {bytes:#x} bytes at {address}, which have a place already"));
    }
    let mut gpu = session.gpu()?;
    let buffer = gpu.allocate(needed, GRANULE_BYTES).map_err(|error| error.to_string())?;
    buffer.region().zero(gpu.platform());
    drop(gpu);
    let at = session.replay.place(span, buffer);
    println!("{:#x} bytes of {} are at {at}", span.bytes, span.address);
    Ok(())
}

/// Reads blocks until a line `end`. What is typed is not echoed.
fn load(session: &mut Session) -> CommandResult {
    if session.replay.has_run {
        return Err("the job has run; `replay clear` makes room for another".into());
    }
    println!("replay loads");
    let (mut blocks, mut bytes) = (0, 0);
    let mut line = Vec::with_capacity(MAX_LINE_BYTES);
    loop {
        receive_line(session, &mut line)?;
        let text = str::from_utf8(&line).unwrap_or_default().trim();
        match text {
            "" => continue,
            "end" => break,
            _ => {}
        }
        // The offset goes with the answer, as far as it can be read: the sender knows then which block is meant.
        let name = text.split(' ').next().filter(|word| word.len() == 8).unwrap_or("?");
        match store(session, text) {
            Ok(count) => {
                (blocks, bytes) = (blocks + 1, bytes + count);
                println!("+ {name}");
            }
            Err(why) => println!("- {name} {why}"),
        }
    }
    println!("{bytes} bytes in {blocks} blocks");
    Ok(())
}

/// Reads a line that ends with CR or LF; one that is too long loses its end, which its CRC shows.
fn receive_line(session: &mut Session, line: &mut Vec<u8>) -> CommandResult {
    line.clear();
    let deadline = clock::now_us() + PATIENCE_US;
    loop {
        let Some(byte) = console::read_until_tick() else {
            session.watchdog.sign_of_life();
            if clock::now_us() > deadline {
                return Err(format!("no line has come for {} s", PATIENCE_US / 1_000_000));
            }
            continue;
        };
        match byte {
            b'\r' | b'\n' => return Ok(()),
            CONTROL_C => return Err("interrupted".into()),
            _ if line.len() < MAX_LINE_BYTES => line.push(byte),
            _ => {}
        }
    }
}

/// Stores the block of a line; how many bytes it has.
fn store(session: &Session, line: &str) -> Result<usize, String> {
    let (offset, bytes) = read_block(line).map_err(|error| error.to_string())?;
    let gpu = session.gpu()?;
    let places = session.replay.places();
    let placed = PlacedMemory { memory: gpu.platform(), places };
    if bytes.is_empty() || !placed.holds(Span { address: BusAddr(offset), bytes: bytes.len() as u32 }) {
        return Err("the block has no place".into());
    }
    placed.store(offset, &bytes);
    Ok(bytes.len())
}

fn run(session: &mut Session, binning: [u32; 2], rendering: [u32; 2]) -> CommandResult {
    if session.replay.has_run {
        return Err("the job has run, and its memory is no longer what was loaded; load it again".into());
    }
    let list = |[start, end]: [u32; 2]| ControlList { start: BusAddr(start), end_exclusive: BusAddr(end) };
    let job = Job { binning: (binning[0] != binning[1]).then(|| list(binning)), rendering: list(rendering) };
    let Session { gpu, replay, failed_submission, watchdog, .. } = session;
    let mut gpu = gpu.as_ref().map_err(|_| NO_V3D)?.driver().map_err(|error| error.to_string())?;
    gpu.wait_until_idle();
    let moved = relocate(gpu.platform(), replay.places(), &job).map_err(|error| error.to_string())?;
    replay.has_run = true;
    println!("the validator passes it; {} words with addresses are changed", moved.words);
    let start_us = clock::now_us();
    let fence = gpu.submit(moved.job);
    let outcome = gpu.wait(fence);
    let took_us = clock::now_us() - start_us;
    for report in gpu.take_reports() {
        print!("{report}");
        *failed_submission = Some(report.submission);
    }
    outcome.map_err(|error| error.to_string())?;
    println!("it took {took_us} us");
    let placed = PlacedMemory { memory: gpu.platform(), places: replay.places() };
    let mut page = vec![0; PAGE_BYTES];
    for Span { address, bytes } in moved.survey.stores() {
        println!("replay stored {:08x} {bytes:x}", address.offset());
        for at in (0..bytes).step_by(PAGE_BYTES) {
            watchdog.sign_of_life();
            let part = &mut page[..(bytes - at).min(PAGE_BYTES as u32) as usize];
            let from = address.offset() + at;
            placed.load(from, part);
            println!("replay crc {from:08x} {:08x}", crc32::of_bytes(part));
        }
    }
    Ok(())
}

fn read(session: &mut Session, address: u32, bytes: u32) -> CommandResult {
    let end = address.checked_add(bytes).filter(|&end| end <= MEMORY_BYTES).ok_or("memory has 1 GiB")?;
    let Session { gpu, replay, watchdog, .. } = session;
    let gpu = gpu.as_ref().map_err(|_| NO_V3D)?.driver().map_err(|error| error.to_string())?;
    let placed = PlacedMemory { memory: gpu.platform(), places: replay.places() };
    let mut block = vec![0; BLOCK_BYTES];
    for at in (address..end).step_by(BLOCK_BYTES) {
        watchdog.sign_of_life();
        let part = &mut block[..(end - at).min(BLOCK_BYTES as u32) as usize];
        placed.load(at, part);
        write_block(&mut Terminal, at as usize, part).map_err(|error| error.to_string())?;
    }
    Ok(())
}
