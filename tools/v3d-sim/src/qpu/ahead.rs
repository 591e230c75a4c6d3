//! Running ahead: straight code without the sequencer, action by action.
//!
//! Instructions that neither wait nor end the program, and that break no rule with their neighbours in memory, are executed in runs: whether one may
//! begin is found out once for all of its instructions. A branch to a known place of the same stretch, with three such instructions in its delay slots
//! and harmless ones at its target, does not end a run either. Everything else is left to the sequencer.

use super::action::Action;
use super::code::{Ahead, Stretch};
use super::fast::{self, Fast};
use super::io::Io;
use super::registers;
use super::vectors::Vectors;
use super::{Qpu, Threading, sfu};
use crate::lanes::Lanes;
use crate::memory::Memory;
use v3d_hw::qpu::BRANCH_DELAY_SLOTS;

/// Instructions of a branch with its delay slots.
const BRANCH_INSTRUCTIONS: usize = 1 + BRANCH_DELAY_SLOTS as usize;

/// Executes as much as it can from an index of a stretch on, and gives the index of the next instruction.
#[inline(always)]
pub(super) fn run<V: Vectors>(
    qpu: &mut Qpu,
    stretch: &Stretch,
    index: usize,
    io: &mut dyn Io,
    memory: Memory<'_>,
    budget: &mut u64,
) -> usize {
    if !qpu.may_run_ahead(stretch, index) {
        return index;
    }
    let mut at = index;
    let mut executed = 0;
    let mut last = [None; 2];
    while let Some(ahead) = stretch.ahead.get(at) {
        let count = usize::from(ahead.count);
        if count > 0 {
            if !qpu.is_harmless(ahead, count as u64, *budget) {
                break;
            }
            qpu.act::<V>(stretch, at, count, io, memory);
            qpu.undefined &= !ahead.replaces;
            at += count;
            last = if count == 1 { [Some(at - 1), last[0]] } else { [Some(at - 1), Some(at - 2)] };
            qpu.streak = qpu.streak.saturating_add(count as u32);
            *budget -= count as u64;
            executed += count as u64;
        }
        let Some((branch, slots)) = stretch.ahead.get(at).and_then(|ahead| ahead.branch).zip(stretch.ahead.get(at + 1))
        else {
            break;
        };
        if qpu.undefined != 0 || !qpu.is_harmless(slots, BRANCH_INSTRUCTIONS as u64, *budget) {
            break;
        }
        let taken = qpu.branch_holds(branch.condition);
        qpu.act::<V>(stretch, at + 1, BRANCH_INSTRUCTIONS - 1, io, memory);
        last = [Some(at + BRANCH_INSTRUCTIONS - 1), Some(at + BRANCH_INSTRUCTIONS - 2)];
        *budget -= BRANCH_INSTRUCTIONS as u64;
        executed += BRANCH_INSTRUCTIONS as u64;
        if taken {
            at = branch.target as usize;
            qpu.streak = 0;
        } else {
            at += BRANCH_INSTRUCTIONS;
            qpu.streak = qpu.streak.saturating_add(BRANCH_INSTRUCTIONS as u32);
        }
    }
    let touches = |index: usize| stretch.ops.get(index).map(|placed| placed.op.touches).unwrap_or_default();
    if let [Some(previous), before] = last {
        qpu.recent = [touches(previous), before.map_or(qpu.recent[0], touches)];
    }
    qpu.pc = stretch.address_of(at);
    qpu.executed += executed;
    at
}

impl Qpu {
    /// Whether nothing is under way that needs the sequencer, and what comes next is harmless to what was executed last.
    #[inline(always)]
    fn may_run_ahead(&self, stretch: &Stretch, index: usize) -> bool {
        self.ending.is_none()
            && self.switching.is_none()
            && self.jumps == [None; 2]
            && self.no_swap_at.is_none()
            && (self.knows_predecessors(index) || self.follows_harmlessly(stretch, index))
    }

    /// Whether the next two instructions break no rule with what was executed before them.
    fn follows_harmlessly(&self, stretch: &Stretch, index: usize) -> bool {
        let Some(first) = stretch.ops.get(index) else { return false };
        let harmless = first.op.hazards(&self.recent[0], &self.recent[1]).is_empty();
        harmless
            && stretch
                .ops
                .get(index + 1)
                .is_none_or(|next| next.op.hazards(&first.op.touches, &self.recent[0]).is_empty())
    }

    /// Whether some instructions fit in the budget, and use nothing that they must not use in this program.
    #[inline(always)]
    fn is_harmless(&self, ahead: &Ahead, count: u64, budget: u64) -> bool {
        count <= budget
            && self.undefined & ahead.needs == 0
            && !(ahead.upper_registers && self.threading == Threading::Threaded)
    }

    /// Executes the actions of instructions.
    #[inline(always)]
    fn act<V: Vectors>(&mut self, stretch: &Stretch, first: usize, count: usize, io: &mut dyn Io, memory: Memory<'_>) {
        let mut coefficients = None;
        for action in stretch.actions_of(first, count) {
            match *action {
                Action::Operate { operation, a, b, to } => {
                    fast::operate::<V>(&mut self.registers, operation, a, b, to);
                }
                Action::Conditional { operation, a, b, to, condition } => {
                    let result = fast::compute::<V>(operation, self.registers.at(a), self.registers.at(b));
                    V::blend(self.registers.at_mut(to), &result, self.flags.holds(condition));
                }
                Action::Flags { operation, a, b, to, condition } => {
                    let (a, b) = (self.registers.at(a), self.registers.at(b));
                    let result = fast::compute::<V>(operation, a, b);
                    let carry = fast::carry::<V>(operation, a, b, &result);
                    V::blend(self.registers.at_mut(to), &result, self.flags.holds(condition));
                    fast::set_flags::<V>(&mut self.flags, &result, carry, condition);
                }
                Action::Constant { to, value } => *self.registers.at_mut(to) = Lanes::splat(value),
                Action::Uniform { to, at } => {
                    self.pc = stretch.address_of(usize::from(at));
                    *self.registers.at_mut(to) = Lanes::splat(self.next_uniform(memory));
                }
                Action::Varying { to, at } => {
                    self.pc = stretch.address_of(usize::from(at));
                    let varying = io.varying();
                    coefficients = varying.as_ref().ok().map(|(_, c)| *c);
                    *self.registers.at_mut(to) = varying.map(|(value, _)| value).unwrap_or_else(|error| {
                        self.report(error);
                        Lanes::default()
                    });
                }
                Action::Coefficients => {
                    if let Some(coefficients) = coefficients {
                        let r5 = self.registers.at_mut(registers::R5);
                        for (quad, coefficient) in r5.0.chunks_exact_mut(4).zip(coefficients) {
                            quad.fill(coefficient);
                        }
                    }
                }
                Action::VpmRead { to, at } => {
                    self.pc = stretch.address_of(usize::from(at));
                    *self.registers.at_mut(to) = io.vpm_read().unwrap_or_else(|error| {
                        self.report(error);
                        Lanes::default()
                    });
                }
                Action::Unpack { from, mode, float } => fast::unpack(&mut self.registers, from, mode, float),
                Action::PackColour { from, to, part } => {
                    let value = *self.registers.at(from);
                    fast::pack_colours(self.registers.at_mut(to), &value, part);
                }
                Action::PackA { from, to, mode, float } => {
                    let value = *self.registers.at(from);
                    fast::pack_to_a(self.registers.at_mut(to), &value, mode, float);
                }
                Action::Sfu { function, from } => {
                    let result = sfu::apply_all(function, self.registers.at(from));
                    self.stale_r4 = std::mem::replace(self.registers.at_mut(registers::R4), result);
                }
                Action::Tmu { unit, coordinate, from, at } => {
                    self.pc = stretch.address_of(usize::from(at));
                    let value = *self.registers.at(from);
                    let reads_uniform =
                        stretch.ops.get(usize::from(at)).is_some_and(|placed| placed.op.touches.uniform);
                    self.write_tmu(unit, coordinate, &value, reads_uniform, memory);
                }
                Action::LoadTmu { unit, at } => {
                    self.pc = stretch.address_of(usize::from(at));
                    self.load_tmu(unit);
                }
                Action::Whole { at } => {
                    self.pc = stretch.address_of(usize::from(at));
                    if let Some(placed) = stretch.ops.get(usize::from(at)) {
                        self.perform::<Fast<V>>(&placed.op, &placed.op, io, memory);
                    }
                }
            }
        }
    }
}
