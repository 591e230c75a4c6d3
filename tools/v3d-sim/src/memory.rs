//! Guest memory as the GPU sees it.
//!
//! Memory is a slice of atomic words, because in QEMU the guest's processors access the same bytes while the model runs, and because tiles are
//! rendered on several host threads. All accesses are relaxed: they compile to plain loads and stores. A read that races with a write is as undefined
//! here as on the chip, but never a data race in the host's sense.
//!
//! Bus addresses lose their alias bits and become offsets; accesses beyond the end of memory fail.
//!
//! A view can be [limited](Memory::limited) to some ranges of memory, as if the rest did not exist. An access outside of them is the same fault as one beyond
//! the end: this reveals accesses that a job has no right to. It can also be [watched](Limits::watched): then each access is noted, with the [`Path`] that it
//! takes. Both cost time with each access; a view without them does not look for either.

#[cfg(feature = "threads")]
pub(crate) mod transaction;

use std::fmt;
use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use v3d_hw::BusAddr;

/// A view of guest memory.
#[derive(Clone, Copy, Debug)]
pub struct Memory<'a> {
    /// Empty if there are limits: then nothing is looked up here, so that every access is checked against them.
    words: &'a [AtomicU32],
    limits: Option<&'a Limits<'a>>,
    path: Path,
}

/// How an access gets to memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Path {
    /// Without a cache of the V3D.
    #[default]
    Direct,
    /// Through a slice's instruction cache and L2.
    Instructions,
    /// Through a slice's uniforms cache and L2.
    Uniforms,
    /// Through the cache of a TMU, one of those whose bits are set, and L2.
    Textures(u8),
}

impl Path {
    /// That of a lookup: QPUs 2 and 3 of a slice use the other TMU, unless the program has disabled that [AG p.40].
    pub(crate) const fn of_tmu(unit: usize, no_swap: bool) -> Self {
        Self::Textures(if no_swap { 1 << unit } else { 0b11 })
    }
}

/// Whether an access reads or writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Access {
    /// It reads.
    Read,
    /// It writes.
    Write,
}

/// Notes accesses to memory. Host threads call it at once.
pub trait Watcher: fmt::Debug + Sync {
    /// An access to these bytes of memory, all of which exist, before it takes place; returns whether it may.
    fn note(&self, memory: &[AtomicU32], bytes: Range<u64>, access: Access, path: Path) -> bool;

    /// Whether reads can be noted after they have taken place, by [`Memory::note_read`].
    fn takes_reads_later(&self) -> bool {
        false
    }
}

/// Memory of which only some ranges can be accessed, or in which accesses are noted.
#[derive(Clone, Debug)]
pub struct Limits<'a> {
    words: &'a [AtomicU32],
    readable: Vec<Range<u64>>,
    writable: Vec<Range<u64>>,
    watcher: Option<&'a dyn Watcher>,
}

impl<'a> Limits<'a> {
    /// Ranges that can be read, and ranges that can be read and written: bytes from offset 0 on. Adjacent ranges count as one.
    pub fn new(memory: Memory<'a>, readable: &[Range<u64>], writable: &[Range<u64>]) -> Self {
        let words = memory.limits.map_or(memory.words, |limits| limits.words);
        let watcher = memory.limits.and_then(|limits| limits.watcher);
        Self { words, readable: merged(readable.iter().chain(writable)), writable: merged(writable.iter()), watcher }
    }

    /// The same memory as a view of it, with a watcher of every access.
    pub fn watched(memory: Memory<'a>, watcher: &'a dyn Watcher) -> Self {
        let all = 0..memory.bytes();
        let unwatched = match memory.limits {
            Some(limits) => limits.clone(),
            None => Self::new(memory, &[], std::slice::from_ref(&all)),
        };
        Self { watcher: Some(watcher), ..unwatched }
    }

    /// The word that contains an offset, if `bytes` bytes from it on may be accessed, which is noted.
    fn cell(&self, offset: u32, bytes: u32, access: Access, path: Path) -> Option<&'a AtomicU32> {
        let (start, length) = (u64::from(offset), u64::from(bytes));
        let cell = self.allows(start, length, access).then(|| self.words.get(offset as usize / 4)).flatten()?;
        self.note(start..start + length, access, path).then_some(cell)
    }

    /// Notes an access that the limits allow; returns whether it may take place.
    fn note(&self, bytes: Range<u64>, access: Access, path: Path) -> bool {
        self.watcher.is_none_or(|watcher| watcher.note(self.words, bytes, access, path))
    }

    fn allows(&self, offset: u64, bytes: u64, access: Access) -> bool {
        let ranges = match access {
            Access::Read => &self.readable,
            Access::Write => &self.writable,
        };
        let behind = ranges.partition_point(|range| range.start <= offset);
        let before = behind.checked_sub(1).and_then(|last| ranges.get(last));
        before.is_some_and(|range| offset + bytes <= range.end) && offset + bytes <= self.words.len() as u64 * 4
    }
}

/// The same ranges, sorted and merged.
fn merged<'r>(ranges: impl Iterator<Item = &'r Range<u64>>) -> Vec<Range<u64>> {
    let mut sorted: Vec<_> = ranges.filter(|range| !range.is_empty()).cloned().collect();
    sorted.sort_by_key(|range| range.start);
    let mut merged: Vec<Range<u64>> = Vec::new();
    for range in sorted {
        match merged.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ => merged.push(range),
        }
    }
    merged
}

/// An access that is not entirely inside of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{bytes} bytes at {address} are outside of memory")]
pub struct OutOfMemory {
    /// Its start.
    pub address: BusAddr,
    /// Its length.
    pub bytes: u32,
}

impl<'a> Memory<'a> {
    /// Memory from bus address offset 0 on. Each word holds four bytes, the lowest address in the lowest bits.
    pub const fn new(words: &'a [AtomicU32]) -> Self {
        Self { words, limits: None, path: Path::Direct }
    }

    /// Creates a view with limits.
    pub const fn limited(limits: &'a Limits<'a>) -> Self {
        Self { words: &[], limits: Some(limits), path: Path::Direct }
    }

    /// The same view, whose accesses take this path.
    #[inline(always)]
    pub const fn through(self, path: Path) -> Self {
        Self { path, ..self }
    }

    /// The words, from offset 0 on; none for a limited view.
    pub const fn words(self) -> &'a [AtomicU32] {
        self.words
    }

    /// The same for code that [notes](Self::note_read) what it has read if that is [wanted](Self::notes_reads): then watching does not stand in the way.
    #[inline]
    pub fn words_to_read(self) -> &'a [AtomicU32] {
        match self.limits {
            Some(limits) if self.notes_reads() => limits.words,
            _ => self.words,
        }
    }

    /// Whether reads of [`Self::words_to_read`] have to be noted.
    #[inline]
    pub fn notes_reads(self) -> bool {
        self.limits.and_then(|limits| limits.watcher).is_some_and(Watcher::takes_reads_later)
    }

    /// Notes that bytes of [`Self::words_to_read`] have been read.
    pub fn note_read(self, bytes: Range<u64>) {
        if let Some(limits) = self.limits {
            limits.note(bytes, Access::Read, self.path);
        }
    }

    /// Size in bytes.
    pub const fn bytes(self) -> u64 {
        match self.limits {
            Some(limits) => limits.words.len() as u64 * 4,
            None => self.words.len() as u64 * 4,
        }
    }

    /// The word that contains `address`, of which `bytes` bytes are accessed: those of its size that contain the address.
    #[inline(always)]
    fn cell(self, address: BusAddr, bytes: u32, access: Access) -> Result<&'a AtomicU32, OutOfMemory> {
        match self.words.get(address.offset() as usize / 4) {
            Some(cell) => Ok(cell),
            None => self.limited_cell(address, bytes, access).ok_or(OutOfMemory { address, bytes }),
        }
    }

    #[cold]
    fn limited_cell(self, address: BusAddr, bytes: u32, access: Access) -> Option<&'a AtomicU32> {
        self.limits?.cell(address.offset() & !(bytes - 1), bytes, access, self.path)
    }

    /// The word that contains `address`; the two lowest bits are ignored.
    #[inline]
    pub fn word(self, address: BusAddr) -> Result<u32, OutOfMemory> {
        Ok(self.cell(address, 4, Access::Read)?.load(Relaxed))
    }

    /// Sets the word that contains `address`; the two lowest bits are ignored.
    #[inline]
    pub fn set_word(self, address: BusAddr, value: u32) -> Result<(), OutOfMemory> {
        self.cell(address, 4, Access::Write)?.store(value, Relaxed);
        Ok(())
    }

    /// The half-word that contains `address`; the lowest bit is ignored.
    #[inline]
    pub fn half(self, address: BusAddr) -> Result<u16, OutOfMemory> {
        Ok((self.cell(address, 2, Access::Read)?.load(Relaxed) >> (8 * (address.0 & 2))) as u16)
    }

    /// Sets the half-word that contains `address`; the lowest bit is ignored.
    #[inline]
    pub fn set_half(self, address: BusAddr, value: u16) -> Result<(), OutOfMemory> {
        let shift = 8 * (address.0 & 2);
        self.set_part(address, 2, 0xffff << shift, u32::from(value) << shift)
    }

    /// A byte.
    #[inline]
    pub fn byte(self, address: BusAddr) -> Result<u8, OutOfMemory> {
        Ok((self.cell(address, 1, Access::Read)?.load(Relaxed) >> (8 * (address.0 & 3))) as u8)
    }

    /// Sets a byte.
    #[inline]
    pub fn set_byte(self, address: BusAddr, value: u8) -> Result<(), OutOfMemory> {
        let shift = 8 * (address.0 & 3);
        self.set_part(address, 1, 0xff << shift, u32::from(value) << shift)
    }

    /// Replaces some bits of a word, atomically with respect to the others.
    fn set_part(self, address: BusAddr, bytes: u32, mask: u32, value: u32) -> Result<(), OutOfMemory> {
        replace(self.cell(address, bytes, Access::Write)?, mask, value);
        Ok(())
    }

    /// At least 13 bytes from an address on, the first in the lowest bits. `None` near the end of memory, and if there are limits.
    #[inline]
    pub fn ahead(self, address: BusAddr) -> Option<u128> {
        let cells = self.words.get(address.offset() as usize / 4..)?.first_chunk::<4>()?;
        let words = cells.each_ref().map(|cell| u128::from(cell.load(Relaxed)));
        let bits = words[0] | words[1] << 32 | words[2] << 64 | words[3] << 96;
        Some(bits >> (8 * (address.0 & 3)))
    }

    /// Copies memory out; nothing is copied if any of it is outside.
    pub fn read(self, address: BusAddr, target: &mut [u8]) -> Result<(), OutOfMemory> {
        self.check_access(address, target.len(), Access::Read)?;
        let mut at = address.offset();
        let (before, words) = split(at, target.len());
        let (first, rest) = target.split_at_mut(before);
        let (middle, last) = rest.split_at_mut(words);
        self.read_bytes(at, first)?;
        at += before as u32;
        let cells = self.words.get(at as usize / 4..).unwrap_or_default();
        if let Some(cells) = cells.get(..words / 4) {
            copy_out(cells, middle.as_chunks_mut().0);
        } else {
            for (word, at) in middle.chunks_exact_mut(4).zip((at..).step_by(4)) {
                word.copy_from_slice(&self.word(BusAddr(at))?.to_le_bytes());
            }
        }
        self.read_bytes(at + words as u32, last)
    }

    fn read_bytes(self, at: u32, target: &mut [u8]) -> Result<(), OutOfMemory> {
        for (byte, at) in target.iter_mut().zip(at..) {
            *byte = self.byte(BusAddr(at))?;
        }
        Ok(())
    }

    /// Copies bytes in; nothing is copied if any of it is outside.
    pub fn write(self, address: BusAddr, source: &[u8]) -> Result<(), OutOfMemory> {
        self.check_access(address, source.len(), Access::Write)?;
        let mut at = address.offset();
        let (before, words) = split(at, source.len());
        let (first, rest) = source.split_at(before);
        let (middle, last) = rest.split_at(words);
        self.write_bytes(at, first)?;
        at += before as u32;
        let bytes = at.into()..u64::from(at) + words as u64;
        if self.limits.is_some_and(|limits| !bytes.is_empty() && !limits.note(bytes, Access::Write, self.path)) {
            return Err(OutOfMemory { address, bytes: u32::try_from(source.len()).unwrap_or(u32::MAX) });
        }
        let all = self.limits.map_or(self.words, |limits| limits.words);
        copy_in(middle.as_chunks().0, all.get(at as usize / 4..).unwrap_or_default());
        self.write_bytes(at + words as u32, last)
    }

    /// Writes so many bytes, at most 13, of a number, the lowest first. Nobody else may write to the words that contain them meanwhile: of other bytes in these
    /// the old values come back.
    #[inline]
    pub fn write_alone(self, address: BusAddr, bits: u128, bytes: usize) -> Result<(), OutOfMemory> {
        if self.limits.is_some() || bytes > 13 {
            return self.write(address, &bits.to_le_bytes()[..bytes.min(16)]);
        }
        self.check_access(address, bytes, Access::Write)?;
        let (first, before) = (address.offset() as usize / 4, address.0 as usize & 3);
        let mask = ((1 << (8 * bytes)) - 1) << (8 * before);
        let bits = bits << (8 * before) & mask;
        let cells = self.words.get(first..).unwrap_or_default().iter().take((before + bytes).div_ceil(4));
        for (cell, shift) in cells.zip((0..).step_by(32)) {
            let old = cell.load(Relaxed) & !((mask >> shift) as u32);
            cell.store(old | (bits >> shift) as u32, Relaxed);
        }
        Ok(())
    }

    fn write_bytes(self, at: u32, source: &[u8]) -> Result<(), OutOfMemory> {
        for (&byte, at) in source.iter().zip(at..) {
            self.set_byte(BusAddr(at), byte)?;
        }
        Ok(())
    }

    /// Whether `bytes` bytes at `address` are inside memory, and may be read.
    pub fn check(self, address: BusAddr, bytes: usize) -> Result<(), OutOfMemory> {
        self.check_access(address, bytes, Access::Read)
    }

    fn check_access(self, address: BusAddr, bytes: usize, access: Access) -> Result<(), OutOfMemory> {
        let end = u64::from(address.offset()) + bytes as u64;
        let forbidden = |limits: &Limits<'_>| !limits.allows(address.offset().into(), bytes as u64, access);
        if end > self.bytes() || bytes > 0 && self.limits.is_some_and(forbidden) {
            return Err(OutOfMemory { address, bytes: u32::try_from(bytes).unwrap_or(u32::MAX) });
        }
        Ok(())
    }
}

/// Replaces the bits of a word that `mask` has, atomically with respect to the others.
fn replace(cell: &AtomicU32, mask: u32, value: u32) {
    let mut old = cell.load(Relaxed);
    while let Err(current) = cell.compare_exchange_weak(old, old & !mask | value & mask, Relaxed, Relaxed) {
        old = current;
    }
}

/// Words that are copied without a check in between.
const WORDS_AT_ONCE: usize = 8;

/// Copies words to memory. The compiler makes no vectors of atomic accesses, but it unrolls groups of a fixed size.
fn copy_in(from: &[[u8; 4]], to: &[AtomicU32]) {
    let (groups, rest) = from.as_chunks::<WORDS_AT_ONCE>();
    let (cells, _) = to.as_chunks::<WORDS_AT_ONCE>();
    for (group, cells) in groups.iter().zip(cells) {
        for (&word, cell) in group.iter().zip(cells) {
            cell.store(u32::from_le_bytes(word), Relaxed);
        }
    }
    for (&word, cell) in rest.iter().zip(to.get(groups.len() * WORDS_AT_ONCE..).unwrap_or_default()) {
        cell.store(u32::from_le_bytes(word), Relaxed);
    }
}

/// Copies words from memory to as many elements.
fn copy_out(from: &[AtomicU32], to: &mut [[u8; 4]]) {
    let (cells, rest) = from.as_chunks::<WORDS_AT_ONCE>();
    let (groups, rest_to) = to.as_chunks_mut::<WORDS_AT_ONCE>();
    for (group, cells) in groups.iter_mut().zip(cells) {
        for (word, cell) in group.iter_mut().zip(cells) {
            *word = cell.load(Relaxed).to_le_bytes();
        }
    }
    for (word, cell) in rest_to.iter_mut().zip(rest) {
        *word = cell.load(Relaxed).to_le_bytes();
    }
}

/// How many of `bytes` bytes from `at` on stand before the first whole word, and in whole words.
const fn split(at: u32, bytes: usize) -> (usize, usize) {
    let before = if (at.wrapping_neg() & 3) as usize > bytes { bytes } else { (at.wrapping_neg() & 3) as usize };
    (before, (bytes - before) & !3)
}

/// Memory owned by the host, for jobs and tests.
#[derive(Debug, Default)]
pub struct OwnedMemory {
    words: Box<[AtomicU32]>,
}

impl OwnedMemory {
    /// Zeroed memory of at least `bytes` bytes. The host allocates pages when they are first written.
    pub fn new(bytes: usize) -> Self {
        Self { words: bytemuck::zeroed_slice_box(bytes.div_ceil(4)) }
    }

    /// The view that the model takes.
    pub fn view(&self) -> Memory<'_> {
        Memory::new(&self.words)
    }

    /// All of it.
    pub fn to_bytes(&self) -> Vec<u8> {
        self.words.iter().flat_map(|word| word.load(Relaxed).to_le_bytes()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_a_word_are_little_endian() {
        let owned = OwnedMemory::new(8);
        let memory = owned.view();
        memory.set_word(BusAddr(4), 0x4433_2211).unwrap();
        memory.set_byte(BusAddr(0xc000_0005), 0xaa).unwrap();
        memory.set_half(BusAddr(6), 0xbbcc).unwrap();
        assert_eq!(owned.to_bytes(), [0, 0, 0, 0, 0x11, 0xaa, 0xcc, 0xbb]);
        assert_eq!(memory.half(BusAddr(4)), Ok(0xaa11));
        assert_eq!(memory.byte(BusAddr(7)), Ok(0xbb));
    }

    /// Every start and length across a few words, compared with single bytes.
    #[test]
    fn copies_are_byte_by_byte_at_any_alignment() {
        for (start, length) in (0..8u32).flat_map(|start| (0..12usize).map(move |length| (start, length))) {
            let owned = OwnedMemory::new(24);
            let source: Vec<u8> = (1..=length as u8).collect();
            owned.view().write(BusAddr(start), &source).unwrap();
            let mut expected = [0; 24];
            expected[start as usize..start as usize + length].copy_from_slice(&source);
            assert_eq!(owned.to_bytes(), expected);
            let mut back = vec![0; length];
            owned.view().read(BusAddr(start), &mut back).unwrap();
            assert_eq!(back, source);
        }
    }

    #[test]
    fn writing_alone_and_reading_ahead_are_the_same_at_any_alignment() {
        for (start, length) in (0..8u32).flat_map(|start| (0..14usize).map(move |length| (start, length))) {
            let (owned, other) = (OwnedMemory::new(28), OwnedMemory::new(28));
            let source: Vec<u8> = (1..=length as u8).collect();
            let bits = 0xf00f_0e0d_0c0b_0a09_0807_0605_0403_0201;
            for memory in [&owned, &other] {
                memory.view().write(BusAddr(0), &[0xee; 28]).unwrap();
            }
            owned.view().write(BusAddr(start), &source).unwrap();
            other.view().write_alone(BusAddr(start), bits, length).unwrap();
            assert_eq!(owned.to_bytes(), other.to_bytes());
            let ahead = owned.view().ahead(BusAddr(start)).map(|bits| bits.to_le_bytes());
            assert_eq!(ahead.unwrap()[..13], owned.to_bytes()[start as usize..start as usize + 13]);
        }
        let owned = OwnedMemory::new(32);
        assert_eq!(owned.view().ahead(BusAddr(20)), None);
        assert!(owned.view().write_alone(BusAddr(30), 0x30201, 3).is_err());
        assert_eq!(owned.to_bytes(), [0; 32]);
    }

    #[test]
    fn nothing_outside_of_the_limits_can_be_accessed() {
        let owned = OwnedMemory::new(64);
        owned.view().write(BusAddr(0), &[7; 64]).unwrap();
        // Bytes 8 to 13 and 13 to 22 may be read, 32 to 40 written too.
        let limits = Limits::new(owned.view(), &[13..22, 8..13], std::slice::from_ref(&(32..40)));
        let memory = Memory::limited(&limits);
        assert_eq!((memory.bytes(), memory.words().len()), (64, 0));
        let words: Vec<u32> = (0..16).filter(|n| memory.word(BusAddr(4 * n + 1)).is_ok()).collect();
        assert_eq!(words, [2, 3, 4, 8, 9]);
        let halves: Vec<u32> = (0..32).filter(|n| memory.half(BusAddr(2 * n + 1)).is_ok()).collect();
        assert_eq!(halves, [4, 5, 6, 7, 8, 9, 10, 16, 17, 18, 19]);
        let bytes: Vec<u32> = (0..64).filter(|n| memory.byte(BusAddr(*n)).is_ok()).collect();
        assert_eq!(bytes, (8..22).chain(32..40).collect::<Vec<_>>());
        let mut copy = [0; 14];
        assert_eq!(memory.read(BusAddr(8), &mut copy), Ok(()));
        assert_eq!(copy, [7; 14]);
        assert!(memory.read(BusAddr(7), &mut copy).is_err() && memory.read(BusAddr(9), &mut copy).is_err());
        let written: Vec<u32> = (0..64).filter(|n| memory.set_byte(BusAddr(*n), 9).is_ok()).collect();
        assert_eq!(written, (32..40).collect::<Vec<_>>());
        assert_eq!(memory.set_word(BusAddr(8), 1), Err(OutOfMemory { address: BusAddr(8), bytes: 4 }));
        assert!(memory.set_half(BusAddr(40), 1).is_err() && memory.write(BusAddr(30), &[1; 4]).is_err());
        assert_eq!(memory.write(BusAddr(33), &[5; 7]), Ok(()));
        let mut expected = [7; 64];
        expected[32..40].copy_from_slice(&[9, 5, 5, 5, 5, 5, 5, 5]);
        assert_eq!(owned.to_bytes(), expected);
    }

    #[test]
    fn nothing_outside_can_be_accessed() {
        let owned = OwnedMemory::new(8);
        let memory = owned.view();
        assert_eq!(memory.word(BusAddr(8)), Err(OutOfMemory { address: BusAddr(8), bytes: 4 }));
        assert!(memory.write(BusAddr(6), &[1, 2, 3]).is_err());
        assert_eq!(owned.to_bytes(), [0; 8]);
        assert!(memory.read(BusAddr(0xffff_ffff), &mut [0; 2]).is_err());
    }
}
