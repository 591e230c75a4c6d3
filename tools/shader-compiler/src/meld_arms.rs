//! Pass `meld-arms`: computes once what both sides of a select compute of different operands.
//!
//! Both sides of a branch are executed, and selects choose results. In `select(c, exp2(x), exp2(y))`, and where two arms of an `if` or `switch` do the same to
//! different values, the operands are selected instead: `exp2(select(c, x, y))`. What is only needed where the condition is true, and what is only needed where
//! it is false, can share one computation, wherever in their arms they are; results are the same, bit by bit.
//!
//! For each select, the computations of both sides that nothing else uses are compared in pairs. A pair with the same operation is worth one operation and what
//! its operands are worth; operands that differ cost a select. The most valuable pair is replaced, together with all that it consists of, until none saves
//! anything.

use alloc::vec;
use alloc::vec::Vec;

use hashbrown::{HashMap, HashSet};

use crate::ssa::{Op, Program, Step, Value};

/// Computations of a side that are looked at, those nearest to the select.
const MAX_SIDE: usize = 64;
/// Depth of the operands that are compared.
const MAX_DEPTH: usize = 64;
/// Steps of programs that are looked at; in longer ones, this would take too long.
const MAX_STEPS: usize = 2_000;
/// Operations that must be saved, beyond the comparison that may have to be repeated for selecting operands.
const LEAST_GAIN: i32 = 3;

/// A value of the accepted side and one of the rejected side.
type Pair = (Value, Value);

/// Merges computations of exclusive sides.
pub(crate) fn meld_arms(program: &mut Program) {
    if program.steps.len() > MAX_STEPS {
        return;
    }
    let selects: Vec<Value> = program
        .steps
        .iter()
        .filter_map(|step| match *step {
            Step::Compute(value) if matches!(program.op(value), Op::Select(..)) => Some(value),
            _ => None,
        })
        .collect();
    let mut uses = uses(program);
    for select in selects {
        // Each round removes computations, so that this ends.
        while let Some(found) = Sides::of(program, select, &uses).and_then(|sides| sides.best(program)) {
            found.apply(program, select);
            uses = self::uses(program);
        }
    }
}

/// Number of times that each value is an operand, or is passed on by a loop.
fn uses(program: &Program) -> Vec<u32> {
    let mut uses = vec![0; program.values.len()];
    for step in &program.steps {
        if let Step::Compute(user) = *step {
            program.each_operand(user, |value| uses[value.index()] += 1);
        }
    }
    for data in &program.loops {
        let carried = data.carried.iter().flat_map(|carried| [carried.init, carried.next, carried.next_inside]);
        carried.chain(data.again).for_each(|value| uses[value.index()] += 1);
    }
    uses
}

/// What is only computed for one side of a select, and what is only computed for the other.
#[derive(Debug, Default)]
struct Sides {
    /// In the order of steps, latest first.
    accepted: Vec<Value>,
    rejected: Vec<Value>,
    are_accepted: HashSet<Value>,
    are_rejected: HashSet<Value>,
}

impl Sides {
    /// The sides of a select. `None` if one has too few computations of its own.
    fn of(program: &Program, select: Value, uses: &[u32]) -> Option<Self> {
        let Op::Select(_, accept, reject) = program.op(select) else { return None };
        if [accept, reject].iter().any(|side| uses[side.index()] != 1) {
            return None;
        }
        let at = program.steps.iter().position(|step| *step == Step::Compute(select))?;
        let mut sides = Self::default();
        // Uses of values by each side.
        let mut used: [HashMap<Value, u32>; 2] = Default::default();
        used[0].insert(accept, 1);
        used[1].insert(reject, 1);
        for step in program.steps[..at].iter().rev() {
            // Loops are not crossed.
            let Step::Compute(value) = *step else { break };
            if !is_movable(&program.op(value)) {
                continue;
            }
            for (used, (side, members)) in used
                .iter_mut()
                .zip([(&mut sides.accepted, &mut sides.are_accepted), (&mut sides.rejected, &mut sides.are_rejected)])
            {
                if used.get(&value) == Some(&uses[value.index()]) && side.len() < MAX_SIDE {
                    side.push(value);
                    members.insert(value);
                    program.each_operand(value, |operand| *used.entry(operand).or_default() += 1);
                }
            }
        }
        (sides.accepted.len().min(sides.rejected.len()) as i32 >= LEAST_GAIN).then_some(sides)
    }

    /// The most valuable pair, if any saves enough.
    fn best(self, program: &Program) -> Option<Melding> {
        let mut search = Search { program, sides: &self, known: HashMap::new() };
        let mut candidates: Vec<(i32, Value, Value)> = Vec::new();
        for &one in &self.accepted {
            for &other in &self.rejected {
                if !is_alike(&program.op(one), &program.op(other)) {
                    continue;
                }
                if let Some(gain) = search.gain(one, other, MAX_DEPTH).filter(|gain| *gain > 0) {
                    candidates.push((gain, one, other));
                }
            }
        }
        // Estimates count operands that are used several times, and their selects, several times; the exact gain decides.
        candidates.sort_by_key(|&(gain, one, other)| (core::cmp::Reverse(gain), one, other));
        let exact = candidates.into_iter().take(8).filter_map(|(_, one, other)| {
            let mut pairs = Pairs::default();
            let is_consistent = pairs.collect(&mut search, one, other, MAX_DEPTH);
            (is_consistent && pairs.gain(program) >= LEAST_GAIN).then_some(pairs)
        });
        let pairs = exact.max_by_key(|pairs| pairs.gain(program))?;
        Some(Melding { sides: self, pairs })
    }
}

/// Whether an operation has the same result at a later place.
const fn is_movable(op: &Op) -> bool {
    matches!(op, Op::Add(..) | Op::Mul(..) | Op::Special(..) | Op::Unpack(..) | Op::Compare(..) | Op::Select(..))
}

/// Whether two operations differ in their operands only.
fn is_alike(one: &Op, other: &Op) -> bool {
    match (one, other) {
        (Op::Add(one, ..), Op::Add(other, ..)) => one == other,
        (Op::Mul(one, ..), Op::Mul(other, ..)) => one == other,
        (Op::Special(one, _), Op::Special(other, _)) => one == other,
        (Op::Unpack(one, _), Op::Unpack(other, _)) => one == other,
        (Op::Compare(one, ..), Op::Compare(other, ..)) => one == other,
        (Op::Select(..), Op::Select(..)) => true,
        _ => false,
    }
}

/// The operands of two operations that differ in nothing else; twice, if they may also be exchanged.
fn operand_pairs(program: &Program, one: Value, other: Value) -> Vec<Vec<Pair>> {
    let (one, other) = (program.op(one), program.op(other));
    let (a, b) = (one.operands(), other.operands());
    let pairs: Vec<Pair> = a.iter().copied().zip(b.iter().copied()).collect();
    if !is_alike(&one, &other) || a.len() != b.len() {
        return Vec::new();
    }
    let commutes = match one {
        Op::Add(op, ..) => crate::rewrites::commutes(op),
        Op::Mul(..) => true,
        _ => false,
    };
    match (commutes, &a[..], &b[..]) {
        (true, &[p, q], &[r, s]) => vec![pairs, vec![(p, s), (q, r)]],
        _ => vec![pairs],
    }
}

/// Compares values of both sides.
struct Search<'p> {
    program: &'p Program,
    sides: &'p Sides,
    known: HashMap<Pair, Option<i32>>,
}

impl Search<'_> {
    /// Operations that one computation for both saves; `None` if there cannot be one.
    fn gain(&mut self, one: Value, other: Value, depth: usize) -> Option<i32> {
        if let Some(&known) = self.known.get(&(one, other)) {
            return known;
        }
        let is_pair = self.sides.are_accepted.contains(&one) && self.sides.are_rejected.contains(&other);
        let depth = depth.checked_sub(1).filter(|_| is_pair)?;
        let gain = self.best_order(one, other, depth).map(|(gain, _)| gain + 1);
        self.known.insert((one, other), gain);
        gain
    }

    /// The order of operands that saves most, and what they save.
    fn best_order(&mut self, one: Value, other: Value, depth: usize) -> Option<(i32, Vec<Pair>)> {
        let orders = operand_pairs(self.program, one, other);
        let is_select = matches!(self.program.op(one), Op::Select(..));
        let mut best: Option<(i32, Vec<Pair>)> = None;
        for order in orders {
            let mut sum = 0;
            for (at, &(a, b)) in order.iter().enumerate() {
                // A condition that is selected would be a mask.
                let least = if is_select && at == 0 { i32::MIN / 2 } else { -cost_of_select(self.program, a, b) };
                sum += self.gain(a, b, depth).unwrap_or(least).max(least);
            }
            if sum > i32::MIN / 4 && best.as_ref().is_none_or(|(most, _)| sum > *most) {
                best = Some((sum, order));
            }
        }
        best
    }
}

/// Operations that selecting one of two values takes.
fn cost_of_select(program: &Program, a: Value, b: Value) -> i32 {
    let is_register = |value| !matches!(program.op(value), Op::Const(_) | Op::Uniform(_));
    if a == b { 0 } else { 2 - i32::from(is_register(a) || is_register(b)) }
}

/// A pair of values that become one.
#[derive(Debug)]
struct Merged {
    one: Value,
    other: Value,
    /// The operands, in the order of those of `one`.
    operands: Vec<Pair>,
}

/// Pairs of values that become one, and pairs of which one is selected.
#[derive(Debug, Default)]
struct Pairs {
    /// In the order of computation.
    merged: Vec<Merged>,
    selected: Vec<Pair>,
    partner: HashMap<Value, Value>,
}

impl Pairs {
    /// Adds a pair and the pairs that it consists of; returns whether each value is in one pair only.
    fn collect(&mut self, search: &mut Search<'_>, one: Value, other: Value, depth: usize) -> bool {
        match (self.partner.get(&one), self.partner.get(&other)) {
            (Some(a), Some(b)) if *a == other && *b == one => return true,
            (None, None) => {}
            _ => return false,
        }
        let Some(depth) = depth.checked_sub(1) else { return false };
        let Some((_, order)) = search.best_order(one, other, depth) else { return false };
        self.partner.insert(one, other);
        self.partner.insert(other, one);
        for &(a, b) in &order {
            let cost = cost_of_select(search.program, a, b);
            if a == b {
                continue;
            }
            if search.gain(a, b, depth).is_some_and(|gain| gain >= -cost) {
                if !self.collect(search, a, b, depth) {
                    return false;
                }
            } else if !self.selected.contains(&(a, b)) {
                self.selected.push((a, b));
            }
        }
        self.merged.push(Merged { one, other, operands: order });
        true
    }

    /// Operations that it saves; 0 if a value would be merged with one and selected beside another.
    fn gain(&self, program: &Program) -> i32 {
        if self.selected.iter().any(|(a, b)| self.partner.contains_key(a) || self.partner.contains_key(b)) {
            return 0;
        }
        self.merged.len() as i32 - self.selected.iter().map(|&(a, b)| cost_of_select(program, a, b)).sum::<i32>()
    }
}

/// Pairs to be merged.
#[derive(Debug)]
struct Melding {
    sides: Sides,
    pairs: Pairs,
}

impl Melding {
    /// Replaces the pairs, and computes both sides just before the select.
    fn apply(self, program: &mut Program, select: Value) {
        let Op::Select(condition, ..) = program.op(select) else { return };
        let Self { sides, pairs } = self;
        (program.known, program.log) = Default::default();
        let mut made: HashMap<Pair, Value> = HashMap::new();
        let mut pending: HashSet<Value> = sides.accepted.iter().chain(&sides.rejected).copied().collect();
        for &(a, b) in &pairs.selected {
            program.here = program.values[a.index()].span;
            let value = program.push(Op::Select(condition, a, b));
            made.insert((a, b), value);
            pending.insert(value);
        }
        let mut replaced: HashMap<Value, Value> = HashMap::new();
        for Merged { one, other, operands } in &pairs.merged {
            // It becomes the first of the pair, of other operands.
            let operands: Vec<Value> = operands.iter().map(|pair| made.get(pair).copied().unwrap_or(pair.0)).collect();
            let op = program.op(*one).with_operands(&operands);
            let is_free = program.values[one.index()].is_free && program.values[other.index()].is_free;
            program.here = program.values[one.index()].span;
            let value = program.push(op);
            program.values[value.index()].is_free = is_free;
            made.insert((*one, *other), value);
            pending.insert(value);
            for old in [one, other] {
                replaced.insert(*old, value);
                pending.remove(old);
            }
        }
        let mut steps = Vec::with_capacity(program.steps.len());
        let is_of_a_side = |value: &Value| sides.are_accepted.contains(value) || sides.are_rejected.contains(value);
        let old = core::mem::take(&mut program.steps);
        program.replace_uses(&replaced);
        for step in old {
            match step {
                Step::Compute(value) if is_of_a_side(&value) => {}
                Step::Compute(value) if value == select => {
                    let Op::Select(condition, accept, reject) = program.op(select) else { continue };
                    emit(program, accept, &mut pending, &mut steps);
                    emit(program, reject, &mut pending, &mut steps);
                    if accept == reject {
                        program.replace_uses(&HashMap::from_iter([(select, accept)]));
                    } else {
                        debug_assert!(!pending.contains(&condition), "a condition is used by its select");
                        steps.push(step);
                    }
                }
                _ => steps.push(step),
            }
        }
        program.steps = steps;
    }
}

/// Adds the computation of a value, after those of its operands, as far as they are not there.
fn emit(program: &Program, value: Value, pending: &mut HashSet<Value>, steps: &mut Vec<Step>) {
    if !pending.remove(&value) {
        return;
    }
    for operand in program.operands(&program.op(value)) {
        emit(program, operand, pending, steps);
    }
    steps.push(Step::Compute(value));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::eliminate_dead::eliminate_dead;
    use crate::ssa::Relation;
    use v3d_hw::qpu::{AddOp, MulOp};
    use v3d_sim::qpu::isa::alu;
    use v3d_sim::random::Random;

    /// What a program without loops writes, by the reference arithmetic, for some varyings.
    fn results(program: &Program, varyings: &[u32]) -> Vec<u32> {
        let mut values: HashMap<Value, u32> = HashMap::new();
        let mut written = Vec::new();
        for step in &program.steps {
            let Step::Compute(value) = *step else { continue };
            let of = |value: Value| match program.op(value) {
                Op::Const(bits) => bits,
                _ => *values.get(&value).unwrap_or_else(|| panic!("{value} is used before it is computed\n{program}")),
            };
            let result = match program.op(value) {
                Op::Varying(number) => varyings[number as usize],
                Op::Add(op, a, b) => alu::add(op, of(a), of(b)).unwrap().value,
                Op::Mul(op, a, b) => alu::mul(op, of(a), of(b)).value,
                Op::Compare(relation, a, b) => u32::from(relation.holds(of(a), of(b))).wrapping_neg(),
                Op::Select(condition, a, b) => of(if of(condition) == 0 { b } else { a }),
                Op::Color(a) => {
                    written.push(of(a));
                    continue;
                }
                other => panic!("{other:?}"),
            };
            values.insert(value, result);
        }
        written
    }

    /// Some operations on a value, as many as there are constants.
    fn chain(program: &mut Program, value: Value, constants: &[f32]) -> Value {
        constants.iter().fold(value, |value, &constant| {
            let constant = program.float(constant);
            let product = program.fmul(value, constant);
            program.alu(AddOp::Fmin, product, value)
        })
    }

    /// Merges the arms of a program on three varyings; expects so many operations to be left, and the same results.
    fn check(expected: usize, make: impl FnOnce(&mut Program, [Value; 3]) -> Value) {
        let mut program = Program::default();
        let varyings = [0, 1, 2].map(|number| program.value(Op::Varying(number)));
        let result = make(&mut program, varyings);
        program.value(Op::Color(result));
        let before = program.clone();
        meld_arms(&mut program);
        eliminate_dead(&mut program);
        assert_eq!(program.steps.len() - 4, expected, "{before}\n{program}");
        for numbers in [[1.0_f32, 2.5, -3.0], [-1.0, 0.25, 7.0], [0.0, -9.0, -0.5]] {
            let varyings = numbers.map(f32::to_bits);
            assert_eq!(results(&program, &varyings), results(&before, &varyings), "{numbers:?}: {program}");
        }
    }

    #[test]
    fn operands_are_selected_instead_of_results() {
        // A comparison, one chain of four operations, and a select of its operand.
        check(6, |program, [x, y, z]| {
            let zero = program.bits(0);
            let condition = program.compare(Relation::FloatLess, x, zero);
            let (one, other) = (chain(program, y, &[2.0, 3.0]), chain(program, z, &[2.0, 3.0]));
            program.select(condition, one, other)
        });
    }

    /// The arms of a chain of selects are exclusive, wherever the computation is in its arm.
    #[test]
    fn nested_arms_share_a_computation() {
        check(2 + 4 + 1 + 1 + 2, |program, [x, y, z]| {
            let (zero, one) = (program.bits(0), program.float(1.0));
            let first = program.compare(Relation::FloatLess, x, zero);
            let second = program.compare(Relation::FloatLess, x, one);
            let in_first = chain(program, y, &[2.0, 3.0]);
            let in_last = chain(program, z, &[2.0, 3.0]);
            let in_last = program.alu(AddOp::Fmax, in_last, one);
            let rest = program.select(second, x, in_last);
            program.select(first, in_first, rest)
        });
    }

    /// With another use, the results of both are needed.
    #[test]
    fn what_is_used_elsewhere_stays() {
        check(1 + 8 + 1 + 1, |program, [x, y, z]| {
            let zero = program.bits(0);
            let condition = program.compare(Relation::FloatLess, x, zero);
            let (one, other) = (chain(program, y, &[2.0, 3.0]), chain(program, z, &[2.0, 3.0]));
            let selected = program.select(condition, one, other);
            program.fadd(selected, other)
        });
    }

    /// Two operations are not worth a select and another comparison.
    #[test]
    fn short_arms_stay() {
        check(1 + 4 + 1, |program, [x, y, z]| {
            let zero = program.bits(0);
            let condition = program.compare(Relation::FloatLess, x, zero);
            let (one, other) = (chain(program, y, &[2.0]), chain(program, z, &[2.0]));
            program.select(condition, one, other)
        });
    }

    /// Random programs with many selects keep their results, bit by bit, and never take more operations.
    #[test]
    fn random_programs_keep_their_results() {
        let mut saved = 0;
        for number in 0..500 {
            let mut random = Random::new(47, number);
            let mut program = Program::default();
            let mut known: Vec<Value> = (0..4).map(|number| program.value(Op::Varying(number))).collect();
            known.extend([0.5, 3.0].map(|constant| program.float(constant)));
            for _ in 0..10 + random.below(60) {
                let mut any = || known[known.len() - 1 - random.below(known.len().min(9) as u32) as usize];
                let (a, b, c, d) = (any(), any(), any(), any());
                let value = match random.below(8) {
                    0 | 1 => program.fadd(a, b),
                    2 => program.alu(AddOp::Fmax, a, b),
                    3 | 4 => program.value(Op::Mul(MulOp::Fmul, a, b)),
                    5 => chain(&mut program, a, &[0.75, 0.5]),
                    _ => {
                        let condition = program.compare(Relation::FloatLess, a, b);
                        let (c, d) = match random.below(3) {
                            0 => (c, d),
                            1 => (chain(&mut program, c, &[0.25, 0.5]), chain(&mut program, d, &[0.25, 0.5])),
                            _ => {
                                let (one, other) =
                                    (chain(&mut program, c, &[0.25, 0.5]), chain(&mut program, d, &[0.25]));
                                (one, program.fadd(other, a))
                            }
                        };
                        program.select(condition, c, d)
                    }
                };
                known.push(value);
            }
            program.value(Op::Color(known[known.len() - 1]));
            eliminate_dead(&mut program);
            let before = program.clone();
            meld_arms(&mut program);
            eliminate_dead(&mut program);
            assert!(program.steps.len() <= before.steps.len(), "{number}: {before}\n{program}");
            saved += before.steps.len() - program.steps.len();
            for _ in 0..8 {
                let varyings = [(); 4].map(|()| (random.below(4000) as f32 / 1000.0 - 2.0).to_bits());
                assert_eq!(results(&program, &varyings), results(&before, &varyings), "{number}: {before}\n{program}");
            }
        }
        assert!(saved > 400, "{saved} operations were saved");
    }
}
