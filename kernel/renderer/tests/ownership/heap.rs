//! An allocator that counts the bytes that each thread has allocated and not freed.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    static TAKEN: Cell<isize> = const { Cell::new(0) };
}

#[global_allocator]
static HEAP: Counting = Counting;

struct Counting;

fn count(bytes: isize) {
    // The counter of a thread does not exist any more while the thread ends.
    let _ = TAKEN.try_with(|taken| taken.set(taken.get() + bytes));
}

// SAFETY: Every call is forwarded to the system's allocator with unchanged arguments.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as isize);
        // SAFETY: The caller has the same obligations.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        count(-(layout.size() as isize));
        // SAFETY: The memory is from `alloc` above, and therefore from the system's allocator.
        unsafe { System.dealloc(memory, layout) }
    }
}

/// Bytes that this thread has allocated and not freed.
pub(crate) fn taken() -> isize {
    TAKEN.with(Cell::get)
}

/// Checks that `work` frees all heap memory. It is run once before, for allocations that occur once per process.
pub(crate) fn assert_gives_back(what: &str, mut work: impl FnMut()) {
    work();
    let before = taken();
    work();
    assert_eq!(taken(), before, "{what}: bytes of the heap");
}
