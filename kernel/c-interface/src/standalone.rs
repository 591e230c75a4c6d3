//! What the library needs in a kernel without Rust: an allocator of the kernel's functions, and an end for panics.

use alloc::alloc::{GlobalAlloc, Layout};
use core::cell::UnsafeCell;
use core::ffi::c_void;

use crate::board::v3d_board;

/// The functions of the first device's board.
#[derive(Clone, Copy)]
struct Functions {
    context: *mut c_void,
    allocate: extern "C" fn(*mut c_void, usize, usize) -> *mut c_void,
    release: extern "C" fn(*mut c_void, *mut c_void),
}

/// An allocator that has no memory before the first device.
struct KernelMemory(UnsafeCell<Option<Functions>>);

// SAFETY: one core calls all functions, and they are not reentrant (rules of the crate), so that no two accesses overlap.
unsafe impl Sync for KernelMemory {}

#[global_allocator]
static MEMORY: KernelMemory = KernelMemory(UnsafeCell::new(None));

/// Uses a board's functions for memory from now on, if there are none yet. Returns whether there are any.
pub(crate) fn use_memory(board: &v3d_board) -> bool {
    // SAFETY: see `Sync`.
    let functions = unsafe { &mut *MEMORY.0.get() };
    if let (None, Some(allocate), Some(release)) = (&functions, board.allocate, board.release) {
        *functions = Some(Functions { context: board.context, allocate, release });
    }
    functions.is_some()
}

// SAFETY: the kernel's function returns memory of its own that fits to the layout, or NULL (documentation of `v3d_board`).
unsafe impl GlobalAlloc for KernelMemory {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: see `Sync`.
        match unsafe { *self.0.get() } {
            Some(functions) => (functions.allocate)(functions.context, layout.size(), layout.align()).cast(),
            None => core::ptr::null_mut(),
        }
    }

    unsafe fn dealloc(&self, memory: *mut u8, _: Layout) {
        // SAFETY: see `Sync`.
        if let Some(functions) = unsafe { *self.0.get() } {
            (functions.release)(functions.context, memory.cast());
        }
    }
}

#[panic_handler]
fn panic(info: &core::panic::PanicInfo<'_>) -> ! {
    // A debugger finds the sentence here.
    crate::failure::note(info.message());
    loop {
        core::hint::spin_loop();
    }
}
