//! The kernel's heap: a linked-list allocator behind a lock
//!
//! GPU memory is allocated from a separate pool. The heap holds only small objects, so the linear search of its free list is acceptable.

use core::{
    alloc::{GlobalAlloc, Layout},
    ptr::{self, NonNull},
};

use linked_list_allocator::Heap;

use super::layout;
use crate::irq_lock::IrqLock;

/// The heap with the statistics that `mem` prints.
struct Counted {
    heap: Heap,
    max_used_bytes: usize,
    /// The same since [`start_peak`].
    peak_bytes: usize,
    allocations: u64,
}

/// The global allocator.
struct KernelHeap(IrqLock<Counted>);

#[global_allocator]
static HEAP: KernelHeap =
    KernelHeap(IrqLock::new(Counted { heap: Heap::empty(), max_used_bytes: 0, peak_bytes: 0, allocations: 0 }));

// SAFETY: blocks come from `Heap`, which never returns a byte twice, and all accesses to it are guarded by a lock that also masks interrupts.
unsafe impl GlobalAlloc for KernelHeap {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let mut counted = self.0.lock();
        let Ok(block) = counted.heap.allocate_first_fit(layout) else {
            return ptr::null_mut();
        };
        counted.allocations += 1;
        counted.max_used_bytes = counted.max_used_bytes.max(counted.heap.used());
        counted.peak_bytes = counted.peak_bytes.max(counted.heap.used());
        block.as_ptr()
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        if let Some(block) = NonNull::new(block) {
            // SAFETY: the caller returns a block of this allocator with its original layout (contract of `GlobalAlloc`).
            unsafe { self.0.lock().heap.deallocate(block, layout) };
        }
    }
}

/// Initialises the heap with its memory. Called once, at boot.
pub fn init() {
    let range = layout::heap();
    let mut counted = HEAP.0.lock();
    assert!(counted.heap.size() == 0, "the heap has its memory already");
    // SAFETY: linker.ld reserves the region, it is mapped read-write, and the assertion above ensures that it is used only once.
    unsafe { counted.heap.init(range.start as *mut u8, range.len()) };
}

/// Statistics of the heap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Usage {
    /// Size in bytes.
    pub size_bytes: usize,
    /// Bytes in use now.
    pub used_bytes: usize,
    /// Greatest number of bytes in use since boot.
    pub max_used_bytes: usize,
    /// Allocations since boot.
    pub allocations: u64,
}

/// Begins to look for the greatest use from now on; returns the use at this moment, in bytes.
pub fn start_peak() -> usize {
    let mut counted = HEAP.0.lock();
    counted.peak_bytes = counted.heap.used();
    counted.peak_bytes
}

/// Greatest number of bytes in use since [`start_peak`].
#[must_use]
pub fn peak() -> usize {
    HEAP.0.lock().peak_bytes
}

/// Statistics of the heap.
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
