//! The command `replay`: receives, validates and runs a captured job, and prints the CRCs of its results
//!
//! `cargo xtask replay` sends these commands; they can also be typed. All addresses are those of the captured job: the kernel allocates other memory and
//! patches the words that contain addresses (`v3d::relocation`). Jobs that the validator rejects are not executed.
//!
//! ```text
//! replay place 00458000 1000          allocates a range of the job's memory
//! replay load                         receives lines with blocks, until `end`:
//! 00458000 5a0c93f1 AAECAwSCAAAA…     offset, CRC-32, and bytes in the format of `capture`
//! + 00458000                          the kernel's answer; after `- 00458000 why` the block must be sent again
//! replay run 45b000 45b05c 560000 5600b4   start and end of both lists; prints:
//! replay stored 00410000 40000        memory that the job has written, without tile lists
//! replay crc 00410000 8c31e2a7        the CRC-32 of each of its pages
//! replay read 410000 1000             prints memory as blocks, in the format of `capture`
//! ```

use alloc::{format, string::ToString, vec};
use v3d::{
    Job,
    hw::BusAddr,
    platform::GpuMemory,
    record_list::ControlList,
    relocation::{GRANULE_BYTES, PlacedMemory, relocate},
    validator::{MEMORY_BYTES, Span},
};

use super::{
    session::{CommandResult, NO_V3D, Session},
    uploads::{Block, Upload},
};
use crate::{
    arch::clock,
    capture::{BLOCK_BYTES, replay::Replay, write_block},
    crc32,
    mm::layout::PAGE_BYTES,
    print, println,
    shell::command::ReplayRequest,
    terminal::console::Terminal,
};

/// How long to wait for the sender, in microseconds.
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
    let needed = Replay::needed(span).ok_or("a range has at least one byte and ends within 1 GiB")?;
    if let Some(Span { address, bytes }) = session.replay.overlap(span) {
        return Err(format!("it overlaps the range of {bytes:#x} bytes at {address}"));
    }
    let mut gpu = session.gpu()?;
    let buffer = gpu.allocate(needed, GRANULE_BYTES).map_err(|error| error.to_string())?;
    buffer.region().zero(gpu.platform());
    drop(gpu);
    let at = session.replay.place(span, buffer);
    println!("{:#x} bytes of {} are at {at}", span.bytes, span.address);
    Ok(())
}

/// Receives blocks until a line `end`. Input is not echoed.
fn load(session: &mut Session) -> CommandResult {
    if session.replay.has_run {
        return Err("the job has run; `replay clear` prepares for another one".into());
    }
    println!("replay loads");
    let (mut blocks, mut bytes) = (0, 0);
    let mut upload = Upload::new(PATIENCE_US);
    loop {
        let line = upload.line(session)?;
        if line == "end" {
            break;
        }
        let block = Block::of(line);
        if let Some(count) = block.answer(|offset, bytes| store(session, offset, &bytes)) {
            (blocks, bytes) = (blocks + 1, bytes + count);
        }
    }
    println!("{bytes} bytes in {blocks} blocks");
    Ok(())
}

/// Stores a block.
fn store(session: &Session, offset: u32, bytes: &[u8]) -> CommandResult {
    let gpu = session.gpu()?;
    let places = session.replay.places();
    let placed = PlacedMemory { memory: gpu.platform(), places };
    if bytes.is_empty() || !placed.holds(Span { address: BusAddr(offset), bytes: bytes.len() as u32 }) {
        return Err("the block is outside of all ranges".into());
    }
    placed.store(offset, bytes);
    Ok(())
}

fn run(session: &mut Session, binning: [u32; 2], rendering: [u32; 2]) -> CommandResult {
    if session.replay.has_run {
        return Err("the job has run and changed its memory; load it again".into());
    }
    let list = |[start, end]: [u32; 2]| ControlList { start: BusAddr(start), end_exclusive: BusAddr(end) };
    let job = Job { binning: (binning[0] != binning[1]).then(|| list(binning)), rendering: list(rendering) };
    let Session { gpu, replay, failed_submission, watchdog, .. } = session;
    let mut gpu = gpu.as_ref().map_err(|_| NO_V3D)?.driver().map_err(|error| error.to_string())?;
    gpu.wait_until_idle();
    let moved = relocate(gpu.platform(), replay.places(), &job).map_err(|error| error.to_string())?;
    replay.has_run = true;
    println!("the validator accepts it; {} words with addresses are patched", moved.words);
    let start_us = clock::now_us();
    let fence = gpu.submit(moved.job);
    let outcome = gpu.wait(fence);
    let took_us = clock::now_us() - start_us;
    for report in gpu.take_reports() {
        print!("{report}");
        *failed_submission = Some(report.submission);
    }
    outcome.map_err(|error| error.to_string())?;
    println!("it ran for {took_us} us");
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
    let end = address.checked_add(bytes).filter(|&end| end <= MEMORY_BYTES).ok_or("memory ends at 1 GiB")?;
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
