//! A control list in the making: records first, then bytes in memory.
//!
//! The records are collected, their length is computed from the table of records, memory is taken for exactly that, and the bytes that come out are
//! counted against it. So a list can never run over the memory that was taken for it, and can be looked at before the GPU sees it.

use crate::arena::Arena;
use crate::error::Error;
use crate::platform::GpuMemory;
use alloc::vec::Vec;
use v3d_hw::BusAddr;
use v3d_hw::control_list::Record;

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

/// Records in their order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RecordList {
    records: Vec<Record>,
}

impl RecordList {
    /// No records.
    pub const fn new() -> Self {
        Self { records: Vec::new() }
    }

    /// Appends a record.
    pub fn push(&mut self, record: impl Into<Record>) {
        self.records.push(record.into());
    }

    /// The records.
    pub fn records(&self) -> &[Record] {
        &self.records
    }

    /// The list's length in bytes.
    pub fn bytes(&self) -> u32 {
        self.records.iter().map(|record| record.bytes() as u32).sum()
    }

    /// The list as the CLE reads it. An error names the field whose value does not fit.
    pub fn encode(&self) -> Result<Vec<u8>, Error> {
        let computed = self.bytes();
        let mut bytes = Vec::with_capacity(computed as usize);
        for record in &self.records {
            bytes.extend_from_slice(&record.encode()?[..record.bytes()]);
        }
        let written = bytes.len() as u32;
        if written != computed {
            return Err(Error::ListSize { computed, written });
        }
        Ok(bytes)
    }

    /// Writes the list into a frame's memory.
    pub fn place(&self, memory: &impl GpuMemory, arena: &mut Arena) -> Result<ControlList, Error> {
        ControlList::place(memory, arena, &self.encode()?)
    }
}
