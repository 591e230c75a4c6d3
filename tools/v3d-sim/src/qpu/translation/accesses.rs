//! Accesses: which micro-ops read and write which registers of the QPU.
//!
//! A value that no micro-op reads before it is overwritten never has to be stored.

use crate::qpu::block::Block;
use crate::qpu::block::micro_op::MicroOp;
use crate::qpu::isa::registers::{self, RegisterIndex, RegisterSet};
use std::collections::BTreeMap;
use v3d_hw::qpu::Condition;

/// An access of a micro-op.
#[derive(Clone, Copy, Debug)]
struct Access {
    /// Index of the micro-op.
    at: usize,
    /// It reads, and may write as well.
    reads: bool,
}

/// The accesses of consecutive micro-ops.
#[derive(Clone, Debug, Default)]
pub(super) struct Accesses {
    registers: BTreeMap<RegisterIndex, Vec<Access>>,
    /// Micro-ops that may read any register.
    of_all: Vec<usize>,
}

impl Accesses {
    /// Forgets all of them.
    pub(super) fn clear(&mut self) {
        self.registers.clear();
        self.of_all.clear();
    }

    /// Adds a micro-op, which comes after those before.
    pub(super) fn add(&mut self, at: usize, micro_op: &MicroOp) {
        match *micro_op {
            MicroOp::Operate { a, b, to, .. } => self.add_all(at, &[a, b], &[to]),
            MicroOp::Flags { a, b, to, condition: Condition::Always, .. } => self.add_all(at, &[a, b], &[to]),
            MicroOp::Conditional { a, b, to, .. } | MicroOp::Flags { a, b, to, .. } => {
                self.add_all(at, &[a, b, to], &[]);
            }
            MicroOp::Rotated { a, b, to, .. } => self.add_all(at, &[a, b, registers::R5], &[to]),
            MicroOp::Constant { to, .. }
            | MicroOp::Uniform { to, .. }
            | MicroOp::VpmRead { to, .. }
            | MicroOp::Read { to, .. } => {
                self.add_all(at, &[], &[to]);
            }
            MicroOp::Varying { to, .. } => self.add_all(at, &[], &[to, registers::COEFFICIENTS]),
            MicroOp::Unpack { from, .. } => self.add_all(at, &[from], &[registers::UNPACKED]),
            MicroOp::PackColour { from, to, .. } | MicroOp::PackA { from, to, .. } => {
                self.add_all(at, &[from, to], &[]);
            }
            MicroOp::Sfu { from, .. } => self.add_all(at, &[from, registers::R4], &[]),
            MicroOp::LoadTmu { .. } | MicroOp::Signal { .. } => self.add_all(at, &[registers::R4], &[]),
            MicroOp::Tmu { from, .. } | MicroOp::UniformsAddress { from } | MicroOp::Peripheral { from, .. } => {
                self.add_all(at, &[from], &[]);
            }
            MicroOp::Whole { .. } => self.of_all.push(at),
        }
    }

    fn add_all(&mut self, at: usize, read: &[RegisterIndex], written: &[RegisterIndex]) {
        for (registers, reads) in [(read, true), (written, false)] {
            for &register in registers {
                self.registers.entry(register).or_default().push(Access { at, reads });
            }
        }
    }

    /// The micro-op, from an index on, that reads a register before it is overwritten.
    pub(super) fn next_read(&self, register: RegisterIndex, from: usize) -> Option<usize> {
        let accesses = self.registers.get(&register).map_or(&[][..], Vec::as_slice);
        let next = accesses.get(accesses.partition_point(|access| access.at < from));
        let of_all = self.of_all.iter().copied().find(|&at| at >= from);
        match next {
            Some(next) if of_all.is_none_or(|of_all| next.at < of_all) => next.reads.then_some(next.at),
            _ => of_all,
        }
    }

    /// Whether a register is read, by a micro-op from an index on, before it is overwritten.
    pub(super) fn is_needed(&self, register: RegisterIndex, from: usize) -> bool {
        self.next_read(register, from).is_some()
    }
}

/// The registers that a program which begins with a block may read before it has written them in all elements. Behind a branch, which is executed as a whole,
/// everything counts as read.
pub(super) fn first_reads(block: &Block) -> RegisterSet {
    let mut accesses = Accesses::default();
    for (at, micro_op) in block.micro_ops_of(0, block.instructions.len()).iter().enumerate() {
        accesses.add(at, micro_op);
    }
    let mut found = RegisterSet::default();
    for register in (0..registers::ELEMENTS).filter(|&register| accesses.is_needed(register, 0)) {
        match register.checked_sub(registers::ACCUMULATORS) {
            None => found.files |= 1 << register,
            Some(number) => found.accumulators |= 1 << number,
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::qpu::isa::operation::Operation;

    #[test]
    fn values_are_needed_until_they_are_read_for_the_last_time() {
        let operate = |a, b, to| MicroOp::Operate { operation: Operation::Fadd, a, b, to };
        let mut accesses = Accesses::default();
        let micro_ops = [operate(1, 2, 3), operate(3, 3, 1), MicroOp::Whole { at: 0 }, operate(1, 1, 3)];
        for (at, micro_op) in micro_ops.iter().enumerate() {
            accesses.add(at, micro_op);
        }
        let check = |register, expected: [bool; 5]| {
            assert_eq!([0, 1, 2, 3, 4].map(|from| accesses.is_needed(register, from)), expected, "{register}");
        };
        check(1, [true, false, true, true, false]);
        check(2, [true, true, true, false, false]);
        check(3, [false, true, true, false, false]);
        check(4, [true, true, true, false, false]);
    }
}
