//! The memory of one frame: lists, records, uniforms, vertices that only it needs.
//!
//! It grows block by block as it is asked for more, and goes back to the pool when the frame's jobs are done.

use alloc::vec::Vec;
use v3d::arena::Arena;
use v3d::hw::BusAddr;
use v3d::pool::Owner;
use v3d::record_list::ControlList;
use v3d::region::Region;
use v3d::{Driver, Platform};

use crate::error::Error;

/// Size of the first block in bytes; each further one is twice as large, up to the largest.
const FIRST_BLOCK_BYTES: u32 = 16 * 1024;
/// Size of the largest blocks in bytes, but for things that are larger themselves.
const LARGEST_BLOCK_BYTES: u32 = 256 * 1024;

/// Memory of one frame.
#[derive(Debug, Default)]
pub(crate) struct FrameMemory {
    blocks: Vec<Arena>,
}

impl FrameMemory {
    /// Takes memory for so many bytes.
    pub(crate) fn take<P: Platform>(
        &mut self,
        driver: &mut Driver<'_, P>,
        bytes: u32,
        alignment: u32,
    ) -> Result<Region, Error> {
        if let Some(block) = self.blocks.last_mut() {
            match block.take(bytes, alignment) {
                Err(v3d::Error::ArenaFull { .. }) => {}
                answer => return Ok(answer?),
            }
        }
        let usual = FIRST_BLOCK_BYTES.checked_shl(self.blocks.len() as u32).unwrap_or(0);
        let usual = if usual == 0 { LARGEST_BLOCK_BYTES } else { usual.min(LARGEST_BLOCK_BYTES) };
        let mut block = driver.arena(usual.max(bytes))?;
        let region = block.take(bytes, alignment)?;
        self.blocks.push(block);
        Ok(region)
    }

    /// Takes memory for `bytes` and copies them there; the answer is where the GPU finds them.
    pub(crate) fn place<P: Platform>(
        &mut self,
        driver: &mut Driver<'_, P>,
        bytes: &[u8],
        alignment: u32,
    ) -> Result<BusAddr, Error> {
        let region = self.take(driver, u32::try_from(bytes.len()).unwrap_or(u32::MAX), alignment)?;
        region.store(driver.platform(), 0, bytes)?;
        Ok(region.address())
    }

    /// Puts an encoded control list into memory.
    pub(crate) fn place_list<P: Platform>(
        &mut self,
        driver: &mut Driver<'_, P>,
        bytes: &[u8],
    ) -> Result<ControlList, Error> {
        let start = self.place(driver, bytes, 1)?;
        Ok(ControlList { start, end_exclusive: start + bytes.len() as u32 })
    }

    /// Makes a job's owners owners of all of it.
    pub(crate) fn keep(&self, owners: &mut Vec<Owner>) {
        owners.extend(self.blocks.iter().map(|block| block.buffer().owner()));
    }
}
