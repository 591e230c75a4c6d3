//! Long lists in pieces.
//!
//! A list that grows as a whole is copied each time, and needs room for both copies. Here all that is full stays where it is. One draw takes a piece.

use alloc::vec::Vec;
use core::ops::Range;

use crate::error::Error;
use crate::heap::reserve;

/// Most things of a piece: corners of as many rectangles are named by 16 bits.
pub(super) const MAX_LENGTH: usize = 16_000;
/// Room that a piece begins with.
const MIN_GROWTH: usize = 64;

/// A list in pieces of [`MAX_LENGTH`] things.
#[derive(Debug)]
pub(super) struct Pieces<T> {
    full: Vec<Vec<T>>,
    /// The piece that grows.
    last: Vec<T>,
    /// Empty pieces with room.
    spare: Vec<Vec<T>>,
}

impl<T> Pieces<T> {
    pub(super) const fn new() -> Self {
        Self { full: Vec::new(), last: Vec::new(), spare: Vec::new() }
    }

    /// Forgets all; room on the heap is kept.
    pub(super) fn clear(&mut self) {
        self.last.clear();
        self.full.iter_mut().for_each(Vec::clear);
        // There is room for them.
        self.spare.append(&mut self.full);
    }

    pub(super) fn len(&self) -> usize {
        self.full.len() * MAX_LENGTH + self.last.len()
    }

    /// Appends a thing if there is room without asking the heap.
    #[inline(always)]
    pub(super) fn push_where_room_is(&mut self, thing: T) -> bool {
        let is_room = self.last.len() < self.last.capacity();
        if is_room {
            self.last.push(thing);
        }
        is_room
    }

    /// Appends a thing.
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
            // Room for this piece there, and when all are cleared among the spare ones.
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

    /// The last things, at most so many, as far as they are in one piece.
    #[inline]
    pub(super) fn last_mut(&mut self, most: usize) -> &mut [T] {
        let first = self.last.len().saturating_sub(most);
        &mut self.last[first..]
    }

    /// The pieces of a part of the list.
    pub(super) fn part(&self, range: Range<usize>) -> impl Iterator<Item = &[T]> {
        let numbers = range.start / MAX_LENGTH..range.end.div_ceil(MAX_LENGTH);
        numbers.filter_map(move |number| {
            let in_piece = |place: usize| place.saturating_sub(number * MAX_LENGTH).min(MAX_LENGTH);
            self.full.get(number).unwrap_or(&self.last).get(in_piece(range.start)..in_piece(range.end))
        })
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
            assert_eq!(list.last_mut(9).len(), 5, "the piece has no more");
            list.clear();
            assert_eq!((list.len(), list.last_mut(1).len()), (0, 0));
        }
        assert_eq!((list.full.len(), list.spare.len()), (0, 2), "the room of the second round is that of the first");
    }
}
