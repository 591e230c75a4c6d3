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
use v3d_hw::vpm::{ROW_WORDS, WINDOW_ROWS};

/// The vertex pipeline memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Vpm {
    rows: Vec<Lanes>,
    window: u32,
}

impl Vpm {
    /// An array of `kib` KiB, of which the first `window` rows can be accessed.
    pub fn new(kib: u8, window: u32) -> Self {
        let rows = u32::from(kib) * 1024 / (ROW_WORDS * 4);
        let mut vpm = Self { rows: vec![Lanes::default(); rows as usize], window: 0 };
        vpm.set_window(window);
        vpm
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
        let outside = VpmError::ReadOutside { row, rows: self.window };
        self.rows().get(row as usize).ok_or(outside)
    }

    /// A row to be written, if it can be accessed.
    pub fn row_mut(&mut self, row: u32) -> Result<&mut Lanes, VpmError> {
        let outside = VpmError::WriteOutside { row, rows: self.window };
        if row >= self.window {
            return Err(outside);
        }
        self.rows.get_mut(row as usize).ok_or(outside)
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

/// Reads an element of 1, 2 or 4 bytes.
fn get(vpm: &Vpm, place: VpmAddress, bytes: u32) -> Result<u32, VpmError> {
    let word = vpm.row(place.row)?.0[(place.column % ROW_WORDS) as usize];
    Ok(match bytes {
        1 => word >> (8 * place.byte) & 0xff,
        2 => word >> (8 * place.byte) & 0xffff,
        _ => word,
    })
}

/// Writes an element of 1, 2 or 4 bytes.
fn set(vpm: &mut Vpm, place: VpmAddress, bytes: u32, value: u32) -> Result<(), VpmError> {
    let word = &mut vpm.row_mut(place.row)?.0[(place.column % ROW_WORDS) as usize];
    let (mask, shift) = match bytes {
        1 => (0xff, 8 * place.byte),
        2 => (0xffff, 8 * place.byte),
        _ => (u32::MAX, 0),
    };
    *word = *word & !(mask << shift) | (value & mask) << shift;
    Ok(())
}
