//! Reports of failed jobs, for finding the cause.
//!
//! A report is captured before the reset, which clears all state: it contains all registers, and the bytes of both control lists from the threads' addresses
//! on, decoded into records as far as possible.

use crate::diagnosis::error_status;
use crate::diagnosis::register_snapshot::RegisterSnapshot;
use crate::error::Failure;
use crate::jobs::fence::Fence;
use crate::jobs::job::Submission;
use crate::jobs::user_program::UserProgram;
use crate::lists::record_list::ControlList;
use crate::platform::Platform;
use alloc::vec;
use alloc::vec::Vec;
use core::fmt;
use v3d_hw::control_list::Record;
use v3d_hw::registers::diagnostic::Errstat;
use v3d_hw::registers::{Register, Thread};
use v3d_hw::{BusAddr, Layout};

/// Number of bytes of a list that are kept from a thread's address on.
const WINDOW_BYTES: u32 = 64;

/// A failed job.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// The job, or `None` if user programs failed, or if it is not known which job is to blame.
    pub fence: Option<Fence>,
    /// The cause.
    pub failure: Failure,
    /// Number of failures of the job.
    pub failures: u32,
    /// Whether it was dropped.
    pub dropped: bool,
    /// What was running.
    pub submission: Submission,
    /// All registers.
    pub registers: RegisterSnapshot,
    /// Each thread's address and the bytes from there on, if it is in the pool.
    pub stops: [(BusAddr, Vec<u8>); 2],
}

impl Report {
    /// Captures the registers, and the bytes at the threads' addresses.
    pub(crate) fn capture(
        platform: &impl Platform,
        fence: Option<Fence>,
        failure: Failure,
        failures: u32,
        submission: Submission,
    ) -> Self {
        let stops = [Thread::Binning, Thread::Rendering].map(|thread| {
            let address = BusAddr(platform.read(Register::ctnca(thread)));
            (address, window(platform, address))
        });
        Self {
            fence,
            failure,
            failures,
            dropped: false,
            submission,
            registers: RegisterSnapshot::take(platform),
            stops,
        }
    }
}

/// The bytes at an address; none if it is not in the pool.
fn window(platform: &impl Platform, address: BusAddr) -> Vec<u8> {
    let offset = address - platform.base();
    if offset >= platform.bytes() {
        return Vec::new();
    }
    let mut bytes = vec![0; WINDOW_BYTES.min(platform.bytes() - offset) as usize];
    platform.load(offset, &mut bytes);
    bytes
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { fence, failure, failures, .. } = self;
        let fate = if self.dropped { "it is dropped" } else { "it is tried again" };
        match fence {
            Some(fence) => writeln!(f, "job {fence}: {failure} (failure {failures}; {fate})")?,
            None => writeln!(f, "user programs: {failure}")?,
        }
        for UserProgram { code, uniforms, uniform_count } in &self.submission.programs {
            writeln!(f, "program at {code}, {uniform_count} uniforms at {uniforms}")?;
        }
        let lists = [self.submission.job.and_then(|job| job.binning), self.submission.job.map(|job| job.rendering)];
        for ((number, list), (address, bytes)) in lists.iter().enumerate().zip(&self.stops) {
            match list {
                Some(ControlList { start, end_exclusive }) => {
                    writeln!(f, "thread {number} stands at {address}; its list is {start} to {end_exclusive}")?;
                }
                None => writeln!(f, "thread {number} stands at {address}; it has no list")?,
            }
            write_records(f, *address, bytes)?;
        }
        if let Some(status) = self.registers.value(Register::ERRSTAT) {
            for sentence in error_status::sentences(Errstat::from_word(status)) {
                writeln!(f, "{sentence}")?;
            }
        }
        for &(register, value) in self.registers.values() {
            writeln!(f, "{:8} {value:08x} {}", register.name(), register.explain(value))?;
        }
        Ok(())
    }
}

/// Prints the records at the start of the bytes.
fn write_records(f: &mut fmt::Formatter<'_>, address: BusAddr, bytes: &[u8]) -> fmt::Result {
    const MAX_RECORDS: usize = 4;
    let mut at = 0;
    for _ in 0..MAX_RECORDS {
        match bytes.get(at..).map(Record::decode) {
            Some(Ok(record)) => {
                writeln!(f, "  {} {record}", address + at as u32)?;
                if record.info().open_ended {
                    return Ok(());
                }
                at += record.bytes();
            }
            Some(Err(error)) if at < bytes.len() => return writeln!(f, "  {} {error}", address + at as u32),
            _ => return Ok(()),
        }
    }
    Ok(())
}
