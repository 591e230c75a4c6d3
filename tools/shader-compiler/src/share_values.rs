//! Creates values, with common subexpression elimination.
//!
//! Values that are computed in a loop are shared within the loop only.

use v3d_hw::qpu::{AddOp, MulOp};

use crate::ssa::{Access, Computation, Lookup, Op, Program, Relation, Step, StreamWord, Value};

/// A snapshot of a program's lengths.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mark {
    values: usize,
    steps: usize,
    loops: usize,
    lookups: usize,
    accesses: usize,
    open: usize,
    log: usize,
}

impl Program {
    /// The value of an operation.
    pub(crate) fn value(&mut self, op: Op) -> Value {
        self.work += 1;
        if let Some(value) = self.folded(&op) {
            return value;
        }
        // Constants and uniforms are operands, not computations: they can be shared across loops.
        let everywhere = matches!(op, Op::Const(_) | Op::Uniform(_));
        let shared = !matches!(op, Op::PackByte(..) | Op::PackInteger(..) | Op::PackHalf(..) | Op::PackAll(_))
            && !op.has_effect();
        if shared {
            let scopes = core::iter::once(0).chain(self.open.iter().map(|number| number + 1));
            for scope in scopes {
                if let Some(&value) = self.known.get(&(op, scope)) {
                    if let Some(shared) = self.values.get_mut(value.index()) {
                        shared.is_free &= self.free;
                    }
                    return value;
                }
            }
        }
        let value = self.push(op);
        if shared {
            let scope = if everywhere { 0 } else { self.open.last().map_or(0, |number| number + 1) };
            self.known.insert((op, scope), value);
            self.log.push((op, scope));
        }
        if !matches!(op, Op::Const(_) | Op::Uniform(_) | Op::Carried(..)) {
            self.steps.push(Step::Compute(value));
        }
        value
    }

    /// A constant that is never shared, so that it is distinguishable from others.
    pub(crate) fn unshared_constant(&mut self, bits: u32) -> Value {
        self.push(Op::Const(bits))
    }

    /// A new value of an operation.
    pub(crate) fn push(&mut self, op: Op) -> Value {
        let is_mask = self.yields_mask(&op);
        self.values.push(Computation { op, span: self.here, is_mask, is_free: self.free });
        Value(self.values.len() as u32 - 1)
    }

    /// A snapshot, for backtracking.
    pub(crate) fn mark(&self) -> Mark {
        let (values, steps, loops) = (self.values.len(), self.steps.len(), self.loops.len());
        let (lookups, accesses, open) = (self.lookups.len(), self.accesses.len(), self.open.len());
        Mark { values, steps, loops, lookups, accesses, open, log: self.log.len() }
    }

    /// Number of values created since a snapshot.
    pub(crate) fn made_since(&self, mark: &Mark) -> usize {
        self.steps.len() - mark.steps
    }

    /// Whether textures were looked up since then.
    pub(crate) fn looks_up_since(&self, mark: &Mark) -> bool {
        self.lookups.len() > mark.lookups
    }

    /// Removes everything that was created since a snapshot.
    pub(crate) fn return_to(&mut self, mark: &Mark) {
        for key in self.log.drain(mark.log..) {
            self.known.remove(&key);
        }
        self.values.truncate(mark.values);
        self.steps.truncate(mark.steps);
        self.loops.truncate(mark.loops);
        self.lookups.truncate(mark.lookups);
        self.accesses.truncate(mark.accesses);
        self.open.truncate(mark.open);
    }

    pub(crate) fn bits(&mut self, bits: u32) -> Value {
        self.value(Op::Const(bits))
    }

    pub(crate) fn float(&mut self, value: f32) -> Value {
        self.bits(value.to_bits())
    }

    pub(crate) fn uniform(&mut self, word: StreamWord) -> Value {
        let next = self.words.len() as u32;
        let number = *self.numbers.entry(word).or_insert(next);
        if number == next {
            self.words.push(word);
        }
        self.value(Op::Uniform(number))
    }

    pub(crate) fn lookup(&mut self, lookup: Lookup) -> Value {
        self.lookups.push(lookup);
        self.value(Op::Texture(self.lookups.len() as u32 - 1))
    }

    /// A row of the VPM as it is now.
    pub(crate) fn vpm_row(&mut self, setup: Value) -> Value {
        self.value(Op::VpmRow(setup, self.vpm_time))
    }

    pub(crate) fn access(&mut self, access: Access) -> Value {
        if !matches!(access, Access::Load { .. }) {
            self.vpm_time += 1;
        }
        self.accesses.push(access);
        self.value(Op::Access(self.accesses.len() as u32 - 1))
    }

    /// Computes what may be reassociated: operators of the source.
    pub(crate) fn freely<T>(&mut self, compute: impl FnOnce(&mut Self) -> T) -> T {
        let before = core::mem::replace(&mut self.free, true);
        let result = compute(self);
        self.free = before;
        result
    }

    pub(crate) fn alu(&mut self, op: AddOp, a: Value, b: Value) -> Value {
        self.value(Op::Add(op, a, b))
    }

    pub(crate) fn fadd(&mut self, a: Value, b: Value) -> Value {
        self.alu(AddOp::Fadd, a, b)
    }

    pub(crate) fn fsub(&mut self, a: Value, b: Value) -> Value {
        self.alu(AddOp::Fsub, a, b)
    }

    pub(crate) fn fmul(&mut self, a: Value, b: Value) -> Value {
        self.value(Op::Mul(MulOp::Fmul, a, b))
    }

    pub(crate) fn compare(&mut self, relation: Relation, a: Value, b: Value) -> Value {
        self.value(Op::Compare(relation, a, b))
    }

    pub(crate) fn select(&mut self, condition: Value, accept: Value, reject: Value) -> Value {
        self.value(Op::Select(condition, accept, reject))
    }

    pub(crate) fn and(&mut self, a: Value, b: Value) -> Value {
        self.alu(AddOp::And, a, b)
    }

    pub(crate) fn or(&mut self, a: Value, b: Value) -> Value {
        self.alu(AddOp::Or, a, b)
    }

    /// The complement of a mask.
    pub(crate) fn not(&mut self, mask: Value) -> Value {
        self.alu(AddOp::Not, mask, mask)
    }

    /// A mask restricted to the elements where a condition is true.
    pub(crate) fn narrowed(&mut self, mask: Value, condition: Value) -> Value {
        if self.constant(mask).is_some() || self.constant(condition).is_some() {
            return self.and(mask, condition);
        }
        if let Op::Compare(relation, a, b) = self.op(condition) {
            let outside = self.compare(relation.inverse(), a, b);
            let none = self.bits(0);
            return self.value(Op::Select(outside, none, mask));
        }
        self.and(mask, condition)
    }
}
