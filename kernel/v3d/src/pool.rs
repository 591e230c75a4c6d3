//! The pool of GPU memory: who has which bytes.
//!
//! A first-fit allocator over one contiguous region. What is handed out is long-lived (arenas of frames, meshes, shaders, binner memory); the many small
//! things of one frame go into an [`Arena`](crate::arena::Arena), so the list of free stretches stays short.

use crate::error::Error;
use crate::region::Region;
use alloc::vec::Vec;
use v3d_hw::BusAddr;

/// Memory that was taken from a pool. Give it back with [`Pool::free`]; dropping it loses the memory.
#[derive(Debug, PartialEq, Eq)]
#[must_use = "the memory is lost unless it is given back to its pool"]
pub struct Buffer(Region);

impl Buffer {
    /// The bytes.
    pub const fn region(&self) -> Region {
        self.0
    }

    /// Address of the first byte, as the GPU sees it.
    pub const fn address(&self) -> BusAddr {
        self.0.address()
    }
}

/// Free stretches that there usually are at most.
const STRETCHES_EXPECTED: usize = 32;

/// A free stretch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Free {
    offset: u32,
    bytes: u32,
}

/// The pool's allocator.
#[derive(Debug)]
pub struct Pool {
    base: BusAddr,
    bytes: u32,
    /// Sorted by offset; no two touch.
    free: Vec<Free>,
}

impl Pool {
    /// Everything is free.
    pub fn new(base: BusAddr, bytes: u32) -> Self {
        // Room for the stretches of ordinary use from the start: what comes and goes leaves no trace in the heap.
        let mut free = Vec::with_capacity(STRETCHES_EXPECTED);
        if bytes > 0 {
            free.push(Free { offset: 0, bytes });
        }
        Self { base, bytes, free }
    }

    /// Takes `bytes` bytes (at least one) whose bus address is a multiple of `alignment`, a power of two.
    pub fn allocate(&mut self, bytes: u32, alignment: u32) -> Result<Buffer, Error> {
        if !alignment.is_power_of_two() {
            return Err(Error::Alignment(alignment));
        }
        let bytes = bytes.max(1);
        for index in 0..self.free.len() {
            let Free { offset, bytes: length } = self.free[index];
            let padding = (self.base + offset).0.wrapping_neg() & (alignment - 1);
            let Some(rest) = length.checked_sub(padding).and_then(|rest| rest.checked_sub(bytes)) else { continue };
            let start = offset + padding;
            let after = Free { offset: start + bytes, bytes: rest };
            match (padding, rest) {
                (0, 0) => {
                    self.free.remove(index);
                }
                (0, _) => self.free[index] = after,
                (_, 0) => self.free[index].bytes = padding,
                _ => {
                    self.free[index].bytes = padding;
                    self.free.insert(index + 1, after);
                }
            }
            return Ok(Buffer(Region::new(self.base, start, bytes)));
        }
        Err(Error::PoolExhausted { bytes, alignment, largest: self.largest_free() })
    }

    /// Takes memory back.
    pub fn free(&mut self, buffer: Buffer) {
        let (offset, bytes) = (buffer.0.offset(), buffer.0.bytes());
        let index = self.free.partition_point(|free| free.offset < offset);
        self.free.insert(index, Free { offset, bytes });
        self.join(index);
        if index > 0 {
            self.join(index - 1);
        }
    }

    /// Joins a free stretch with the next one if they touch.
    fn join(&mut self, index: usize) {
        if let (Some(&this), Some(&next)) = (self.free.get(index), self.free.get(index + 1))
            && this.offset + this.bytes == next.offset
        {
            self.free[index].bytes += next.bytes;
            self.free.remove(index + 1);
        }
    }

    /// Address of the pool's first byte.
    pub const fn base(&self) -> BusAddr {
        self.base
    }

    /// Size of the pool in bytes.
    pub const fn bytes(&self) -> u32 {
        self.bytes
    }

    /// Bytes that are taken.
    pub fn used(&self) -> u32 {
        self.bytes - self.free.iter().map(|free| free.bytes).sum::<u32>()
    }

    /// Bytes of the longest free stretch.
    pub fn largest_free(&self) -> u32 {
        self.free.iter().map(|free| free.bytes).max().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BASE: BusAddr = BusAddr(0xc100_0000);

    #[test]
    fn what_is_freed_is_whole_again() {
        let mut pool = Pool::new(BASE, 0x1_0000);
        let first = pool.allocate(100, 16).unwrap();
        let second = pool.allocate(5000, 4096).unwrap();
        let third = pool.allocate(8, 8).unwrap();
        assert!(second.address().is_aligned(4096));
        assert!(third.region().end_exclusive() <= second.address(), "the gap in front of an aligned buffer is used");
        assert_eq!(pool.used(), 5108);
        pool.free(second);
        pool.free(first);
        pool.free(third);
        assert_eq!((pool.used(), pool.largest_free()), (0, 0x1_0000));
    }

    #[test]
    fn running_out_says_how_much_there_is() {
        let mut pool = Pool::new(BASE, 4096);
        let all = pool.allocate(4000, 1).unwrap();
        let error = pool.allocate(97, 1).unwrap_err();
        assert_eq!(error, Error::PoolExhausted { bytes: 97, alignment: 1, largest: 96 });
        pool.free(all);
        assert_eq!(pool.allocate(1, 3).unwrap_err(), Error::Alignment(3));
    }

    /// A long life of odd sizes, in a fixed random order: nothing overlaps, nothing is lost.
    #[test]
    fn a_hundred_thousand_allocations_leave_nothing_behind() {
        let mut pool = Pool::new(BASE, 1 << 20);
        let mut held: Vec<Buffer> = Vec::new();
        let mut random = 1u32;
        for _ in 0..100_000 {
            random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let (size, alignment) = (random >> 20, 1 << (random >> 8 & 7));
            if random & 1 << 30 == 0 && !held.is_empty() {
                let buffer = held.swap_remove(size as usize % held.len());
                pool.free(buffer);
            } else if let Ok(buffer) = pool.allocate(size, alignment) {
                let region = buffer.region();
                let overlaps = held.iter().any(|other| {
                    other.address() < region.end_exclusive() && region.address() < other.region().end_exclusive()
                });
                assert!(!overlaps && region.address().is_aligned(alignment));
                held.push(buffer);
            }
        }
        assert_eq!(pool.used(), held.iter().map(|buffer| buffer.region().bytes()).sum::<u32>());
        held.drain(..).for_each(|buffer| pool.free(buffer));
        assert_eq!((pool.used(), pool.largest_free()), (0, 1 << 20));
    }
}
