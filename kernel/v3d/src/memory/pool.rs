//! The pool of GPU memory: an allocator of shared buffers.
//!
//! A first-fit allocator over one contiguous region returns [`Buffer`]s, which any number of owners can share; when the last owner drops a buffer, its bytes
//! are freed. A submitted job owns all buffers that it uses, so the caller need not keep memory until the GPU is done with it.
//!
//! # Buffers do not touch
//! A control list that fills its buffer ends where the buffer ends. If index data began there, or a sub-list, its thread would stop there without an error bit:
//! it compares its address with the end address there, too [rpi-hal src/v3d.rs]. So [`GAP_BYTES`] bytes behind each buffer belong to nobody.
//!
//! # Memory that the GPU may still access
//! A hung program that could not be stopped goes on with the memory that it knows, whoever owns that. [`Pool::keep_all`] therefore keeps all memory that is
//! allocated at that time: it is not used again when its owners drop it, until [`Pool::release_kept`].

use crate::error::Error;
use crate::memory::region::Region;
use alloc::rc::Rc;
use alloc::vec::Vec;
use core::any::Any;
use core::cell::{Cell, RefCell};
use core::fmt;
use v3d_hw::BusAddr;

/// An object that is kept as long as a job may use it: memory, as returned by [`Buffer::owner`], or anything that owns memory.
pub type Owner = Rc<dyn Any>;

/// Memory allocated from a pool. Clones share it; dropping the last one frees it.
#[derive(Clone, Debug)]
#[must_use = "the memory goes back to its pool when its last owner is dropped"]
pub struct Buffer(Rc<Allocation>);

/// State that the owners of a buffer share.
#[derive(Debug)]
struct Allocation {
    region: Region,
    pool: Pool,
    /// The number of the last holder that has requested an owner.
    holder: Cell<u64>,
    /// Number of calls of [`Pool::keep_all`] before it was allocated.
    age: u32,
}

impl Drop for Allocation {
    fn drop(&mut self) {
        let mut blocks = self.pool.0.borrow_mut();
        if blocks.kept_age.is_some_and(|kept| self.age < kept) {
            // Without room for the note, the memory is never used again.
            if blocks.kept.try_reserve(1).is_ok() {
                blocks.kept.push(self.region);
            }
        } else {
            blocks.give_back(self.region);
        }
    }
}

impl Buffer {
    /// The bytes.
    #[inline]
    pub fn region(&self) -> Region {
        self.0.region
    }

    /// Bus address of the first byte.
    #[inline]
    pub fn address(&self) -> BusAddr {
        self.0.region.address()
    }

    /// An additional owner, type-erased.
    pub fn owner(&self) -> Owner {
        self.0.clone()
    }

    /// An additional owner, type-erased, unless `holder` was the last one to request it: a list of many draws thus owns their memory once, not once per draw.
    ///
    /// Each holder has a unique number other than 0.
    pub fn owner_for(&self, holder: u64) -> Option<Owner> {
        (self.0.holder.replace(holder) != holder).then(|| self.owner())
    }

    /// Whether both are the same memory.
    #[inline]
    pub fn is_same(&self, other: &Self) -> bool {
        Rc::ptr_eq(&self.0, &other.0)
    }

    /// Whether `owner` is an owner of this memory.
    pub fn is_owned_by(&self, owner: &Owner) -> bool {
        owner.downcast_ref::<Allocation>().is_some_and(|allocation| core::ptr::eq(allocation, &*self.0))
    }

    /// Whether it was allocated from this pool.
    #[inline]
    pub fn is_of(&self, pool: &Pool) -> bool {
        self.0.pool.is_same(pool)
    }
}

/// Least number of bytes between a buffer and the next one. One would do for the hardware's comparison; with this many a board that had stopped ran
/// [rpi-hal src/v3d.rs].
pub const GAP_BYTES: u32 = 64;

/// Usual maximum of free blocks.
const EXPECTED_BLOCKS: usize = 32;

/// A free block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Free {
    offset: u32,
    bytes: u32,
}

/// The free memory.
struct FreeBlocks {
    base: BusAddr,
    bytes: u32,
    /// Bytes of all buffers, without the gaps behind them.
    used: u32,
    /// Sorted by offset; no two are adjacent. A gap is no part of them, but one of [`GAP_BYTES`] behind the pool's last byte is.
    free: Vec<Free>,
    /// Number of allocations that succeed before one fails, if one is to fail.
    until_refusal: Option<u32>,
    /// Number of calls of [`Pool::keep_all`].
    age: u32,
    /// Memory that was allocated before this age is kept.
    kept_age: Option<u32>,
    /// Memory that is kept, and that nobody owns any more.
    kept: Vec<Region>,
}

impl fmt::Debug for FreeBlocks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes at {} in {} free blocks", self.bytes, self.base, self.free.len())
    }
}

impl FreeBlocks {
    fn take(&mut self, bytes: u32, alignment: u32) -> Option<Region> {
        if let Some(left) = &mut self.until_refusal {
            match left.checked_sub(1) {
                Some(fewer) => *left = fewer,
                None => {
                    self.until_refusal = None;
                    return None;
                }
            }
        }
        for index in 0..self.free.len() {
            let Free { offset, bytes: length } = self.free[index];
            let padding = (self.base + offset).0.wrapping_neg() & (alignment - 1);
            let reserved = bytes.checked_add(GAP_BYTES)?;
            let Some(rest) = length.checked_sub(padding).and_then(|rest| rest.checked_sub(reserved)) else { continue };
            let start = offset + padding;
            let after = Free { offset: start + reserved, bytes: rest };
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
            self.used += bytes;
            return Some(Region::new(self.base, start, bytes));
        }
        None
    }

    fn give_back(&mut self, region: Region) {
        self.used -= region.bytes();
        let (offset, bytes) = (region.offset(), region.bytes() + GAP_BYTES);
        let index = self.free.partition_point(|free| free.offset < offset);
        self.free.insert(index, Free { offset, bytes });
        self.join(index);
        if index > 0 {
            self.join(index - 1);
        }
        if self.free.len() <= EXPECTED_BLOCKS && self.free.capacity() > EXPECTED_BLOCKS {
            self.free.shrink_to(EXPECTED_BLOCKS);
        }
    }

    /// Merges a free block with the next one if they are adjacent.
    fn join(&mut self, index: usize) {
        if let (Some(&this), Some(&next)) = (self.free.get(index), self.free.get(index + 1))
            && this.offset + this.bytes == next.offset
        {
            self.free[index].bytes += next.bytes;
            self.free.remove(index + 1);
        }
    }

    fn largest_free(&self) -> u32 {
        self.free.iter().map(|free| free.bytes.saturating_sub(GAP_BYTES)).max().unwrap_or(0)
    }
}

/// The pool's allocator. Clones refer to the same pool.
#[derive(Clone, Debug)]
pub struct Pool(Rc<RefCell<FreeBlocks>>);

impl Pool {
    /// A pool that is entirely free.
    pub fn new(base: BusAddr, bytes: u32) -> Self {
        // The capacity suffices for ordinary use, so that the heap's use does not change.
        let mut free = Vec::with_capacity(EXPECTED_BLOCKS);
        // The V3D's address space ends long before the offset of a gap could overflow.
        let bytes = bytes.min(u32::MAX - GAP_BYTES);
        if bytes > 0 {
            free.push(Free { offset: 0, bytes: bytes + GAP_BYTES });
        }
        Self(Rc::new(RefCell::new(FreeBlocks {
            base,
            bytes,
            used: 0,
            free,
            until_refusal: None,
            age: 0,
            kept_age: None,
            kept: Vec::new(),
        })))
    }

    /// Allocates `bytes` bytes (at least one) whose bus address is a multiple of `alignment`, a power of two.
    pub fn allocate(&self, bytes: u32, alignment: u32) -> Result<Buffer, Error> {
        if !alignment.is_power_of_two() {
            return Err(Error::Alignment(alignment));
        }
        let bytes = bytes.max(1);
        let mut blocks = self.0.borrow_mut();
        match blocks.take(bytes, alignment) {
            Some(region) => {
                let holder = Cell::new(0);
                let age = blocks.age;
                Ok(Buffer(Rc::new(Allocation { region, pool: self.clone(), holder, age })))
            }
            None => Err(Error::PoolExhausted { bytes, alignment, largest: blocks.largest_free() }),
        }
    }

    /// Keeps all memory that is allocated now, since the GPU may still access it: what its owners drop is not used again. It counts as used.
    pub fn keep_all(&self) {
        let mut blocks = self.0.borrow_mut();
        blocks.age = blocks.age.saturating_add(1);
        blocks.kept_age = Some(blocks.age);
    }

    /// Frees what was kept and has no owner: the GPU has been reset.
    pub fn release_kept(&self) {
        let mut blocks = self.0.borrow_mut();
        blocks.kept_age = None;
        while let Some(region) = blocks.kept.pop() {
            blocks.give_back(region);
        }
    }

    /// Makes the allocation after the next `allocations` fail, once: for tests of error handling.
    pub fn refuse_after(&self, allocations: u32) {
        self.0.borrow_mut().until_refusal = Some(allocations);
    }

    /// Cancels [`Pool::refuse_after`]; returns whether no allocation has failed because of it.
    pub fn refuse_none(&self) -> bool {
        self.0.borrow_mut().until_refusal.take().is_some()
    }

    /// Whether both are the same pool.
    #[inline]
    pub fn is_same(&self, other: &Self) -> bool {
        Rc::ptr_eq(&self.0, &other.0)
    }

    /// Whether `owner` may be a buffer of this pool: `false` for buffers of other pools, `true` for owners that are not buffers.
    pub fn may_have(&self, owner: &Owner) -> bool {
        owner.downcast_ref::<Allocation>().is_none_or(|allocation| allocation.pool.is_same(self))
    }

    /// Bus address of the pool's first byte.
    pub fn base(&self) -> BusAddr {
        self.0.borrow().base
    }

    /// Size of the pool in bytes.
    pub fn bytes(&self) -> u32 {
        self.0.borrow().bytes
    }

    /// Number of allocated bytes, without the gaps between buffers.
    pub fn used(&self) -> u32 {
        self.0.borrow().used
    }

    /// Size of the longest buffer that can be allocated, in bytes.
    pub fn largest_free(&self) -> u32 {
        self.0.borrow().largest_free()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BASE: BusAddr = BusAddr(0xc100_0000);

    #[test]
    fn what_is_freed_is_whole_again() {
        let pool = Pool::new(BASE, 0x1_0000);
        let first = pool.allocate(100, 16).unwrap();
        let second = pool.allocate(5000, 4096).unwrap();
        let third = pool.allocate(8, 8).unwrap();
        assert!(second.address().is_aligned(4096));
        assert!(third.region().end_exclusive() <= second.address(), "the room in front of an aligned buffer is used");
        assert_eq!(pool.used(), 5108);
        drop(second);
        drop(first);
        drop(third);
        assert_eq!((pool.used(), pool.largest_free()), (0, 0x1_0000));
    }

    #[test]
    fn running_out_says_how_much_there_is() {
        let pool = Pool::new(BASE, 4096);
        let all = pool.allocate(4000, 1).unwrap();
        let error = pool.allocate(97, 1).unwrap_err();
        assert_eq!(error, Error::PoolExhausted { bytes: 97, alignment: 1, largest: 96 - GAP_BYTES });
        let rest = pool.allocate(96 - GAP_BYTES, 1).unwrap();
        assert_eq!((pool.largest_free(), rest.region().end_exclusive()), (0, BASE + 4096));
        drop(all);
        drop(rest);
        assert_eq!(pool.allocate(4096, 4096).unwrap().region().end_exclusive(), BASE + 4096, "all of it");
        assert_eq!(pool.allocate(1, 3).unwrap_err(), Error::Alignment(3));
    }

    /// Many allocations of odd sizes in a fixed random order: none overlap or touch, and no memory is lost.
    #[test]
    fn a_hundred_thousand_allocations_leave_nothing_behind() {
        let pool = Pool::new(BASE, 1 << 20);
        let mut held: Vec<Buffer> = Vec::new();
        let mut random = oorandom::Rand32::new(1);
        for _ in 0..100_000 {
            let (size, alignment) = (random.rand_range(0..4096), 1 << random.rand_range(0..8));
            if random.rand_range(0..2) == 0 && !held.is_empty() {
                drop(held.swap_remove(size as usize % held.len()));
            } else if let Ok(buffer) = pool.allocate(size, alignment) {
                let region = buffer.region();
                let touches = held.iter().any(|other| {
                    let (end, other_end) = (region.end_exclusive(), other.region().end_exclusive());
                    other.address() < end + GAP_BYTES && region.address() < other_end + GAP_BYTES
                });
                assert!(!touches && region.address().is_aligned(alignment));
                held.push(buffer);
            }
        }
        assert_eq!(pool.used(), held.iter().map(|buffer| buffer.region().bytes()).sum::<u32>());
        held.clear();
        assert_eq!((pool.used(), pool.largest_free()), (0, 1 << 20));
    }

    #[test]
    fn memory_is_there_as_long_as_anybody_has_it() {
        let pool = Pool::new(BASE, 4096);
        let buffer = pool.allocate(100, 4).unwrap();
        let (other, owner) = (buffer.clone(), buffer.owner());
        assert!(buffer.is_same(&other) && pool.may_have(&owner));
        drop(buffer);
        drop(other);
        assert_eq!(pool.used(), 100);
        drop(owner);
        assert_eq!(pool.used(), 0);
        let elsewhere = Pool::new(BASE, 4096).allocate(1, 1).unwrap();
        assert!(!elsewhere.is_of(&pool) && !pool.may_have(&elsewhere.owner()));
    }

    /// Memory that a program may still access when the GPU cannot be stopped, beside memory that is allocated later.
    #[test]
    fn what_is_kept_is_not_used_again_before_it_is_released() {
        let pool = Pool::new(BASE, 4096);
        let (first, second) = (pool.allocate(100, 4).unwrap(), pool.allocate(100, 4).unwrap());
        let (kept, end) = (first.address(), second.region().end_exclusive());
        pool.keep_all();
        let later = pool.allocate(100, 4).unwrap();
        drop(first);
        assert_eq!(pool.used(), 300, "it counts as used");
        drop(later);
        assert_eq!(pool.used(), 200, "what is younger is freed");
        pool.keep_all();
        drop(second);
        assert!(pool.allocate(100, 4).unwrap().address() >= end);
        pool.release_kept();
        assert_eq!((pool.used(), pool.allocate(100, 4).unwrap().address()), (0, kept));
    }

    #[test]
    fn a_refusal_comes_when_it_was_asked_for_and_once() {
        let pool = Pool::new(BASE, 4096);
        pool.refuse_after(1);
        let first = pool.allocate(1, 1);
        let second = pool.allocate(1, 1);
        let third = pool.allocate(1, 1);
        assert!(first.is_ok() && second.is_err() && third.is_ok());
        assert!(!pool.refuse_none());
    }
}
