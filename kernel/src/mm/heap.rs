//! The kernel's heap: a two-level segregated fit allocator behind a lock
//!
//! GPU memory is allocated from a separate pool. The shader compiler allocates and frees small objects by the hundred thousand, so both take a constant time.

use core::{
    alloc::{GlobalAlloc, Layout},
    mem::MaybeUninit,
    ptr::{self, NonNull},
    slice,
};

use rlsf::Tlsf;

use super::layout;
use crate::irq_lock::IrqLock;

/// Blocks of up to 32 B << 22, 128 MiB, in classes of a sixteenth of their power of two.
type Blocks = Tlsf<'static, u32, u16, 22, 16>;

/// The heap with the statistics that `mem` prints. Sizes are those that were asked for.
struct Counted {
    blocks: Blocks,
    size_bytes: usize,
    used_bytes: usize,
    max_used_bytes: usize,
    /// The same since [`start_peak`].
    peak_bytes: usize,
    allocations: u64,
}

impl Counted {
    const EMPTY: Self =
        Self { blocks: Blocks::new(), size_bytes: 0, used_bytes: 0, max_used_bytes: 0, peak_bytes: 0, allocations: 0 };

    fn add(&mut self, bytes: usize) {
        self.used_bytes += bytes;
        self.max_used_bytes = self.max_used_bytes.max(self.used_bytes);
        self.peak_bytes = self.peak_bytes.max(self.used_bytes);
    }
}

/// The global allocator.
struct KernelHeap(IrqLock<Counted>);

#[global_allocator]
static HEAP: KernelHeap = KernelHeap(IrqLock::new(Counted::EMPTY));

// SAFETY: blocks come from `Tlsf`, which never returns a byte twice, and all accesses to it are guarded by a lock that also masks interrupts.
unsafe impl GlobalAlloc for KernelHeap {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let mut counted = self.0.lock();
        let Some(block) = counted.blocks.allocate(layout) else {
            return ptr::null_mut();
        };
        counted.allocations += 1;
        counted.add(layout.size());
        block.as_ptr()
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        if let Some(block) = NonNull::new(block) {
            let mut counted = self.0.lock();
            // SAFETY: the caller returns a block of this allocator with its original alignment (contract of `GlobalAlloc`).
            unsafe { counted.blocks.deallocate(block, layout.align()) };
            counted.used_bytes -= layout.size();
        }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        let (Some(block), Ok(new)) = (NonNull::new(block), Layout::from_size_align(new_size, layout.align())) else {
            return ptr::null_mut();
        };
        let mut counted = self.0.lock();
        // SAFETY: the block is one of this allocator's, with this alignment (contract of `GlobalAlloc`).
        let Some(moved) = (unsafe { counted.blocks.reallocate(block, new) }) else {
            return ptr::null_mut();
        };
        counted.allocations += 1;
        counted.used_bytes -= layout.size();
        counted.add(new_size);
        moved.as_ptr()
    }
}

/// Initialises the heap with its memory. Called once, at boot.
pub fn init() {
    let range = layout::heap();
    let mut counted = HEAP.0.lock();
    assert!(counted.size_bytes == 0, "the heap has its memory already");
    // SAFETY: linker.ld reserves the region, it is mapped read-write, and the assertion above ensures that it is used only once.
    let memory = unsafe { slice::from_raw_parts_mut(range.start as *mut MaybeUninit<u8>, range.len()) };
    let _ = counted.blocks.insert_free_block(memory);
    counted.size_bytes = range.len();
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
    counted.peak_bytes = counted.used_bytes;
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
        size_bytes: counted.size_bytes,
        used_bytes: counted.used_bytes,
        max_used_bytes: counted.max_used_bytes,
        allocations: counted.allocations,
    }
}
