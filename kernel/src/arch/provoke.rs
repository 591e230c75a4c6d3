//! Deliberate faults, for tests of the MMU and of fault reports
//!
//! Each is one instruction or one call that a correct kernel never executes; with a working MMU, none of them returns.

use core::{
    arch::asm,
    sync::atomic::{AtomicBool, Ordering},
};

use crate::mm::layout;

/// Stores to address 0, where nothing is mapped.
pub fn write_to_null() {
    // SAFETY: nothing is mapped at 0, so that the store changes no memory: it faults.
    unsafe { asm!("str xzr, [{}]", in(reg) 0usize, options(nostack, preserves_flags)) };
}

/// Stores to a constant in read-only memory.
pub fn write_to_constant() {
    let constant = layout::rodata().start;
    // SAFETY: the section is mapped read only, so that the store changes no memory: it faults.
    unsafe { asm!("str xzr, [{}]", in(reg) constant, options(nostack, preserves_flags)) };
}

/// Recurses until the stack reaches its guard page.
pub fn overflow_stack() {
    deeper(0);
}

static IN_NEXT_TICK: AtomicBool = AtomicBool::new(false);

/// Makes the timer's next tick overflow the exception stack.
pub fn overflow_stack_in_next_tick() {
    IN_NEXT_TICK.store(true, Ordering::Relaxed);
}

/// Overflows the stack if that was requested; called by the timer's handler.
pub fn overflow_if_asked() {
    if IN_NEXT_TICK.load(Ordering::Relaxed) {
        overflow_stack();
    }
}

fn deeper(depth: u64) -> u64 {
    let ballast = core::hint::black_box([depth; 64]);
    if ballast[0] == u64::MAX {
        return depth;
    }
    deeper(depth + 1) + ballast[63]
}
