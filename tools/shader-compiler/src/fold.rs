//! Constant folding and algebraic simplification.

use v3d_hw::qpu::{AddOp, MulOp};

use crate::rewrites::commutes;
use crate::ssa::{Op, PackedComponent, Program, Relation, Value};

const ALL: u32 = u32::MAX;

impl Program {
    /// The value that an operation folds to, if it can be folded.
    pub(crate) fn folded(&mut self, op: &Op) -> Option<Value> {
        match *op {
            Op::Add(op, a, b) => self.folded_add(op, a, b),
            Op::Mul(op, a, b) => self.folded_mul(op, a, b),
            Op::Compare(relation, a, b) => {
                let (x, y) = (self.constant(a), self.constant(b));
                match (x, y) {
                    (Some(x), Some(y)) => Some(self.mask(relation.holds(x, y))),
                    _ if a == b => match relation {
                        Relation::Equal | Relation::SignedNotLess | Relation::UnsignedNotLess => Some(self.mask(true)),
                        Relation::NotEqual | Relation::SignedLess | Relation::UnsignedLess => Some(self.mask(false)),
                        _ => None,
                    },
                    // Comparing a mask with 0 yields the mask or its inverse.
                    (None, Some(0)) if relation == Relation::NotEqual && self.is_mask(a) => Some(a),
                    (None, Some(0)) if relation == Relation::Equal && self.is_mask(a) => Some(self.not(a)),
                    _ => None,
                }
            }
            Op::Select(condition, accept, reject) => match self.constant(condition) {
                Some(0) => Some(reject),
                Some(_) => Some(accept),
                None => {
                    let known = |(holds, arm)| match self.known_if(condition, holds, arm) {
                        Some(known) => self.mask(known),
                        None => arm,
                    };
                    let [yes, no] = [(true, accept), (false, reject)].map(known);
                    let is_same = (yes, no) == (accept, reject);
                    if is_same { self.rewritten(op) } else { Some(self.select(condition, yes, no)) }
                }
            },
            Op::Unpack(PackedComponent::Byte(byte), a) => {
                let bits = self.constant(a)?;
                Some(self.float((bits >> (8 * byte) & 0xff) as f32 / 255.0))
            }
            Op::PackByte(byte, word, value) => match (self.constant(word), self.constant(value)) {
                (Some(word), Some(value)) => {
                    let shift = 8 * u32::from(byte);
                    Some(self.bits(word & !(0xff << shift) | u32::from(colour(value)) << shift))
                }
                _ => None,
            },
            Op::PackAll(value) => {
                let bits = self.constant(value)?;
                Some(self.bits(u32::from(colour(bits)) * 0x0101_0101))
            }
            _ => None,
        }
    }

    /// What a mask is in the elements in which a comparison holds, or in those in which it does not, if that follows from the comparison.
    fn known_if(&self, comparison: Value, holds: bool, mask: Value) -> Option<bool> {
        let Op::Compare(relation, a, b) = self.op(comparison) else { return None };
        let by_itself = |mask| match self.op(mask) {
            Op::Compare(_, x, y) if (x, y) != (a, b) => None,
            Op::Compare(other, ..) if other == relation => Some(holds),
            Op::Compare(other, ..) if other == relation.inverse() => Some(!holds),
            _ => None,
        };
        match self.op(mask) {
            // Elements that were kept until here, and are discarded by the comparison.
            Op::Add(AddOp::And, x, y) => [x, y].map(by_itself).contains(&Some(false)).then_some(false),
            _ => by_itself(mask),
        }
    }

    fn mask(&mut self, holds: bool) -> Value {
        self.bits(if holds { ALL } else { 0 })
    }

    /// Whether a value's highest bit is known to be 0.
    pub(crate) fn is_below_sign(&self, value: Value) -> bool {
        let is_positive = |value| self.constant(value).is_some_and(|bits| bits as i32 >= 0);
        match self.op(value) {
            Op::Add(AddOp::And, a, b) => is_positive(a) || is_positive(b),
            Op::Add(AddOp::Shr, _, by) => self.constant(by).is_some_and(|by| by & 31 != 0),
            _ => is_positive(value),
        }
    }

    /// Whether a value is known to be 0 or all ones.
    pub(crate) fn is_mask(&self, value: Value) -> bool {
        self.values.get(value.index()).is_none_or(|computation| computation.is_mask)
    }

    /// Whether the result of an operation is known to be 0 or all ones.
    pub(crate) fn yields_mask(&self, op: &Op) -> bool {
        match *op {
            Op::Const(bits) => bits == 0 || bits == ALL,
            Op::Compare(..) => true,
            Op::Add(AddOp::And | AddOp::Or | AddOp::Xor | AddOp::Not, a, b) => self.is_mask(a) && self.is_mask(b),
            Op::Select(_, a, b) => self.is_mask(a) && self.is_mask(b),
            _ => false,
        }
    }

    fn folded_add(&mut self, op: AddOp, a: Value, b: Value) -> Option<Value> {
        let (x, y) = (self.constant(a), self.constant(b));
        if let (Some(x), Some(y)) = (x, y)
            && let Some(bits) = add_result(op, x, y)
        {
            return Some(self.bits(bits));
        }
        if let Some(rewritten) = self.rewritten(&Op::Add(op, a, b)) {
            return Some(rewritten);
        }
        match op {
            AddOp::Not => match self.op(a) {
                Op::Compare(relation, a, b) => Some(self.compare(relation.inverse(), a, b)),
                _ if b != a => Some(self.not(a)),
                _ => None,
            },
            _ if op.is_unary() && a != b => Some(self.alu(op, a, a)),
            // Operands of commutative operations are sorted, so that equal ones are shared.
            _ if commutes(op) && a > b => Some(self.alu(op, b, a)),
            _ => None,
        }
    }

    fn folded_mul(&mut self, op: MulOp, a: Value, b: Value) -> Option<Value> {
        match (op, self.constant(a), self.constant(b)) {
            (MulOp::Fmul, Some(x), Some(y)) => Some(self.float(f32::from_bits(x) * f32::from_bits(y))),
            (MulOp::Mul24, Some(x), Some(y)) => Some(self.bits((x & 0xff_ffff).wrapping_mul(y & 0xff_ffff))),
            (MulOp::Fmul, ..) if a > b => Some(self.fmul(b, a)),
            _ => self.rewritten(&Op::Mul(op, a, b)),
        }
    }
}

/// A float between 0 and 1 as a byte.
fn colour(bits: u32) -> u8 {
    libm::roundf(f32::from_bits(bits).clamp(0.0, 1.0) * 255.0) as u8
}

/// The result of an add ALU operation on constants; `None` for operations that are not folded.
fn add_result(op: AddOp, a: u32, b: u32) -> Option<u32> {
    let (x, y) = (f32::from_bits(a), f32::from_bits(b));
    Some(match op {
        AddOp::Fadd => (x + y).to_bits(),
        AddOp::Fsub => (x - y).to_bits(),
        AddOp::Fmin => x.min(y).to_bits(),
        AddOp::Fmax => x.max(y).to_bits(),
        AddOp::Fminabs => x.abs().min(y.abs()).to_bits(),
        AddOp::Fmaxabs => x.abs().max(y.abs()).to_bits(),
        AddOp::Ftoi => x as i32 as u32,
        AddOp::Itof => (a as i32 as f32).to_bits(),
        AddOp::Add => a.wrapping_add(b),
        AddOp::Sub => a.wrapping_sub(b),
        AddOp::Shr => a >> (b & 31),
        AddOp::Asr => ((a as i32) >> (b & 31)) as u32,
        AddOp::Ror => a.rotate_right(b & 31),
        AddOp::Shl => a << (b & 31),
        AddOp::Min => (a as i32).min(b as i32) as u32,
        AddOp::Max => (a as i32).max(b as i32) as u32,
        AddOp::And => a & b,
        AddOp::Or => a | b,
        AddOp::Xor => a ^ b,
        AddOp::Not => !a,
        AddOp::Clz => a.leading_zeros(),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use v3d_sim::qpu::isa::alu;
    use v3d_sim::random::Random;

    /// Number of operand pairs for each operation.
    const PAIRS: usize = 20_000;

    /// A float that neither overflows nor becomes denormal in an operation of two such floats, and whose truncation fits an integer of 32 bits.
    fn float(random: &mut Random) -> u32 {
        let word = random.next_u64() as u32;
        word & 0x807f_ffff | (100 + random.below(57)) << 23
    }

    fn apart(a: u32, b: u32) -> u32 {
        a.abs_diff(b)
    }

    #[test]
    fn selections_know_what_their_comparison_says_of_masks() {
        let mut program = Program::default();
        let [a, b, other] = [0, 1, 2].map(|number| program.value(Op::Varying(number)));
        let less = program.compare(Relation::FloatLess, a, b);
        let not_less = program.compare(Relation::FloatNotLess, a, b);
        let kept = program.compare(Relation::FloatLess, other, b);
        let (none, all) = (program.bits(0), program.bits(ALL));
        let kept_and = [less, not_less].map(|mask| program.and(kept, mask));
        for (condition, accept, reject, expected) in [
            (less, not_less, all, not_less),
            (less, less, none, less),
            (not_less, not_less, less, all),
            (less, kept_and[1], kept, program.select(less, none, kept)),
            (less, kept, kept_and[0], program.select(less, kept, none)),
            (less, a, b, program.value(Op::Select(less, a, b))),
            (less, kept_and[0], kept, program.value(Op::Select(less, kept_and[0], kept))),
        ] {
            assert_eq!(program.select(condition, accept, reject), expected, "{program}");
        }
    }

    /// Integers, minima and maxima are exact. Sums, products and conversions are rounded to nearest here, as WGSL allows, and toward zero by the QPU: the
    /// difference is at most one step.
    #[test]
    fn constants_are_what_the_reference_alu_computes() {
        let mut random = Random::named("constant folding");
        for &op in AddOp::ALL {
            let of_floats = matches!(
                op,
                AddOp::Fadd | AddOp::Fsub | AddOp::Fmin | AddOp::Fmax | AddOp::Fminabs | AddOp::Fmaxabs | AddOp::Ftoi
            );
            let steps = u32::from(matches!(op, AddOp::Fadd | AddOp::Fsub | AddOp::Itof));
            for _ in 0..PAIRS {
                let [a, b] = [(); 2].map(|()| if of_floats { float(&mut random) } else { random.value() });
                let (Some(folded), Some(computed)) = (add_result(op, a, b), alu::add(op, a, b)) else { continue };
                assert!(apart(folded, computed.value) <= steps, "{op:?} of {a:#010x} and {b:#010x}: {folded:#010x}");
            }
        }
        let mut program = Program::default();
        for op in [MulOp::Fmul, MulOp::Mul24] {
            for _ in 0..PAIRS {
                let [a, b] =
                    [(); 2].map(|()| if op == MulOp::Fmul { float(&mut random) } else { random.next_u64() as u32 });
                let [x, y] = [a, b].map(|bits| program.bits(bits));
                let folded = program.folded_mul(op, x, y).and_then(|value| program.constant(value));
                let computed = alu::mul(op, a, b).value;
                assert!(
                    folded.is_some_and(|folded| apart(folded, computed) <= u32::from(op == MulOp::Fmul)),
                    "{op:?} of {a:#010x} and {b:#010x}: {folded:?} instead of {computed:#010x}"
                );
            }
        }
    }
}
