//! Loops of vertex shaders that might never end: those that only attributes end.
//!
//! A batch of vertices has 16 elements, and the program runs in all of them, with a vertex or without one. Elements without a vertex contain anything, and
//! nothing tells a program which they are, so that a loop that waits for them may go on for ever; on boards such shaders hang [mesa CI]. What does not depend
//! on attributes is the same in all elements. A loop is therefore accepted if it has an exit by a condition that changes from one iteration to the next and
//! does not depend on attributes: where vertices would leave the loop in the end, the other elements do, too.
//!
//! The condition may also compare such a value with the smaller of two integers of which one is the same everywhere: `i < min(count, 8)`.

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
    /// Whether a value may depend on attributes, by value.
    varies: Vec<bool>,
}

impl<'p> Facts<'p> {
    fn of(program: &'p Program) -> Self {
        let mut facts = Self { program, varies: vec![false; program.values.len()] };
        // What a loop carries may depend on what is computed behind it, so this is repeated until nothing changes.
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
            // Within the loop: elements that have left it do not count.
            Op::Carried(..) => self.inside(op).is_some_and(|[init, next]| self.varies(init) || self.varies(next)),
            // Elements may have left it at different times.
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

    /// What a carried value is at first, and in the next iteration.
    fn inside(&self, op: &Op) -> Option<[Value; 2]> {
        let Op::Carried(number, index) = *op else { return None };
        let carried = self.program.loops.get(number as usize)?.carried.get(index as usize)?;
        Some([carried.init, carried.next_inside])
    }

    /// Whether no element goes on once some condition that is the same for all has become false, where `mask` says which elements go on.
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

    /// The same where `mask` says which elements do not go on.
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

    /// Whether a condition changes from one iteration to the next, and is the same for all elements.
    fn is_the_end_of_all(&self, number: u32, condition: Value) -> bool {
        !self.varies(condition) && self.changes(number, condition)
    }

    /// Whether elements go on only while something that is the same for all is below a limit that is no greater than another such thing.
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

    /// Whether a value depends on what the loop changes.
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
                    // The first that is carried are the elements themselves.
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
