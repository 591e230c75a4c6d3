//! The greatest use of each stack since boot
//!
//! The boot code fills the stacks with [`STACK_PAINT`]; the lowest word that has another value marks the greatest depth.

use super::layout::{STACK_PAINT, Stack};

/// Number of bytes of `stack` that have ever been used.
#[must_use]
pub fn deepest_use_bytes(stack: &Stack) -> usize {
    let words = stack.range.len() / 8;
    let start = stack.range.start as *const u64;
    let untouched = (0..words)
        .take_while(|&word| {
            // SAFETY: `word` is inside of the stack's range, which is permanently mapped and initialised. The current stack changes meanwhile, hence the
            // volatile read.
            unsafe { start.add(word).read_volatile() == STACK_PAINT }
        })
        .count();
    (words - untouched) * 8
}
