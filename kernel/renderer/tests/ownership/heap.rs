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
    // A thread that is ending has no counter any more.
    let _ = TAKEN.try_with(|taken| taken.set(taken.get() + bytes));
}

// SAFETY: Every call goes to the system's allocator with the arguments as they came.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as isize);
        // SAFETY: The caller keeps the same contract.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        count(-(layout.size() as isize));
        // SAFETY: The memory is from `alloc` above, and so from the system's.
        unsafe { System.dealloc(memory, layout) }
    }
}

/// Bytes that this thread has allocated and not freed.
pub(crate) fn taken() -> isize {
    TAKEN.with(Cell::get)
}

/// Checks that `work` frees all heap memory. It runs once before, for what is allocated once per process.
pub(crate) fn assert_gives_back(what: &str, mut work: impl FnMut()) {
    work();
    let before = taken();
    work();
    assert_eq!(taken(), before, "{what}: bytes of the heap");
}
