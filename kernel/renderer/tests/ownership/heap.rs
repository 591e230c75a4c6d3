//! The heap of the test binary, which counts what each thread has taken and not given back.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    static TAKEN: Cell<isize> = const { Cell::new(0) };
}

#[global_allocator]
static HEAP: Counting = Counting;

struct Counting;

fn count(bytes: isize) {
    // A thread that ends has nothing left to count with.
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

/// Bytes that this thread has taken and not given back.
pub(crate) fn taken() -> isize {
    TAKEN.with(Cell::get)
}

/// Fails if `work` leaves anything behind in the heap. All of it is done once before, for what is made once in the life of a program.
pub(crate) fn assert_gives_back(what: &str, mut work: impl FnMut()) {
    work();
    let before = taken();
    work();
    assert_eq!(taken(), before, "{what}: bytes of the heap");
}
