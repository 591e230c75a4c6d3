//! A control list in the making: the records' bytes, one behind the other.
//!
//! Records are encoded as they are appended; memory is taken when their length is known. So a list can never run over the memory that was taken for it.
//! A value that does not fit its field is told when the list is done.

use crate::arena::Arena;
use crate::error::Error;
use crate::platform::GpuMemory;
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

impl ControlList {
    /// Writes an encoded list into a frame's memory.
    pub fn place(memory: &impl GpuMemory, arena: &mut Arena, bytes: &[u8]) -> Result<Self, Error> {
        let start = arena.place(memory, bytes, 1)?;
        Ok(Self { start, end_exclusive: start + bytes.len() as u32 })
    }
}

/// A record as the CLE reads it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EncodedRecord {
    bytes: [u8; MAX_RECORD_BYTES],
    length: u8,
}

impl EncodedRecord {
    /// Encodes a record. An error names the field whose value does not fit.
    pub fn new(record: impl Into<Record>) -> Result<Self, Error> {
        let record = record.into();
        Ok(Self { bytes: record.encode()?, length: record.bytes() as u8 })
    }

    /// The bytes.
    pub fn bytes(&self) -> &[u8] {
        self.bytes.get(..usize::from(self.length)).unwrap_or(&[])
    }
}

/// Records in their order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RecordList {
    bytes: Vec<u8>,
    /// The first value that did not fit.
    error: Option<FieldError>,
}

impl RecordList {
    /// No records.
    pub const fn new() -> Self {
        Self { bytes: Vec::new(), error: None }
    }

    /// Appends a record.
    pub fn push(&mut self, record: impl Into<Record>) {
        let record = record.into();
        match record.encode() {
            Ok(bytes) => self.bytes.extend_from_slice(bytes.get(..record.bytes()).unwrap_or(&bytes)),
            Err(error) => self.error = self.error.or(Some(error)),
        }
    }

    /// Appends the bytes of a whole record.
    #[inline]
    pub(crate) fn push_bytes<const N: usize>(&mut self, record: &[u8; N]) {
        self.bytes.extend_from_slice(record);
    }

    /// Appends a record that was encoded before.
    #[inline]
    pub fn push_encoded(&mut self, record: &EncodedRecord) {
        self.bytes.extend_from_slice(record.bytes());
    }

    /// The list's length in bytes.
    pub fn bytes(&self) -> usize {
        self.bytes.len()
    }

    /// The list as the CLE reads it. An error names the field whose value does not fit.
    pub fn encode(self) -> Result<Vec<u8>, Error> {
        match self.error {
            Some(error) => Err(error.into()),
            None => Ok(self.bytes),
        }
    }

    /// Writes the list into a frame's memory.
    pub fn place(self, memory: &impl GpuMemory, arena: &mut Arena) -> Result<ControlList, Error> {
        ControlList::place(memory, arena, &self.encode()?)
    }
}
