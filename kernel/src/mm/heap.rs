//! The kernel's heap: one linked-list allocator behind a lock
//!
//! GPU memory does not come from here but from the pool of its own; what the heap serves is small, and its linear search of
//! the free list does not matter.

use core::{
    alloc::{GlobalAlloc, Layout},
    ptr::{self, NonNull},
};

use linked_list_allocator::Heap;

use super::layout;
use crate::irq_lock::IrqLock;

/// The heap with the figures that `mem` prints.
struct Counted {
    heap: Heap,
    max_used_bytes: usize,
    allocations: u64,
}

/// The global allocator.
struct KernelHeap(IrqLock<Counted>);

#[global_allocator]
static HEAP: KernelHeap = KernelHeap(IrqLock::new(Counted { heap: Heap::empty(), max_used_bytes: 0, allocations: 0 }));

// SAFETY: blocks come from `Heap`, which hands out each byte of its region once, and every access to it is behind a lock
// that also masks interrupts.
unsafe impl GlobalAlloc for KernelHeap {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let mut counted = self.0.lock();
        let Ok(block) = counted.heap.allocate_first_fit(layout) else {
            return ptr::null_mut();
        };
        counted.allocations += 1;
        counted.max_used_bytes = counted.max_used_bytes.max(counted.heap.used());
        block.as_ptr()
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        if let Some(block) = NonNull::new(block) {
            // SAFETY: the caller gives back a block of this allocator with the layout it asked for (contract of
            // `GlobalAlloc`).
            unsafe { self.0.lock().heap.deallocate(block, layout) };
        }
    }
}

/// Gives the heap its memory. Called once, at boot.
pub fn init() {
    let range = layout::heap();
    let mut counted = HEAP.0.lock();
    assert!(counted.heap.size() == 0, "the heap has its memory already");
    // SAFETY: linker.ld keeps the region free of everything else, it is mapped read-write, and the assertion above makes
    // this its only use.
    unsafe { counted.heap.init(range.start as *mut u8, range.len()) };
}

/// Figures of the heap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Usage {
    /// Bytes there are.
    pub size_bytes: usize,
    /// Bytes in use now.
    pub used_bytes: usize,
    /// The most bytes that ever were in use.
    pub max_used_bytes: usize,
    /// Allocations since boot.
    pub allocations: u64,
}

/// How full the heap is.
#[must_use]
pub fn usage() -> Usage {
    let counted = HEAP.0.lock();
    Usage {
        size_bytes: counted.heap.size(),
        used_bytes: counted.heap.used(),
        max_used_bytes: counted.max_used_bytes,
        allocations: counted.allocations,
    }
}
