//! How an integer differs between the elements of a QPU.
//!
//! It is the sum of a part that is the same in all of them, and of a number for each that is known at compile time.
//! The invocation's number in its workgroup is 16 times that of the program, and 0 to 15 on top; the column of a tile of 8 is the lowest three bits of that,
//! and is known altogether.

use alloc::vec::Vec;

use v3d_hw::qpu::{AddOp, LANES, MulOp};

use crate::ssa::{Given, Op, Program, StreamWord, Value};

/// Computations that are looked at for one value.
const MAX_COMPUTATIONS: u32 = 200;
/// Bits of a word.
const WORD_BITS: u32 = 32;
/// What a program's part of a workgroup is a multiple of in bytes: a row of the VPM.
const ROW_BYTES_LOG2: u32 = 6;

/// A value as the sum of two parts; the sum is below 2^32.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ElementPattern {
    /// The part that all elements share is a multiple of this power of two; that of 32 if it is 0.
    pub(super) common_log2: u32,
    /// The most that it can be.
    most_common: u64,
    /// The known part of each element.
    pub(super) own: [u32; LANES],
}

impl ElementPattern {
    pub(super) const fn constant(bits: u32) -> Self {
        Self { common_log2: WORD_BITS, most_common: 0, own: [bits; LANES] }
    }

    /// A number that is the same in all elements, and of which nothing else is known.
    const UNIFORM: Self = Self { common_log2: 0, most_common: u32::MAX as u64, own: [0; LANES] };

    fn is_uniform(&self) -> bool {
        self.own.iter().all(|own| *own == self.own[0])
    }

    /// The most that the value can be in any element.
    pub(super) fn most(&self) -> u64 {
        self.most_common + u64::from(self.own.iter().copied().max().unwrap_or(0))
    }

    /// `None` if the sum may not fit into a word.
    fn checked(self) -> Option<Self> {
        (self.most() <= u64::from(u32::MAX)).then_some(self)
    }

    fn plus(self, other: Self) -> Option<Self> {
        let mut own = [0; LANES];
        for (element, sum) in own.iter_mut().enumerate() {
            *sum = self.own[element].checked_add(other.own[element])?;
        }
        let most_common = self.most_common + other.most_common;
        Self { common_log2: self.common_log2.min(other.common_log2), most_common, own }.checked()
    }

    fn times(self, factor: u32) -> Option<Self> {
        let mut own = self.own;
        for own in &mut own {
            *own = own.checked_mul(factor)?;
        }
        let common_log2 = (self.common_log2 + factor.trailing_zeros()).min(WORD_BITS);
        Self { common_log2, most_common: self.most_common.checked_mul(factor.into())?, own }.checked()
    }

    fn shifted_right(self, by: u32) -> Option<Self> {
        if self.common_log2 >= by {
            let common_log2 = if self.most_common == 0 { WORD_BITS } else { self.common_log2 - by };
            return Some(Self { common_log2, most_common: self.most_common >> by, own: self.own.map(|own| own >> by) });
        }
        let most_common = self.most() >> by;
        self.is_uniform().then_some(Self { most_common, ..Self::UNIFORM })
    }

    fn masked(self, mask: u32) -> Option<Self> {
        // Below the lowest bit of the common part, all bits are the other's.
        if self.most_common == 0 || mask.checked_shr(self.common_log2).is_none_or(|kept| kept == 0) {
            return Some(Self { own: self.own.map(|own| own & mask), ..Self::constant(0) });
        }
        let most_common = self.most().min(mask.into());
        self.is_uniform().then_some(Self { most_common, ..Self::UNIFORM })
    }
}

impl Program {
    /// The pattern of a value, if it has one. `parts` is the number of programs, or iterations, of a workgroup.
    pub(super) fn element_pattern(&self, value: Value, parts: u32) -> Option<ElementPattern> {
        let mut left = MAX_COMPUTATIONS;
        self.pattern_within(value, parts, &mut left)
    }

    fn pattern_within(&self, value: Value, parts: u32, left: &mut u32) -> Option<ElementPattern> {
        *left = left.checked_sub(1)?;
        let op = self.op(value);
        let known = match op {
            Op::Const(bits) => return Some(ElementPattern::constant(bits)),
            Op::Uniform(word) => {
                return match self.words.get(word as usize) {
                    Some(StreamWord::VpmMemory(offset)) => {
                        let most_common = u64::from(u32::MAX >> ROW_BYTES_LOG2);
                        let own = [*offset; LANES];
                        Some(ElementPattern { common_log2: ROW_BYTES_LOG2, most_common, own })
                    }
                    _ => Some(ElementPattern::UNIFORM),
                };
            }
            Op::Given(Given::Element) => {
                let own = core::array::from_fn(|element| element as u32);
                return Some(ElementPattern { own, ..ElementPattern::constant(0) });
            }
            Op::Given(Given::Part) => {
                return Some(ElementPattern {
                    most_common: u64::from(parts.saturating_sub(1)),
                    ..ElementPattern::UNIFORM
                });
            }
            Op::Given(Given::Workgroup(_)) => return Some(ElementPattern::UNIFORM),
            Op::Add(AddOp::Add, a, b) => {
                let (a, b) = (self.pattern_within(a, parts, left)?, self.pattern_within(b, parts, left)?);
                a.plus(b)
            }
            Op::Add(AddOp::Shl, a, by) => {
                let by = self.constant(by)? & 31;
                self.pattern_within(a, parts, left)?.times(1 << by)
            }
            Op::Add(AddOp::Shr, a, by) => {
                let by = self.constant(by)? & 31;
                self.pattern_within(a, parts, left)?.shifted_right(by)
            }
            Op::Add(AddOp::And, a, b) => {
                let (a, mask) = match (self.constant(a), self.constant(b)) {
                    (_, Some(mask)) => (a, mask),
                    (Some(mask), _) => (b, mask),
                    _ => return self.uniform_pattern(value, parts, left),
                };
                self.pattern_within(a, parts, left)?.masked(mask)
            }
            Op::Mul(MulOp::Mul24, a, b) => {
                let (a, b) = (self.pattern_within(a, parts, left)?, self.pattern_within(b, parts, left)?);
                let small = a.most() < 1 << 24 && b.most() < 1 << 24;
                match (a, b) {
                    _ if !small => None,
                    (a, b) if b.most_common == 0 && b.is_uniform() => a.times(b.own[0]),
                    (a, b) if a.most_common == 0 && a.is_uniform() => b.times(a.own[0]),
                    (a, b) => (a.is_uniform() && b.is_uniform()).then_some(ElementPattern::UNIFORM),
                }
            }
            _ => None,
        };
        match known {
            Some(pattern) => Some(pattern),
            None => self.uniform_pattern(value, parts, left),
        }
    }

    /// A value as the sum of another one and a constant that was added to it, also before it was shifted.
    pub(super) fn without_constant(&mut self, value: Value) -> (Value, u32) {
        match self.op(value) {
            Op::Add(AddOp::Add, a, b) => {
                let (variable, constant) = match (self.constant(a), self.constant(b)) {
                    (_, Some(constant)) => (a, constant),
                    (Some(constant), _) => (b, constant),
                    (None, None) => return (value, 0),
                };
                let (variable, further) = self.without_constant(variable);
                (variable, constant.wrapping_add(further))
            }
            Op::Add(AddOp::Shl, a, by) => {
                let Some(bits) = self.constant(by) else { return (value, 0) };
                match self.without_constant(a) {
                    (_, 0) => (value, 0),
                    (variable, constant) => (self.alu(AddOp::Shl, variable, by), constant << (bits & 31)),
                }
            }
            _ => (value, 0),
        }
    }

    /// The pattern of a result that is the same in all elements, since its operands are.
    fn uniform_pattern(&self, value: Value, parts: u32, left: &mut u32) -> Option<ElementPattern> {
        let op = self.op(value);
        if !matches!(op, Op::Add(..) | Op::Mul(..) | Op::Compare(..) | Op::Select(..) | Op::Fetch(_)) {
            return None;
        }
        let operands: Option<Vec<ElementPattern>> =
            op.operands().into_iter().map(|operand| self.pattern_within(operand, parts, left)).collect();
        operands?.iter().all(ElementPattern::is_uniform).then_some(ElementPattern::UNIFORM)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The invocation's number in a workgroup of 64.
    fn local(program: &mut Program) -> Value {
        let (part, element) = (program.value(Op::Given(Given::Part)), program.value(Op::Given(Given::Element)));
        let four = program.bits(4);
        let first = program.alu(AddOp::Shl, part, four);
        program.alu(AddOp::Add, first, element)
    }

    fn check(make: impl Fn(&mut Program, Value) -> Value, expected: Option<(u32, u64, [u32; 16])>) {
        let mut program = Program::default();
        let local = local(&mut program);
        let value = make(&mut program, local);
        let found = program.element_pattern(value, 4);
        assert_eq!(found.map(|found| (found.common_log2, found.most_common, found.own)), expected);
    }

    fn with(program: &mut Program, op: AddOp, a: Value, bits: u32) -> Value {
        let bits = program.bits(bits);
        program.alu(op, a, bits)
    }

    #[test]
    fn parts_of_an_invocations_number_are_known() {
        let numbers: [u32; 16] = core::array::from_fn(|element| element as u32);
        check(|_, local| local, Some((4, 48, numbers)));
        // Column and row of a tile of 8 by 8.
        check(|program, local| with(program, AddOp::And, local, 7), Some((32, 0, numbers.map(|number| number % 8))));
        check(|program, local| with(program, AddOp::Shr, local, 3), Some((1, 6, numbers.map(|number| number / 8))));
        // The row times 8, in words.
        let shifted = |program: &mut Program, local| {
            let row = with(program, AddOp::Shr, local, 3);
            with(program, AddOp::Shl, row, 5)
        };
        check(shifted, Some((6, 192, numbers.map(|number| number / 8 * 32))));
        // Bits 4 and 5 are the program's, and the same in all elements; but bit 3 differs, which the mask keeps as well.
        check(|program, local| with(program, AddOp::And, local, 0x38), None);
        check(|program, local| with(program, AddOp::Shr, local, 4), Some((0, 3, [0; 16])));
        // It may be negative.
        check(|program, local| with(program, AddOp::Sub, local, 8), None);
        check(|program, _| program.uniform(StreamWord::Constant(5)), Some((0, u32::MAX.into(), [0; 16])));
        check(|program, _| program.uniform(StreamWord::VpmMemory(68)), Some((6, u64::from(u32::MAX >> 6), [68; 16])));
    }
}
