//! The memory of one frame: lists, records, uniforms, vertices that only it needs.
//!
//! It grows block by block as it is asked for more, and goes back to the pool when the frame's jobs are done.

use alloc::vec::Vec;
use v3d::hw::BusAddr;
use v3d::pool::{Buffer, Owner};
use v3d::record_list::{ControlList, RecordList};
use v3d::region::Region;
use v3d::shader_record::RECORD_ALIGNMENT;
use v3d::{Driver, Platform};

use crate::error::Error;

/// Size of the first block in bytes; each further one is twice as large, up to the largest.
const FIRST_BLOCK_BYTES: u32 = 16 * 1024;
/// Size of the largest blocks in bytes, but for things that are larger themselves.
const MAX_BLOCK_BYTES: u32 = 256 * 1024;
/// Alignment of a block in bytes.
const BLOCK_ALIGNMENT: u32 = 4096;

/// Alignment of whatever is taken, in bytes: right for records, and for all that stands in a frame's memory.
pub(crate) const ALIGNMENT: u32 = RECORD_ALIGNMENT;

/// Memory of one frame.
#[derive(Debug, Default)]
pub(crate) struct FrameMemory {
    blocks: Vec<Buffer>,
    /// What is left of the last block.
    left: Option<Region>,
}

impl FrameMemory {
    /// Takes memory for so many bytes, a multiple of [`ALIGNMENT`], if there is as much without another block.
    #[inline]
    pub(crate) fn take_here(&mut self, bytes: u32) -> Option<Region> {
        let (region, left) = self.left?.split(bytes)?;
        self.left = Some(left);
        Some(region)
    }

    /// Takes memory for so many bytes.
    #[inline]
    pub(crate) fn take<P: Platform>(&mut self, driver: &mut Driver<'_, P>, bytes: u32) -> Result<Region, Error> {
        // More than there is stays more.
        let bytes = bytes.saturating_add(ALIGNMENT - 1) & !(ALIGNMENT - 1);
        match self.take_here(bytes) {
            Some(region) => Ok(region),
            None => self.take_from_next(driver, bytes),
        }
    }

    /// The same from a block more.
    #[cold]
    fn take_from_next<P: Platform>(&mut self, driver: &mut Driver<'_, P>, bytes: u32) -> Result<Region, Error> {
        let usual = FIRST_BLOCK_BYTES.checked_shl(self.blocks.len() as u32).unwrap_or(0);
        let usual = if usual == 0 { MAX_BLOCK_BYTES } else { usual.min(MAX_BLOCK_BYTES) };
        let block = driver.allocate(usual.max(bytes), BLOCK_ALIGNMENT)?;
        let whole = block.region();
        self.blocks.push(block);
        let region = whole.part(0, bytes)?;
        self.left = Some(whole.part(bytes, whole.bytes() - bytes)?);
        Ok(region)
    }

    /// Takes memory for `bytes` and copies them there; the answer is where the GPU finds them.
    pub(crate) fn place<P: Platform>(&mut self, driver: &mut Driver<'_, P>, bytes: &[u8]) -> Result<BusAddr, Error> {
        let region = self.take(driver, u32::try_from(bytes.len()).unwrap_or(u32::MAX))?;
        region.store(driver.platform(), 0, bytes)?;
        Ok(region.address())
    }

    /// Puts a control list into memory.
    pub(crate) fn place_list<P: Platform>(
        &mut self,
        driver: &mut Driver<'_, P>,
        list: &RecordList,
    ) -> Result<ControlList, Error> {
        let (words, bytes) = (list.words()?, u32::try_from(list.bytes()).unwrap_or(u32::MAX));
        let region = self.take(driver, bytes)?;
        region.store_words(driver.platform(), words)?;
        Ok(ControlList { start: region.address(), end_exclusive: region.address() + bytes })
    }

    /// Makes a job's owners owners of all of it.
    pub(crate) fn keep(&self, owners: &mut Vec<Owner>) {
        owners.extend(self.blocks.iter().map(Buffer::owner));
    }
}
