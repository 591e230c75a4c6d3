//! The game of life.

use alloc::vec::Vec;

use v3d::Platform;

use crate::division::{Grid, grid_jobs};
use crate::programs::life;
use crate::{Array, Error, Session, Work};

/// Cells per vector: 16 words of 32.
const VECTOR_CELLS: usize = 512;
/// Maximum width and height in cells.
const MAX_SIDE: usize = 1 << 16;

/// Cells on a torus, and a buffer for the next generation.
#[derive(Debug)]
pub struct Life {
    cells: Array<u32>,
    next: Array<u32>,
    width: usize,
    height: usize,
}

impl Life {
    /// Width in cells.
    pub const fn width(&self) -> usize {
        self.width
    }

    /// Height in cells.
    pub const fn height(&self) -> usize {
        self.height
    }
}

impl<P: Platform> Session<'_, '_, '_, P> {
    /// Creates a board from cells row by row, 32 per word: the leftmost is the lowest bit, and 1 is alive.
    ///
    /// # Errors
    /// When the width is not a multiple of 512, or a side is not 1 to 65536; when the number of words does not match; when the pool has not enough memory.
    pub fn life(&mut self, words: &[u32], width: usize, height: usize) -> Result<Life, Error> {
        if !width.is_multiple_of(VECTOR_CELLS) || !(1..=MAX_SIDE).contains(&width) {
            let allowed = "a multiple of 512 cells across, at most 65536";
            return Err(Error::Size { operation: "life", given: width, allowed });
        }
        if !(1..=MAX_SIDE).contains(&height) {
            return Err(Error::Size { operation: "life", given: height, allowed: "1 to 65536 cells down" });
        }
        Error::expect_length("life", words.len(), width / 32 * height)?;
        Ok(Life { cells: self.array(words)?, next: self.undefined(words.len())?, width, height })
    }

    /// Reads the cells, in the format of [`Session::life`].
    ///
    /// # Errors
    /// When the cells belong to another driver.
    pub fn read_life(&self, life: &Life) -> Result<Vec<u32>, Error> {
        self.read(&life.cells)
    }

    /// Computes this number of generations: a cell is alive if three of the 3 x 3 cells around it were, counting
    /// itself, or if four were and it was alive.
    ///
    /// # Errors
    /// When the cells belong to another driver; the driver's.
    pub fn live(&mut self, life: &mut Life, generations: usize) -> Result<(), Error> {
        self.expect_own(&life.cells)?;
        let across = (life.width / VECTOR_CELLS) as u32;
        for _ in 0..generations {
            let jobs = grid_jobs!(life, Grid::of(across, life.height as u32), {
                source: life.cells.address(),
                target: life.next.address(),
                words: (life.width / 32) as u32,
                rows: life.height as u32,
            });
            self.launch(&life::PROGRAM, &jobs)?;
            core::mem::swap(&mut life.cells, &mut life.next);
            let words = (life.width / 32 * life.height) as u64;
            // Neighbours are counted with five full adders of five operations each, and seven more operations.
            let (operations, bytes) = (32 * words, 4 * words);
            self.account(Work { operations, lookups: words / 16, looked_up_bytes: bytes, stored_bytes: bytes });
        }
        Ok(())
    }
}
