//! A captured job to be replayed: its spans of memory, and the buffers that hold them

use alloc::vec::Vec;

use v3d::{
    hw::BusAddr,
    pool::Buffer,
    relocation::{GRANULE_BYTES, Placement},
    validator::{MEMORY_BYTES, Span},
};

/// What has come of a job so far.
#[derive(Debug, Default)]
pub struct Replay {
    places: Vec<Placement>,
    /// The memory of the places.
    buffers: Vec<Buffer>,
    /// The job has been run: its words are no longer those that were loaded.
    pub has_run: bool,
}

impl Replay {
    /// Where the spans of its memory are.
    #[must_use]
    pub fn places(&self) -> &[Placement] {
        &self.places
    }

    /// Memory that a span needs: what is in front of it in its page is not used. `None` if the span is empty, or leaves the memory of 1 GiB.
    #[must_use]
    pub fn needed(span: Span) -> Option<u32> {
        let fits = span.bytes > 0 && span.end() <= u64::from(MEMORY_BYTES);
        fits.then(|| span.bytes + span.address.0 % GRANULE_BYTES)
    }

    /// The span that a new one has bytes in common with.
    #[must_use]
    pub fn overlap(&self, new: Span) -> Option<Span> {
        self.places.iter().map(|place| place.span).find(|old| !old.is_apart_from(&new))
    }

    /// Puts a span into memory of as many bytes as it needs; says where.
    pub fn place(&mut self, span: Span, buffer: Buffer) -> BusAddr {
        let at = buffer.address() + span.address.0 % GRANULE_BYTES;
        self.places.push(Placement { span, at });
        self.buffers.push(buffer);
        at
    }
}
