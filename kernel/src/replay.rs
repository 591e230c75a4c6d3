//! A job from elsewhere: its memory, put where the kernel has room

use alloc::vec::Vec;

use v3d::{
    hw::BusAddr,
    pool::Buffer,
    relocation::{GRANULE_BYTES, Place},
    validator::Span,
};

/// What has come of a job so far.
#[derive(Debug, Default)]
pub struct Replay {
    places: Vec<Place>,
    /// The memory of the places.
    buffers: Vec<Buffer>,
    /// The job has been run: its words are no longer those that were loaded.
    pub has_run: bool,
}

impl Replay {
    /// Where the stretches of its memory are.
    #[must_use]
    pub fn places(&self) -> &[Place] {
        &self.places
    }

    /// Memory that a stretch needs: what is in front of it in its page is not used. `None` if the stretch is empty, or leaves the memory of 1 GiB.
    #[must_use]
    pub fn needed(span: Span) -> Option<u32> {
        let end = span.address.0.checked_add(span.bytes).filter(|&end| end <= 1 << 30 && span.bytes > 0)?;
        Some(end - span.address.0 / GRANULE_BYTES * GRANULE_BYTES)
    }

    /// The stretch that a new one has bytes in common with.
    #[must_use]
    pub fn overlap(&self, new: Span) -> Option<Span> {
        let end = |span: Span| span.address.0 + span.bytes;
        let spans = self.places.iter().map(|place| place.span);
        spans.into_iter().find(|&old| new.address.0 < end(old) && old.address.0 < end(new))
    }

    /// Puts a stretch into memory of as many bytes as it needs; says where.
    pub fn place(&mut self, span: Span, buffer: Buffer) -> BusAddr {
        let at = buffer.address() + span.address.0 % GRANULE_BYTES;
        self.places.push(Place { span, at });
        self.buffers.push(buffer);
        at
    }
}
