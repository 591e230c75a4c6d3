//! Relocation: runs a captured job at other addresses than it was captured at.
//!
//! The memory of a captured job is used for something else on this machine. The job's memory is therefore placed elsewhere, and the offset is added to each
//! word that contains an address. The validator finds these words: it follows every list, record, program and uniform. The relocated job is then validated
//! again, with rights to its new memory only, so that nothing depends on the first validation.
//!
//! # What cannot be relocated
//! Programs with an address in an instruction ([`RelocationError::Fixed`]). The validator rejects programs that compute with addresses in a way that it does
//! not support. A uniform that is an address for one program and a number for another is changed for both; the result is then wrong.

use crate::jobs::job::Job;
use crate::lists::record_list::ControlList;
use crate::platform::GpuMemory;
use crate::validator::{self, MEMORY_BYTES, Refusal, Rights, Span, Survey};
use alloc::vec::Vec;
use core::fmt;
use v3d_hw::BusAddr;

/// Memory is moved by multiples of this, so that other fields in a word with an address do not change.
pub const GRANULE_BYTES: u32 = 4096;

/// The new address of a range of a job's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Placement {
    /// The range, in the job's addresses.
    pub span: Span,
    /// Its new address; both addresses are equal modulo [`GRANULE_BYTES`].
    pub at: BusAddr,
}

impl Placement {
    /// Number of bytes from an address in the range to its end.
    fn rest(&self, address: BusAddr) -> Option<u32> {
        let into = address.offset().checked_sub(self.span.address.offset())?;
        self.span.bytes.checked_sub(into).filter(|&rest| rest > 0)
    }

    /// The new address for an address in the range.
    fn moved(&self, address: BusAddr) -> BusAddr {
        self.at + (address.offset() - self.span.address.offset())
    }
}

/// Why a job cannot be relocated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RelocationError {
    /// The validator rejects the job at its original addresses.
    Refused(Refusal),
    /// The validator rejects the job at its new addresses.
    MovedRefused(Refusal),
    /// An instruction contains an address.
    Fixed(BusAddr),
    /// A range is not moved by a multiple of [`GRANULE_BYTES`].
    Distance(Placement),
    /// The job reads memory that it also writes.
    Rights,
}

impl fmt::Display for RelocationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(refusal) => refusal.fmt(f),
            Self::MovedRefused(refusal) => write!(f, "moved to its new place, {refusal}"),
            Self::Fixed(address) => {
                write!(f, "the instruction at {address} names an address, so that the job cannot be moved")
            }
            Self::Distance(Placement { span, at }) => {
                write!(f, "memory is moved by multiples of {GRANULE_BYTES} bytes, not from {} to {at}", span.address)
            }
            Self::Rights => f.write_str("the job reads memory that it writes, or memory beyond 1 GiB"),
        }
    }
}

impl core::error::Error for RelocationError {}

/// A job's memory, accessed by the job's original addresses.
#[derive(Debug)]
pub struct PlacedMemory<'m, M> {
    /// The memory that contains all ranges.
    pub memory: &'m M,
    /// The new addresses of the ranges.
    pub places: &'m [Placement],
}

impl<M: GpuMemory> PlacedMemory<'_, M> {
    /// Whether every byte of a range has a new address.
    pub fn holds(&self, span: Span) -> bool {
        let mut held = 0;
        self.parts(span.address.offset(), span.bytes as usize, |_, part| held += part.len());
        held == span.bytes as usize
    }

    /// Calls `access` for each part of a range that has a new address, with its offset in the memory and its position in the range.
    fn parts(&self, offset: u32, count: usize, mut access: impl FnMut(u32, core::ops::Range<usize>)) {
        let mut done = 0;
        while done < count {
            let address = BusAddr(offset.wrapping_add(done as u32));
            let place = self.places.iter().find_map(|place| place.rest(address).map(|rest| (place, rest)));
            let Some((place, rest)) = place else {
                done += 1;
                continue;
            };
            let end = count.min(done.saturating_add(rest as usize));
            access(place.moved(address) - self.memory.base(), done..end);
            done = end;
        }
    }
}

/// Bytes without a new address read as 0, and writes to them are ignored.
impl<M: GpuMemory> GpuMemory for PlacedMemory<'_, M> {
    fn base(&self) -> BusAddr {
        BusAddr(0)
    }

    fn bytes(&self) -> u32 {
        MEMORY_BYTES
    }

    fn store(&self, offset: u32, bytes: &[u8]) {
        self.parts(offset, bytes.len(), |at, part| self.memory.store(at, &bytes[part]));
    }

    fn load(&self, offset: u32, bytes: &mut [u8]) {
        bytes.fill(0);
        let count = bytes.len();
        self.parts(offset, count, |at, part| self.memory.load(at, &mut bytes[part]));
    }
}

/// A relocated job, which may be executed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Relocated {
    /// The job.
    pub job: Job,
    /// What it accesses, in its original addresses.
    pub survey: Survey,
    /// Number of words that were changed.
    pub words: u32,
}

/// Changes a job whose memory is at `places` so that it runs there. Nothing is changed if the validator rejects it at its original addresses.
///
/// # Errors
/// When the validator rejects it, before or after; and when it cannot be relocated.
pub fn relocate(memory: &impl GpuMemory, places: &[Placement], job: &Job) -> Result<Relocated, RelocationError> {
    if let Some(place) = places.iter().find(|place| !(place.at - place.span.address).is_multiple_of(GRANULE_BYTES)) {
        return Err(RelocationError::Distance(*place));
    }
    let placed = PlacedMemory { memory, places };
    let within: Vec<Span> = places.iter().map(|place| place.span).collect();
    let survey = validator::survey(&placed, &within, job).map_err(RelocationError::Refused)?;
    if let Some(instruction) = survey.fixed() {
        return Err(RelocationError::Fixed(instruction));
    }
    let place_of = |address| places.iter().find(|place| place.rest(address).is_some());
    let mut words = 0;
    for pointer in survey.pointers() {
        // The validator has ensured that memory without a new address is not accessed.
        let Some(place) = place_of(pointer.target) else { continue };
        let distance = place.moved(pointer.target) - pointer.target;
        let mut word = [0; 4];
        placed.load(pointer.word.offset(), &mut word);
        placed.store(pointer.word.offset(), &u32::from_le_bytes(word).wrapping_add(distance).to_le_bytes());
        words += 1;
    }
    let moved = |address: BusAddr| place_of(address).map_or(address, |place| place.moved(address));
    let list = |list: ControlList| {
        let start = moved(list.start);
        ControlList { start, end_exclusive: start + (list.end_exclusive - list.start) }
    };
    let job = Job { binning: job.binning.map(list), rendering: list(job.rendering) };
    let written: Vec<Span> = survey.stores().into_iter().chain(survey.tile_memory()).collect();
    let (readable, writable) = divide(places, &written);
    let rights = Rights::new(&readable, &writable).ok_or(RelocationError::Rights)?;
    validator::check(memory, &rights, &job).map_err(RelocationError::MovedRefused)?;
    Ok(Relocated { job, survey, words })
}

/// The ranges at their new addresses, divided into those that are read and those that are written.
fn divide(places: &[Placement], written: &[Span]) -> (Vec<Span>, Vec<Span>) {
    let (mut readable, mut writable) = (Vec::new(), Vec::new());
    let end = |span: &Span| span.address.offset() + span.bytes;
    let mut written = written.to_vec();
    written.sort_by_key(|span| span.address.offset());
    for place in places {
        let mut next = place.span.address.offset();
        let block = |from: u32, to: u32| Span { address: place.moved(BusAddr(from)), bytes: to - from };
        for span in &written {
            let from = span.address.offset().max(next);
            let to = end(span).min(end(&place.span));
            if from < to {
                readable.push(block(next, from));
                writable.push(block(from, to));
                next = to;
            }
        }
        readable.push(block(next, end(&place.span)));
    }
    (readable, writable)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(start: u32, bytes: u32) -> Span {
        Span { address: BusAddr(start), bytes }
    }

    #[test]
    fn places_are_divided_into_read_and_written() {
        let places = [Placement { span: span(0x1000, 0x100), at: BusAddr(0x5000) }];
        let (readable, writable) = divide(&places, &[span(0x1080, 0x10), span(0x10f0, 0x100), span(0xff0, 0x20)]);
        assert_eq!(writable, [span(0x5000, 0x10), span(0x5080, 0x10), span(0x50f0, 0x10)]);
        let readable: Vec<_> = readable.into_iter().filter(|span| span.bytes > 0).collect();
        assert_eq!(readable, [span(0x5010, 0x70), span(0x5090, 0x60)]);
    }
}
