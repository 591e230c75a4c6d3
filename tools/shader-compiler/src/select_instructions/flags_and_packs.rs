//! Conditions as flags, and packed results.

use alloc::vec;

use v3d_hw::qpu::{AddOp, Condition, MulOp, PackA, PackMul};

use super::{Maker, Selector, opposite};
use crate::machine::{Operand, Operation, Pack, Target, Work};
use crate::ssa::{Op, Program, Relation, Value};

impl Selector<'_> {
    /// Sets the flags from a mask or comparison, and returns the condition for its being true.
    pub(super) fn condition(&mut self, value: Value) -> Condition {
        let zero = |program: &Program, value: Value| program.constant(value) == Some(0);
        let Op::Compare(relation, a, b) = self.program.op(value) else {
            if self.flags != Some(value) {
                if !self.sets_flags_itself(value) {
                    let mask = self.operand(value);
                    let mut test = self.operation(Work::Move, vec![mask], Target::Nothing);
                    test.sets_flags = true;
                    self.emit(test);
                }
                self.flags = Some(value);
            }
            return Condition::ZClear;
        };
        let (test, negated) = match relation {
            Relation::FloatNotEqual
            | Relation::NotEqual
            | Relation::FloatNotLess
            | Relation::MagnitudeNotGreater
            | Relation::SignedNotLess
            | Relation::UnsignedNotLess => (relation.inverse(), true),
            other => (other, false),
        };
        let (op, condition) = match test {
            Relation::FloatEqual => (AddOp::Fsub, Condition::ZSet),
            Relation::FloatLess => (AddOp::Fsub, Condition::NSet),
            // C is set if the first operand is greater [silicon].
            Relation::MagnitudeGreater => (AddOp::Fmaxabs, Condition::CSet),
            Relation::Equal => (AddOp::Xor, Condition::ZSet),
            Relation::SignedLess if zero(self.program, b) => (AddOp::Or, Condition::NSet),
            Relation::SignedLess => (AddOp::Xor, Condition::ZClear),
            _ => (AddOp::Sub, Condition::CSet),
        };
        if self.flags != Some(value) {
            let mut operands = self.floats(matches!(op, AddOp::Fsub | AddOp::Fmaxabs), a, b);
            let mut work = Work::Add(op);
            let by_sign = match test {
                Relation::Equal | Relation::SignedLess => true,
                // -0.0 has the sign bit set, but is not less than 0: only a subtraction can tell.
                Relation::FloatLess => self.is_never_minus_zero(a),
                _ => false,
            };
            if zero(self.program, b) && by_sign && !matches!(operands[0], Operand::Part(..)) {
                (work, operands) = (Work::Move, vec![operands[0]]);
            } else if op == AddOp::Xor && test == Relation::SignedLess {
                // a < b if the minimum of both is not b.
                let least = self.machine.register();
                let min = self.operation(Work::Add(AddOp::Min), operands, Target::Register(least));
                self.emit(min);
                operands = vec![Operand::Register(least), self.operand(b)];
            }
            let mut compare = self.operation(work, operands, Target::Nothing);
            compare.sets_flags = true;
            self.emit(compare);
            self.flags = Some(value);
        }
        if negated { opposite(condition) } else { condition }
    }

    /// Makes the operation that computes a mask set the flags, instead of a separate test of the mask, if it is an add ALU operation in this block and no
    /// later operation uses the flags. Returns whether that was possible.
    pub(super) fn sets_flags_itself(&mut self, mask: Value) -> bool {
        let Some(&register) = self.registers.get(&mask) else { return false };
        let writes = |operation: &&mut Operation| operation.writes() == Some(register);
        if self.block.iter_mut().filter(writes).count() != 1 {
            return false;
        }
        let uses_flags = |operation: &Operation| operation.sets_flags || operation.condition != Condition::Always;
        for operation in self.block.iter_mut().rev() {
            let is_maker = operation.target == Target::Register(register);
            if uses_flags(operation) {
                return false;
            }
            if is_maker {
                let is_plain = operation.merges.is_none() && operation.pack == Pack::None;
                operation.sets_flags = is_plain && matches!(operation.work, Work::Add(op) if !op.gives_floats());
                return operation.sets_flags;
            }
        }
        false
    }

    /// Whether a value is the result of float arithmetic, which never yields -0.0 [silicon].
    fn is_never_minus_zero(&self, value: Value) -> bool {
        match self.program.op(value) {
            Op::Add(op, ..) => matches!(op, AddOp::Fadd | AddOp::Fsub | AddOp::Itof | AddOp::Fminabs | AddOp::Fmaxabs),
            Op::Const(bits) => bits != 0x8000_0000,
            Op::Mul(op, ..) => op == MulOp::Fmul,
            Op::Varying(_) | Op::PointCoordinate(_) => true,
            _ => false,
        }
    }

    /// Packs a product, or a value that is moved, into a byte of a word. The mul ALU packs results of its byte operations as floats, too: fragment shaders that
    /// boards were measured with pack by moves [measured]. Only what is unpacked must be an operand of a float operation.
    pub(super) fn pack_color(&mut self, value: Value, pack: PackMul, word: Option<Value>, part: Value) {
        let target = Target::Register(self.register_of(value));
        let merges = word.map(|word| match self.operand(word) {
            Operand::Register(register) => Some(register),
            other => match self.moved(other) {
                Operand::Register(register) => Some(register),
                _ => None,
            },
        });
        let mut operation = if self.makers[part.index()] == Maker::User && matches!(self.program.op(part), Op::Mul(..))
        {
            self.plain(part, target)
        } else {
            match self.part(part, None) {
                Some(unpacked) => self.operation(Work::Mul(MulOp::Fmul), vec![unpacked, Operand::Small(32)], target),
                None => {
                    let operand = self.operand(part);
                    self.operation(Work::Mul(MulOp::V8min), vec![operand, operand], target)
                }
            }
        };
        operation.pack = Pack::Mul(pack);
        operation.merges = merges.flatten();
        self.emit(operation);
    }

    /// An operation with its result packed into half of a register of file A.
    pub(super) fn pack_half(&mut self, value: Value, op: AddOp, half: u8, word: Option<Value>, part: Value) {
        let register = self.register_of(value);
        self.machine.in_file_a.push(register);
        let merges = match word.map(|word| self.operand(word)) {
            Some(Operand::Register(register)) => Some(register),
            Some(other) => match self.moved(other) {
                Operand::Register(register) => Some(register),
                _ => None,
            },
            None => None,
        };
        let target = Target::Register(register);
        let mut operation = if self.makers[part.index()] == Maker::User {
            self.plain(part, target)
        } else {
            let operand = self.operand(part);
            let operands = if op.is_unary() { vec![operand] } else { vec![operand, operand] };
            self.operation(Work::Add(op), operands, target)
        };
        operation.pack = Pack::A(if half == 0 { PackA::Half0 } else { PackA::Half1 });
        operation.merges = merges;
        self.emit(operation);
    }
}
