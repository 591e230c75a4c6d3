//! A captured job to be replayed: its memory ranges, and the buffers that hold them

use alloc::vec::Vec;

use v3d::{
    hw::BusAddr,
    pool::Buffer,
    relocation::{GRANULE_BYTES, Placement},
    validator::{MEMORY_BYTES, Span},
};

/// The parts of a job that have been received.
#[derive(Debug, Default)]
pub struct Replay {
    places: Vec<Placement>,
    /// The buffers that hold the ranges.
    buffers: Vec<Buffer>,
    /// The job has been run: its memory no longer holds what was loaded.
    pub has_run: bool,
}

impl Replay {
    /// Addresses of the job's memory ranges.
    #[must_use]
    pub fn places(&self) -> &[Placement] {
        &self.places
    }

    /// Size of the buffer for a range, which includes the part of its page before it. `None` if the range is empty or exceeds the memory of 1 GiB.
    #[must_use]
    pub fn needed(span: Span) -> Option<u32> {
        let fits = span.bytes > 0 && span.end() <= u64::from(MEMORY_BYTES);
        fits.then(|| span.bytes + span.address.0 % GRANULE_BYTES)
    }

    /// An existing range that overlaps a new one.
    #[must_use]
    pub fn overlap(&self, new: Span) -> Option<Span> {
        self.places.iter().map(|place| place.span).find(|old| !old.is_apart_from(&new))
    }

    /// Assigns a buffer of sufficient size to a range; returns the range's new address.
    pub fn place(&mut self, span: Span, buffer: Buffer) -> BusAddr {
        let at = buffer.address() + span.address.0 % GRANULE_BYTES;
        self.places.push(Placement { span, at });
        self.buffers.push(buffer);
        at
    }
}
