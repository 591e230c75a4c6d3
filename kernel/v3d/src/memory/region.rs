//! A region of GPU memory: its bus address, and checked access by the CPU.

use crate::error::Error;
use crate::platform::GpuMemory;
use v3d_hw::BusAddr;

/// A block of the pool, by default an empty one. It does not own the memory; a [`Buffer`](crate::memory::pool::Buffer) does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Region {
    offset: u32,
    bytes: u32,
    address: BusAddr,
}

impl Region {
    /// `bytes` bytes at `offset` of the pool that starts at `base`.
    #[inline]
    pub(crate) fn new(base: BusAddr, offset: u32, bytes: u32) -> Self {
        Self { offset, bytes, address: base + offset }
    }

    /// Bus address of the first byte.
    #[inline]
    pub const fn address(&self) -> BusAddr {
        self.address
    }

    /// Length in bytes.
    pub const fn bytes(&self) -> u32 {
        self.bytes
    }

    /// Offset of the first byte from the pool's start.
    pub const fn offset(&self) -> u32 {
        self.offset
    }

    /// Address of the byte after the last.
    pub fn end_exclusive(&self) -> BusAddr {
        self.address + self.bytes
    }

    /// `bytes` bytes of this region from `at` on.
    #[inline]
    pub fn part(&self, at: u32, bytes: u32) -> Result<Self, Error> {
        match at.checked_add(bytes) {
            Some(end) if end <= self.bytes => Ok(Self { offset: self.offset + at, bytes, address: self.address + at }),
            _ => Err(Error::OutOfBounds { at, bytes, region: self.bytes }),
        }
    }

    /// The first `bytes` bytes and the rest, if the region is long enough.
    #[inline]
    pub fn split(&self, bytes: u32) -> Option<(Self, Self)> {
        let Self { offset, address, .. } = *self;
        let left = self.bytes.checked_sub(bytes)?;
        let rest = Self { offset: offset + bytes, bytes: left, address: address + bytes };
        Some((Self { offset, bytes, address }, rest))
    }

    /// Copies `bytes` into the region from `at` on.
    pub fn store(&self, memory: &impl GpuMemory, at: u32, bytes: &[u8]) -> Result<(), Error> {
        let part = self.part(at, length(bytes))?;
        memory.store(part.offset, bytes);
        Ok(())
    }

    /// Copies words into the region's start, which is a multiple of 4.
    #[inline(always)]
    pub fn store_words(&self, memory: &impl GpuMemory, words: &[u32]) -> Result<(), Error> {
        if words.len() > (self.bytes / 4) as usize {
            let bytes = u32::try_from(words.len()).ok().and_then(|count| count.checked_mul(4)).unwrap_or(u32::MAX);
            return Err(Error::OutOfBounds { at: 0, bytes, region: self.bytes });
        }
        if !self.address.is_aligned(4) {
            return Err(Error::Alignment(4));
        }
        memory.store_words(self.offset, words);
        Ok(())
    }

    /// Copies from the region, from `at` on, into `bytes`.
    pub fn load(&self, memory: &impl GpuMemory, at: u32, bytes: &mut [u8]) -> Result<(), Error> {
        let part = self.part(at, length(bytes))?;
        memory.load(part.offset, bytes);
        Ok(())
    }

    /// The word at `at`, little-endian.
    pub fn load_word(&self, memory: &impl GpuMemory, at: u32) -> Result<u32, Error> {
        Ok(memory.load_word(self.part(at, 4)?.offset))
    }

    /// Sets the whole region to zero.
    pub fn zero(&self, memory: &impl GpuMemory) {
        memory.zero(self.offset, self.bytes);
    }
}

/// Length of a slice; a length of more than 4 GiB exceeds every region.
fn length(bytes: &[u8]) -> u32 {
    u32::try_from(bytes.len()).unwrap_or(u32::MAX)
}
