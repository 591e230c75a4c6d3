//! The pool of memory that CPU and GPU share.
//!
//! The V3D does not see the ARM's caches [AG p.13], so the CPU does not cache this memory. The pool is one contiguous region that does not cross a boundary of
//! 256 MiB, because tile state, tile allocation and overflow memory must agree in the upper 4 bits of their addresses [linux vc4_bo.c].

use core::fmt;

use super::Named;
use v3d_hw::BusAddr;

/// Byte access to the pool by offset from its start; the GPU names the same bytes by bus address.
///
/// The driver checks all offsets before a call; an implementation must still not access anything outside of the pool: it ignores such writes, and such reads
/// return zeros.
pub trait GpuMemory {
    /// Bus address of the pool's first byte, aligned to 4096 bytes.
    fn base(&self) -> BusAddr;

    /// Size of the pool in bytes.
    fn bytes(&self) -> u32;

    /// Copies `bytes` into the pool from `offset` on.
    fn store(&self, offset: u32, bytes: &[u8]);

    /// Copies from the pool, from `offset` on, into `bytes`. It must return data that the GPU has written before its job was found to be done.
    fn load(&self, offset: u32, bytes: &mut [u8]);

    /// Stores one word, little-endian; `offset` is a multiple of 4.
    fn store_word(&self, offset: u32, word: u32) {
        self.store(offset, &word.to_le_bytes());
    }

    /// Stores consecutive words, little-endian; `offset` is a multiple of 4.
    fn store_words(&self, offset: u32, words: &[u32]) {
        for (at, &word) in (offset..).step_by(4).zip(words) {
            self.store_word(at, word);
        }
    }

    /// Notes the name of what is at an address from now on, if the platform keeps names, for captures. Most do not. One that does also implements
    /// [`GpuMemory::keeps_names`].
    #[inline(always)]
    fn name(&self, _address: BusAddr, _what: Named, _name: fmt::Arguments<'_>) {}

    /// Whether names are kept at this time: draws, of which a frame may have thousands, are named only then.
    #[inline(always)]
    fn keeps_names(&self) -> bool {
        false
    }

    /// Loads one word, little-endian; `offset` is a multiple of 4.
    fn load_word(&self, offset: u32) -> u32 {
        let mut bytes = [0; 4];
        self.load(offset, &mut bytes);
        u32::from_le_bytes(bytes)
    }

    /// Sets `count` bytes from `offset` on to zero.
    fn zero(&self, offset: u32, count: u32) {
        const ZEROS: [u8; 256] = [0; 256];
        let mut done = 0;
        while done < count {
            let part = (count - done).min(ZEROS.len() as u32);
            self.store(offset + done, &ZEROS[..part as usize]);
            done += part;
        }
    }
}
