//! Loops of vertex shaders that may never end, because their exit depends on attributes.
//!
//! A batch of vertices has 16 elements, and the program is executed in all of them, with a vertex or without one. Elements without a vertex have undefined
//! attributes, and a program cannot tell which they are, so a loop may wait for them for ever; on boards such shaders hang [mesa CI]. Values that do not
//! depend on attributes are the same in all elements (uniform). A loop is therefore accepted if it has an exit with a uniform condition that changes from one
//! iteration to the next: when it becomes true, all elements leave.
//!
//! The condition may also compare such a value with the minimum of two integers of which one is uniform: `i < min(count, 8)`.

use alloc::vec;
use alloc::vec::Vec;

use v3d_hw::qpu::AddOp;

use crate::diagnostic::{Result, refuse};
use crate::limit::Limit;
use crate::ssa::{Op, Program, Relation, Step, Value};

/// Refuses loops that elements without a vertex may keep from ending.
pub(crate) fn check(program: &Program) -> Result<()> {
    let facts = Facts::of(program);
    for step in &program.steps {
        if let Step::Begin(number) = *step
            && let Some(data) = program.loops.get(number as usize)
            && let Some(again) = data.again
            && !facts.ends(number, again)
        {
            return refuse(data.span, &Limit::VERTEX_LOOP);
        }
    }
    Ok(())
}

struct Facts<'p> {
    program: &'p Program,
    /// For each value whether it may depend on attributes.
    varies: Vec<bool>,
}

impl<'p> Facts<'p> {
    fn of(program: &'p Program) -> Self {
        let mut facts = Self { program, varies: vec![false; program.values.len()] };
        // A carried value may depend on values that are computed after it: iterate to a fixed point.
        loop {
            let mut changed = false;
            for index in 0..program.values.len() {
                if !facts.varies[index] && facts.found_to_vary(&program.values[index].op) {
                    facts.varies[index] = true;
                    changed = true;
                }
            }
            if !changed {
                return facts;
            }
        }
    }

    fn varies(&self, value: Value) -> bool {
        self.varies.get(value.index()).copied().unwrap_or(true)
    }

    fn found_to_vary(&self, op: &Op) -> bool {
        match *op {
            Op::Attribute(_) => true,
            // Within the loop, elements that have left it are ignored.
            Op::Carried(..) => self.inside(op).is_some_and(|[init, next]| self.varies(init) || self.varies(next)),
            // Elements may have left the loop at different times.
            Op::Left(number, index) => {
                let data = self.program.loops.get(number as usize);
                data.is_none_or(|data| {
                    data.again.is_none_or(|again| self.varies(again))
                        || data
                            .carried
                            .get(index as usize)
                            .is_none_or(|it| self.varies(it.next) || self.varies(it.init))
                })
            }
            _ => self.program.operands(op).into_iter().any(|operand| self.varies(operand)),
        }
    }

    /// A carried value's initial value and its value for the next iteration.
    fn inside(&self, op: &Op) -> Option<[Value; 2]> {
        let Op::Carried(number, index) = *op else { return None };
        let carried = self.program.loops.get(number as usize)?.carried.get(index as usize)?;
        Some([carried.init, carried.next_inside])
    }

    /// Whether no element continues once some uniform condition has become false, where `mask` is the mask of continuing elements.
    fn ends(&self, number: u32, mask: Value) -> bool {
        if self.is_the_end_of_all(number, mask) {
            return true;
        }
        match self.program.op(mask) {
            Op::Const(bits) => bits == 0,
            Op::Add(AddOp::And, a, b) => self.ends(number, a) || self.ends(number, b),
            Op::Add(AddOp::Or, a, b) => self.ends(number, a) && self.ends(number, b),
            Op::Add(AddOp::Not, a, _) => self.never_stays(number, a),
            Op::Compare(relation, a, b) => self.is_limited(number, relation, a, b),
            Op::Select(condition, a, b) => {
                let accepted = self.ends(number, a) || self.ends(number, condition);
                let rejected = self.ends(number, b) || self.never_stays(number, condition);
                accepted && rejected
            }
            _ => false,
        }
    }

    /// The same, where `mask` is the mask of elements that do not continue.
    fn never_stays(&self, number: u32, mask: Value) -> bool {
        if self.is_the_end_of_all(number, mask) {
            return true;
        }
        match self.program.op(mask) {
            Op::Add(AddOp::Not, a, _) => self.ends(number, a),
            Op::Compare(relation, a, b) => self.is_limited(number, relation.inverse(), a, b),
            Op::Add(AddOp::Or, a, b) => self.never_stays(number, a) || self.never_stays(number, b),
            Op::Add(AddOp::And, a, b) => self.never_stays(number, a) && self.never_stays(number, b),
            _ => false,
        }
    }

    /// Whether a condition changes from one iteration to the next, and is uniform.
    fn is_the_end_of_all(&self, number: u32, condition: Value) -> bool {
        !self.varies(condition) && self.changes(number, condition)
    }

    /// Whether elements continue only while a uniform value is below a limit that is not greater than another uniform value.
    fn is_limited(&self, number: u32, relation: Relation, a: Value, b: Value) -> bool {
        match relation {
            Relation::SignedLess => self.is_the_end_of_all(number, a) && self.has_upper_limit(b),
            Relation::SignedNotLess => self.is_the_end_of_all(number, b) && self.has_upper_limit(a),
            _ => false,
        }
    }

    fn has_upper_limit(&self, value: Value) -> bool {
        match self.program.op(value) {
            Op::Add(AddOp::Min, a, b) => self.has_upper_limit(a) || self.has_upper_limit(b),
            _ => !self.varies(value),
        }
    }

    /// Whether a value depends on values that the loop modifies.
    fn changes(&self, number: u32, value: Value) -> bool {
        let mut seen = vec![false; self.program.values.len()];
        let mut work = vec![value];
        while let Some(value) = work.pop() {
            match seen.get_mut(value.index()) {
                Some(seen) if !*seen => *seen = true,
                _ => continue,
            }
            let op = self.program.op(value);
            match op {
                Op::Carried(of, index) => {
                    let Some([init, next]) = self.inside(&op) else { continue };
                    // The first carried value is the mask of active elements.
                    if of == number && index > 0 && next != value {
                        return true;
                    }
                    work.extend([init, next]);
                }
                Op::Left(of, index) => {
                    let carried = self.program.loops.get(of as usize).and_then(|it| it.carried.get(index as usize));
                    work.extend(carried.map(|carried| [carried.init, carried.next]).into_iter().flatten());
                }
                _ => work.extend(self.program.operands(&op)),
            }
        }
        false
    }
}
