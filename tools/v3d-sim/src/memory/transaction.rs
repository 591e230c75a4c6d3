//! Transactions: the accesses of programs that run at once, and must appear to run one after another.
//!
//! Each program accesses memory through a transaction of its own, as a [`Watcher`]. Memory is divided into lines. A transaction marks the lines that it reads,
//! and owns those that it writes: no other may read or write these until all of them are over. So programs whose transactions have succeeded have not seen
//! each other, and their order does not matter; and a transaction can be [undone](Transaction::undo) without regard to the others, since it keeps what its
//! writes have replaced.
//!
//! A read may be marked after it has taken place. If the line has had an owner in between, the owner still has it, and the transaction fails then.

use super::{Access, Memory, Path, Watcher};
use crate::threads::lock;
use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

/// Size of a line: what a vector of words fills.
const LINE_BYTES: u64 = 64;
/// Maximum number of transactions at once: a mark has a bit for each of them.
pub(crate) const MOST: usize = 16;
/// Bit of a mark: the line has instructions, which any program may execute without reading them again.
const CODE: u32 = 1 << MOST;
/// Where a mark has the number of the line's owner, plus 1.
const OWNER_SHIFT: u32 = 24;

/// The marks of all lines of memory, between transactions all 0.
#[derive(Debug, Default)]
pub(crate) struct Lines {
    marks: Box<[AtomicU32]>,
}

impl Lines {
    /// Makes it large enough. The host allocates pages when they are first written.
    pub(crate) fn cover(&mut self, memory: Memory<'_>) {
        let lines = memory.bytes().div_ceil(LINE_BYTES) as usize;
        if self.marks.len() < lines {
            self.marks = bytemuck::zeroed_slice_box(lines);
        }
    }
}

/// A write: what a word held before, and the bits that were replaced.
#[derive(Clone, Copy, Debug)]
struct Replaced {
    word: u32,
    before: u32,
    bits: u32,
}

/// What a transaction has done.
#[derive(Debug, Default)]
pub(crate) struct Log {
    /// The lines that it has marked.
    lines: Vec<u32>,
    /// Its writes, in their order.
    replaced: Vec<Replaced>,
    /// A range that it has read and marked lately.
    read: Range<u64>,
}

/// The accesses of one program.
#[derive(Debug)]
pub(crate) struct Transaction<'l> {
    lines: &'l Lines,
    number: usize,
    log: Mutex<Log>,
    has_failed: AtomicBool,
    was_denied_code: AtomicBool,
}

impl<'l> Transaction<'l> {
    /// A transaction without accesses, of a number below [`MOST`] that no other has. The log is emptied.
    pub(crate) fn new(lines: &'l Lines, number: usize, mut log: Log) -> Self {
        log.lines.clear();
        log.replaced.clear();
        log.read = 0..0;
        let (has_failed, was_denied_code) = (AtomicBool::new(false), AtomicBool::new(false));
        Self { lines, number: number % MOST, log: Mutex::new(log), has_failed, was_denied_code }
    }

    /// Whether an access has met another transaction's. The rest of what the program does is of no use then.
    pub(crate) fn has_failed(&self) -> bool {
        self.has_failed.load(Ordering::Relaxed)
    }

    /// Whether an access that was denied was to instructions.
    pub(crate) fn was_denied_code(&self) -> bool {
        self.was_denied_code.load(Ordering::Relaxed)
    }

    /// Puts back what its writes have replaced.
    pub(crate) fn undo(&self, memory: Memory<'_>) {
        let words = memory.words();
        for Replaced { word, before, bits } in lock(&self.log).replaced.drain(..).rev() {
            if let Some(word) = words.get(word as usize) {
                super::replace(word, bits, before);
            }
        }
    }

    /// Removes its marks, after which others can have its lines; returns the log, to be used again.
    pub(crate) fn end(self) -> Log {
        let log = self.log.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
        for &line in &log.lines {
            if let Some(mark) = self.lines.marks.get(line as usize) {
                mark.store(0, Ordering::Relaxed);
            }
        }
        log
    }

    /// Marks a line, if its mark `admits` that, in the way of `add`.
    fn mark(&self, line: u64, add: u32, admits: impl Fn(u32) -> bool) -> bool {
        let Some(mark) = self.lines.marks.get(line as usize) else { return false };
        let mut found = mark.load(Ordering::Acquire);
        while found & add != add {
            if !admits(found) {
                return false;
            }
            match mark.compare_exchange_weak(found, found | add, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => {
                    lock(&self.log).lines.push(line as u32);
                    return true;
                }
                Err(now) => found = now,
            }
        }
        true
    }

    /// Whether the bytes are in a line that is marked as read, as it is after the first time.
    #[inline]
    fn has_read_word(&self, bytes: &Range<u64>) -> bool {
        let line = bytes.start / LINE_BYTES;
        let mark = self.lines.marks.get(line as usize);
        bytes.end <= (line + 1) * LINE_BYTES
            && mark.is_some_and(|mark| mark.load(Ordering::Acquire) >> self.number & 1 == 1)
    }

    fn read(&self, bytes: &Range<u64>, path: Path) -> bool {
        let lines = bytes.start / LINE_BYTES..bytes.end.div_ceil(LINE_BYTES);
        // A texture, which is noted with each of its lookups.
        let is_long = lines.end - lines.start > 4;
        if is_long && self.has_just_read(bytes) {
            return true;
        }
        let own = 1 << self.number | if path == Path::Instructions { CODE } else { 0 };
        let admits = |mark: u32| mark >> OWNER_SHIFT == 0 || mark >> OWNER_SHIFT == self.owner() && own & CODE == 0;
        let marked = lines.clone().all(|line| self.mark(line, own, admits));
        if is_long && marked {
            lock(&self.log).read = bytes.clone();
        }
        marked
    }

    fn has_just_read(&self, bytes: &Range<u64>) -> bool {
        let read = &lock(&self.log).read;
        read.start <= bytes.start && bytes.end <= read.end
    }

    fn write(&self, memory: &[AtomicU32], bytes: &Range<u64>) -> bool {
        let own = 1 << self.number | self.owner() << OWNER_SHIFT;
        let admits = |mark: u32| mark & !own == 0;
        let mut lines = bytes.start / LINE_BYTES..bytes.end.div_ceil(LINE_BYTES);
        if !lines.all(|line| self.mark(line, own, admits)) {
            return false;
        }
        let words = bytes.start / 4..bytes.end.div_ceil(4);
        let replaced = words.map(|word| {
            let skipped = 8 * bytes.start.saturating_sub(4 * word);
            let missing = 8 * (4 * (word + 1)).saturating_sub(bytes.end);
            let bits = (u32::MAX << skipped) & (u32::MAX >> missing);
            let before = memory.get(word as usize).map_or(0, |word| word.load(Ordering::Relaxed));
            Replaced { word: word as u32, before, bits }
        });
        lock(&self.log).replaced.extend(replaced);
        true
    }

    const fn owner(&self) -> u32 {
        self.number as u32 + 1
    }
}

impl Watcher for Transaction<'_> {
    fn note(&self, memory: &[AtomicU32], bytes: Range<u64>, access: Access, path: Path) -> bool {
        if bytes.is_empty() || self.has_failed() {
            return !self.has_failed();
        }
        let admitted = match access {
            // A word, in most cases.
            Access::Read if path != Path::Instructions && self.has_read_word(&bytes) => true,
            Access::Read => self.read(&bytes, path),
            Access::Write => self.write(memory, &bytes),
        };
        if !admitted {
            self.has_failed.store(true, Ordering::Relaxed);
            self.was_denied_code.fetch_or(path == Path::Instructions, Ordering::Relaxed);
        }
        admitted
    }

    fn takes_reads_later(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::{Limits, OwnedMemory};
    use v3d_hw::BusAddr;

    /// An access of a transaction to 4 bytes at an address: its number, whether it writes, and whether it is expected to succeed.
    type Step = (usize, u32, Access, bool);

    /// Performs accesses, and then undoes all transactions.
    fn check(steps: &[Step]) {
        let owned = OwnedMemory::new(0x1000);
        let before: Vec<u8> = (0..0x1000).map(|byte| (byte % 251) as u8).collect();
        owned.view().write(BusAddr(0), &before).unwrap();
        let mut lines = Lines::default();
        lines.cover(owned.view());
        let transactions: Vec<_> = (0..MOST).map(|number| Transaction::new(&lines, number, Log::default())).collect();
        for (index, &(number, address, access, expected)) in steps.iter().enumerate() {
            let limits = Limits::watched(owned.view(), &transactions[number]);
            let memory = Memory::limited(&limits);
            let succeeded = match access {
                Access::Read => memory.word(BusAddr(address)).is_ok(),
                Access::Write => memory.write(BusAddr(address), &[0xee; 4]).is_ok(),
            };
            assert_eq!((succeeded, transactions[number].has_failed()), (expected, !expected), "step {index}");
        }
        transactions.iter().for_each(|transaction| transaction.undo(owned.view()));
        assert_eq!(owned.to_bytes(), before);
        transactions.into_iter().for_each(|transaction| drop(transaction.end()));
        assert!(lines.marks.iter().all(|mark| mark.load(Ordering::Relaxed) == 0));
    }

    use Access::{Read, Write};

    #[test]
    fn what_is_only_read_is_shared() {
        check(&[(0, 0, Read, true), (15, 0, Read, true), (3, 4, Read, true), (0, 0, Read, true)]);
    }

    #[test]
    fn a_line_that_is_written_is_its_writers() {
        check(&[(2, 0x42, Write, true), (2, 0x50, Read, true), (2, 0x48, Write, true), (3, 0x7c, Read, false)]);
        check(&[(2, 0x42, Write, true), (1, 0x40, Write, false), (1, 0x200, Read, false), (2, 0x45, Write, true)]);
        check(&[(2, 0x42, Write, true), (1, 0x80, Write, true), (0, 0x3c, Read, true)]);
    }

    #[test]
    fn what_another_has_read_cannot_be_written() {
        check(&[(5, 0x100, Read, true), (5, 0x100, Write, true), (5, 0x100, Read, true)]);
        check(&[(5, 0x100, Read, true), (6, 0x104, Write, false), (5, 0x100, Write, true)]);
        check(&[(5, 0x100, Read, true), (6, 0x104, Read, true), (5, 0x100, Write, false), (6, 0x100, Read, true)]);
    }

    /// Part of a write is in a line of another.
    #[test]
    fn a_write_to_two_lines_needs_both() {
        check(&[(1, 0x80, Read, true), (2, 0x7e, Write, false), (1, 0x7c, Read, false)]);
    }

    #[test]
    fn code_cannot_be_written_even_by_who_has_fetched_it() {
        let owned = OwnedMemory::new(0x100);
        let mut lines = Lines::default();
        lines.cover(owned.view());
        let transaction = Transaction::new(&lines, 0, Log::default());
        let limits = Limits::watched(owned.view(), &transaction);
        let memory = Memory::limited(&limits);
        assert!(memory.through(Path::Instructions).word(BusAddr(0)).is_ok());
        assert!(memory.set_word(BusAddr(0x40), 1).is_ok() && memory.set_word(BusAddr(4), 1).is_err());
        let other = Transaction::new(&lines, 1, Log::default());
        let limits = Limits::watched(owned.view(), &other);
        assert!(Memory::limited(&limits).through(Path::Instructions).word(BusAddr(0x40)).is_err());
    }

    #[test]
    fn a_range_may_be_noted_after_it_was_read() {
        let owned = OwnedMemory::new(0x1000);
        let mut lines = Lines::default();
        lines.cover(owned.view());
        let [reader, writer] = [0, 1].map(|number| Transaction::new(&lines, number, Log::default()));
        let (reading, writing) = (Limits::watched(owned.view(), &reader), Limits::watched(owned.view(), &writer));
        let memory = Memory::limited(&reading);
        assert_eq!((memory.words().len(), memory.words_to_read().len()), (0, 0x400));
        for bytes in [0x104..0x604, 0x200..0x600, 0x200..0x204] {
            memory.note_read(bytes);
        }
        assert!(!reader.has_failed());
        assert!(Memory::limited(&writing).set_word(BusAddr(0xfc), 1).is_ok());
        memory.note_read(0xfc..0x100);
        assert!(reader.has_failed());
        assert!(Memory::limited(&writing).set_word(BusAddr(0x600), 1).is_err());
    }
}
