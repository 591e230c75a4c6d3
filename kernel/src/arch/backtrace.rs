//! Return addresses, read from the chain of frame records
//!
//! The kernel is built with frame pointers: `x29` points at a pair {caller's `x29`, return address}, and the boot code ends the chain with a zero [AAPCS64
//! 6.4.6]. A damaged chain must not fault during a panic: only pairs inside the kernel's stacks are read, and their addresses must rise.

use core::arch::asm;

use crate::mm::layout;

/// Return addresses, innermost first, at most `MAX_ADDRESSES` of them.
#[derive(Clone, Debug)]
pub struct Backtrace {
    frame_pointer: usize,
    left: usize,
}

/// The longest backtrace. More frames of an endless recursion would add no information.
const MAX_ADDRESSES: usize = 24;

/// The backtrace of the function that calls this one.
#[must_use]
#[inline(always)]
pub fn here() -> Backtrace {
    let frame_pointer: usize;
    // SAFETY: reads one register.
    unsafe { asm!("mov {}, x29", out(reg) frame_pointer, options(nomem, nostack, preserves_flags)) };
    from_frame(frame_pointer)
}

/// The backtrace of interrupted code whose `x29` had this value.
#[must_use]
pub fn from_frame(frame_pointer: usize) -> Backtrace {
    Backtrace { frame_pointer, left: MAX_ADDRESSES }
}

impl Iterator for Backtrace {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        let frame = self.frame_pointer;
        let inside =
            layout::stacks().iter().any(|stack| stack.range.contains(&frame) && stack.range.contains(&(frame + 15)));
        if !inside || !frame.is_multiple_of(16) || self.left == 0 {
            return None;
        }
        self.left -= 1;
        // SAFETY: both words lie inside one of the kernel's stacks, which are mapped and always hold initialised bytes
        // (they are painted at boot); the pointer is aligned to 16.
        let [caller, return_address] = unsafe { *(frame as *const [usize; 2]) };
        self.frame_pointer = if caller > frame { caller } else { 0 };
        (return_address != 0).then_some(return_address)
    }
}
