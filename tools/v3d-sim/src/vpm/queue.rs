//! The queue of block reads between their set-up and VPM_READ.
//!
//! A set-up gives the number of vectors to be read; two set-ups can be queued [AG p.56]. Silicon was seen to ignore a second set-up unless at most
//! one vector of the first is outstanding [vc4asm]; here the guide's rule applies.

use super::block::Cursor;
use super::{Vpm, VpmError};
use crate::qpu::lanes::Lanes;
use v3d_hw::vpm::ReadSetup;

/// Depth of the queue.
const DEPTH: usize = 2;

/// Block reads that are set up and not finished.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReadQueue {
    /// The next vector and the number of vectors left, oldest first.
    blocks: [Option<(Cursor, u8)>; DEPTH],
}

impl ReadQueue {
    /// Queues a block.
    pub fn push(&mut self, setup: &ReadSetup, word: u32) -> Result<(), VpmError> {
        let cursor = Cursor::to_read(setup).ok_or(VpmError::Setup(word))?;
        let count = if setup.count == 0 { 16 } else { setup.count };
        let free = self.blocks.iter_mut().find(|block| block.is_none()).ok_or(VpmError::ReadQueueFull)?;
        *free = Some((cursor, count));
        Ok(())
    }

    /// Reads the next vector.
    pub fn pop(&mut self, vpm: &Vpm) -> Result<Lanes, VpmError> {
        let Some((cursor, left)) = &mut self.blocks[0] else { return Err(VpmError::ReadExhausted) };
        let vector = cursor.read(vpm);
        cursor.advance();
        *left -= 1;
        if *left == 0 {
            self.blocks = [self.blocks[1], None];
        }
        vector
    }

    /// Vectors that have been set up and not read.
    pub fn outstanding(&self) -> u32 {
        self.blocks.iter().flatten().map(|&(_, left)| u32::from(left)).sum()
    }

    /// Cancels all reads, as the end of a program does [AG p.56].
    pub fn clear(&mut self) {
        *self = Self::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use v3d_hw::Layout;

    #[test]
    fn blocks_are_read_one_after_the_other_and_no_further() {
        let mut vpm = Vpm::new(4, 64);
        for row in 0..64 {
            *vpm.row_mut(row).unwrap() = Lanes::splat(row);
        }
        let mut queue = ReadQueue::default();
        // Two 32-bit horizontal vectors from row 2 on, stride 3; one from row 9.
        for word in [2 << 20 | 3 << 12 | 1 << 11 | 2 << 8 | 2, 1 << 20 | 1 << 12 | 1 << 11 | 2 << 8 | 9] {
            queue.push(&ReadSetup::from_word(word), word).unwrap();
        }
        assert_eq!(queue.push(&ReadSetup::from_word(0xa00), 0xa00), Err(VpmError::ReadQueueFull));
        assert_eq!(queue.outstanding(), 3);
        for row in [2, 5, 9] {
            assert_eq!(queue.pop(&vpm), Ok(Lanes::splat(row)));
        }
        assert_eq!(queue.pop(&vpm), Err(VpmError::ReadExhausted));
        let reserved = 1 << 20 | 3 << 8;
        assert_eq!(queue.push(&ReadSetup::from_word(reserved), reserved), Err(VpmError::Setup(reserved)));
    }
}
