//! The sequencer: fetches instructions, waits, branches, and uses a [datapath](super::datapath) to compute.
//!
//! The loop in `run_counted` finds the [block](super::block) that contains the next instruction, lets the engine execute as much of it as possible, and
//! executes the rest one instruction at a time in `step`:
//!
//! 1. `wait`: stalls for semaphore, mutex or scoreboard. No state changes before it returns that the QPU is ready.
//! 2. [`hazards`]: finds the rules that the instruction breaks together with its neighbours and its place in the program, and reports them.
//! 3. `perform`: [reads] the ports, has the datapath compute, [writes] peripherals, executes the signal.
//! 4. `advance`: counts down the delay slots of [branches](branch), thread switches and the program's end.
//!
//! [`recording`] records the events of an instruction for the timing model.

mod branch;
mod hazards;
mod reads;
mod recording;
mod writes;

pub(in crate::qpu) use branch::Jump;

use super::block::{Block, BlockInstruction};
use super::datapath::{Datapath, Results};
use super::engine::Engine;
use super::io::{Io, IoError, Wait};
use super::isa::instruction::{DecodedInstruction, Kind};
use super::isa::registers;
use super::{CodeCache, Exit, INSTRUCTION_CYCLES, Qpu, Threading};
use crate::fault::qpu::{QpuError, QpuFault};
use crate::fault::rule::Rule;
use crate::memory::Memory;
use crate::qpu::lanes::Lanes;
use crate::timing::trace::Event;
use crate::tmu::Tmu;
use std::sync::Arc;
use v3d_hw::BusAddr;
use v3d_hw::qpu::accesses::accumulators;
use v3d_hw::qpu::address_map::ReadSource;
use v3d_hw::qpu::{INSTRUCTION_BYTES, Signal, THREAD_DELAY_SLOTS};
use v3d_hw::registers::performance::CounterSource;

/// Result of a step.
enum Step {
    Next,
    Stalled,
    Ended,
}

/// The blocks that a QPU has executed recently.
#[derive(Clone, Debug)]
pub(in crate::qpu) struct RecentBlocks {
    /// The generation of the cache that they are from.
    generation: u64,
    blocks: [Option<Arc<Block>>; 4],
    current: usize,
}

impl RecentBlocks {
    /// No blocks yet of a generation.
    const fn new(generation: u64) -> Self {
        Self { generation, blocks: [const { None }; 4], current: 0 }
    }

    /// The block that contains an address, and its index there.
    fn find(&mut self, address: u32) -> Option<(&Block, usize)> {
        let slots = self.blocks.len();
        for i in 0..slots {
            let slot = (self.current + i) % slots;
            let index = self.blocks[slot].as_ref().and_then(|block| block.index_of(address));
            if let Some(index) = index {
                self.current = slot;
                return self.blocks[slot].as_deref().map(|block| (block, index));
            }
        }
        None
    }

    /// The block found last.
    #[inline]
    pub(in crate::qpu) fn current(&self) -> Option<&Block> {
        self.blocks[self.current].as_deref()
    }

    /// The generation of the cache that they are from.
    #[inline]
    pub(in crate::qpu) const fn generation(&self) -> u64 {
        self.generation
    }

    /// Adds a block, replacing the one after the block found last.
    fn keep(&mut self, block: Arc<Block>) {
        self.current = (self.current + 1) % self.blocks.len();
        self.blocks[self.current] = Some(block);
    }
}

impl Qpu {
    /// Runs with one engine, which is compiled into the caller; this is hundreds of kilobytes of code.
    #[inline(always)]
    pub(in crate::qpu) fn run_with<E: Engine>(
        &mut self,
        io: &mut dyn Io,
        memory: Memory<'_>,
        code: &CodeCache,
        budget: &mut u64,
    ) -> Exit {
        let before = self.executed;
        let exit = self.run_counted::<E>(io, memory, code, budget);
        self.counters.add(CounterSource::QpuInstructionCycles, (self.executed - before) * INSTRUCTION_CYCLES);
        let tmu_quads = self.tmu.iter_mut().map(Tmu::take_quads).sum();
        self.counters.add(CounterSource::TmuQuads, tmu_quads);
        let instructions = self.executed - before;
        let starts = u64::from(std::mem::take(&mut self.is_new));
        self.counters.add_run(BusAddr(self.program), starts, instructions, tmu_quads);
        if exit == Exit::Ended {
            self.submit_trace();
        }
        exit
    }

    #[inline(always)]
    fn run_counted<E: Engine>(
        &mut self,
        io: &mut dyn Io,
        memory: Memory<'_>,
        code: &CodeCache,
        budget: &mut u64,
    ) -> Exit {
        if self.ending == Some(0) {
            return Exit::Ended;
        }
        let generation = code.generation();
        let mut recent_blocks = match self.recent_blocks.take() {
            Some(recent_blocks) if recent_blocks.generation == generation => recent_blocks,
            _ => Box::new(RecentBlocks::new(generation)),
        };
        let exit = loop {
            let Some((current, index)) = recent_blocks.find(self.pc) else {
                match code.block(memory, self.pc) {
                    Ok(block) => recent_blocks.keep(block),
                    Err(error) => {
                        self.report(error);
                        self.ending = Some(0);
                        break Exit::Ended;
                    }
                }
                continue;
            };
            if *budget == 0 {
                break Exit::OutOfBudget;
            }
            self.written |= current.writes;
            let is_start = self.executed == 0 && index == 0;
            let index = E::run_block(self, current, index, io, memory, budget);
            if self.ending == Some(0) {
                self.ended_in_one_call = is_start && self.translated == self.executed;
                break Exit::Ended;
            }
            let Some(placed) = current.instructions.get(index) else { continue };
            if *budget == 0 {
                break Exit::OutOfBudget;
            }
            match self.step::<E>(placed, index, io, memory) {
                Step::Next => *budget -= 1,
                Step::Stalled => break Exit::Stalled,
                Step::Ended => {
                    *budget -= 1;
                    break Exit::Ended;
                }
            }
        };
        self.recent_blocks = Some(recent_blocks);
        exit
    }

    /// The effects of an instruction other than control: reads ports, computes, writes peripherals, loads r4. `executed` is the instruction, possibly with
    /// other operands.
    #[inline(always)]
    pub(in crate::qpu) fn perform<D: Datapath>(
        &mut self,
        instruction: &DecodedInstruction,
        executed: &DecodedInstruction,
        io: &mut dyn Io,
        memory: Memory<'_>,
    ) {
        let mut coefficients = None;
        match (instruction.port_a, instruction.port_b) {
            (None, None) => {}
            (Some(ReadSource::Uniform), None) => {
                *self.registers.at_mut(registers::PORT_A) = Lanes::splat(self.next_uniform(memory));
            }
            (None, Some(ReadSource::Uniform)) => {
                *self.registers.at_mut(registers::PORT_B) = Lanes::splat(self.next_uniform(memory));
            }
            _ => coefficients = self.read_ports(instruction, io, memory),
        }
        if instruction.kind != Kind::Alu {
            self.load_constant(instruction);
        }
        let mut results = Results::default();
        D::execute(&mut self.registers, &mut self.flags, executed, &mut results);
        if instruction.peripheral_writes {
            self.write_peripheral(&instruction.add, &results.add, &instruction.touches, io, memory);
            self.write_peripheral(&instruction.mul, &results.mul, &instruction.touches, io, memory);
        }
        if let Some(coefficients) = coefficients {
            *self.registers.at_mut(registers::R5) = coefficients;
        }
        if !matches!(instruction.signal, Signal::None | Signal::SmallImmediate) {
            self.execute_signal(instruction.signal, io);
        }
    }

    /// Whether the two predecessors of an index in the block are the two instructions executed last.
    pub(in crate::qpu) fn has_run_predecessors(&self, index: usize) -> bool {
        self.run_length >= 2 && index >= 2
    }

    /// Executes one instruction, of any kind.
    #[inline(always)]
    fn step<E: Engine>(
        &mut self,
        placed: &BlockInstruction,
        index: usize,
        io: &mut dyn Io,
        memory: Memory<'_>,
    ) -> Step {
        let instruction = &placed.instruction;
        let had_scoreboard = self.scoreboard;
        match self.wait(instruction, io) {
            Ok(Wait::Ready) => {}
            Ok(Wait::Stall) => return Step::Stalled,
            Err(error) => self.report(error),
        }
        let hazards = if E::TRUSTS_DECODER && self.has_run_predecessors(index) {
            placed.hazards
        } else {
            instruction.touches.hazards(&self.recent[0], &self.recent[1])
        };
        let mut broken = instruction.broken.union(hazards);
        if instruction.notable || self.ending.is_some() || self.undefined != 0 || self.threading == Threading::Threaded
        {
            self.find_state_hazards(instruction, &mut broken);
        }
        if !broken.is_empty() {
            for rule in broken.iter() {
                self.report(rule);
            }
        }

        let taken = match instruction.kind {
            Kind::Branch { condition, .. } => self.branch_is_taken(condition),
            _ => true,
        };
        let target = self.branch_target(instruction, &broken);
        let patched;
        let mut executed = instruction;
        if broken.contains(Rule::StaleRead) || broken.contains(Rule::SfuTooEarly) {
            patched = self.with_stale_operands(instruction, &broken);
            executed = &patched;
        }
        let keeps = placed.keeps || self.jumps.iter().flatten().any(|jump| jump.after == 1);
        if keeps {
            self.stale = [self.old_value(instruction, 0), self.old_value(instruction, 1)];
        }
        let left_by_registers = if placed.latches {
            [self.left_on_port(instruction, 0), self.left_on_port(instruction, 1)]
        } else {
            [None; 2]
        };
        if E::RECORDS {
            self.record(instruction, !had_scoreboard && self.scoreboard);
        }
        // The link address is only written if the branch is taken [vc4asm].
        if taken {
            self.perform::<E::Datapath>(instruction, executed, io, memory);
        }
        if placed.latches {
            // Registers may have been written by now; peripherals have not been read before.
            for (port, peripheral) in [registers::PORT_A, registers::PORT_B].into_iter().enumerate() {
                let is_peripheral = instruction.latches[port] == Some(peripheral);
                let shown = if is_peripheral { self.left_on_port(instruction, port) } else { left_by_registers[port] };
                self.latches[port] = shown.unwrap_or(self.latches[port]);
            }
        }
        self.undefined &= !instruction.touches.replaces_accumulators;
        if self.undefined != 0 {
            self.mark_packed_bytes(&instruction.mul);
        }
        self.recent = [instruction.touches, self.recent[0]];
        self.executed += 1;
        if let Some(target) = target.filter(|_| taken) {
            self.start_jump(target);
        }
        self.advance(instruction)
    }

    /// Waits if the instruction may stall. No state changes before this returns that the QPU is ready.
    fn wait(&mut self, instruction: &DecodedInstruction, io: &mut dyn Io) -> Result<Wait, IoError> {
        if let Kind::Semaphore { number, decrement, .. } = instruction.kind {
            return io.semaphore(number, decrement);
        }
        if [instruction.port_a, instruction.port_b].contains(&Some(ReadSource::MutexAcquire)) {
            return io.mutex_acquire();
        }
        if instruction.signal == Signal::ScoreboardWait {
            return io.scoreboard_wait().inspect(|wait| self.scoreboard = *wait == Wait::Ready);
        }
        if instruction.touches.tlb_samples && !self.scoreboard {
            // The first access to the tile buffer waits by itself. Without a tile buffer the access reports the error.
            let wait = io.scoreboard_wait().unwrap_or(Wait::Ready);
            self.scoreboard = wait == Wait::Ready;
            return Ok(wait);
        }
        Ok(Wait::Ready)
    }

    /// Advances to the next instruction.
    fn advance(&mut self, instruction: &DecodedInstruction) -> Step {
        let mut next = self.pc.wrapping_add(INSTRUCTION_BYTES);
        self.run_length = self.run_length.saturating_add(1);
        for jump in &mut self.jumps {
            if let Some(Jump { after, target }) = jump {
                *after -= 1;
                if *after == 0 {
                    next = *target;
                    self.run_length = 0;
                    *jump = None;
                }
            }
        }
        self.pc = next;

        if let Some(left) = &mut self.switching {
            *left -= 1;
            if *left == 0 {
                self.switching = None;
                self.undefine_accumulators();
                if let Some(trace) = &mut self.trace {
                    trace.record(Event::ThreadSwitch);
                }
            }
        } else if matches!(instruction.signal, Signal::ThreadSwitch | Signal::LastThreadSwitch) {
            self.switching = Some(THREAD_DELAY_SLOTS);
            self.switched = true;
            self.last_switch |= instruction.signal == Signal::LastThreadSwitch;
        }
        match &mut self.ending {
            Some(left) => {
                *left -= 1;
                if *left == 0 {
                    return Step::Ended;
                }
            }
            None if matches!(instruction.signal, Signal::ProgramEnd | Signal::LoadColorEnd) => {
                self.ending = Some(THREAD_DELAY_SLOTS);
            }
            None if instruction.signal == Signal::Breakpoint => {
                self.ending = Some(0);
                return Step::Ended;
            }
            None => {}
        }
        Step::Next
    }

    /// A thread switch leaves accumulators and flags undefined.
    pub(in crate::qpu) fn undefine_accumulators(&mut self) {
        self.undefined = accumulators::ALL;
        self.undefined_bits = [!0; 6];
    }

    pub(in crate::qpu) fn report(&mut self, error: impl Into<QpuError>) {
        self.faults.report(QpuFault { pc: BusAddr(self.pc), error: error.into() });
    }
}
