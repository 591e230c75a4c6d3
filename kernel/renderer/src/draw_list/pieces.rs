//! A growable list of chunks of fixed length.
//!
//! When a vector grows, it copies all of its elements and needs memory for both copies; here full chunks are never moved. One draw uses one chunk.

use alloc::vec::Vec;
use core::ops::Range;

use crate::error::Error;
use crate::heap::reserve;

/// Maximum number of elements of a chunk: that many rectangles have at most 2^16 vertices, which 16-bit indices can address.
pub(super) const MAX_LENGTH: usize = 16_000;
/// Initial capacity of a chunk.
const MIN_GROWTH: usize = 64;

/// A list in chunks of [`MAX_LENGTH`] elements.
#[derive(Debug)]
pub(super) struct Pieces<T> {
    full: Vec<Vec<T>>,
    /// The chunk that is appended to.
    last: Vec<T>,
    /// Empty chunks whose capacity is kept for later.
    spare: Vec<Vec<T>>,
}

impl<T> Pieces<T> {
    pub(super) const fn new() -> Self {
        Self { full: Vec::new(), last: Vec::new(), spare: Vec::new() }
    }

    /// Removes everything, but keeps the capacity.
    pub(super) fn clear(&mut self) {
        self.last.clear();
        self.full.iter_mut().for_each(Vec::clear);
        // `push_after_growing` has reserved room for them.
        self.spare.append(&mut self.full);
    }

    pub(super) fn len(&self) -> usize {
        self.full.len() * MAX_LENGTH + self.last.len()
    }

    /// Appends an element if that needs no allocation, and returns whether it did.
    #[inline(always)]
    pub(super) fn push_where_room_is(&mut self, thing: T) -> bool {
        let is_room = self.last.len() < self.last.capacity();
        if is_room {
            self.last.push(thing);
        }
        is_room
    }

    /// Appends an element.
    #[inline]
    pub(super) fn push(&mut self, label: &'static str, thing: T) -> Result<(), Error> {
        if self.last.len() < self.last.capacity() {
            self.last.push(thing);
            return Ok(());
        }
        self.push_after_growing(label, thing)
    }

    #[cold]
    #[inline(never)]
    fn push_after_growing(&mut self, label: &'static str, thing: T) -> Result<(), Error> {
        if self.last.len() >= MAX_LENGTH {
            // Reserves space in `full` for this chunk, and in `spare` for all chunks, so that `clear` does not allocate.
            reserve(label, &mut self.full, 1)?;
            let all = self.full.len() + 1;
            reserve(label, &mut self.spare, all)?;
            let next = self.spare.pop().unwrap_or_default();
            self.full.push(core::mem::replace(&mut self.last, next));
        }
        if self.last.len() == self.last.capacity() {
            let more = self.last.len().max(MIN_GROWTH).min(MAX_LENGTH - self.last.len());
            let bytes = more * size_of::<T>();
            self.last.try_reserve_exact(more).map_err(|_| Error::HeapFull { label, bytes })?;
        }
        self.last.push(thing);
        Ok(())
    }

    /// The last elements, at most `most`, that are in the last chunk.
    #[inline]
    pub(super) fn last_mut(&mut self, most: usize) -> &mut [T] {
        let first = self.last.len().saturating_sub(most);
        &mut self.last[first..]
    }

    /// A range of the list as slices, one for each chunk that it overlaps.
    pub(super) fn part(&self, range: Range<usize>) -> impl Iterator<Item = &[T]> {
        let numbers = range.start / MAX_LENGTH..range.end.div_ceil(MAX_LENGTH);
        let slices = numbers.filter_map(move |number| {
            let in_piece = |place: usize| place.saturating_sub(number * MAX_LENGTH).min(MAX_LENGTH);
            self.full.get(number).unwrap_or(&self.last).get(in_piece(range.start)..in_piece(range.end))
        });
        slices.filter(|slice| !slice.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_is_cut_where_pieces_end() {
        let mut list = Pieces::new();
        for round in 0..2 {
            for n in 0..2 * MAX_LENGTH + 5 {
                assert_eq!(list.len(), n, "round {round}");
                list.push("list", n).unwrap();
            }
            for (range, expected) in [
                (0..0, &[][..]),
                (3..3, &[]),
                (3..5, &[(3, 5)]),
                (0..MAX_LENGTH, &[(0, MAX_LENGTH)]),
                (MAX_LENGTH - 1..MAX_LENGTH + 1, &[(MAX_LENGTH - 1, MAX_LENGTH), (MAX_LENGTH, MAX_LENGTH + 1)]),
                (
                    7..2 * MAX_LENGTH + 5,
                    &[(7, MAX_LENGTH), (MAX_LENGTH, 2 * MAX_LENGTH), (2 * MAX_LENGTH, 2 * MAX_LENGTH + 5)],
                ),
            ] {
                let found: Vec<_> = list.part(range).map(|part| (part[0], part[part.len() - 1] + 1)).collect();
                assert_eq!(found, expected);
            }
            assert_eq!(list.last_mut(2), [2 * MAX_LENGTH + 3, 2 * MAX_LENGTH + 4]);
            assert_eq!(list.last_mut(9).len(), 5, "the last piece has 5 elements");
            list.clear();
            assert_eq!((list.len(), list.last_mut(1).len()), (0, 0));
        }
        assert_eq!((list.full.len(), list.spare.len()), (0, 2), "the second round uses the capacity of the first");
    }
}
