//! Rights of a job to read and to write memory.

use super::Reason;
use super::span::{MEMORY_BYTES, Span, merged};
use alloc::vec::Vec;
use v3d_hw::BusAddr;

/// The memory that a job may read, and that it may write. Aliases of an address are the same address, and adjacent ranges are merged.
#[derive(Clone, Debug, Default)]
pub struct Rights {
    /// In ascending order and disjoint.
    readable: Vec<Span>,
    writable: Vec<Span>,
}

impl Rights {
    /// `None` if memory would be both readable and writable, or if a range exceeds the 1 GiB of memory.
    pub fn new(readable: &[Span], writable: &[Span]) -> Option<Self> {
        let readable = merged(readable.iter().copied());
        let writable = merged(writable.iter().copied());
        let mut all: Vec<_> = readable.iter().chain(&writable).collect();
        all.sort_by_key(|span| span.address.offset());
        let fits = all.iter().all(|span| span.end() <= u64::from(MEMORY_BYTES));
        let apart = all.windows(2).all(|pair| matches!(pair, [one, two] if one.is_apart_from(two)));
        (fits && apart).then_some(Self { readable, writable })
    }

    /// The right to read and to write some ranges.
    pub(super) fn to_all(spans: &[Span]) -> Self {
        let readable = merged(spans.iter().copied());
        Self { writable: readable.clone(), readable }
    }

    pub(super) fn may_read(&self, address: BusAddr, bytes: u64) -> Result<(), Reason> {
        if contains(&self.readable, address, bytes) { Ok(()) } else { Err(Reason::Reads { address, bytes }) }
    }

    pub(super) fn may_write(&self, address: BusAddr, bytes: u64) -> Result<(), Reason> {
        if contains(&self.writable, address, bytes) { Ok(()) } else { Err(Reason::Writes { address, bytes }) }
    }
}

/// Whether one of the ranges, which are in ascending order, contains all of it.
fn contains(spans: &[Span], address: BusAddr, bytes: u64) -> bool {
    let behind = spans.partition_point(|span| span.address.offset() <= address.offset());
    let last = behind.checked_sub(1).and_then(|last| spans.get(last));
    last.is_some_and(|span| span.holds(address, bytes))
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

    /// Compared with a table of bytes, for ranges that overlap, are adjacent and are disjoint.
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
