//! Pass `hoist-invariants`: loop-invariant code motion.
//!
//! Arithmetic without side effects can be executed before the loop, since a loop's body is executed at least once, and in all elements. Each result occupies
//! a register during the whole loop, so only code is moved that saves an operation: comparisons and unpacked components are flags and operands of the
//! operations that use them, and a value that is fused with its only user costs no instruction.

use alloc::vec;
use alloc::vec::Vec;

use hashbrown::HashSet;

use crate::ssa::{Op, Program, Step, Value};

/// Maximum number of results that are moved out of a loop: with more, the loop would have too few registers.
const MAX_MOVED: usize = 12;

/// The users of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Users {
    None,
    One(Value),
    Several,
}

/// Moves invariant computations out of loops, inner loops first.
pub(crate) fn hoist_invariants(program: &mut Program) {
    let ends = program.steps.iter().filter_map(|step| match *step {
        Step::End(number) => Some(number),
        _ => None,
    });
    let ends: Vec<u32> = ends.collect();
    if ends.is_empty() {
        return;
    }
    let users = users(program);
    ends.into_iter().for_each(|number| hoist_out_of(program, number, &users));
}

/// The users of each value; loop-carried values count as having several.
fn users(program: &Program) -> Vec<Users> {
    let mut users = vec![Users::None; program.values.len()];
    let mut note = |value: Value, user: Users| {
        let known = &mut users[value.index()];
        *known = if *known == Users::None { user } else { Users::Several };
    };
    for step in &program.steps {
        match *step {
            Step::Compute(user) => {
                program.each_operand(user, |value| note(value, Users::One(user)));
            }
            Step::Begin(number) | Step::End(number) => {
                for carried in &program.loops[number as usize].carried {
                    note(carried.init, Users::Several);
                    note(carried.next, Users::Several);
                }
            }
        }
    }
    users
}

fn hoist_out_of(program: &mut Program, number: u32, users: &[Users]) {
    let position = |wanted: Step| program.steps.iter().position(|step| *step == wanted);
    let (Some(begin), Some(end)) = (position(Step::Begin(number)), position(Step::End(number))) else { return };
    let body = &program.steps[begin..end];
    let (mut loops, mut inside) = (HashSet::new(), HashSet::new());
    for step in body {
        match *step {
            Step::Begin(number) => {
                loops.insert(number);
            }
            Step::Compute(value) => {
                inside.insert(value);
            }
            Step::End(_) => {}
        }
    }
    let mut moved: Vec<Value> = Vec::new();
    for step in body {
        let Step::Compute(value) = *step else { continue };
        if moved.len() == MAX_MOVED {
            break;
        }
        let op = program.op(value);
        let varies = |operand: &Value| {
            inside.contains(operand) || matches!(program.op(*operand), Op::Carried(of, _) if loops.contains(&of))
        };
        let is_invariant = is_arithmetic(&op) && !program.operands(&op).iter().any(varies);
        let is_free = match users[value.index()] {
            Users::One(user) => inside.contains(&user) && computes_operand(program, user, value),
            Users::None | Users::Several => false,
        };
        if is_invariant && !is_free {
            inside.remove(&value);
            moved.push(value);
        }
    }
    if moved.is_empty() {
        return;
    }
    program.steps.retain(|step| !matches!(step, Step::Compute(value) if moved.contains(value)));
    let begin = program.steps.iter().position(|step| *step == Step::Begin(number)).unwrap_or(0);
    program.steps.splice(begin..begin, moved.into_iter().map(Step::Compute));
}

/// Whether an operation yields the same result whenever it is executed.
const fn is_arithmetic(op: &Op) -> bool {
    matches!(op, Op::Add(..) | Op::Mul(..) | Op::Special(..) | Op::Fetch(_) | Op::Rotate(..))
}

/// Whether a value can be fused with its user: the operation of the user computes it.
fn computes_operand(program: &Program, user: Value, operand: Value) -> bool {
    match program.op(user) {
        Op::Texture(_)
        | Op::Special(..)
        | Op::Output(_)
        | Op::Depth(_)
        | Op::Fetch(_)
        | Op::PackAll(_)
        | Op::PackByte(..)
        | Op::PackHalf(..) => true,
        Op::Select(_, accept, _) => accept == operand,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ssa::{Carried, Given, Loop};
    use v3d_hw::qpu::AddOp;

    /// Of `x + y`, `x + i` and `(x + y) * i` with a loop-carried `i`, only the first is moved.
    #[test]
    fn only_what_no_iteration_changes_moves() {
        let mut program = Program::default();
        let x = program.value(Op::Given(Given::PixelX));
        let y = program.value(Op::Given(Given::PixelY));
        program.loops.push(Loop::default());
        program.steps.push(Step::Begin(0));
        program.open.push(0);
        let carried = program.value(Op::Carried(0, 0));
        let invariant = program.alu(AddOp::Add, x, y);
        let changing = program.alu(AddOp::Add, x, carried);
        let product = program.fmul(invariant, carried);
        let next = program.alu(AddOp::Xor, changing, product);
        program.open.pop();
        program.steps.push(Step::End(0));
        program.loops[0].carried = vec![Carried { value: carried, init: x, next, next_inside: next }];
        hoist_invariants(&mut program);
        let place = |step: Step| program.steps.iter().position(|other| *other == step).unwrap();
        let begin = place(Step::Begin(0));
        assert!(place(Step::Compute(invariant)) < begin);
        for value in [changing, product, next] {
            assert!(place(Step::Compute(value)) > begin, "{value}");
        }
    }
}
