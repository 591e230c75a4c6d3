//! Running ahead: straight code without the sequencer, action by action.
//!
//! Instructions that neither wait nor end the program, and that break no rule with their neighbours in memory, are executed in runs: whether one may
//! begin is found out once for all of its instructions. A branch to a known place of the same stretch, with three such instructions in its delay slots
//! and harmless ones at its target, does not end a run either, nor do accesses to the tile buffer, thread switches and ends of programs that break no
//! rule. Everything else is left to the sequencer.

use crate::lanes::{ALL, Lanes};
use crate::memory::Memory;
use crate::qpu::block::micro_op::Action;
use crate::qpu::block::{Ahead, Group, Placed, PlainBranch, Stretch, UPPER_REGISTERS};
use crate::qpu::datapath::vector::{self, Fast};
use crate::qpu::io::{Io, Varying, Wait};
use crate::qpu::isa::registers::{self, Place};
use crate::qpu::isa::sfu;
use crate::qpu::{Qpu, Threading};
use crate::simd::vectors::Vectors;
use v3d_hw::qpu::{BRANCH_DELAY_SLOTS, Signal};

/// Executes as much as it can from an index of a stretch on, and gives the index of the next instruction.
#[inline(always)]
pub(in crate::qpu) fn run<V: Vectors>(
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
        let Some(group) = stretch.ahead.get(at).and_then(|ahead| ahead.group) else { break };
        let count = group.instructions();
        if *budget < count as u64 {
            break;
        }
        let taken = match group {
            Group::Branch(branch) => match qpu.branch::<V>(stretch, at, branch, io, memory) {
                Some(taken) => taken.then_some(usize::from(branch.target)),
                None => break,
            },
            _ => {
                if !qpu.begin_group(stretch, at, group, executed, io) {
                    break;
                }
                qpu.act::<V>(stretch, at, count, io, memory);
                None
            }
        };
        *budget -= count as u64;
        executed += count as u64;
        last = if count == 1 { [Some(at), last[0]] } else { [Some(at + count - 1), Some(at + count - 2)] };
        if let Some(target) = taken {
            at = target;
            qpu.streak = 0;
        } else {
            at += count;
            qpu.streak = qpu.streak.saturating_add(count as u32);
        }
        if group == Group::End {
            break;
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
    pub(in crate::qpu) fn may_run_ahead(&self, stretch: &Stretch, index: usize) -> bool {
        self.ending.is_none()
            && self.switching.is_none()
            && self.jumps == [None; 2]
            && !self.may_still_swap()
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

    /// Executes a branch, and says whether it is taken. `None` if the sequencer has to do it.
    #[inline(always)]
    fn branch<V: Vectors>(
        &mut self,
        stretch: &Stretch,
        at: usize,
        branch: PlainBranch,
        io: &mut dyn Io,
        memory: Memory<'_>,
    ) -> Option<bool> {
        let slots = stretch.ahead.get(at + 1)?;
        if self.undefined != 0 || slots.upper_registers && self.threading == Threading::Threaded {
            return None;
        }
        let taken = self.branch_holds(branch.condition);
        self.act::<V>(stretch, at + 1, BRANCH_DELAY_SLOTS as usize, io, memory);
        Some(taken)
    }

    /// Begins a group that is no branch, so that only its actions are left to be executed. `false` if the sequencer has to do it: then nothing has
    /// happened. `executed`: instructions that this run has executed before.
    pub(in crate::qpu) fn begin_group(
        &mut self,
        stretch: &Stretch,
        at: usize,
        group: Group,
        executed: u64,
        io: &mut dyn Io,
    ) -> bool {
        let count = group.instructions();
        let Some(instructions) = stretch.ops.get(at..at + count) else { return false };
        let threaded = self.threading == Threading::Threaded;
        let mut samples = false;
        for Placed { op, .. } in instructions {
            let touches = &op.touches;
            samples |= touches.tlb_samples || op.signal == Signal::ScoreboardWait;
            let upper = threaded && (touches.reads | touches.writes) & UPPER_REGISTERS != 0;
            if upper || self.undefined & (touches.reads_accumulators | touches.writes_accumulators) != 0 {
                return false;
            }
        }
        if samples && !self.holds_scoreboard(at, group, executed, io, stretch) {
            return false;
        }
        if group == Group::Switch && (!threaded || self.last_switch) {
            return false;
        }
        match group {
            // What the actions of the group need is defined, as has been found out; nothing of it is afterwards.
            Group::Switch => {
                self.last_switch =
                    instructions.first().is_some_and(|first| first.op.signal == Signal::LastThreadSwitch);
                self.lose_accumulators();
            }
            Group::End => self.ending = Some(0),
            Group::Tile | Group::Branch(_) => {}
        }
        true
    }

    /// Whether the program holds the scoreboard, or gets it now.
    fn holds_scoreboard(&mut self, at: usize, group: Group, executed: u64, io: &mut dyn Io, stretch: &Stretch) -> bool {
        let waits = stretch.ops.get(at).is_some_and(|placed| placed.op.signal == Signal::ScoreboardWait);
        if self.executed + executed < 2 {
            return false;
        }
        if self.scoreboard && !waits {
            return true;
        }
        let ready = group == Group::Tile && io.scoreboard_wait() == Ok(Wait::Ready);
        self.scoreboard |= ready;
        ready
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
        for action in stretch.actions_of(first, count) {
            self.act_on::<V>(action, stretch, io, memory);
        }
    }

    /// Puts the next varying in a place, and its coefficients where they wait for r5.
    #[inline(always)]
    fn take_varying(&mut self, to: Place, io: &mut dyn Io) {
        let varying = io.varying().unwrap_or_else(|error| {
            self.report(error);
            // r5 stays as it is.
            Varying { value: Lanes::default(), coefficients: *self.registers.at(registers::R5) }
        });
        *self.registers.at_mut(to) = varying.value;
        *self.registers.at_mut(registers::COEFFICIENTS) = varying.coefficients;
    }

    /// Executes an action.
    #[inline(always)]
    pub(in crate::qpu) fn act_on<V: Vectors>(
        &mut self,
        action: &Action,
        stretch: &Stretch,
        io: &mut dyn Io,
        memory: Memory<'_>,
    ) {
        match *action {
            Action::Operate { operation, a, b, to } => {
                vector::operate::<V>(&mut self.registers, operation, a, b, to);
            }
            Action::Conditional { operation, a, b, to, condition } => {
                let result = vector::compute::<V>(operation, self.registers.at(a), self.registers.at(b));
                V::blend(self.registers.at_mut(to), &result, self.flags.holds(condition));
            }
            Action::Flags { operation, a, b, to, condition } => {
                let (a, b) = (self.registers.at(a), self.registers.at(b));
                let result = vector::compute::<V>(operation, a, b);
                let carry = vector::carry::<V>(operation, a, b, &result);
                V::blend(self.registers.at_mut(to), &result, self.flags.holds(condition));
                vector::set_flags::<V>(&mut self.flags, &result, carry, condition);
            }
            Action::Constant { to, value } => *self.registers.at_mut(to) = Lanes::splat(value),
            Action::Uniform { to, at } => {
                self.pc = stretch.address_of(usize::from(at));
                *self.registers.at_mut(to) = Lanes::splat(self.next_uniform(memory));
            }
            Action::Varying { to, at } => {
                self.pc = stretch.address_of(usize::from(at));
                self.take_varying(to, io);
            }
            Action::VpmRead { to, at } => {
                self.pc = stretch.address_of(usize::from(at));
                *self.registers.at_mut(to) = io.vpm_read().unwrap_or_else(|error| {
                    self.report(error);
                    Lanes::default()
                });
            }
            Action::Unpack { from, mode, float } => vector::unpack(&mut self.registers, from, mode, float),
            Action::PackColour { from, to, part } => {
                let value = *self.registers.at(from);
                vector::pack_colours(self.registers.at_mut(to), &value, part);
            }
            Action::PackA { from, to, mode, float } => {
                let value = *self.registers.at(from);
                vector::pack_to_a(self.registers.at_mut(to), &value, mode, float);
            }
            Action::Sfu { function, from } => {
                let result = sfu::apply_all(function, self.registers.at(from));
                self.stale_r4 = std::mem::replace(self.registers.at_mut(registers::R4), result);
            }
            Action::Tmu { unit, coordinate, from, at } => {
                self.pc = stretch.address_of(usize::from(at));
                let value = *self.registers.at(from);
                let reads_uniform = stretch.ops.get(usize::from(at)).is_some_and(|placed| placed.op.touches.uniform);
                self.write_tmu(unit, coordinate, &value, reads_uniform, memory);
            }
            Action::LoadTmu { unit, at } => {
                self.pc = stretch.address_of(usize::from(at));
                self.load_tmu(unit);
            }
            Action::UniformsAddress { from } => self.set_uniforms_address(self.registers.at(from).0[0]),
            Action::TileBuffer { target, from, at } => {
                self.pc = stretch.address_of(usize::from(at));
                let value = *self.registers.at(from);
                if let Err(error) = self.write_io(target, &value, ALL, io, memory) {
                    self.report(error);
                }
            }
            Action::ScoreboardUnlock { at } => {
                self.pc = stretch.address_of(usize::from(at));
                self.obey_signal(Signal::ScoreboardUnlock, io);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fault::Fault;
    use crate::qpu::test_words::{END, NOP, NoUnits, memory_of};
    use crate::qpu::{CodeCache, Exit, Launch, QpuError, QpuFault, Rule};
    use v3d_hw::BusAddr;

    /// Whether a write to a TMU runs ahead that comes some instructions after TMU swapping is disabled; if it does not, a rule is broken.
    fn check(distance: u64, expected: bool) {
        /// mov tmu_noswap, r0
        const NO_SWAP: u64 = 0x1002_0927_159e_7000;
        /// mov tmu0_s, r0
        const LOOK_UP: u64 = 0x1002_0e27_159e_7000;
        let mut words = vec![NOP, NOP, NO_SWAP];
        words.extend((1..distance).map(|_| NOP));
        words.extend([LOOK_UP, NOP, END, NOP, NOP]);
        let owned = memory_of(4096, &words);
        let code = CodeCache::new();
        let mut qpu = Qpu::new();
        qpu.start(&Launch::default());
        assert_eq!(qpu.run(&mut NoUnits, owned.view(), &code, &mut (2 + distance)), Exit::OutOfBudget);
        let stretch = code.stretch(owned.view(), 0).unwrap();
        assert_eq!(qpu.may_run_ahead(&stretch, 2 + distance as usize), expected, "{distance}");
        assert_eq!(qpu.run(&mut NoUnits, owned.view(), &code, &mut 100), Exit::Ended);
        let fault = QpuFault { pc: BusAddr(8 * (2 + distance as u32)), error: QpuError::Rule(Rule::NoSwapTooLate) };
        assert_eq!(qpu.take_faults().faults(), if expected { vec![] } else { vec![Fault::Qpu(fault)] });
    }

    #[test]
    fn programs_that_disable_tmu_swapping_run_ahead_from_the_third_instruction_behind() {
        check(1, false);
        check(2, false);
        check(3, true);
        check(4, true);
    }
}
