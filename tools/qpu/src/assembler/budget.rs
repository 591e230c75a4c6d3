//! Limits of an assembly: any source is processed in bounded time and memory.
//!
//! | bound | of |
//! |---|---|
//! | [`MAX_BYTES`](crate::source::MAX_BYTES) | bytes of a source, and of all together |
//! | [`MAX_WORDS`] | words of a program |
//! | [`MAX_STEPS`] | steps: tokens, lines and iterations, counted each time they are processed, in all passes together |
//! | [`MAX_HINTS`] | names that are compared with misspelt ones to suggest a correction |
//! | `block::MAX_NESTING`, `expression::MAX_DEPTH`, `expression::MAX_CALLS`, `block::MAX_ROUNDS` | nesting, calls and repetitions |
//!
//! Exceeding a limit is an error at the place where it happens, and the rest is skipped.

use alloc::format;

use super::{Assembler, Res};
use crate::code::Code;
use crate::lexer::Token;

/// Longest program, in words. The checker keeps some 300 bytes for each.
pub const MAX_WORDS: usize = 1 << 20;
/// Steps of an assembly.
const MAX_STEPS: u64 = 1 << 25;
/// Number of names compared with misspelt ones; after that, errors suggest none.
const MAX_HINTS: usize = 1 << 20;
/// Steps that one iteration of a repetition counts as: it allocates a scope for the labels in it.
pub(super) const STEPS_OF_ROUND: u64 = 8;
/// Steps that an include counts as: it searches directories for the file.
pub(super) const STEPS_OF_INCLUDE: u64 = 1024;

impl Assembler<'_> {
    /// Counts steps.
    #[inline]
    pub(super) fn spend(&mut self, steps: u64) {
        self.steps += steps;
    }

    /// Reports an error if no steps are left.
    #[inline]
    pub(super) fn check_steps(&mut self, at: Token) -> Res {
        if self.steps <= MAX_STEPS {
            return Ok(());
        }
        self.given_up = true;
        let message = format!("assembling takes more than {MAX_STEPS} steps");
        self.error(Code::TooManySteps, at, message)
    }

    /// Whether another `names` comparisons with a misspelt name are within the limit.
    pub(super) fn may_compare(&self, names: usize) -> bool {
        let compared = self.compared.get().saturating_add(names);
        self.compared.set(compared);
        compared <= MAX_HINTS
    }
}
