//! Bounds: what is known of the magnitude of floats in registers.
//!
//! The QPU overflows in another way than hosts do, and has no NaN. A sum or product of floats that are known to be small cannot overflow, so that it needs no
//! check. Where nothing is known of an operand, code tests once whether it is less than 2^[`SMALL`], and knows it from there on.

use crate::qpu::block::micro_op::MicroOp;
use crate::qpu::isa::operation::Operation;
use crate::qpu::isa::registers::{self, RegisterIndex};
use std::collections::{BTreeMap, BTreeSet};
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
pub(super) struct Bounds {
    exponents: [Option<Exponent>; 256],
    /// The registers whose floats are [normal](Self::is_normal).
    normal: [bool; 256],
}

impl Bounds {
    /// Only small immediates are known.
    pub(super) fn new() -> Self {
        let mut bounds = Self { exponents: [None; 256], normal: [false; 256] };
        for code in 0..SmallImmediate::FIRST_ROTATION {
            let value = SmallImmediate::from_code(code).value();
            bounds.set(registers::small_immediate(code), value.and_then(of_word));
            bounds.set_normal(registers::small_immediate(code), value.is_some_and(is_normal));
        }
        bounds
    }

    /// The bound of a register.
    pub(super) fn of(&self, register: RegisterIndex) -> Option<Exponent> {
        self.exponents[usize::from(register)]
    }

    /// Sets the bound of a register.
    pub(super) fn set(&mut self, register: RegisterIndex, bound: Option<Exponent>) {
        self.exponents[usize::from(register)] = bound;
    }

    /// Whether the floats of a register are normal, zero or, if it has no bound, infinite; with a bound, the host orders them as the QPU does.
    pub(super) fn is_normal(&self, register: RegisterIndex) -> bool {
        self.normal[usize::from(register)]
    }

    /// Sets whether a register's floats are normal.
    pub(super) fn set_normal(&mut self, register: RegisterIndex, is_normal: bool) {
        self.normal[usize::from(register)] = is_normal;
    }

    /// Whether the results of an operation are normal: those of arithmetic, which makes denormals zeros.
    pub(super) fn has_normal_results(&self, operation: Operation, a: RegisterIndex, b: RegisterIndex) -> bool {
        match operation {
            Operation::Fadd | Operation::Fsub | Operation::Fmul | Operation::Itof => true,
            Operation::Fmin | Operation::Fmax | Operation::Fminabs | Operation::Fmaxabs => {
                self.is_normal(a) && self.is_normal(b)
            }
            Operation::Move => self.is_normal(a),
            _ => false,
        }
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

/// Whether a word is zero or a float that is no denormal, infinity or NaN.
pub(super) const fn is_normal(word: u32) -> bool {
    word == 0 || !matches!(word >> 23 & 0xff, 0 | 0xff)
}

/// Uniforms that float arithmetic takes, so that one test at the start of a segment serves all of them.
#[derive(Clone, Debug, Default)]
pub(super) struct FloatUniforms {
    /// By their distance from the next one at the start of the segment.
    pub(super) distances: BTreeSet<i32>,
    /// Those of them that are compared, and must be [normal](Bounds::is_normal) for that.
    pub(super) compared: BTreeSet<i32>,
    /// The micro-ops that read them, with the distances.
    readers: BTreeMap<usize, i32>,
}

impl FloatUniforms {
    /// The fewest that are tested at once: fewer are tested where they are used.
    const FEWEST: usize = 3;

    /// Those of some micro-ops, given with their indices, up to the first that may take an unknown number of uniforms.
    pub(super) fn of<'a>(micro_ops: impl Iterator<Item = (usize, &'a MicroOp)>) -> Self {
        let mut uniforms = Self::default();
        // The uniforms that registers hold: their distances, and their readers.
        let mut holders: BTreeMap<RegisterIndex, (i32, usize)> = BTreeMap::new();
        let mut next = 0;
        for (index, micro_op) in micro_ops {
            match *micro_op {
                MicroOp::Uniform { to, .. } => {
                    holders.insert(to, (next, index));
                    next += 1;
                }
                MicroOp::Operate { operation, a, b, to }
                | MicroOp::Conditional { operation, a, b, to, .. }
                | MicroOp::Flags { operation, a, b, to, .. } => {
                    let compares = matches!(operation, Operation::Fmin | Operation::Fmax);
                    if compares || matches!(operation, Operation::Fadd | Operation::Fsub | Operation::Fmul) {
                        for &(distance, reader) in [a, b].iter().filter_map(|register| holders.get(register)) {
                            uniforms.distances.insert(distance);
                            uniforms.compared.extend(compares.then_some(distance));
                            uniforms.readers.insert(reader, distance);
                        }
                    }
                    let moved = holders.get(&a).copied().filter(|_| operation == Operation::Move);
                    match moved.filter(|_| matches!(micro_op, MicroOp::Operate { .. })) {
                        Some(held) => holders.insert(to, held),
                        None => holders.remove(&to),
                    };
                }
                MicroOp::Constant { to, .. }
                | MicroOp::Varying { to, .. }
                | MicroOp::Rotated { to, .. }
                | MicroOp::VpmRead { to, .. }
                | MicroOp::Read { to, .. }
                | MicroOp::PackColour { to, .. }
                | MicroOp::PackA { to, .. } => {
                    holders.remove(&to);
                }
                MicroOp::Unpack { .. } => {
                    holders.remove(&registers::UNPACKED);
                }
                MicroOp::Sfu { .. } | MicroOp::LoadTmu { .. } => {
                    holders.remove(&registers::R4);
                }
                MicroOp::Signal { .. } | MicroOp::Peripheral { .. } => {}
                MicroOp::Tmu { .. } | MicroOp::UniformsAddress { .. } | MicroOp::Whole { .. } => break,
            }
        }
        if uniforms.distances.len() < Self::FEWEST && uniforms.compared.is_empty() { Self::default() } else { uniforms }
    }

    /// Whether a micro-op reads one of them.
    pub(super) fn has_reader(&self, micro_op: usize) -> bool {
        self.readers.contains_key(&micro_op)
    }

    /// Whether a micro-op reads one that is tested for being normal.
    pub(super) fn has_normal_reader(&self, micro_op: usize) -> bool {
        self.readers.get(&micro_op).is_some_and(|distance| self.compared.contains(distance))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Five uniforms: two are added, one is moved and then multiplied, one is an integer, one is compared. After the write to a TMU nothing is known.
    #[test]
    fn uniforms_of_float_arithmetic_are_found() {
        let port = registers::PORT_A;
        let uniform = MicroOp::Uniform { to: port, at: 0 };
        let operate = |operation, a, to| MicroOp::Operate { operation, a, b: port, to };
        let coordinate = v3d_hw::qpu::address_map::TmuCoordinate::S;
        let micro_ops = [
            uniform,
            operate(Operation::Fadd, 0, 0),
            uniform,
            operate(Operation::Add, 0, 1),
            uniform,
            operate(Operation::Move, port, 2),
            uniform,
            operate(Operation::Fsub, 0, 0),
            operate(Operation::Fmul, 2, 2),
            uniform,
            operate(Operation::Fmax, 0, 0),
            MicroOp::Tmu { unit: 0, coordinate, from: 0, at: 0 },
            uniform,
            operate(Operation::Fadd, 0, 0),
        ];
        let of = |count: usize| {
            FloatUniforms::of(micro_ops.iter().enumerate().take(count).map(|(i, micro_op)| (i + 10, micro_op)))
        };
        let found = of(micro_ops.len());
        assert_eq!((&found.distances, &found.compared), (&BTreeSet::from([0, 2, 3, 4]), &BTreeSet::from([4])));
        let readers = [10, 12, 14, 16, 19, 22];
        assert_eq!(readers.map(|reader| found.has_reader(reader)), [true, false, true, true, true, false]);
        assert_eq!(readers.map(|reader| found.has_normal_reader(reader)), [false, false, false, false, true, false]);
        assert!(of(7).distances.is_empty(), "too few for a test at once");
    }

    #[test]
    fn words_are_normal_unless_they_are_denormal_infinite_or_nan() {
        let check = |word: u32, expected: bool| assert_eq!(is_normal(word), expected, "{word:#x}");
        check(0, true);
        check(1, false);
        check(0x007f_ffff, false);
        check(0x0080_0000, true);
        check(0x8000_0000, false);
        check(0xbf80_0000, true);
        check(0x7f80_0000, false);
        check(0x7fc0_0000, false);
    }

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
