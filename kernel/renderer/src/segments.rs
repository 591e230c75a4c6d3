//! The order of a retained list: runs of elements that are drawn by one pipeline with one texture.
//!
//! The elements themselves are in batches, one for each pipeline. A segment is a range of one batch; since elements are only appended, it is enough to keep the
//! start of each segment: it ends where the next segment of the same batch starts.

use alloc::vec::Vec;
use core::ops::Range;

use crate::error::Error;
use crate::heap::reserve;

/// The pipeline and texture of a segment.
pub(crate) trait Batched: Copy + PartialEq {
    /// Number of batches.
    const BATCHES: usize;

    /// The batch that the elements of this kind are in, below [`Self::BATCHES`].
    fn batch(self) -> usize;
}

/// Segments in the order in which they are drawn.
#[derive(Debug)]
pub(crate) struct Segments<K> {
    /// Each segment's kind, and the index of its first element in its batch.
    starts: Vec<(K, usize)>,
    /// The kind of the last segment.
    last: Option<K>,
}

impl<K: Batched> Segments<K> {
    /// No segments.
    pub(crate) const fn new() -> Self {
        Self { starts: Vec::new(), last: None }
    }

    /// Number of segments.
    pub(crate) const fn len(&self) -> usize {
        self.starts.len()
    }

    /// The kind of the last segment, which the next element of this kind continues.
    #[inline(always)]
    pub(crate) const fn last(&self) -> Option<K> {
        self.last
    }

    /// Removes all segments, but keeps their memory.
    pub(crate) fn clear(&mut self) {
        self.truncate(0);
    }

    /// Keeps the first `count` segments.
    pub(crate) fn truncate(&mut self, count: usize) {
        self.starts.truncate(count);
        self.last = self.starts.last().map(|&(kind, _)| kind);
    }

    /// Reserves space for one more segment.
    pub(crate) fn reserve(&mut self, label: &'static str) -> Result<(), Error> {
        reserve(label, &mut self.starts, 1)
    }

    /// Begins a segment whose first element is at `start` in its batch, unless the last segment has the same kind.
    pub(crate) fn begin(&mut self, kind: K, start: usize) {
        if self.last != Some(kind) {
            self.starts.push((kind, start));
            self.last = Some(kind);
        }
    }

    /// The segments with their ranges; `lengths` are the numbers of elements of the batches.
    pub(crate) fn ranges<const N: usize>(&self, lengths: [usize; N]) -> impl Iterator<Item = (K, Range<usize>)> {
        const { assert!(N == K::BATCHES) }
        self.starts.iter().enumerate().map(move |(at, &(kind, start))| {
            let next = self.starts[at + 1..].iter().find(|(other, _)| other.batch() == kind.batch());
            (kind, start..next.map_or(lengths[kind.batch()], |&(_, end)| end))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two batches: numbers below 10, and others.
    impl Batched for u8 {
        const BATCHES: usize = 2;

        fn batch(self) -> usize {
            usize::from(self >= 10)
        }
    }

    #[test]
    fn a_segment_ends_where_the_next_of_its_batch_starts() {
        let mut segments = Segments::new();
        for (kind, start) in [(1u8, 0), (1, 2), (10, 0), (2, 5), (11, 4), (10, 4)] {
            segments.reserve("list").unwrap();
            segments.begin(kind, start);
        }
        let found: Vec<_> = segments.ranges([6, 9]).collect();
        assert_eq!(found, [(1, 0..5), (10, 0..4), (2, 5..6), (11, 4..4), (10, 4..9)]);
        assert_eq!((segments.len(), segments.last()), (5, Some(10)));

        segments.truncate(3);
        assert_eq!(segments.last(), Some(2));
        let found: Vec<_> = segments.ranges([7, 3]).collect();
        assert_eq!(found, [(1, 0..5), (10, 0..3), (2, 5..7)]);

        segments.clear();
        assert_eq!((segments.len(), segments.last(), segments.ranges([0, 0]).count()), (0, None, 0));
    }
}
