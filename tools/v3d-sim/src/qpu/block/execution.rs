//! Block execution: micro-op by micro-op, without the sequencer.
//!
//! Instructions that neither wait nor end the program, and that break no rule with their neighbours in memory, form runs. One check at the start of a
//! run serves all of its instructions. Branches within the block whose delay slots and target are harmless, accesses to the tile buffer, thread
//! switches and program ends that break no rule form [groups](Group), which continue a run. Everything else is left to the sequencer.

use crate::memory::Memory;
use crate::qpu::block::micro_op::MicroOp;
use crate::qpu::block::{Block, BlockInstruction, Group, PlainBranch, Run, UPPER_REGISTERS};
use crate::qpu::datapath::vector::{self, Vectorized};
use crate::qpu::io::{Io, Varying, Wait};
use crate::qpu::isa::registers::{self, RegisterIndex};
use crate::qpu::isa::sfu;
use crate::qpu::lanes::{ALL, Lanes};
use crate::qpu::{Qpu, Threading};
use crate::simd::vectors::Vectors;
use v3d_hw::qpu::address_map::WriteTarget;
use v3d_hw::qpu::{BRANCH_DELAY_SLOTS, Condition, Hazard, Signal};

/// Executes as many instructions as possible from an index of a block on; returns the index of the next one.
#[inline(always)]
pub(in crate::qpu) fn run<V: Vectors>(
    qpu: &mut Qpu,
    block: &Block,
    index: usize,
    io: &mut dyn Io,
    memory: Memory<'_>,
    budget: &mut u64,
) -> usize {
    if !qpu.may_run_block(block, index) {
        return index;
    }
    let mut at = index;
    let mut executed = 0;
    let mut last = [None; 2];
    while let Some(run) = block.runs.get(at) {
        let Some(piece) = qpu.begin_piece(block, at, run, executed, *budget, io) else { break };
        // All micro-ops are executed here: their code, which is large, is compiled into this function once.
        for micro_op in block.micro_ops_of(piece.micro_ops_from, piece.micro_ops_of) {
            qpu.execute_micro_op::<V>(micro_op, block, io, memory);
        }
        qpu.undefined &= !piece.replaces;
        let count = piece.instructions;
        *budget -= count as u64;
        executed += count as u64;
        last = if count == 1 { [Some(at), last[0]] } else { [Some(at + count - 1), Some(at + count - 2)] };
        if let Some(target) = piece.target {
            at = target;
            qpu.run_length = 0;
        } else {
            at += count;
            qpu.run_length = qpu.run_length.saturating_add(count as u32);
        }
        if piece.ends {
            break;
        }
    }
    let touches =
        |index: usize| block.instructions.get(index).map(|placed| placed.instruction.touches).unwrap_or_default();
    if let [Some(previous), before] = last {
        qpu.recent = [touches(previous), before.map_or(qpu.recent[0], touches)];
    }
    qpu.pc = block.address_of(at);
    qpu.executed += executed;
    at
}

/// Instructions that are executed without a look at the state between them: a run or a group.
struct Piece {
    /// Their number.
    instructions: usize,
    /// The first instruction whose micro-ops are executed.
    micro_ops_from: usize,
    /// The number of instructions whose micro-ops are executed.
    micro_ops_of: usize,
    /// Accumulators that are defined afterwards, in the form of [`Touches`](crate::qpu::isa::touches::Touches).
    replaces: u8,
    /// The index at which execution continues after a branch that is taken.
    target: Option<usize>,
    /// The program has ended.
    ends: bool,
}

/// What must hold before a group begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::qpu) struct GroupNeeds {
    /// Accumulators and flags that must be defined, in the form of [`Touches`](crate::qpu::isa::touches::Touches).
    pub(in crate::qpu) accumulators: u8,
    /// Registers 16 to 31 are accessed.
    pub(in crate::qpu) upper_registers: bool,
    /// Samples of the tile buffer are accessed, or the scoreboard is waited for.
    pub(in crate::qpu) scoreboard: bool,
    /// The scoreboard is waited for by a signal.
    pub(in crate::qpu) waits: bool,
}

impl GroupNeeds {
    /// Those of the group at an index of a block.
    pub(in crate::qpu) fn of(block: &Block, at: usize, group: Group) -> Option<Self> {
        let mut needs = Self::default();
        for BlockInstruction { instruction, .. } in block.instructions.get(at..at + group.instructions())? {
            let touches = &instruction.touches;
            let waits = instruction.signal == Signal::ScoreboardWait;
            needs.accumulators |= touches.reads_accumulators | touches.writes_accumulators;
            needs.upper_registers |= (touches.reads | touches.writes) & UPPER_REGISTERS != 0;
            needs.scoreboard |= touches.tlb_samples || waits;
            needs.waits |= waits;
        }
        Some(needs)
    }
}

impl Qpu {
    /// Whether no pending event needs the sequencer, and the next instructions break no rule with those executed last.
    #[inline(always)]
    pub(in crate::qpu) fn may_run_block(&self, block: &Block, index: usize) -> bool {
        self.ending.is_none()
            && self.switching.is_none()
            && self.jumps == [None; 2]
            && !self.no_swap_is_recent()
            // The first instruction of a program has no predecessor.
            && (self.has_run_predecessors(index)
                || self.executed == 0 && index == 0
                || self.breaks_no_rule_after_recent(block, index))
    }

    /// Whether the next two instructions break no rule with those executed before them.
    fn breaks_no_rule_after_recent(&self, block: &Block, index: usize) -> bool {
        let Some(first) = block.instructions.get(index) else { return false };
        let harmless = first.instruction.touches.hazards(&self.recent[0], &self.recent[1]).is_empty();
        harmless
            && block.instructions.get(index + 1).is_none_or(|next| {
                next.instruction.touches.hazards(&first.instruction.touches, &self.recent[0]).is_empty()
            })
    }

    /// Begins what starts at an index of a block: the rest of its run, or a group. `None` if the sequencer has to execute the next instruction, or the budget
    /// is too small: then nothing has changed. `executed` is the number of instructions of this call.
    #[inline(always)]
    fn begin_piece(
        &mut self,
        block: &Block,
        at: usize,
        run: &Run,
        executed: u64,
        budget: u64,
        io: &mut dyn Io,
    ) -> Option<Piece> {
        let count = usize::from(run.count);
        if count > 0 {
            return self.can_run(run, count as u64, budget).then_some(Piece {
                instructions: count,
                micro_ops_from: at,
                micro_ops_of: count,
                replaces: run.replaces,
                target: None,
                ends: false,
            });
        }
        let group = run.group?;
        let instructions = group.instructions();
        if budget < instructions as u64 {
            return None;
        }
        let plain = Piece {
            instructions,
            micro_ops_from: at,
            micro_ops_of: instructions,
            replaces: 0,
            target: None,
            ends: group == Group::End,
        };
        match group {
            Group::Branch(branch) => {
                let taken = self.takes(block, at, branch)?;
                let target = taken.then_some(usize::from(branch.target));
                let slots = BRANCH_DELAY_SLOTS as usize;
                Some(Piece { micro_ops_from: at + 1, micro_ops_of: slots, target, ..plain })
            }
            _ => self.begin_group(block, at, group, executed, io).then_some(plain),
        }
    }

    /// Whether a branch is taken. `None` if the sequencer has to execute it.
    fn takes(&self, block: &Block, at: usize, branch: PlainBranch) -> Option<bool> {
        let slots = block.runs.get(at + 1)?;
        // The sequencer reports branches that depend on elements without a vertex.
        if self.undefined_elements != 0
            || self.undefined != 0
            || slots.upper_registers && self.threading == Threading::Threaded
        {
            return None;
        }
        Some(self.branch_holds(branch.condition))
    }

    /// Starts a group other than a branch, so that only its micro-ops remain to be executed. `false` if the sequencer has to execute it: then nothing has
    /// changed. `executed` is the number of instructions of this call before the group.
    pub(in crate::qpu) fn begin_group(
        &mut self,
        block: &Block,
        at: usize,
        group: Group,
        executed: u64,
        io: &mut dyn Io,
    ) -> bool {
        let Some(needs) = GroupNeeds::of(block, at, group) else { return false };
        let threaded = self.threading == Threading::Threaded;
        if threaded && needs.upper_registers || self.undefined & needs.accumulators != 0 {
            return false;
        }
        if needs.scoreboard && !self.holds_scoreboard(at, executed, io, block) {
            return false;
        }
        if group == Group::Switch && (!threaded || self.last_switch) {
            return false;
        }
        match group {
            // The values that the group needs are defined; after the switch nothing is.
            Group::Switch => {
                self.switched = true;
                let first = block.instructions.get(at);
                self.last_switch = first.is_some_and(|first| first.instruction.signal == Signal::LastThreadSwitch);
                self.undefine_accumulators();
            }
            Group::End => self.ending = Some(0),
            Group::Tile | Group::Branch(_) => {}
        }
        true
    }

    /// Whether the program holds the scoreboard, or acquires it now.
    fn holds_scoreboard(&mut self, at: usize, executed: u64, io: &mut dyn Io, block: &Block) -> bool {
        let waits =
            block.instructions.get(at).is_some_and(|placed| placed.instruction.signal == Signal::ScoreboardWait);
        if !self.may_use_scoreboard(executed) {
            return false;
        }
        if self.scoreboard && !waits {
            return true;
        }
        // The first access waits. Where that is a later instruction of the group, nothing in it depends on when the scoreboard is taken.
        let ready = io.scoreboard_wait() == Ok(Wait::Ready);
        self.scoreboard |= ready;
        ready
    }

    /// Whether the program may wait for the scoreboard by now. `executed` is the number of instructions of this call.
    pub(in crate::qpu) fn may_use_scoreboard(&self, executed: u64) -> bool {
        self.executed + executed >= u64::from(Hazard::ScoreboardAfterStart.between())
    }

    /// Whether a run fits in the budget and breaks no rule in this program's state.
    #[inline(always)]
    fn can_run(&self, run: &Run, count: u64, budget: u64) -> bool {
        count <= budget
            && self.undefined & run.needs == 0
            && !(run.upper_registers && self.threading == Threading::Threaded)
    }

    /// Loads the next varying into a register, and its C coefficients into the registers that hold them for r5.
    #[inline(always)]
    fn take_varying(&mut self, to: RegisterIndex, io: &mut dyn Io) {
        let varying = io.varying().unwrap_or_else(|error| {
            self.report(error);
            // r5 keeps its value.
            Varying { value: Lanes::default(), coefficients: *self.registers.at(registers::R5) }
        });
        *self.registers.at_mut(to) = varying.value;
        *self.registers.at_mut(registers::COEFFICIENTS) = varying.coefficients;
    }

    /// Executes a micro-op of a TMU, which accesses no other unit.
    pub(in crate::qpu) fn execute_lookup(&mut self, micro_op: &MicroOp, block: &Block, memory: Memory<'_>) {
        match *micro_op {
            MicroOp::Tmu { unit, coordinate, from, at } => {
                self.pc = block.address_of(usize::from(at));
                let reads_uniform =
                    block.instructions.get(usize::from(at)).is_some_and(|placed| placed.instruction.touches.uniform);
                self.write_tmu_from(unit, coordinate, from, reads_uniform, memory);
            }
            MicroOp::LoadTmu { unit, at } => {
                self.pc = block.address_of(usize::from(at));
                self.load_tmu(unit);
            }
            _ => {}
        }
    }

    /// Executes a micro-op that accesses another unit, but takes neither uniform nor varying.
    pub(in crate::qpu) fn access_unit(
        &mut self,
        micro_op: &MicroOp,
        block: &Block,
        io: &mut dyn Io,
        memory: Memory<'_>,
    ) {
        match *micro_op {
            MicroOp::VpmRead { to, at } => {
                self.pc = block.address_of(usize::from(at));
                *self.registers.at_mut(to) = io.vpm_read().unwrap_or_else(|error| {
                    self.report(error);
                    Lanes::default()
                });
            }
            MicroOp::Read { source, to, at } => {
                self.pc = block.address_of(usize::from(at));
                *self.registers.at_mut(to) = self.read_port(source, to, io).unwrap_or_else(|error| {
                    self.report(error);
                    Lanes::default()
                });
            }
            MicroOp::Peripheral { target, from, condition: Condition::Always, at }
                if matches!(target, WriteTarget::TlbZ | WriteTarget::TlbColorAll | WriteTarget::VpmWrite) =>
            {
                // What programs write most, as `write_io` would.
                self.pc = block.address_of(usize::from(at));
                let value = self.registers.at(from);
                let written = match target {
                    WriteTarget::TlbZ => io.tlb_z(value, ALL),
                    WriteTarget::TlbColorAll => io.tlb_color_all(value, ALL),
                    _ => io.vpm_write(value, ALL),
                };
                if let Err(error) = written {
                    self.report(error);
                }
            }
            MicroOp::Peripheral { target, from, condition, at } => {
                self.pc = block.address_of(usize::from(at));
                let value = *self.registers.at(from);
                if let Err(error) = self.write_io(target, &value, self.flags.holds(condition), io, memory) {
                    self.report(error);
                }
            }
            MicroOp::Signal { signal, at } => {
                self.pc = block.address_of(usize::from(at));
                self.execute_signal(signal, io);
            }
            _ => {}
        }
    }

    /// Executes a micro-op.
    #[inline(always)]
    pub(in crate::qpu) fn execute_micro_op<V: Vectors>(
        &mut self,
        micro_op: &MicroOp,
        block: &Block,
        io: &mut dyn Io,
        memory: Memory<'_>,
    ) {
        match *micro_op {
            MicroOp::Operate { operation, a, b, to } => {
                vector::operate::<V>(&mut self.registers, operation, a, b, to);
            }
            MicroOp::Conditional { operation, a, b, to, condition }
            | MicroOp::Flags { operation, a, b, to, condition } => {
                let (a, b) = (self.registers.at(a), self.registers.at(b));
                let result = vector::compute::<V>(operation, a, b);
                let sets_flags = matches!(micro_op, MicroOp::Flags { .. });
                let carry = if sets_flags { vector::carry::<V>(operation, a, b, &result) } else { 0 };
                V::blend(self.registers.at_mut(to), &result, self.flags.holds(condition));
                if sets_flags {
                    vector::set_flags::<V>(&mut self.flags, &result, carry, condition);
                }
            }
            MicroOp::Rotated { operation, a, b, to, by } => {
                *self.registers.at_mut(to) = vector::rotated::<V>(&self.registers, operation, (a, b), by);
            }
            MicroOp::Constant { to, value } => *self.registers.at_mut(to) = Lanes::splat(value),
            MicroOp::Uniform { to, at } => {
                self.pc = block.address_of(usize::from(at));
                *self.registers.at_mut(to) = Lanes::splat(self.next_uniform(memory));
            }
            MicroOp::Varying { to, at } => {
                self.pc = block.address_of(usize::from(at));
                self.take_varying(to, io);
            }
            MicroOp::Unpack { from, mode, float } => vector::unpack(&mut self.registers, from, mode, float),
            MicroOp::PackColour { from, to, part } => {
                let value = *self.registers.at(from);
                vector::pack_colours(self.registers.at_mut(to), &value, part);
            }
            MicroOp::PackA { from, to, mode, float } => {
                let value = *self.registers.at(from);
                vector::pack_to_a(self.registers.at_mut(to), &value, mode, float);
            }
            MicroOp::Sfu { function, from } => {
                let result = sfu::apply_all(function, self.registers.at(from));
                self.stale_r4 = std::mem::replace(self.registers.at_mut(registers::R4), result);
            }
            MicroOp::Tmu { .. } | MicroOp::LoadTmu { .. } => self.execute_lookup(micro_op, block, memory),
            MicroOp::UniformsAddress { from } => self.set_uniforms_address(self.registers.at(from).0[0]),
            MicroOp::VpmRead { .. } | MicroOp::Read { .. } | MicroOp::Peripheral { .. } | MicroOp::Signal { .. } => {
                self.access_unit(micro_op, block, io, memory);
            }
            MicroOp::Whole { at } => {
                self.pc = block.address_of(usize::from(at));
                if let Some(placed) = block.instructions.get(usize::from(at)) {
                    self.perform::<Vectorized<V>>(&placed.instruction, &placed.instruction, io, memory);
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

    /// Whether block execution performs a TMU write some instructions after TMU swapping is disabled; if it does not, a rule is broken.
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
        let block = code.block(owned.view(), 0).unwrap();
        assert_eq!(qpu.may_run_block(&block, 2 + distance as usize), expected, "{distance}");
        assert_eq!(qpu.run(&mut NoUnits, owned.view(), &code, &mut 100), Exit::Ended);
        let fault = QpuFault { pc: BusAddr(8 * (2 + distance as u32)), error: QpuError::Rule(Rule::NoSwapTooLate) };
        assert_eq!(qpu.take_faults().faults(), if expected { vec![] } else { vec![Fault::Qpu(fault)] });
    }

    #[test]
    fn blocks_run_from_the_third_instruction_behind_a_disabled_tmu_swap() {
        check(1, false);
        check(2, false);
        check(3, true);
        check(4, true);
    }
}
