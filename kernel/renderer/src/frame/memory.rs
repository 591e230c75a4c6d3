//! The memory of one frame: control lists, shader records, uniforms and transient vertices.
//!
//! It is allocated from the pool in growing blocks, and freed when the frame's jobs are done.

use alloc::vec::Vec;
use v3d::hw::BusAddr;
use v3d::platform::Named;
use v3d::pool::{Buffer, GAP_BYTES, Owner};
use v3d::record_list::{ControlList, RecordList};
use v3d::region::Region;
use v3d::shader_record::RECORD_ALIGNMENT;
use v3d::{Driver, Platform};

use crate::error::Error;

/// Size of the first block in bytes; each further block is twice as large, up to the maximum.
const FIRST_BLOCK_BYTES: u32 = 16 * 1024;
/// Size of the largest blocks in bytes, except for a single request that is larger.
const MAX_BLOCK_BYTES: u32 = 256 * 1024;
/// Alignment of a block in bytes.
const BLOCK_ALIGNMENT: u32 = 4096;

/// Alignment of all allocations in bytes: that of records, which is a multiple of all others.
pub(crate) const ALIGNMENT: u32 = RECORD_ALIGNMENT;

/// Rounds a size in bytes up to [`ALIGNMENT`]; sizes close to 2^32 become the greatest multiple.
#[inline]
pub(crate) const fn round_up(bytes: u32) -> u32 {
    bytes.saturating_add(ALIGNMENT - 1) & !(ALIGNMENT - 1)
}

/// The first `bytes` bytes of a region, and the rest.
pub(crate) fn split(region: &Region, bytes: u32) -> Result<(Region, Region), v3d::Error> {
    region.split(bytes).ok_or(v3d::Error::OutOfBounds { at: 0, bytes, region: region.bytes() })
}

/// Memory of one frame.
#[derive(Debug, Default)]
pub(crate) struct FrameMemory {
    blocks: Vec<Buffer>,
    /// The unused rest of the last block.
    left: Region,
}

impl FrameMemory {
    /// Allocates `bytes`, a multiple of [`ALIGNMENT`], if the last block has room.
    #[inline]
    pub(crate) fn take_here(&mut self, bytes: u32) -> Option<Region> {
        let (region, left) = self.left.split(bytes)?;
        self.left = left;
        Some(region)
    }

    /// Allocates at least `bytes`.
    #[inline]
    pub(crate) fn take<P: Platform>(&mut self, driver: &mut Driver<'_, P>, bytes: u32) -> Result<Region, Error> {
        let bytes = round_up(bytes);
        match self.take_here(bytes) {
            Some(region) => Ok(region),
            None => self.take_from_next(driver, bytes),
        }
    }

    /// Allocates from a new block.
    #[cold]
    fn take_from_next<P: Platform>(&mut self, driver: &mut Driver<'_, P>, bytes: u32) -> Result<Region, Error> {
        let usual = FIRST_BLOCK_BYTES.checked_shl(self.blocks.len() as u32).unwrap_or(0);
        let usual = if usual == 0 { MAX_BLOCK_BYTES } else { usual.min(MAX_BLOCK_BYTES) };
        let block = driver.allocate(usual.max(bytes), BLOCK_ALIGNMENT)?;
        let whole = block.region();
        let what = Named::Memory { bytes: whole.bytes() };
        driver.platform().name(block.address(), what, format_args!("the frame's lists, records and uniforms"));
        self.blocks.push(block);
        let (region, left) = split(&whole, bytes)?;
        self.left = left;
        Ok(region)
    }

    /// Allocates memory for `bytes`, copies them there and returns their address on the bus.
    pub(crate) fn place<P: Platform>(&mut self, driver: &mut Driver<'_, P>, bytes: &[u8]) -> Result<BusAddr, Error> {
        let region = self.take(driver, u32::try_from(bytes.len()).unwrap_or(u32::MAX))?;
        region.store(driver.platform(), 0, bytes)?;
        Ok(region.address())
    }

    /// Copies a control list into the frame's memory. The gap behind it ensures that nothing else begins at its end address, as between the pool's buffers.
    pub(crate) fn place_list<P: Platform>(
        &mut self,
        driver: &mut Driver<'_, P>,
        list: &RecordList,
    ) -> Result<ControlList, Error> {
        let (words, bytes) = (list.words()?, u32::try_from(list.bytes()).unwrap_or(u32::MAX));
        let region = self.take(driver, bytes.saturating_add(GAP_BYTES))?;
        region.store_words(driver.platform(), words)?;
        Ok(ControlList { start: region.address(), end_exclusive: region.address() + bytes })
    }

    /// Adds references to all blocks to a job's owners.
    pub(crate) fn keep(&self, owners: &mut Vec<Owner>) {
        owners.extend(self.blocks.iter().map(Buffer::owner));
    }
}
