//! Spans of memory, which a job reaches or has a right to.

use alloc::vec::Vec;
use v3d_hw::BusAddr;

/// Bytes of memory that the V3D can address: what is left of an address without its alias.
pub const MEMORY_BYTES: u32 = 1 << 30;

/// A span of memory, by the GPU's addresses. Aliases of one address are one address.
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

    /// Offset of the byte after the last; beyond [`MEMORY_BYTES`] for a span that leaves memory.
    pub fn end(&self) -> u64 {
        self.start() + u64::from(self.bytes)
    }

    /// Whether no byte belongs to both.
    pub fn is_apart_from(&self, other: &Self) -> bool {
        self.end() <= other.start() || other.end() <= self.start()
    }

    /// Whether `bytes` bytes at an address lie in it.
    pub(super) fn holds(&self, address: BusAddr, bytes: u64) -> bool {
        let start = u64::from(address.offset());
        self.start() <= start && start.saturating_add(bytes) <= self.end()
    }

    /// The span from one multiple of `alignment`, a power of two, to another that it lies in; the last byte of memory is its end.
    #[must_use]
    pub fn aligned_out(&self, alignment: u32) -> Self {
        let start = self.address.offset() & !(alignment - 1);
        let end = self.end().next_multiple_of(u64::from(alignment));
        Self { address: BusAddr(start), bytes: length(u64::from(start), end) }
    }
}

/// The bytes of some spans, in order and in as few spans as possible: those that overlap or meet are one, empty ones are left out. Addresses are without alias.
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

/// Bytes from one offset to another; 4 GiB and more are as many as a span can have, which is beyond memory all the same.
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
