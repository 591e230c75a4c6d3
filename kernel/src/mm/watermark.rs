//! The deepest use of each stack, measured by the paint that is left
//!
//! The boot code fills the stacks with [`STACK_PAINT`]; the lowest word that no longer holds it is the deepest use so far.

use super::layout::{STACK_PAINT, Stack};

/// Bytes of `stack` that were ever used.
#[must_use]
pub fn deepest_use_bytes(stack: &Stack) -> usize {
    let words = stack.range.len() / 8;
    let start = stack.range.start as *const u64;
    let untouched = (0..words)
        .take_while(|&word| {
            // SAFETY: `word` is inside the stack's range, which is mapped and initialised for ever. The word may change
            // under a running stack, hence the volatile read.
            unsafe { start.add(word).read_volatile() == STACK_PAINT }
        })
        .count();
    (words - untouched) * 8
}
