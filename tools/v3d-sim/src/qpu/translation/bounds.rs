//! Bounds: what is known of the magnitude of floats in registers.
//!
//! The QPU overflows in another way than hosts do, and has no NaN. A sum or product of floats that are known to be small cannot overflow, so that it needs no
//! check. Where nothing is known of an operand, code tests once whether it is less than 2^[`SMALL`], and knows it from there on.

use crate::qpu::isa::operation::Operation;
use crate::qpu::isa::registers::{self, RegisterIndex};
use v3d_hw::qpu::SmallImmediate;

/// A number of this kind is finite, and its magnitude is less than 2 to this power.
pub(super) type Exponent = i16;

/// The power of two below which tested operands are.
pub(super) const SMALL: Exponent = 30;
const _: () = assert!(crate::qpu::io::SMALL_VARYING == (127 + SMALL as u32) << 23);
/// The greatest power of two below which a result needs no check: twice that is infinite.
const GREATEST: Exponent = 127;

/// The bounds of all registers.
#[derive(Clone, Debug)]
pub(super) struct Bounds([Option<Exponent>; 256]);

impl Bounds {
    /// Only small immediates are known.
    pub(super) fn new() -> Self {
        let mut bounds = Self([None; 256]);
        for code in 0..SmallImmediate::FIRST_ROTATION {
            let value = SmallImmediate::from_code(code).value();
            bounds.set(registers::small_immediate(code), value.and_then(of_word));
        }
        bounds
    }

    /// The bound of a register.
    pub(super) fn of(&self, register: RegisterIndex) -> Option<Exponent> {
        self.0[usize::from(register)]
    }

    /// Sets the bound of a register.
    pub(super) fn set(&mut self, register: RegisterIndex, bound: Option<Exponent>) {
        self.0[usize::from(register)] = bound;
    }

    /// The bound of an operation's results. `None` if they may be anything.
    pub(super) fn of_result(&self, operation: Operation, a: RegisterIndex, b: RegisterIndex) -> Option<Exponent> {
        let (a, b) = (self.of(a), self.of(b));
        match operation {
            Operation::Move => a,
            Operation::Itof => Some(32),
            Operation::Fadd | Operation::Fsub => Some(a?.max(b?) + 1),
            Operation::Fmul => Some(a? + b?),
            Operation::Fmin | Operation::Fmax | Operation::Fminabs | Operation::Fmaxabs => Some(a?.max(b?)),
            _ => None,
        }
        .filter(|&bound| bound <= GREATEST)
    }
}

/// The bound of a float, given as its bits.
pub(super) fn of_word(word: u32) -> Option<Exponent> {
    match word >> 23 & 0xff {
        0xff => None,
        exponent => Some(exponent as Exponent - 126),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bound_is_the_next_power_of_two() {
        let check = |value: f32, expected: Option<Exponent>| assert_eq!(of_word(value.to_bits()), expected, "{value}");
        check(1.0, Some(1));
        check(-1.99, Some(1));
        check(0.5, Some(0));
        check(1024.0, Some(11));
        check(f32::MAX, Some(128));
        check(f32::NEG_INFINITY, None);
        check(f32::NAN, None);
    }

    #[test]
    fn results_that_may_overflow_have_no_bound() {
        let mut bounds = Bounds::new();
        for (register, bound) in [(0, Some(SMALL)), (1, Some(97)), (2, Some(98)), (3, None), (4, Some(127))] {
            bounds.set(register, bound);
        }
        let check = |operation, a, b, expected| assert_eq!(bounds.of_result(operation, a, b), expected);
        check(Operation::Fmul, 0, 1, Some(127));
        check(Operation::Fmul, 0, 2, None);
        check(Operation::Fmul, 0, 3, None);
        check(Operation::Fadd, 0, 1, Some(98));
        check(Operation::Fsub, 4, 0, None);
        check(Operation::Fmax, 4, 0, Some(127));
        check(Operation::Add, 0, 0, None);
        // The small immediates 1.0 and -1, which is no float.
        check(Operation::Move, registers::small_immediate(32), 0, Some(1));
        check(Operation::Move, registers::small_immediate(31), 0, None);
    }
}
