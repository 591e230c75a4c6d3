//! Ranges of memory that a job accesses, or to which it has a right.

use alloc::vec::Vec;
use v3d_hw::BusAddr;

/// Size of the V3D's address space: an address without its alias bits.
pub const MEMORY_BYTES: u32 = 1 << 30;

/// A range of memory, in bus addresses. Aliases of an address are the same address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// The first byte.
    pub address: BusAddr,
    /// Length in bytes.
    pub bytes: u32,
}

impl Span {
    /// All memory that the V3D can address.
    pub const MEMORY: Self = Self { address: BusAddr(0), bytes: MEMORY_BYTES };

    /// Offset of the first byte in memory.
    fn start(&self) -> u64 {
        u64::from(self.address.offset())
    }

    /// Offset of the end; beyond [`MEMORY_BYTES`] if the range exceeds memory.
    pub fn end(&self) -> u64 {
        self.start() + u64::from(self.bytes)
    }

    /// Whether the ranges are disjoint.
    pub fn is_apart_from(&self, other: &Self) -> bool {
        self.end() <= other.start() || other.end() <= self.start()
    }

    /// Whether it contains `bytes` bytes at an address.
    pub(super) fn holds(&self, address: BusAddr, bytes: u64) -> bool {
        let start = u64::from(address.offset());
        self.start() <= start && start.saturating_add(bytes) <= self.end()
    }

    /// The range extended to multiples of `alignment`, a power of two, at both ends, but not beyond the end of memory.
    #[must_use]
    pub fn aligned_out(&self, alignment: u32) -> Self {
        let start = self.address.offset() & !(alignment - 1);
        let end = self.end().next_multiple_of(u64::from(alignment));
        Self { address: BusAddr(start), bytes: length(u64::from(start), end) }
    }
}

/// The bytes of some ranges, in ascending order and as few ranges: overlapping and adjacent ones are merged, empty ones left out. Addresses have no alias bits.
pub fn merged(spans: impl IntoIterator<Item = Span>) -> Vec<Span> {
    let mut spans: Vec<Span> = spans.into_iter().filter(|span| span.bytes > 0).collect();
    spans.sort_by_key(Span::start);
    let mut merged: Vec<Span> = Vec::new();
    for span in spans {
        match merged.last_mut() {
            Some(last) if span.start() <= last.end() => last.bytes = length(last.start(), last.end().max(span.end())),
            _ => merged.push(Span { address: BusAddr(span.address.offset()), bytes: span.bytes }),
        }
    }
    merged
}

/// Length between two offsets, limited to that of a range, which exceeds memory in any case.
fn length(start: u64, end: u64) -> u32 {
    u32::try_from(end - start).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    fn span(address: u32, bytes: u32) -> Span {
        Span { address: BusAddr(address), bytes }
    }

    #[test]
    fn spans_that_meet_are_one() {
        let spans = [span(0x20, 4), span(0x10, 8), span(0xc000_0018, 8), span(0x40, 0), span(0x10, 2), span(0x30, 1)];
        assert_eq!(merged(spans), [span(0x10, 0x14), span(0x30, 1)]);
        assert_eq!(
            merged([span(0x3fff_0000, u32::MAX), span(0x3fff_f000, u32::MAX)]),
            vec![span(0x3fff_0000, u32::MAX)]
        );
    }

    #[test]
    fn spans_that_meet_are_apart() {
        assert!(
            span(0x1000, 0x10).is_apart_from(&span(0x1010, 4)) && span(0x1010, 4).is_apart_from(&span(0x1000, 0x10))
        );
        assert!(!span(0x1000, 0x11).is_apart_from(&span(0xc000_1010, 4)));
    }

    #[test]
    fn a_span_grows_to_whole_pages() {
        assert_eq!(span(0x1fff, 2).aligned_out(0x1000), span(0x1000, 0x2000));
        assert_eq!(span(0xc000_1000, 0x1000).aligned_out(0x1000), span(0x1000, 0x1000));
    }
}
