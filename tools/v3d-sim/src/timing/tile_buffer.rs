//! The tile buffer of the timing model: loads and stores, and the fragments before and after them.
//!
//! A store begins when all fragments before it have unlocked the scoreboard, a load when the store before it has ended. Fragments behind them are shaded at
//! once, but wait at their first access to the tile buffer. With double buffering they wait only for the store before the last one.

use super::costs;
use std::collections::VecDeque;

/// What a fragment belongs to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct TileSlot {
    /// Number of moves before it.
    number: usize,
    /// Number of moves that it waits for.
    after: usize,
}

/// Fragments between two moves, and the move behind them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Span {
    /// Fragments that have not unlocked the scoreboard.
    fragments: u32,
    /// Its move: the time from which on it can begin, if that is known, and its cycles.
    moved: Option<(Option<u64>, u64)>,
}

/// The tile buffer.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct TileBuffer {
    /// Moves that have been done.
    done: usize,
    /// The spans of the next move and of those behind it; the last has no move yet.
    spans: VecDeque<Span>,
    /// Where new fragments belong.
    current: TileSlot,
    /// Ends of the last move and of the one before it.
    ends: [u64; 2],
    /// Time at which the last fragment has unlocked the scoreboard.
    unlocked: u64,
}

impl TileBuffer {
    /// An empty tile buffer at a time.
    pub(super) fn at(start: u64) -> Self {
        Self {
            done: 0,
            spans: VecDeque::from([Span::default()]),
            current: TileSlot::default(),
            ends: [start; 2],
            unlocked: start,
        }
    }

    /// Adds a fragment.
    pub(super) fn add_fragment(&mut self) -> TileSlot {
        if let Some(span) = self.spans.back_mut() {
            span.fragments += 1;
        }
        self.current
    }

    /// Adds a move behind all fragments so far, which waits for memory for some cycles; returns its number.
    pub(super) fn add_move(&mut self, quads: u32, waiting: u64, swap: bool) -> usize {
        let number = self.current.number;
        if let Some(span) = self.spans.back_mut() {
            span.moved = Some((None, costs::TILE_MOVE + u64::from(quads) * costs::TLB_QUAD + waiting));
        }
        self.spans.push_back(Span::default());
        self.current = TileSlot { number: number + 1, after: if swap { number } else { number + 1 } };
        number
    }

    /// A move can begin from a time on.
    pub(super) fn release(&mut self, number: usize, time: u64) {
        if let Some((ready, _)) = self.span_mut(number).and_then(|span| span.moved.as_mut()) {
            *ready = Some(time);
        }
    }

    /// A fragment has unlocked the scoreboard.
    pub(super) fn unlock(&mut self, slot: TileSlot, time: u64) {
        self.unlocked = self.unlocked.max(time);
        if let Some(span) = self.span_mut(slot.number) {
            span.fragments = span.fragments.saturating_sub(1);
        }
    }

    fn span_mut(&mut self, number: usize) -> Option<&mut Span> {
        self.spans.get_mut(number.checked_sub(self.done)?)
    }

    /// Does the moves that nothing waits for; returns their cycles.
    pub(super) fn advance(&mut self) -> u64 {
        let mut busy = 0;
        while let Some(Span { fragments: 0, moved: Some((Some(ready), cycles)) }) = self.spans.front() {
            let begin = self.ends[0].max(*ready).max(self.unlocked);
            self.ends = [begin + cycles, self.ends[0]];
            busy += cycles;
            self.done += 1;
            self.spans.pop_front();
        }
        busy
    }

    /// The time from which on a fragment may access the tile buffer; `None` if it is not known yet.
    pub(super) fn available(&self, slot: TileSlot) -> Option<u64> {
        let later = self.done.checked_sub(slot.after)?;
        Some(self.ends[later.min(1)])
    }

    /// The end of the last move.
    pub(super) const fn end(&self) -> u64 {
        self.ends[0]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Stores of 64 quads, each behind a fragment that unlocks at a time: when the next fragment may access the tile buffer, and the end of all.
    fn check(swap: bool, unlocks: [u64; 3], expected: [Option<u64>; 3], end: u64) {
        let store = costs::TILE_MOVE + 64;
        let mut buffer = TileBuffer::at(1000);
        let slots = unlocks.map(|_| {
            let slot = buffer.add_fragment();
            let number = buffer.add_move(64, 0, swap);
            buffer.release(number, 1000);
            slot
        });
        let mut available = Vec::new();
        for (slot, time) in slots.into_iter().zip(unlocks) {
            available.push(buffer.available(slot).map(|time| time - 1000));
            buffer.unlock(slot, 1000 + time);
            buffer.advance();
        }
        assert_eq!(
            (available.as_slice(), buffer.end()),
            (expected.as_slice(), 1000 + end),
            "{swap} {unlocks:?} {store}"
        );
    }

    #[test]
    fn fragments_wait_for_the_store_before_them() {
        let store = costs::TILE_MOVE + 64;
        check(false, [10, 2000, 2001], [Some(0), Some(10 + store), Some(2000 + store)], 2000 + 2 * store);
    }

    #[test]
    fn with_two_buffers_they_wait_for_the_one_before_that() {
        let store = costs::TILE_MOVE + 64;
        check(true, [10, 2000, 2001], [Some(0), Some(0), Some(10 + store)], 2000 + 2 * store);
    }

    #[test]
    fn a_store_waits_for_all_fragments_before_it() {
        let mut buffer = TileBuffer::at(0);
        let slots = [buffer.add_fragment(), buffer.add_fragment()];
        let number = buffer.add_move(0, 0, false);
        let behind = buffer.add_fragment();
        buffer.unlock(slots[1], 7);
        assert_eq!((buffer.advance(), buffer.available(behind)), (0, None));
        buffer.release(number, 5);
        assert_eq!((buffer.advance(), buffer.available(behind)), (0, None));
        buffer.unlock(slots[0], 6);
        assert_eq!((buffer.advance(), buffer.available(behind)), (costs::TILE_MOVE, Some(7 + costs::TILE_MOVE)));
    }
}
