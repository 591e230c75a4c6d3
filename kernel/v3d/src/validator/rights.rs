//! What a job may read and what it may write.

use super::Reason;
use alloc::vec::Vec;
use core::ops::Range;
use v3d_hw::BusAddr;

/// Bytes of memory that the V3D can address: what is left of an address without its alias.
const MEMORY_BYTES: u64 = 1 << 30;

/// A stretch of memory, by the GPU's addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// The first byte.
    pub address: BusAddr,
    /// Length in bytes.
    pub bytes: u32,
}

impl Span {
    /// The bytes, counted without the alias.
    fn range(&self) -> Range<u64> {
        let start = u64::from(self.address.offset());
        start..start + u64::from(self.bytes)
    }

    /// Whether no byte belongs to both.
    pub(super) fn is_apart_from(&self, other: &Self) -> bool {
        let (one, two) = (self.range(), other.range());
        one.end <= two.start || two.end <= one.start
    }
}

/// What a job may read and what it may write. Aliases of one address are one address, and spans that meet are one span.
#[derive(Clone, Debug, Default)]
pub struct Rights {
    /// In order, and apart from each other.
    readable: Vec<Range<u64>>,
    writable: Vec<Range<u64>>,
}

impl Rights {
    /// `None` if something may be both read and written, or is not inside the 1 GiB of memory.
    pub fn new(readable: &[Span], writable: &[Span]) -> Option<Self> {
        let (readable, writable) = (merged(readable), merged(writable));
        let mut all: Vec<_> = readable.iter().chain(&writable).filter(|range| !range.is_empty()).collect();
        all.sort_by_key(|range| range.start);
        let fits = all.iter().all(|range| range.end <= MEMORY_BYTES);
        let apart = all.windows(2).all(|pair| matches!(pair, [one, two] if one.end <= two.start));
        (fits && apart).then_some(Self { readable, writable })
    }

    /// The right to read and to write all of some spans.
    pub(super) fn to_all(spans: &[Span]) -> Self {
        Self { readable: merged(spans), writable: merged(spans) }
    }

    pub(super) fn may_read(&self, address: BusAddr, bytes: u64) -> Result<(), Reason> {
        if contains(&self.readable, address, bytes) { Ok(()) } else { Err(Reason::Reads { address, bytes }) }
    }

    pub(super) fn may_write(&self, address: BusAddr, bytes: u64) -> Result<(), Reason> {
        if contains(&self.writable, address, bytes) { Ok(()) } else { Err(Reason::Writes { address, bytes }) }
    }
}

/// The bytes of some spans, in order and in as few ranges as possible.
fn merged(spans: &[Span]) -> Vec<Range<u64>> {
    let mut ranges: Vec<_> = spans.iter().map(Span::range).collect();
    ranges.sort_by_key(|range| range.start);
    let mut merged: Vec<Range<u64>> = Vec::new();
    for range in ranges {
        match merged.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ => merged.push(range),
        }
    }
    merged
}

/// Whether one of the ranges, which are in order, holds all of it.
fn contains(ranges: &[Range<u64>], address: BusAddr, bytes: u64) -> bool {
    let start = u64::from(address.offset());
    let behind = ranges.partition_point(|range| range.start <= start);
    let last = behind.checked_sub(1).and_then(|last| ranges.get(last));
    last.is_some_and(|range| start.saturating_add(bytes) <= range.end)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(address: u32, bytes: u32) -> Span {
        Span { address: BusAddr(address), bytes }
    }

    #[test]
    fn what_is_read_may_not_be_written() {
        assert!(Rights::new(&[span(0xc000_1000, 0x1000)], &[span(0x4000_1fff, 1)]).is_none());
        assert!(Rights::new(&[span(0xc000_1000, 0x1000)], &[span(0x4000_2000, 1)]).is_some());
        assert!(Rights::new(&[span(0x3fff_f000, 0x1001)], &[]).is_none());
        assert!(Rights::new(&[span(0x1000, 0x1000)], &[span(0x1800, 0), span(0x3000, 4)]).is_some());
    }

    /// Against a table of bytes, for spans that overlap, meet and are apart.
    #[test]
    fn an_access_has_to_lie_in_spans_that_meet() {
        let rights = Rights::new(&[span(20, 5), span(8, 4), span(10, 6), span(40, 8), span(25, 3)], &[]).unwrap();
        let mut allowed = [false; 64];
        for byte in (8..16).chain(20..28).chain(40..48) {
            allowed[byte] = true;
        }
        for (start, bytes) in (0..56usize).flat_map(|start| (1..8usize).map(move |bytes| (start, bytes))) {
            let expected = allowed[start..start + bytes].iter().all(|&allowed| allowed);
            let found = rights.may_read(BusAddr(BusAddr::UNCACHED | start as u32), bytes as u64).is_ok();
            assert_eq!(found, expected, "{bytes} bytes at {start}");
        }
    }
}
