//! The arena of one frame: lists, records and uniforms, given back all at once.
//!
//! What a frame needs besides its meshes lives as long as the frame: from the CPU's writing it until the GPU has rendered it. So it is taken
//! from the arena by moving an end forward, and given back by moving the end to the start.

use crate::error::Error;
use crate::platform::GpuMemory;
use crate::pool::Buffer;
use crate::region::Region;
use v3d_hw::BusAddr;

/// Memory of one frame.
#[derive(Debug)]
pub struct Arena {
    buffer: Buffer,
    used: u32,
}

impl Arena {
    /// An empty arena over a buffer.
    pub fn new(buffer: Buffer) -> Self {
        Self { buffer, used: 0 }
    }

    /// Takes `bytes` bytes whose bus address is a multiple of `alignment`, a power of two.
    #[inline]
    pub fn take(&mut self, bytes: u32, alignment: u32) -> Result<Region, Error> {
        if !alignment.is_power_of_two() {
            return Err(Error::Alignment(alignment));
        }
        let region = self.buffer.region();
        let padding = (region.address() + self.used).0.wrapping_neg() & (alignment - 1);
        let left = (region.bytes() - self.used).saturating_sub(padding);
        if bytes > left {
            return Err(Error::ArenaFull { bytes, left });
        }
        let start = self.used + padding;
        self.used = start + bytes;
        region.part(start, bytes)
    }

    /// Takes memory for `bytes` and copies them there; the answer is where the GPU finds them.
    pub fn place(&mut self, memory: &impl GpuMemory, bytes: &[u8], alignment: u32) -> Result<BusAddr, Error> {
        let length = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
        let region = self.take(length, alignment)?;
        region.store(memory, 0, bytes)?;
        Ok(region.address())
    }

    /// Gives everything back. The GPU must be done with it.
    pub fn reset(&mut self) {
        self.used = 0;
    }

    /// Bytes that are taken, padding included.
    pub const fn used(&self) -> u32 {
        self.used
    }

    /// The memory.
    #[inline]
    pub const fn buffer(&self) -> &Buffer {
        &self.buffer
    }
}
