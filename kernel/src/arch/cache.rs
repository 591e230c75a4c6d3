//! Cache maintenance by address, for memory that a device accesses without the CPU's caches
//!
//! The GPU pool and the framebuffer are mapped non-cacheable and need no maintenance. The mailbox's messages, which are in cached memory, do.
//!
//! # Sources
//! ARM DDI 0487, D7.5 (cache maintenance); Cortex-A53: lines of 64 bytes at both levels.

use core::arch::asm;

/// Bytes of a cache line, which is also the alignment that keeps a buffer's neighbours out of its lines.
pub const LINE_BYTES: usize = 64;

/// Writes the lines that hold `words` back to memory and drops them from all caches.
///
/// Called before a device reads the buffer, so that the device sees the CPU's stores, and after a device has written it, so that the CPU does not read stale
/// cache lines.
pub fn clean_and_invalidate(words: &mut [u32]) {
    let start = words.as_ptr() as usize & !(LINE_BYTES - 1);
    let end_exclusive = words.as_ptr() as usize + size_of_val(words);
    for line in (start..end_exclusive).step_by(LINE_BYTES) {
        // SAFETY: clean-and-invalidate never loses data, whatever shares the line; the address is inside a live, mapped
        // slice (or at the head of its first line).
        unsafe { asm!("dc civac, {}", in(reg) line, options(nostack, preserves_flags)) };
    }
    // SAFETY: a barrier has no effect but ordering.
    unsafe { asm!("dsb sy", options(nostack, preserves_flags)) };
}
