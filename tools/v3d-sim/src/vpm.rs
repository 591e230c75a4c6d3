//! VPM: the vertex pipeline memory between DMA, QPUs, PTB and PSE [AG section 7].
//!
//! An array of 32-bit words, 16 in a row. A program accesses a window of up to 64 rows: a vertex or coordinate shader the rows of its batch, one
//! window for reading (attributes) and one for writing (shaded vertices); a user program the start of the array, as far as VPMBASE reserves it.
//!
//! QPUs access vectors of 16 elements, horizontal or vertical, of 8, 16 or 32 bits ([`block`]). The VDW stores blocks to memory ([`store`]), the VDR
//! loads blocks from it ([`load`]).
//!
//! # Sources
//! [AG p.53-60]; [vc4asm] and [asurati] where said.

pub mod allocator;
pub mod block;
pub mod load;
pub mod queue;
pub mod store;

pub use queue::ReadQueue;

pub use crate::fault::vpm::VpmError;

use crate::qpu::lanes::Lanes;
use std::cell::Cell;
use v3d_hw::vpm::{ROW_WORDS, WINDOW_ROWS};

/// The vertex pipeline memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Vpm {
    rows: Vec<Lanes>,
    window: u32,
    /// What a program does that runs apart.
    accesses: Option<Accesses>,
}

/// The bytes of each row that a program has accessed: one bit for each byte.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Accesses {
    written: Vec<u64>,
    /// Read before the program has written them.
    read: Vec<Cell<u64>>,
}

impl Accesses {
    fn read(&self, row: u32, bytes: u64) {
        let row = row as usize;
        if let (Some(read), Some(written)) = (self.read.get(row), self.written.get(row)) {
            read.set(read.get() | bytes & !written);
        }
    }

    fn write(&mut self, row: u32, bytes: u64) {
        if let Some(written) = self.written.get_mut(row as usize) {
            *written |= bytes;
        }
    }
}

impl Vpm {
    /// An array of `kib` KiB, of which the first `window` rows can be accessed.
    pub fn new(kib: u8, window: u32) -> Self {
        let rows = u32::from(kib) * 1024 / (ROW_WORDS * 4);
        let mut vpm = Self { rows: vec![Lanes::default(); rows as usize], window: 0, accesses: None };
        vpm.set_window(window);
        vpm
    }

    /// Becomes a copy of an array, for a program that runs apart from those that use that one. What it accesses is noted from now on.
    #[cfg(feature = "threads")]
    pub(crate) fn copy(&mut self, other: &Self) {
        self.window = other.window;
        let rows = self.rows.len();
        // Behind the window nothing can be accessed.
        self.rows.iter_mut().zip(other.rows()).for_each(|(row, other)| *row = *other);
        let accesses = self.accesses.get_or_insert_default();
        accesses.written.clear();
        accesses.written.resize(rows, 0);
        accesses.read.clear();
        accesses.read.resize(rows, Cell::new(0));
    }

    /// Whether the program of this copy has read nothing that others have `written`, to which what it has written is added. Both have one bit for each byte of
    /// each row.
    #[cfg(feature = "threads")]
    pub(crate) fn follows(&self, written: &mut Vec<u64>) -> bool {
        let Some(accesses) = &self.accesses else { return false };
        written.resize(self.rows.len(), 0);
        let separate = accesses.read.iter().zip(&*written).all(|(read, written)| read.get() & written == 0);
        written.iter_mut().zip(&accesses.written).for_each(|(written, own)| *written |= own);
        separate
    }

    /// Takes over what the program of a copy has written.
    #[cfg(feature = "threads")]
    pub(crate) fn merge(&mut self, copy: &Self) {
        let written = copy.accesses.iter().flat_map(|accesses| &accesses.written);
        for ((row, new), &bytes) in self.rows.iter_mut().zip(&copy.rows).zip(written).filter(|(_, bytes)| **bytes != 0)
        {
            for (column, (word, &new)) in row.0.iter_mut().zip(&new.0).enumerate() {
                let is_written = |byte: &u32| bytes >> (4 * column as u32 + byte) & 1 == 1;
                let bits = (0..4).filter(is_written).fold(0, |bits, byte| bits | 0xff << (8 * byte));
                *word = *word & !bits | new & bits;
            }
        }
    }

    /// Sets the number of rows that can be accessed: at most 64, and no more than there are.
    pub fn set_window(&mut self, rows: u32) {
        self.window = rows.min(WINDOW_ROWS).min(self.rows.len() as u32);
    }

    /// Number of rows that can be accessed.
    pub fn window(&self) -> u32 {
        self.window
    }

    /// The rows that can be accessed.
    pub fn rows(&self) -> &[Lanes] {
        self.rows.get(..self.window as usize).unwrap_or(&self.rows)
    }

    /// A row, if it can be accessed.
    pub fn row(&self, row: u32) -> Result<&Lanes, VpmError> {
        self.row_of_bytes(row, u64::MAX)
    }

    /// A row of which some bytes are read.
    fn row_of_bytes(&self, row: u32, bytes: u64) -> Result<&Lanes, VpmError> {
        let found = self.rows().get(row as usize).ok_or(VpmError::ReadOutside { row, rows: self.window })?;
        if let Some(accesses) = &self.accesses {
            accesses.read(row, bytes);
        }
        Ok(found)
    }

    /// A row to be written, if it can be accessed.
    pub fn row_mut(&mut self, row: u32) -> Result<&mut Lanes, VpmError> {
        self.row_of_bytes_mut(row, u64::MAX)
    }

    /// A row of which some bytes are written.
    fn row_of_bytes_mut(&mut self, row: u32, bytes: u64) -> Result<&mut Lanes, VpmError> {
        let outside = VpmError::WriteOutside { row, rows: self.window };
        if row >= self.window {
            return Err(outside);
        }
        let found = self.rows.get_mut(row as usize).ok_or(outside)?;
        if let Some(accesses) = &mut self.accesses {
            accesses.write(row, bytes);
        }
        Ok(found)
    }

    /// Clears the rows that can be accessed.
    pub fn clear(&mut self) {
        let window = self.rows.len().min(self.window as usize);
        self.rows[..window].fill(Lanes::default());
    }
}

/// Address of a byte of the array: row, column and byte of the word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct VpmAddress {
    pub(crate) row: u32,
    pub(crate) column: u32,
    pub(crate) byte: u32,
}

impl VpmAddress {
    /// The bits of the bytes of an element of 1, 2 or 4 bytes.
    const fn bits(self, bytes: u32) -> u64 {
        ((1 << bytes) - 1) << (4 * (self.column % ROW_WORDS) + if bytes < 4 { self.byte } else { 0 })
    }
}

/// Reads an element of 1, 2 or 4 bytes.
fn get(vpm: &Vpm, place: VpmAddress, bytes: u32) -> Result<u32, VpmError> {
    let word = vpm.row_of_bytes(place.row, place.bits(bytes))?.0[(place.column % ROW_WORDS) as usize];
    Ok(match bytes {
        1 => word >> (8 * place.byte) & 0xff,
        2 => word >> (8 * place.byte) & 0xffff,
        _ => word,
    })
}

/// Writes an element of 1, 2 or 4 bytes.
fn set(vpm: &mut Vpm, place: VpmAddress, bytes: u32, value: u32) -> Result<(), VpmError> {
    let word = &mut vpm.row_of_bytes_mut(place.row, place.bits(bytes))?.0[(place.column % ROW_WORDS) as usize];
    let (mask, shift) = match bytes {
        1 => (0xff, 8 * place.byte),
        2 => (0xffff, 8 * place.byte),
        _ => (u32::MAX, 0),
    };
    *word = *word & !(mask << shift) | (value & mask) << shift;
    Ok(())
}
