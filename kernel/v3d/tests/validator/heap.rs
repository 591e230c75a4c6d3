//! An allocator that counts what a thread has allocated, and that can be exhausted.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

/// Bytes of a thread's heap.
#[derive(Clone, Copy)]
struct Bytes {
    taken: isize,
    most: isize,
    limit: isize,
}

thread_local! {
    static HEAP_OF_THREAD: Cell<Bytes> = const { Cell::new(Bytes { taken: 0, most: 0, limit: isize::MAX }) };
}

#[global_allocator]
static HEAP: Counting = Counting;

struct Counting;

/// Counts bytes; `false` if there are not so many.
fn count(bytes: isize) -> bool {
    // A thread that is ending has no counter any more.
    let counted = HEAP_OF_THREAD.try_with(|heap| {
        let before = heap.get();
        let taken = before.taken + bytes;
        if bytes > 0 && taken > before.limit {
            return false;
        }
        heap.set(Bytes { taken, most: before.most.max(taken), ..before });
        true
    });
    counted.unwrap_or(true)
}

// SAFETY: Every call goes to the system's allocator with the arguments as they came, or fails as an allocator may.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if !count(layout.size() as isize) {
            return std::ptr::null_mut();
        }
        // SAFETY: The caller keeps the same contract.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        count(-(layout.size() as isize));
        // SAFETY: The memory is from `alloc` above, and so from the system's.
        unsafe { System.dealloc(memory, layout) }
    }
}

/// The result of `work`, and the most bytes that it has taken at a time, where it can take no more than `limit`.
pub(crate) fn most_taken<R>(limit: usize, work: impl FnOnce() -> R) -> (R, usize) {
    let limits = |limit| {
        HEAP_OF_THREAD.with(|heap| {
            let now = heap.get();
            heap.set(Bytes { most: now.taken, limit, ..now });
            now
        })
    };
    let before = HEAP_OF_THREAD.with(Cell::get).taken;
    limits(before.saturating_add_unsigned(limit));
    let result = work();
    (result, (limits(isize::MAX).most - before) as usize)
}
