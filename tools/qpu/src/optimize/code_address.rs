//! Where branches to computed addresses go, and which code must keep its place because of them.
//!
//! Registers are followed along all paths of the program, from its start: what each may hold is a set of [linear](super::linear) values of places in the code,
//! such as return addresses, and distances between labels. A branch by a register then goes to the places that the sums say:
//!
//! * An exact sum is one place. It becomes a possible target, and the sum has to lead there in any new layout.
//! * A place with an unknown index is a table, which keeps its contents. It is taken to end at the next label, or, if it stands between a call and the call's
//!   target, there; an index is taken to stay inside.
//! * Anything else is refused.
//!
//! Values that follow the code may only be moved, added to and branched by. If they get anywhere else (into another operation, the flags, memory), the program
//! would see that code has moved, and is refused.

use alloc::collections::BTreeMap;
use alloc::vec;
use alloc::vec::Vec;
use core::ops::Range;

use v3d_hw::qpu::accesses::{FlagSource, Moved, Write};
use v3d_hw::qpu::{AddOp, Alu, BRANCH_DELAY_SLOTS, Condition, File, Instruction, Mux, ReadSource, THREAD_DELAY_SLOTS};

use super::Measure;
use super::linear::Linear;
use super::refusal::{Reason, Refused};
use super::values::{State, Unknown, Values, index_of};
use crate::check::facts::{Facts, Register};

/// Delay slots of a branch.
const SLOTS: usize = BRANCH_DELAY_SLOTS as usize;

/// What is known of branches to computed addresses.
#[derive(Clone, Debug, Default)]
pub(super) struct Jumps {
    /// Words that such branches go to, by the branch.
    pub(super) targets: BTreeMap<usize, Vec<usize>>,
    /// Code that must keep its contents: tables, and code that no path reaches, which can be there only for the place that it takes.
    pub(super) kept: Vec<Range<usize>>,
    /// Sums that have to lead to a word in any layout.
    pub(super) sums: Vec<(Linear, usize)>,
}

/// A program whose registers are followed.
pub(super) struct Code<'p> {
    pub(super) words: &'p [u64],
    pub(super) facts: &'p [Facts],
    /// The distances that words consist of, in their low half.
    pub(super) measures: &'p [Option<Measure>],
    /// The words at which labels are, in order.
    pub(super) labels: &'p [usize],
    /// The words at which programs may start.
    pub(super) entries: &'p [usize],
}

impl Code<'_> {
    /// Finds where the program's branches go.
    pub(super) fn jumps(&self) -> Result<Jumps, Refused> {
        let reached = vec![false; self.words.len()];
        let mut paths =
            Paths { code: self, states: BTreeMap::new(), work: Vec::new(), reached, jumps: Jumps::default() };
        for &entry in self.entries {
            paths.reach(entry, &State::at_start());
        }
        while let Some(head) = paths.work.pop() {
            paths.follow(head)?;
        }
        for (at, _) in paths.reached.iter().enumerate().filter(|&(_, reached)| !reached) {
            match paths.jumps.kept.last_mut().filter(|last| last.end == at) {
                Some(last) => last.end = at + 1,
                None => paths.jumps.kept.push(at..at + 1),
            }
        }
        Ok(paths.jumps)
    }

    /// The words between a forward call and its target.
    fn jumped_over(&self, call: usize) -> Option<Range<usize>> {
        let fact = self.facts.get(call)?.branch.filter(|fact| fact.links)?;
        let words = usize::try_from(fact.distance?).ok().filter(|&words| words > 0)?;
        let start = call + SLOTS + 1;
        (start + words <= self.words.len()).then_some(start..start + words)
    }

    /// The table that a branch indexes from a place on.
    fn table(&self, branch: usize, place: usize) -> Option<Range<usize>> {
        let behind_call = place.checked_sub(SLOTS + 1).and_then(|call| self.jumped_over(call));
        let behind_label = || {
            let at = self.labels.binary_search(&place).ok()?;
            Some(place..self.labels.get(at + 1).copied().unwrap_or(self.words.len()))
        };
        let around = || {
            let mut tables = (0..self.words.len()).filter_map(|call| self.jumped_over(call));
            tables.find(|table| table.contains(&branch) && table.contains(&place))
        };
        behind_call.or_else(behind_label).or_else(around)
    }

    /// Whether a branch in the last delay slot of another is taken only if that is not: its condition is the opposite, and the flags are the same.
    fn exclude_each_other(&self, first: usize, second: usize) -> bool {
        let code = |at: usize| match Instruction::decode(self.words[at]) {
            Instruction::Branch(branch) => branch.cond_br.code(),
            _ => u8::MAX,
        };
        // The lowest two bits say whether all or any flags are asked for, and whether they are to be clear.
        let opposite = code(first) ^ code(second) == 3 && code(first) < 12;
        opposite && !self.facts[first..second].iter().any(Facts::sets_flags)
    }

    /// The values of an operand in the elements in which a condition holds.
    fn operand(&self, at: usize, alu: &Alu, mux: Mux, state: &State, condition: Condition) -> Values {
        let [a, b] = alu.sources();
        let in_file = |file, source: Option<ReadSource>| match source {
            Some(ReadSource::Register(number)) => Some(index_of(Register::InFile(file, number))),
            _ => None,
        };
        let register = match mux {
            Mux::A => in_file(File::A, a),
            Mux::B => in_file(File::B, b),
            Mux::R0 | Mux::R1 | Mux::R2 | Mux::R3 => Some(index_of(Register::Accumulator(mux.code()))),
            Mux::R4 | Mux::R5 => None,
        };
        let number = alu.small_immediate().filter(|_| mux == Mux::B).and_then(|immediate| immediate.value());
        match (register, number) {
            (Some(register), _) => state.read(register, condition).clone(),
            (None, Some(number)) => Values::one(Linear::number(number as i32)),
            (None, None) => Values::unknown(Unknown::By(at)),
        }
    }

    /// The result of an operation of one ALU; `None` if it is none that addresses are computed with.
    fn result(&self, at: usize, alu: &Alu, is_mul: bool, write: &Write, operands: &[Values]) -> Option<Values> {
        if alu.pack != 0 || alu.unpack.code() != 0 || is_mul && alu.rotation().is_some() {
            return None;
        }
        if let Some(Moved::Operand(_)) = write.moves {
            return operands.first().cloned();
        }
        let [left, right] = operands else { return None };
        match (is_mul, alu.op_add) {
            (false, AddOp::Add) => left.plus(right, at),
            (false, AddOp::Sub) => left.plus(&right.negated()?, at),
            (false, AddOp::Shl) => left.shifted_left(right),
            _ => None,
        }
    }

    /// The effect of an instruction on the registers.
    fn step(&self, at: usize, state: &mut State) -> Result<(), Refused> {
        let facts = &self.facts[at];
        let instruction = Instruction::decode(self.words[at]);
        let mut results: Vec<(Write, Values)> = Vec::new();
        for (is_mul, write) in [false, true].into_iter().zip(facts.accesses.writes) {
            let sets_flags = facts.accesses.flags == Some(if is_mul { FlagSource::Mul } else { FlagSource::Add });
            if !write.acts || !write.happens() && !sets_flags {
                continue;
            }
            let (result, follows) = match &instruction {
                Instruction::Branch(_) => (Some(Values::one(Linear::place(at + SLOTS + 1))), false),
                Instruction::LoadImmediate(_) => match (self.measures[at], facts.immediate, write.moves) {
                    (Some(measure), Some(_), Some(Moved::Constant)) => (measure.linear().map(Values::one), true),
                    (Some(_), ..) => (None, true),
                    (None, Some(number), Some(Moved::Constant)) => {
                        (Some(Values::one(Linear::number(number as i32))), false)
                    }
                    (None, ..) => (None, false),
                },
                Instruction::Semaphore(_) => (None, false),
                Instruction::Alu(alu) if alu.cancels()[usize::from(is_mul)] => {
                    (Some(Values::one(Linear::number(0))), false)
                }
                Instruction::Alu(alu) => {
                    let muxes = alu.operands().into_iter().skip(if is_mul { 2 } else { 0 }).take(2).flatten();
                    let operands: Vec<Values> =
                        muxes.map(|mux| self.operand(at, alu, mux, state, write.condition)).collect();
                    let follows = operands.iter().any(Values::follow_code);
                    (self.result(at, alu, is_mul, &write, &operands), follows)
                }
            };
            let stays_in_registers = Register::written(&write).is_some() || !write.happens();
            if follows && (result.is_none() || sets_flags || !stays_in_registers) {
                return Err(Refused::at(Reason::Addresses, at));
            }
            let is_float = matches!(&instruction, Instruction::Alu(alu) if match is_mul {
                true => alu.op_mul.gives_floats(),
                false => alu.op_add.gives_floats(),
            });
            let unknown = if is_float { Unknown::Float } else { Unknown::By(at) };
            results.push((write, result.unwrap_or(Values::unknown(unknown))));
        }
        for (write, values) in results {
            let Some(register) = Register::written(&write).filter(|_| write.happens()) else { continue };
            let is_sure = write.bytes == Write::WHOLE && facts.branch.is_none_or(|branch| branch.always);
            state.write(at, index_of(register), values, is_sure.then_some(write.condition));
        }
        if facts.sets_flags() {
            state.forget_conditions();
        }
        Ok(())
    }
}

/// A walk over all paths of a program.
struct Paths<'c> {
    code: &'c Code<'c>,
    /// What is known at the words that paths come to by a branch, or past one.
    states: BTreeMap<usize, State>,
    /// Those whose paths are to be followed.
    work: Vec<usize>,
    /// The words that are reached.
    reached: Vec<bool>,
    jumps: Jumps,
}

impl Paths<'_> {
    /// Notes that a path comes to a word.
    fn reach(&mut self, word: usize, state: &State) {
        if word >= self.code.words.len() {
            return;
        }
        let changed = match self.states.get_mut(&word) {
            Some(known) => known.join(state, word),
            None => self.states.insert(word, state.clone()).is_none(),
        };
        if changed {
            self.work.push(word);
        }
    }

    /// Follows the path from a word on, to where it branches or meets another.
    fn follow(&mut self, head: usize) -> Result<(), Refused> {
        let code = self.code;
        let Some(mut state) = self.states.get(&head).cloned() else { return Ok(()) };
        // A branch that has not taken effect, with its targets; and the last word, once the program's end is signalled.
        let mut pending: Option<(usize, Vec<usize>)> = None;
        let mut last = code.words.len() - 1;
        let mut at = head;
        while at <= last {
            self.reached[at] = true;
            let facts = &code.facts[at];
            let targets = facts.branch.is_some().then(|| self.targets(at, &state)).transpose()?;
            code.step(at, &mut state)?;
            if facts.signal().ends_program() {
                last = last.min(at + THREAD_DELAY_SLOTS as usize);
            }
            let due = pending.take_if(|&mut (branch, _)| at == branch + SLOTS);
            if targets.is_some() {
                let excluded = due.as_ref().is_none_or(|&(first, _)| code.exclude_each_other(first, at));
                if pending.is_some() || !excluded {
                    return Err(Refused::at(Reason::NestedBranch, at));
                }
            }
            if let Some((branch, targets)) = &due {
                targets.iter().for_each(|&target| self.reach(target, &state));
                if code.facts[*branch].branch.is_some_and(|branch| branch.always) {
                    return Ok(());
                }
                if facts.branch.is_some() {
                    // The checker's graph does not have these paths.
                    targets.iter().for_each(|&target| self.jumps.add(*branch, target));
                }
            }
            if let Some(targets) = targets {
                pending = Some((at, targets));
            }
            at += 1;
            if pending.is_none() && (due.is_some() || self.states.contains_key(&at)) {
                self.reach(at, &state);
                return Ok(());
            }
        }
        Ok(())
    }

    /// The words that a branch may go to.
    fn targets(&mut self, at: usize, state: &State) -> Result<Vec<usize>, Refused> {
        let code = self.code;
        let Instruction::Branch(branch) = Instruction::decode(code.words[at]) else { return Ok(Vec::new()) };
        let behind = at + SLOTS + 1;
        if !branch.reg {
            let distance = code.facts[at].branch.and_then(|fact| fact.distance);
            let target = distance.and_then(|distance| usize::try_from(behind as i64 + distance).ok());
            let target = target.filter(|&target| target <= code.words.len());
            return Ok(vec![target.ok_or(Refused::at(Reason::UnknownTarget, at))?]);
        }
        let offset = match code.measures[at] {
            Some(measure) => measure.linear(),
            None => Some(Linear::number(branch.immediate)),
        };
        let base = if branch.rel { offset.and_then(|offset| offset.plus(&Linear::place(behind))) } else { offset };
        let base = base.ok_or(Refused::at(Reason::ComputedTarget, at))?;
        let values = state.all(index_of(Register::InFile(File::A, branch.raddr_a & 31)));
        let known = values.known.iter().map(|value| (base.plus(value), at));
        // No program branches to what an earlier one has left in a register, nor to a float: where these are possible values, the path is impossible.
        let unknown = values.unknown.and_then(|from| if let Unknown::By(word) = from { Some(word) } else { None });
        let unknown = unknown.map(|word| (Some(base.widened()), word));
        let mut targets = Vec::new();
        for (sum, origin) in known.chain(unknown) {
            let sum = sum.filter(Linear::is_address).ok_or(Refused::at(Reason::ComputedTarget, origin))?;
            self.targets_of(at, &sum, &mut targets)?;
        }
        if targets.is_empty() {
            return Err(Refused::at(Reason::ComputedTarget, at));
        }
        targets.iter().for_each(|&target| self.jumps.add(at, target));
        Ok(targets)
    }

    /// The words to which a sum leads.
    fn targets_of(&mut self, branch: usize, sum: &Linear, targets: &mut Vec<usize>) -> Result<(), Refused> {
        let bytes = sum.value(|place| 8 * place as i64);
        let Some(scale) = sum.scale() else {
            let target =
                usize::try_from(bytes / 8).ok().filter(|&word| bytes % 8 == 0 && word <= self.code.words.len());
            let target = target.ok_or(Refused::at(Reason::UnknownTarget, branch))?;
            if sum.single_place() != Some((target, 0)) && !self.jumps.sums.iter().any(|(known, _)| known == sum) {
                self.jumps.sums.push((sum.clone(), target));
            }
            targets.push(target);
            return Ok(());
        };
        let table = sum.single_place().and_then(|(place, _)| self.code.table(branch, place));
        let table = table.ok_or(Refused::at(Reason::ComputedTarget, branch))?;
        targets.extend(table.clone().filter(|&word| (8 * word as i64 - bytes) % (1 << scale) == 0));
        if !self.jumps.kept.contains(&table) {
            self.jumps.kept.push(table);
        }
        Ok(())
    }
}

impl Jumps {
    fn add(&mut self, branch: usize, target: usize) {
        let targets = self.targets.entry(branch).or_default();
        if let Err(at) = targets.binary_search(&target) {
            targets.insert(at, target);
        }
    }
}
