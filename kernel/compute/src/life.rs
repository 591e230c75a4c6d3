//! The game of life.

use alloc::vec::Vec;

use v3d::Platform;

use crate::programs::life;
use crate::session::Share;
use crate::{Array, Error, Session, Work};

/// Cells of a vector: 16 words of 32.
const VECTOR_CELLS: usize = 512;
/// Most cells across and down.
const MAX_SIDE: usize = 1 << 16;

/// Cells on a torus, and as many again for the next generation.
#[derive(Debug)]
pub struct Life {
    cells: Array<u32>,
    next: Array<u32>,
    width: usize,
    height: usize,
}

impl Life {
    /// Cells across.
    pub const fn width(&self) -> usize {
        self.width
    }

    /// Cells down.
    pub const fn height(&self) -> usize {
        self.height
    }
}

impl<P: Platform> Session<'_, '_, '_, P> {
    /// Cells row by row, 32 to a word: the leftmost is the lowest bit, and 1 is alive.
    ///
    /// # Errors
    /// When the width is not a multiple of 512, or a side not 1 to 65536; when the words are not as many; when the pool has no room.
    pub fn life(&mut self, words: &[u32], width: usize, height: usize) -> Result<Life, Error> {
        if !width.is_multiple_of(VECTOR_CELLS) || !(1..=MAX_SIDE).contains(&width) {
            let allowed = "a multiple of 512 cells across, at most 65536";
            return Err(Error::Size { operation: "life", given: width, allowed });
        }
        if !(1..=MAX_SIDE).contains(&height) {
            return Err(Error::Size { operation: "life", given: height, allowed: "1 to 65536 cells down" });
        }
        if words.len() != width / 32 * height {
            return Err(Error::Lengths { operation: "life", given: words.len(), needed: width / 32 * height });
        }
        Ok(Life { cells: self.array(words)?, next: self.undefined(words.len())?, width, height })
    }

    /// The cells, as they are given to [`Session::life`].
    ///
    /// # Errors
    /// When they are another driver's.
    pub fn read_life(&self, life: &Life) -> Result<Vec<u32>, Error> {
        self.read(&life.cells)
    }

    /// Lives on for so many generations: a cell is alive if three of the nine cells around it and itself were, or if it was and four were.
    ///
    /// # Errors
    /// When the cells are another driver's; the driver's.
    pub fn live(&mut self, life: &mut Life, generations: usize) -> Result<(), Error> {
        self.expect_own(&life.cells)?;
        let across = (life.width / VECTOR_CELLS) as u32;
        for _ in 0..generations {
            let jobs: Vec<life::Uniforms> = Share::of(across * life.height as u32)
                .map(|share| life::Uniforms {
                    number: share.number,
                    others: share.others(),
                    column: share.number % across,
                    row: share.number / across,
                    step: share.qpus,
                    across,
                    blocks: share.blocks,
                    source: life.cells.address(),
                    target: life.next.address(),
                    words: (life.width / 32) as u32,
                    rows: life.height as u32,
                })
                .collect();
            self.launch(&life::PROGRAM, &jobs)?;
            core::mem::swap(&mut life.cells, &mut life.next);
            let words = (life.width / 32 * life.height) as u64;
            // Eight neighbours are counted with five full adders, of five operations each, and seven more.
            let (operations, bytes) = (32 * words, 4 * words);
            self.account(Work { operations, lookups: words / 16, looked_up_bytes: bytes, stored_bytes: bytes });
        }
        Ok(())
    }
}
