//! Memory that contains an image: a slice, or a region of GPU memory.

use super::strip::STRIP_BYTES;
use crate::memory::region::Region;
use crate::platform::GpuMemory;

/// The bytes of an image. Accesses out of range do nothing; callers have checked the length.
pub trait ImageBytes {
    /// Number of bytes.
    fn length(&self) -> usize;

    /// Copies `bytes` into the image from `at` on.
    fn store(&mut self, at: usize, bytes: &[u8]);

    /// Copies from the image, from `at` on, into `bytes`.
    fn load(&self, at: usize, bytes: &mut [u8]);

    /// Overwrites all 256 bytes from `at` on with the values that `write` sets.
    fn overwrite(&mut self, at: usize, write: impl FnOnce(&mut [u8; STRIP_BYTES])) {
        let mut strip = AlignedStrip([0; STRIP_BYTES]);
        write(&mut strip.0);
        self.store(at, &strip.0);
    }

    /// Passes the 256 bytes from `at` on to `read`.
    fn read(&self, at: usize, read: impl FnOnce(&[u8; STRIP_BYTES])) {
        let mut bytes = [0; STRIP_BYTES];
        self.load(at, &mut bytes);
        read(&bytes);
    }
}

/// Bytes that can be copied word by word on machines without unaligned accesses.
#[repr(align(16))]
struct AlignedStrip([u8; STRIP_BYTES]);

impl ImageBytes for [u8] {
    fn length(&self) -> usize {
        self.len()
    }

    fn store(&mut self, at: usize, bytes: &[u8]) {
        if let Some(target) = self.get_mut(at..).and_then(|rest| rest.get_mut(..bytes.len())) {
            target.copy_from_slice(bytes);
        }
    }

    fn load(&self, at: usize, bytes: &mut [u8]) {
        if let Some(source) = self.get(at..).and_then(|rest| rest.get(..bytes.len())) {
            bytes.copy_from_slice(source);
        }
    }

    #[inline]
    fn overwrite(&mut self, at: usize, write: impl FnOnce(&mut [u8; STRIP_BYTES])) {
        if let Some(bytes) = self.get_mut(at..).and_then(|rest| rest.first_chunk_mut()) {
            write(bytes);
        }
    }

    #[inline]
    fn read(&self, at: usize, read: impl FnOnce(&[u8; STRIP_BYTES])) {
        if let Some(bytes) = self.get(at..).and_then(|rest| rest.first_chunk()) {
            read(bytes);
        }
    }
}

/// An image in GPU memory.
#[derive(Debug)]
pub struct GpuImage<'a, M> {
    memory: &'a M,
    region: Region,
}

impl<'a, M: GpuMemory> GpuImage<'a, M> {
    /// The image that starts at the region's first byte.
    pub const fn new(memory: &'a M, region: Region) -> Self {
        Self { memory, region }
    }

    /// Offset in the pool of `count` bytes, if they are inside of the region.
    fn offset(&self, at: usize, count: usize) -> Option<u32> {
        let (at, count) = (u32::try_from(at).ok()?, u32::try_from(count).ok()?);
        Some(self.region.part(at, count).ok()?.offset())
    }
}

impl<M: GpuMemory> ImageBytes for GpuImage<'_, M> {
    fn length(&self) -> usize {
        self.region.bytes() as usize
    }

    fn store(&mut self, at: usize, bytes: &[u8]) {
        if let Some(offset) = self.offset(at, bytes.len()) {
            self.memory.store(offset, bytes);
        }
    }

    fn load(&self, at: usize, bytes: &mut [u8]) {
        if let Some(offset) = self.offset(at, bytes.len()) {
            self.memory.load(offset, bytes);
        }
    }
}
