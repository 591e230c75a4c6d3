//! A control list under construction: a sequence of encoded records.
//!
//! Records are encoded when they are appended, and memory is allocated when the length is known, so a list cannot exceed its memory. A value that does not fit
//! its field is reported when the list is finished.

use crate::error::Error;
use alloc::vec::Vec;
use v3d_hw::control_list::{MAX_RECORD_BYTES, Record};
use v3d_hw::{BusAddr, FieldError};

/// A control list in memory: what CTnCA and CTnEA are set to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ControlList {
    /// The first record.
    pub start: BusAddr,
    /// The byte after the last record.
    pub end_exclusive: BusAddr,
}

/// A record in the CLE's format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EncodedRecord {
    /// The bytes, lowest first, followed by zeros.
    bits: u128,
    length: u8,
}

impl EncodedRecord {
    /// Encodes a record. An error names the field whose value does not fit.
    pub fn new(record: impl Into<Record>) -> Result<Self, Error> {
        Ok(Self::encode(&record.into())?)
    }

    fn encode(record: &Record) -> Result<Self, FieldError> {
        Ok(Self { bits: u128::from_le_bytes(record.encode()?), length: record.bytes() as u8 })
    }

    /// A record with these bytes, lowest first.
    #[inline]
    pub(crate) const fn from_bits(bits: u64, length: u8) -> Self {
        Self { bits: bits as u128, length }
    }

    /// A record and the following one as one, if they are short enough.
    #[inline]
    pub(crate) const fn followed_by(self, next: Self) -> Option<Self> {
        let length = self.length + next.length;
        if length as usize > MAX_RECORD_BYTES {
            return None;
        }
        Some(Self { bits: self.bits | next.bits << (8 * self.length), length })
    }
}

/// Number of words that the longest record may change, at any offset in the first of them.
const MAX_WORDS: usize = MAX_RECORD_BYTES / 4 + 1;
/// Words that a list grows by.
const GROWTH_WORDS: usize = 64;

/// A sequence of records.
#[derive(Clone, Debug, Default)]
pub struct RecordList {
    /// The bytes, four to a word, followed by zeros.
    words: Vec<u32>,
    bytes: usize,
    /// The first value that does not fit.
    error: Option<FieldError>,
}

impl PartialEq for RecordList {
    /// Compares the records, and not the capacity.
    fn eq(&self, other: &Self) -> bool {
        (self.bytes, self.used(), self.error) == (other.bytes, other.used(), other.error)
    }
}

impl RecordList {
    /// No records.
    pub const fn new() -> Self {
        Self { words: Vec::new(), bytes: 0, error: None }
    }

    /// Appends a record.
    pub fn push(&mut self, record: impl Into<Record>) {
        match EncodedRecord::encode(&record.into()) {
            Ok(record) => self.push_encoded(record),
            Err(error) => self.error = self.error.or(Some(error)),
        }
    }

    /// Appends an encoded record by words, starting in the last word of the list if it has room.
    #[inline(always)]
    pub fn push_encoded(&mut self, record: EncodedRecord) {
        let first = self.bytes / 4;
        if self.words.len() < first + MAX_WORDS {
            self.grow();
        }
        let Some([a, b, c, d, e]) = self.words.get_mut(first..).and_then(<[u32]>::first_chunk_mut::<MAX_WORDS>) else {
            return;
        };
        let shift = 8 * (self.bytes % 4) as u32;
        // A shift by 64 must result in 0.
        let beyond = |half: u64| half >> 1 >> (63 - shift);
        let (low, high) = (record.bits as u64, (record.bits >> 64) as u64);
        let (first, second, third) = (low << shift, high << shift | beyond(low), beyond(high));
        *a |= first as u32;
        *b = (first >> 32) as u32;
        *c = second as u32;
        *d = (second >> 32) as u32;
        *e = third as u32;
        self.bytes += usize::from(record.length);
    }

    /// Appends no-operations up to the next whole word.
    pub(crate) fn fill_word(&mut self) {
        while !self.bytes.is_multiple_of(4) {
            self.push(Record::Nop);
        }
    }

    /// Appends records of `count` whole words, which are followed by zeros, from the next whole word on; `N` is at most that of the longest record.
    #[inline(always)]
    pub(crate) fn push_words<const N: usize>(&mut self, words: [u32; N], count: usize) {
        const { assert!(N <= MAX_WORDS) };
        if !self.bytes.is_multiple_of(4) {
            self.fill_word();
        }
        let first = self.bytes / 4;
        if self.words.len() < first + MAX_WORDS {
            self.grow();
        }
        if let Some(to) = self.words.get_mut(first..).and_then(<[u32]>::first_chunk_mut) {
            *to = words;
            self.bytes += 4 * count;
        }
    }

    /// Adds zeros.
    #[cold]
    #[inline(never)]
    fn grow(&mut self) {
        self.words.extend_from_slice(&[0; GROWTH_WORDS]);
    }

    /// The list's length in bytes.
    pub const fn bytes(&self) -> usize {
        self.bytes
    }

    /// The words that contain bytes of the list.
    fn used(&self) -> &[u32] {
        self.words.get(..self.bytes.div_ceil(4)).unwrap_or_default()
    }

    /// The list in the CLE's format, four bytes to a word, lowest first; [`RecordList::bytes`] is its length. An error names the field whose value does not
    /// fit.
    pub fn words(&self) -> Result<&[u32], Error> {
        match self.error {
            Some(error) => Err(error.into()),
            None => Ok(self.used()),
        }
    }

    /// The list in the CLE's format. An error names the field whose value does not fit.
    pub fn encode(self) -> Result<Vec<u8>, Error> {
        Ok(self.words()?.iter().flat_map(|word| word.to_le_bytes()).take(self.bytes).collect())
    }
}
