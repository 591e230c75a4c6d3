//! Quad processors: programs of 64-bit instructions, each working on vectors of 16 elements.
//!
//! A [`Qpu`] is one hardware thread. It is started at an address with a stream of uniforms, and runs until its program ends, stalls or has used
//! up its budget of instructions. What it is connected to (varyings and tile buffer, or VPM, mutex and semaphores) is an [`Io`].
//!
//! # How a step works
//! The sequencer, which is here, does everything but the arithmetic: it fetches decoded instructions from a [`CodeCache`], waits for what may
//! stall, reads peripherals, finds broken rules, lets an engine compute, writes peripherals, obeys signals, and moves on. What an instruction
//! breaks is reported, and it is executed as far as there is a meaning to it.
//!
//! An engine is a [`Datapath`]: [`Reference`] computes in the words of the guide, [`Fast`] in vectors, as narrow or as wide as the host has them, and
//! [`Traced`] does the same with a trace for the clock. Instructions that neither wait nor end, and whose neighbours are harmless, are marked when
//! they are decoded; `Fast` executes them in runs, as the [`micro_op`]s that they have been taken apart into, without looking for broken rules
//! again. Where the host can, what is executed often is translated to its own instructions (`native`). [`conformance`] holds each way of executing
//! against the reference.
//!
//! # Two threads
//! Threads of one QPU share nothing that a program may rely on, so each is a [`Qpu`] of its own: a thread switch only makes accumulators and
//! flags undefined. That the hardware maps the second thread's registers to the upper half of the files cannot be observed without
//! breaking a rule.
//!
//! # Sources
//! [AG p.16-38]; [vc4asm] where said.

pub mod block;
pub mod conformance;
pub mod datapath;
pub mod fault;
pub mod io;
pub mod isa;
pub mod qps;
#[cfg(test)]
mod test_words;
#[cfg(target_arch = "x86_64")]
mod translation;

pub use block::CodeCache;
pub use fault::{QpuError, QpuFault, Rule};
pub use io::{Io, IoError, Varying, Wait};

use crate::counters::{Counters, ProgramEvents};
use crate::fault::FaultLog;
use crate::lanes::{ALL, Lanes, Mask};
use crate::memory::Memory;
use crate::simd::vectors::Portable;
use crate::timing::trace::{Dma, Event, Invocation, Trace};
use crate::tmu::Tmu;
use block::{Block, BlockInstruction, UPPER_REGISTERS};
use datapath::dispatch;
use datapath::reference::Reference;
use datapath::vector::{Traced, Vectorized};
use datapath::{Datapath, Results};
use fault::Rules;
use isa::instruction::{self, AluOperation, DecodedInstruction, Destination, FLAGS_BIT, Kind, Pack, Touches};
use isa::registers::{self, Flags, RegisterIndex, Registers};
use isa::{pack, sfu};
use std::sync::Arc;
use v3d_hw::BusAddr;
use v3d_hw::qpu::address_map::{ReadSource, TmuCoordinate, WriteTarget};
use v3d_hw::qpu::{
    BRANCH_DELAY_SLOTS, BranchCondition, Condition, INSTRUCTION_BYTES, LANES, Signal, THREAD_DELAY_SLOTS,
};
use v3d_hw::registers::performance::CounterSource;

/// Clock cycles of an instruction: four elements in each [AG p.16].
pub const INSTRUCTION_CYCLES: u64 = 4;
/// Instructions from the one that writes TMU_NOSWAP to the first that may write to a TMU [AG p.37].
const NO_SWAP_DELAY: u64 = 3;
/// Accumulators and flags, in the form of [`Touches`].
const ACCUMULATORS_AND_FLAGS: u8 = FLAGS_BIT | (FLAGS_BIT - 1);

/// Whether a program shares its QPU with another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Threading {
    /// All registers are its own, and it must not switch threads.
    #[default]
    Single,
    /// It is one of two threads: half of the registers are its own.
    Threaded,
}

/// How a program starts.
#[derive(Clone, Copy, Debug, Default)]
pub struct Launch {
    /// Address of the first instruction.
    pub pc: BusAddr,
    /// Address of the first uniform.
    pub uniforms: BusAddr,
    /// Number of uniforms, if it is limited; 0 for a program without.
    pub uniforms_limit: Option<u32>,
    /// What register A 15 holds: W of a fragment shader.
    pub ra15: Lanes,
    /// What register B 15 holds: Z of a fragment shader.
    pub rb15: Lanes,
    /// Whether it may switch threads.
    pub threading: Threading,
    /// Number of the QPU that executes it.
    pub qpu: u8,
    /// Leaves a trace for the clock, as of this work.
    pub record: Option<Invocation>,
}

/// Why a QPU stopped running.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// The program has ended.
    Ended,
    /// It waits for a semaphore, the mutex or the scoreboard; to be run again.
    Stalled,
    /// The budget is used up; can be run again.
    OutOfBudget,
}

/// What a step did.
enum Step {
    Next,
    Stalled,
    Ended,
}

/// A branch that has been taken and waits for its delay slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Jump {
    /// Instructions until it takes effect, the current one included.
    after: u32,
    target: u32,
}

/// Blocks of code that a QPU goes back and forth between.
#[derive(Clone, Debug, Default)]
struct RecentBlocks {
    blocks: [Option<Arc<Block>>; 4],
    current: usize,
}

impl RecentBlocks {
    /// The block in which an address is, and its index there.
    fn find(&mut self, address: u32) -> Option<(&Block, usize)> {
        let places = self.blocks.len();
        for i in 0..places {
            let place = (self.current + i) % places;
            let index = self.blocks[place].as_ref().and_then(|block| block.index_of(address));
            if let Some(index) = index {
                self.current = place;
                return self.blocks[place].as_deref().map(|block| (block, index));
            }
        }
        None
    }

    /// Holds another block, in the place of the one that was found before all others.
    fn keep(&mut self, block: Arc<Block>) {
        self.current = (self.current + 1) % self.blocks.len();
        self.blocks[self.current] = Some(block);
    }
}

/// One hardware thread of a QPU.
#[derive(Clone, Debug)]
pub struct Qpu {
    registers: Registers,
    /// Registers of files A and B that may not be 0, but for those that a launch sets, in the form of [`Touches`].
    written: u64,
    flags: Flags,
    /// Old values of the registers of file A and B that the last instruction wrote.
    stale: [(RegisterIndex, Lanes); 2],
    /// r4 before the last SFU result.
    stale_r4: Lanes,
    /// The last elements that were read through ports A and B.
    latches: [[u32; 4]; 2],
    tmu: [Tmu; 2],
    pc: u32,
    uniforms: u32,
    uniforms_left: Option<u32>,
    threading: Threading,
    /// What the last instruction and the one before it touched.
    recent: [Touches; 2],
    /// Instructions that followed each other in memory.
    streak: u32,
    jumps: [Option<Jump>; 2],
    /// Instructions that are left before the program ends.
    ending: Option<u32>,
    /// Instructions that are left before the thread is switched.
    switching: Option<u32>,
    last_switch: bool,
    /// Accumulators and flags that a thread switch has left undefined.
    undefined: u8,
    /// The bits of undefined accumulators that colour packing has not yet replaced.
    undefined_bits: [u32; 6],
    executed: u64,
    /// How many of them translated code has executed.
    translated: u64,
    /// It has been started and has not run since: this is still to be counted.
    is_new: bool,
    /// Where the program began.
    program: u32,
    no_swap_at: Option<u64>,
    scoreboard: bool,
    /// Blocks that are executed, and the state of the cache that they are from.
    recent_blocks: (Option<u64>, RecentBlocks),
    faults: FaultLog,
    /// What the running program has done, if that is recorded.
    trace: Option<Box<Trace>>,
    /// What this thread has counted since it was made.
    pub counters: Counters,
}

impl Default for Qpu {
    fn default() -> Self {
        Self::new()
    }
}

impl Qpu {
    /// A thread without a program: it has ended.
    pub fn new() -> Self {
        Self {
            registers: Registers::new(),
            written: 0,
            flags: Flags::default(),
            stale: [(registers::ELEMENTS, Lanes::default()); 2],
            stale_r4: Lanes::default(),
            latches: [[0; 4]; 2],
            tmu: [Tmu::new(), Tmu::new()],
            pc: 0,
            uniforms: 0,
            uniforms_left: None,
            threading: Threading::Single,
            recent: [Touches::default(); 2],
            streak: 0,
            jumps: [None; 2],
            ending: Some(0),
            switching: None,
            last_switch: false,
            undefined: 0,
            undefined_bits: [0; 6],
            executed: 0,
            translated: 0,
            is_new: false,
            program: 0,
            no_swap_at: None,
            scoreboard: false,
            recent_blocks: (None, RecentBlocks::default()),
            faults: FaultLog::default(),
            trace: None,
            counters: Counters::default(),
        }
    }

    /// Starts a program. All registers that the launch does not set are 0: what the hardware leaves in them is undefined.
    pub fn start(&mut self, launch: &Launch) {
        self.registers.clear(std::mem::take(&mut self.written));
        *self.registers.at_mut(registers::FILE_A + 15) = launch.ra15;
        *self.registers.at_mut(registers::FILE_B + 15) = launch.rb15;
        *self.registers.at_mut(registers::QPU_NUMBER) = Lanes::splat(u32::from(launch.qpu));
        self.flags = Flags::default();
        self.stale = [(registers::ELEMENTS, Lanes::default()); 2];
        self.stale_r4 = Lanes::default();
        self.latches = [[0; 4]; 2];
        for tmu in &mut self.tmu {
            tmu.reset();
        }
        self.pc = launch.pc.0 & !(INSTRUCTION_BYTES - 1);
        self.program = self.pc;
        self.uniforms = launch.uniforms.0;
        self.uniforms_left = launch.uniforms_limit;
        self.threading = launch.threading;
        self.recent = [Touches::default(); 2];
        self.streak = 0;
        self.jumps = [None; 2];
        self.ending = None;
        self.switching = None;
        self.last_switch = false;
        self.undefined = 0;
        self.executed = 0;
        self.translated = 0;
        self.is_new = true;
        self.no_swap_at = None;
        self.scoreboard = false;
        self.finish_trace();
        self.trace = launch.record.map(|work| Box::new(Trace::new(BusAddr(self.pc), launch.uniforms, work)));
    }

    /// Hands what has been recorded over to the counters.
    fn finish_trace(&mut self) {
        if let Some(trace) = self.trace.take() {
            self.counters.add_trace(*trace);
        }
    }

    /// Events that the running program has left since its trace was handed over, in whole or in part.
    pub fn recorded_events(&self) -> usize {
        self.trace.as_ref().map_or(0, |trace| trace.events())
    }

    /// Hands over what has been recorded so far; the program goes on.
    pub fn hand_over_trace(&mut self) {
        if let Some(trace) = &mut self.trace {
            self.counters.add_trace(trace.take_part());
        }
    }

    /// Runs until the program ends or stalls or `budget` instructions are executed; takes what it executes from the budget.
    pub fn run(&mut self, io: &mut impl Io, memory: Memory<'_>, code: &CodeCache, budget: &mut u64) -> Exit {
        if self.trace.is_some() {
            return self.run_recorded(io, memory, code, budget);
        }
        dispatch::run(self, io, memory, code, budget)
    }

    /// The same, with the fast engine as every host of this architecture can execute it.
    pub fn run_baseline(&mut self, io: &mut impl Io, memory: Memory<'_>, code: &CodeCache, budget: &mut u64) -> Exit {
        self.run_portable(io, memory, code, budget)
    }

    /// The same, with the reference engine.
    pub fn run_reference(&mut self, io: &mut impl Io, memory: Memory<'_>, code: &CodeCache, budget: &mut u64) -> Exit {
        self.run_with::<Reference>(io, memory, code, budget)
    }

    /// Executes one instruction, unless it stalls, and says whether it was executed. What it reads from peripherals is on the ports then, where [`Self::run`]
    /// does not always leave it.
    pub fn run_one(&mut self, io: &mut impl Io, memory: Memory<'_>, code: &CodeCache) -> (Exit, bool) {
        let mut budget = 1;
        let exit = match self.trace {
            Some(_) => self.run_recorded(io, memory, code, &mut budget),
            None => self.run_portable(io, memory, code, &mut budget),
        };
        (exit, budget == 0)
    }

    /// Address of the next instruction.
    pub fn pc(&self) -> BusAddr {
        BusAddr(self.pc)
    }

    /// Instructions executed since the program was started.
    pub fn executed(&self) -> u64 {
        self.executed
    }

    /// How many of them were executed in code that was translated for the host.
    pub fn translated(&self) -> u64 {
        self.translated
    }

    /// Whether this host can execute translated code.
    pub fn can_translate() -> bool {
        #[cfg(target_arch = "x86_64")]
        return translation::is_possible();
        #[cfg(not(target_arch = "x86_64"))]
        false
    }

    /// The registers.
    pub fn registers(&self) -> &Registers {
        &self.registers
    }

    /// The flags.
    pub fn flags(&self) -> &Flags {
        &self.flags
    }

    /// Takes the faults that have been reported since the last call.
    pub fn take_faults(&mut self) -> FaultLog {
        std::mem::take(&mut self.faults)
    }

    // An engine is hundreds of kilobytes of code: these are compiled once each, where `run_with` would be compiled for each kind of `Io`.

    #[inline(never)]
    fn run_recorded(&mut self, io: &mut dyn Io, memory: Memory<'_>, code: &CodeCache, budget: &mut u64) -> Exit {
        self.run_with::<Traced>(io, memory, code, budget)
    }

    #[inline(never)]
    fn run_portable(&mut self, io: &mut dyn Io, memory: Memory<'_>, code: &CodeCache, budget: &mut u64) -> Exit {
        self.run_with::<Vectorized<Portable<false>>>(io, memory, code, budget)
    }

    #[inline(always)]
    fn run_with<D: Datapath>(
        &mut self,
        io: &mut dyn Io,
        memory: Memory<'_>,
        code: &CodeCache,
        budget: &mut u64,
    ) -> Exit {
        let before = self.executed;
        let exit = self.run_counted::<D>(io, memory, code, budget);
        self.counters.add(CounterSource::QpuInstructionCycles, (self.executed - before) * INSTRUCTION_CYCLES);
        let tmu_quads = self.tmu.iter_mut().map(Tmu::take_quads).sum();
        self.counters.add(CounterSource::TmuQuads, tmu_quads);
        let instructions = self.executed - before;
        let starts = u64::from(std::mem::take(&mut self.is_new));
        let events = ProgramEvents { starts, instructions, tmu_quads, ..Default::default() };
        self.counters.add_program(BusAddr(self.program), events);
        if exit == Exit::Ended {
            self.finish_trace();
        }
        exit
    }

    #[inline(always)]
    fn run_counted<D: Datapath>(
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
        let mut recent_blocks = match std::mem::take(&mut self.recent_blocks) {
            (from, recent_blocks) if from == Some(generation) => recent_blocks,
            _ => RecentBlocks::default(),
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
            let index = D::run_block(self, current, index, io, memory, budget);
            if self.ending == Some(0) {
                break Exit::Ended;
            }
            let Some(placed) = current.instructions.get(index) else { continue };
            if *budget == 0 {
                break Exit::OutOfBudget;
            }
            match self.step::<D>(placed, index, io, memory) {
                Step::Next => *budget -= 1,
                Step::Stalled => break Exit::Stalled,
                Step::Ended => {
                    *budget -= 1;
                    break Exit::Ended;
                }
            }
        };
        self.recent_blocks = (Some(generation), recent_blocks);
        exit
    }

    /// Does what an instruction says but for control: reads ports, computes, writes peripherals, loads r4. `executed` is the instruction, perhaps with
    /// other operands.
    #[inline(always)]
    fn perform<D: Datapath>(
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
            self.obey_signal(instruction.signal, io);
        }
    }

    /// Whether the two instructions before an index of a block are those that were executed before it.
    fn knows_predecessors(&self, index: usize) -> bool {
        self.streak >= 2 && index >= 2
    }

    /// Executes any instruction.
    #[inline(always)]
    fn step<D: Datapath>(
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
        let hazards = if D::TRUSTS_DECODER && self.knows_predecessors(index) {
            placed.hazards
        } else {
            instruction.hazards(&self.recent[0], &self.recent[1])
        };
        let mut broken = instruction.broken.union(hazards);
        if instruction.notable || self.ending.is_some() || self.undefined != 0 || self.threading == Threading::Threaded
        {
            self.note_situation(instruction, &mut broken);
        }
        if !broken.is_empty() {
            for rule in broken.iter() {
                self.report(rule);
            }
        }

        let taken = match instruction.kind {
            Kind::Branch { condition, .. } => self.branch_holds(condition),
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
            self.stale = [self.keep(instruction, 0), self.keep(instruction, 1)];
        }
        let registers_shown =
            if placed.latches { [self.shown(instruction, 0), self.shown(instruction, 1)] } else { [None; 2] };
        if D::RECORDS {
            self.record(instruction, !had_scoreboard && self.scoreboard);
        }
        // The link address is only written if the branch is taken [vc4asm].
        if taken {
            self.perform::<D>(instruction, executed, io, memory);
        }
        if placed.latches {
            // Registers may have been written by now, peripherals have only been read by now.
            for (port, peripheral) in [registers::PORT_A, registers::PORT_B].into_iter().enumerate() {
                let is_peripheral = instruction.latches[port] == Some(peripheral);
                let shown = if is_peripheral { self.shown(instruction, port) } else { registers_shown[port] };
                self.latches[port] = shown.unwrap_or(self.latches[port]);
            }
        }
        self.undefined &= !instruction.touches.replaces_accumulators;
        if self.undefined != 0 {
            self.note_packed_bytes(&instruction.mul);
        }
        self.recent = [instruction.touches, self.recent[0]];
        self.executed += 1;
        if let Some(target) = target.filter(|_| taken) {
            self.jump_later(target);
        }
        self.advance(instruction)
    }

    /// Notes what an instruction waits for, and the instruction.
    fn record(&mut self, instruction: &DecodedInstruction, gets_scoreboard: bool) {
        let Some(trace) = &mut self.trace else { return };
        if gets_scoreboard {
            trace.note(Event::ScoreboardWait);
        }
        if let Kind::Semaphore { number, decrement, .. } = instruction.kind {
            trace.note(Event::Semaphore { number, decrement });
        }
        let [a, b] = [instruction.port_a, instruction.port_b];
        for source in [a, b.filter(|source| !(is_stream(*source) && a == Some(*source)))].into_iter().flatten() {
            match source {
                ReadSource::Uniform => trace.note(Event::Uniform),
                ReadSource::Varying => trace.note(Event::Varying),
                ReadSource::VpmRead => trace.note(Event::VpmRead),
                ReadSource::VpmLdWait => trace.note(Event::DmaWait(Dma::Load)),
                ReadSource::VpmStWait => trace.note(Event::DmaWait(Dma::Store)),
                ReadSource::MutexAcquire => trace.note(Event::MutexAcquire),
                _ => {}
            }
        }
        match instruction.signal {
            Signal::LoadTmu0 => trace.note(Event::TmuLoad(0)),
            Signal::LoadTmu1 => trace.note(Event::TmuLoad(1)),
            _ => {}
        }
        trace.instruction(self.pc);
        if instruction.signal == Signal::ScoreboardUnlock {
            trace.note(Event::ScoreboardUnlock);
        }
    }

    /// Notes what a write to a peripheral begins.
    fn record_write(&mut self, target: WriteTarget, word: Option<u32>, mask: Mask) {
        let Some(trace) = &mut self.trace else { return };
        match (target, word) {
            (WriteTarget::VpmWrite, _) => trace.note(Event::VpmWrite),
            (WriteTarget::VpmVcdRdSetup, Some(word)) => trace.read_setup(word),
            (WriteTarget::VpmVcdWrSetup, Some(word)) => trace.write_setup(word),
            (WriteTarget::VpmLdAddr, Some(word)) => trace.dma(Dma::Load, word),
            (WriteTarget::VpmStAddr, Some(word)) => trace.dma(Dma::Store, word),
            (WriteTarget::MutexRelease, _) if mask != 0 => trace.note(Event::MutexRelease),
            (WriteTarget::UniformsAddress, Some(word)) => trace.note(Event::UniformsAddress(word)),
            _ => {}
        }
    }

    /// Waits for what may stall. Nothing may have changed before this has said that the QPU is ready.
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
            // The first access to the tile buffer waits by itself; who has no tile buffer is told when it is accessed.
            let wait = io.scoreboard_wait().unwrap_or(Wait::Ready);
            self.scoreboard = wait == Wait::Ready;
            return Ok(wait);
        }
        Ok(Wait::Ready)
    }

    /// Finds the rules that are broken because of where the program is.
    fn note_situation(&mut self, instruction: &DecodedInstruction, broken: &mut Rules) {
        let touches = &instruction.touches;
        if self.threading == Threading::Threaded {
            broken.add_if((touches.reads | touches.writes) & UPPER_REGISTERS != 0, Rule::OtherThreadsRegister);
        }
        if touches.reads_accumulators & self.undefined != 0 {
            broken.add(Rule::LostInThreadSwitch);
            // Once is enough.
            self.undefined &= !touches.reads_accumulators;
        }
        let waits = touches.tlb_samples || instruction.signal == Signal::ScoreboardWait;
        broken.add_if(waits && self.executed < 2, Rule::ScoreboardTooEarly);
        if touches.tmu_write {
            broken.add_if(self.may_still_swap(), Rule::NoSwapTooLate);
        }
        let ends = matches!(instruction.signal, Signal::ProgramEnd | Signal::LoadColorEnd);
        broken.add_if(ends && touches.writes != 0, Rule::EndWritesRegister);
        if ends || self.ending.is_some() {
            broken.add_if(touches.register_14, Rule::EndTouchesRegister14);
            broken.add_if(touches.uniform || touches.varying || touches.vpm, Rule::EndAccess);
        }
        broken.add_if(self.ending == Some(1) && touches.tlb_z, Rule::EndWritesZ);
        if matches!(instruction.signal, Signal::ThreadSwitch | Signal::LastThreadSwitch) {
            broken.add_if(self.threading == Threading::Single, Rule::SwitchUnthreaded);
            broken.add_if(self.last_switch, Rule::SwitchAfterLast);
        }
    }

    /// Whether TMUs have been told not to swap, but so lately that the next instruction must not write to one [AG p.24, p.37].
    #[inline(always)]
    fn may_still_swap(&self) -> bool {
        self.no_swap_at.is_some_and(|at| self.executed - at < NO_SWAP_DELAY)
    }

    /// Notes that a colour is packed into a part of an accumulator: four of them make it defined.
    fn note_packed_bytes<Op>(&mut self, half: &AluOperation<Op>) {
        if let (Destination::Register(place), Pack::Colour(mode), Condition::Always) =
            (half.to, half.pack, half.condition)
            && let Some(number) = place.checked_sub(registers::ACCUMULATORS)
            && let Some(bits) = self.undefined_bits.get_mut(usize::from(number))
        {
            *bits &= !pack::pack_mul_mask(mode).unwrap_or(0);
            if *bits == 0 {
                self.undefined &= !(1 << number);
            }
        }
    }

    /// The last four elements of what an instruction reads through a port, as far as it leaves something there.
    fn shown(&self, instruction: &DecodedInstruction, port: usize) -> Option<[u32; LANES / 4]> {
        let lanes = self.registers.at(instruction.latches[port]?);
        Some(std::array::from_fn(|i| lanes.0[LANES - 4 + i]))
    }

    /// Reads the peripherals of both ports; gives the C coefficients if a varying is among them.
    fn read_ports(&mut self, instruction: &DecodedInstruction, io: &mut dyn Io, memory: Memory<'_>) -> Option<Lanes> {
        let mut coefficients = None;
        for (source, place, other) in [
            (instruction.port_a, registers::PORT_A, registers::ELEMENTS),
            (instruction.port_b, registers::PORT_B, registers::QPU_NUMBER),
        ] {
            let Some(source) = source else { continue };
            // Both ports together take one element from a stream.
            if place == registers::PORT_B && instruction.port_a == Some(source) && is_stream(source) {
                *self.registers.at_mut(place) = *self.registers.at(registers::PORT_A);
                continue;
            }
            let default = *self.registers.at(other);
            let value = match source {
                ReadSource::Uniform => Ok(Lanes::splat(self.next_uniform(memory))),
                ReadSource::Varying => io.varying().map(|varying| {
                    coefficients = Some(varying.coefficients);
                    varying.value
                }),
                ReadSource::XPixelCoord => io.pixel_x(),
                ReadSource::YPixelCoord => io.pixel_y(),
                ReadSource::MsFlags => io.ms_flags(),
                ReadSource::RevFlag => io.rev_flag(),
                ReadSource::VpmRead => io.vpm_read(),
                // DMA is done when it has been started.
                ReadSource::VpmLdBusy | ReadSource::VpmStBusy => io.dma_poll().map(|()| Lanes::default()),
                ReadSource::VpmLdWait | ReadSource::VpmStWait => io.dma_poll().map(|()| default),
                // A port that reads nothing still shows what its last four elements were [vc4asm].
                ReadSource::Nop => {
                    let latch = &self.latches[usize::from(place == registers::PORT_B)];
                    Ok(Lanes(std::array::from_fn(|i| latch[i % 4])))
                }
                _ => Ok(default),
            };
            let value = value.unwrap_or_else(|error| {
                self.report(error);
                Lanes::default()
            });
            *self.registers.at_mut(place) = value;
        }
        coefficients
    }

    fn next_uniform(&mut self, memory: Memory<'_>) -> u32 {
        if let Some(left) = &mut self.uniforms_left {
            if *left == 0 {
                self.report(QpuError::UniformsExhausted);
                return 0;
            }
            *left -= 1;
        }
        let at = BusAddr(self.uniforms);
        self.uniforms = self.uniforms.wrapping_add(4);
        memory.word(at).unwrap_or_else(|error| {
            self.report(error);
            0
        })
    }

    fn set_uniforms_address(&mut self, address: u32) {
        self.uniforms = address;
        self.uniforms_left = None;
    }

    /// Puts the constant of an instruction in its place.
    fn load_constant(&mut self, instruction: &DecodedInstruction) {
        if let Some(value) = instruction.kind.constant(self.after_delay_slots()) {
            *self.registers.at_mut(registers::IMMEDIATE) = value;
        }
    }

    fn after_delay_slots(&self) -> u32 {
        self.pc.wrapping_add((BRANCH_DELAY_SLOTS + 1) * INSTRUCTION_BYTES)
    }

    fn branch_holds(&self, condition: BranchCondition) -> bool {
        let Flags { zero: z, negative: n, carry: c } = self.flags;
        match condition {
            BranchCondition::AllZSet => z == ALL,
            BranchCondition::AllZClear => z == 0,
            BranchCondition::AnyZSet => z != 0,
            BranchCondition::AnyZClear => z != ALL,
            BranchCondition::AllNSet => n == ALL,
            BranchCondition::AllNClear => n == 0,
            BranchCondition::AnyNSet => n != 0,
            BranchCondition::AnyNClear => n != ALL,
            BranchCondition::AllCSet => c == ALL,
            BranchCondition::AllCClear => c == 0,
            BranchCondition::AnyCSet => c != 0,
            BranchCondition::AnyCClear => c != ALL,
            BranchCondition::Always => true,
            BranchCondition::Reserved(_) => false,
        }
    }

    fn branch_target(&self, instruction: &DecodedInstruction, broken: &Rules) -> Option<u32> {
        let Kind::Branch { relative, offset, register, .. } = instruction.kind else { return None };
        let base = if relative { self.after_delay_slots() } else { 0 };
        let added = register.map_or(0, |place| {
            let stale = broken.contains(Rule::StaleRead) && self.stale[0].0 == place;
            let value = if stale { &self.stale[0].1 } else { self.registers.at(place) };
            // The guide says element 0; the hardware takes the last one [vc4asm].
            value.0[LANES - 1]
        });
        Some(base.wrapping_add(offset).wrapping_add(added) & !(INSTRUCTION_BYTES - 1))
    }

    /// The register of file A (0) or B (1) that an instruction will write, with the value that it has until then.
    fn keep(&self, instruction: &DecodedInstruction, file: usize) -> (RegisterIndex, Lanes) {
        let written = (instruction.touches.writes >> (32 * file)) as u32;
        if written == 0 {
            return (registers::ELEMENTS, Lanes::default());
        }
        let place = written.trailing_zeros() as RegisterIndex + 32 * file as RegisterIndex;
        (place, *self.registers.at(place))
    }

    /// The instruction with old values in place of operands that are read too early.
    fn with_stale_operands(&mut self, instruction: &DecodedInstruction, broken: &Rules) -> DecodedInstruction {
        *self.registers.at_mut(registers::STALE_A) = self.stale[0].1;
        *self.registers.at_mut(registers::STALE_B) = self.stale[1].1;
        *self.registers.at_mut(registers::STALE_R4) = self.stale_r4;
        let stale_r4 = broken.contains(Rule::SfuTooEarly);
        let stale = broken.contains(Rule::StaleRead).then_some(self.stale.map(|(place, _)| place));
        let replace = |place: RegisterIndex| match place {
            registers::R4 if stale_r4 => registers::STALE_R4,
            registers::FILE_A..registers::FILE_B if stale.is_some_and(|[a, _]| a == place) => registers::STALE_A,
            registers::FILE_B..registers::ACCUMULATORS if stale.is_some_and(|[_, b]| b == place) => registers::STALE_B,
            _ => place,
        };
        let mut patched = *instruction;
        for place in [&mut patched.add.a, &mut patched.add.b, &mut patched.mul.a, &mut patched.mul.b] {
            *place = replace(*place);
        }
        patched.unpacking = match patched.unpacking {
            instruction::Unpacking::PortA { from, mode, float } => {
                instruction::Unpacking::PortA { from: replace(from), mode, float }
            }
            instruction::Unpacking::R4 { from, mode } => instruction::Unpacking::R4 { from: replace(from), mode },
            instruction::Unpacking::None => instruction::Unpacking::None,
        };
        patched
    }

    fn write_peripheral<Op>(
        &mut self,
        half: &AluOperation<Op>,
        (value, mask): &(Lanes, Mask),
        touches: &Touches,
        io: &mut dyn Io,
        memory: Memory<'_>,
    ) {
        let mask = *mask;
        if half.condition == Condition::Never {
            return;
        }
        match half.to {
            Destination::Nowhere | Destination::Register(_) | Destination::R5 { .. } => {}
            Destination::Sfu(function) => {
                self.warn_conditional(mask);
                let result = sfu::apply_all(function, value);
                self.stale_r4 = std::mem::replace(self.registers.at_mut(registers::R4), result);
            }
            Destination::Tmu(unit, coordinate) => {
                if coordinate == TmuCoordinate::S {
                    self.warn_conditional(mask);
                }
                self.write_tmu(unit, coordinate, value, touches.uniform, memory);
            }
            Destination::Peripheral(target) => {
                if let Err(error) = self.write_io(target, value, mask, io, memory) {
                    self.report(error);
                }
            }
        }
    }

    /// Writes a coordinate of a TMU with its uniform; `reads_uniform` says that the instruction has read another.
    fn write_tmu(
        &mut self,
        unit: u8,
        coordinate: TmuCoordinate,
        value: &Lanes,
        reads_uniform: bool,
        memory: Memory<'_>,
    ) {
        let unit = usize::from(unit & 1);
        let takes_uniform = self.tmu[unit].needs_uniform(coordinate);
        if takes_uniform && reads_uniform {
            self.report(Rule::UniformWithTmuWrite);
        }
        let uniform = if takes_uniform { self.next_uniform(memory) } else { 0 };
        if let Some(trace) = &mut self.trace {
            if takes_uniform {
                trace.note(Event::Uniform);
            }
            if coordinate == TmuCoordinate::S {
                let lines = self.tmu[unit].footprint(value, uniform, memory);
                trace.lookup(unit as u8, self.no_swap_at.is_none(), &lines);
            }
        }
        if let Err(error) = self.tmu[unit].write(coordinate, value, uniform, memory) {
            self.report(error);
        }
    }

    /// Loads a result of a TMU to r4.
    fn load_tmu(&mut self, unit: u8) {
        let loaded = self.tmu[usize::from(unit & 1)].load();
        *self.registers.at_mut(registers::R4) = loaded.unwrap_or_else(|error| {
            self.report(error);
            Lanes::default()
        });
    }

    fn write_io(
        &mut self,
        target: WriteTarget,
        value: &Lanes,
        mask: Mask,
        io: &mut dyn Io,
        memory: Memory<'_>,
    ) -> Result<(), IoError> {
        // What only looks at element 0 happens only if that is written.
        let word = (mask & 1 == 1).then_some(value.0[0]);
        if self.trace.is_some() {
            self.record_write(target, word, mask);
        }
        match (target, word) {
            (WriteTarget::TlbStencilSetup, _) => io.tlb_stencil_setup(value, mask),
            (WriteTarget::TlbZ, _) => io.tlb_z(value, mask),
            (WriteTarget::TlbColorMs, _) => io.tlb_color_ms(value, mask),
            (WriteTarget::TlbColorAll, _) => io.tlb_color_all(value, mask),
            (WriteTarget::TlbAlphaMask, _) => io.tlb_alpha_mask(value, mask),
            (WriteTarget::MsFlags, _) => io.set_ms_flags(value, mask),
            (WriteTarget::RevFlag, _) => io.set_rev_flag(value, mask),
            (WriteTarget::QuadX, _) => io.set_quad_x(value, mask),
            (WriteTarget::QuadY, _) => io.set_quad_y(value, mask),
            (WriteTarget::VpmWrite, _) => {
                self.warn_conditional(mask);
                io.vpm_write(value, mask)
            }
            (WriteTarget::VpmVcdRdSetup, Some(word)) => io.vpm_read_setup(word),
            (WriteTarget::VpmVcdWrSetup, Some(word)) => io.vpm_write_setup(word),
            (WriteTarget::VpmLdAddr, Some(word)) => io.dma_load(word, memory),
            (WriteTarget::VpmStAddr, Some(word)) => io.dma_store(word, memory),
            (WriteTarget::MutexRelease, _) if mask != 0 => io.mutex_release(),
            (WriteTarget::HostInterrupt, _) if mask != 0 => {
                // Writing 0 does nothing [vc4asm].
                let any = (0..LANES).any(|i| mask >> i & 1 == 1 && value.0[i] != 0);
                if any { io.host_interrupt(value, mask) } else { Ok(()) }
            }
            (WriteTarget::UniformsAddress, Some(word)) => {
                self.set_uniforms_address(word);
                Ok(())
            }
            (WriteTarget::TmuNoSwap, Some(_)) => {
                self.no_swap_at = Some(self.executed);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn warn_conditional(&mut self, mask: Mask) {
        if mask != ALL {
            self.report(Rule::ConditionalPeripheral);
        }
    }

    fn obey_signal(&mut self, signal: Signal, io: &mut dyn Io) {
        let loaded = match signal {
            Signal::LoadTmu0 => return self.load_tmu(0),
            Signal::LoadTmu1 => return self.load_tmu(1),
            Signal::LoadCoverage => io.load_coverage().map_err(QpuError::from),
            Signal::LoadColor | Signal::LoadColorEnd => io.load_color().map_err(QpuError::from),
            Signal::LoadAlpha => io.load_alpha().map_err(QpuError::from),
            Signal::ScoreboardUnlock => {
                if let Err(error) = io.scoreboard_unlock() {
                    self.report(error);
                }
                return;
            }
            _ => return,
        };
        let value = loaded.unwrap_or_else(|error| {
            self.report(error);
            Lanes::default()
        });
        *self.registers.at_mut(registers::R4) = value;
    }

    fn jump_later(&mut self, target: u32) {
        let jump = Jump { after: BRANCH_DELAY_SLOTS + 1, target };
        match &mut self.jumps {
            [free @ None, _] | [_, free @ None] => *free = Some(jump),
            // Too close to two others: that is a broken rule already.
            [_, last] => *last = Some(jump),
        }
    }

    /// Moves on to the next instruction.
    fn advance(&mut self, instruction: &DecodedInstruction) -> Step {
        let mut next = self.pc.wrapping_add(INSTRUCTION_BYTES);
        self.streak = self.streak.saturating_add(1);
        for jump in &mut self.jumps {
            if let Some(Jump { after, target }) = jump {
                *after -= 1;
                if *after == 0 {
                    next = *target;
                    self.streak = 0;
                    *jump = None;
                }
            }
        }
        self.pc = next;

        if let Some(left) = &mut self.switching {
            *left -= 1;
            if *left == 0 {
                self.switching = None;
                self.lose_accumulators();
                if let Some(trace) = &mut self.trace {
                    trace.note(Event::ThreadSwitch);
                }
            }
        } else if matches!(instruction.signal, Signal::ThreadSwitch | Signal::LastThreadSwitch) {
            self.switching = Some(THREAD_DELAY_SLOTS);
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
    fn lose_accumulators(&mut self) {
        self.undefined = ACCUMULATORS_AND_FLAGS;
        self.undefined_bits = [!0; 6];
    }

    fn report(&mut self, error: impl Into<QpuError>) {
        self.faults.report(QpuFault { pc: BusAddr(self.pc), error: error.into() });
    }
}

/// Whether a source gives another value each time.
const fn is_stream(source: ReadSource) -> bool {
    matches!(source, ReadSource::Uniform | ReadSource::Varying | ReadSource::VpmRead)
}
