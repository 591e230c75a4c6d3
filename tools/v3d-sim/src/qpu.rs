//! Quad processors: programs of 64-bit instructions, each working on vectors of 16 elements.
//!
//! A [`Qpu`] is one hardware thread. It is started at an address with a stream of uniforms, and runs until its program ends, stalls or has used
//! up its budget of instructions. The units around it (varyings and tile buffer, or VPM, mutex and semaphores) are an [`Io`].
//!
//! # The path of an instruction
//! ```text
//!  memory ──► block: decode ──► sequencer ──► datapath: registers, flags
//!              │    isa::DecodedInstruction      │  ▲
//!              │                                 ▼  │
//!              │                                 Io: TMU, VPM, tile buffer, ...
//!              ├──► block: micro-ops ──► block::execution        hundreds of instructions without the sequencer
//!              └──► translation: host code                       the same in instructions of the host, if the block is hot
//! ```
//! - [`isa`] says what instructions mean: a word is decoded once into a [`DecodedInstruction`](isa::instruction::DecodedInstruction), whose
//!   operations are plain functions on 32-bit values.
//! - [`block`] decodes whole blocks and keeps them by address in a [`CodeCache`]. It marks instructions that neither wait nor end and that break no rule
//! - The `sequencer` executes any instruction: it waits for what may stall, reads peripherals, reports broken rules, lets a datapath compute, writes
//!   peripherals, obeys the signal and advances. An instruction that breaks a rule is reported, and executed as far as its behaviour is defined.
//! - A [`datapath`] computes: [`Reference`] element by element as the guide defines it, [`Vectorized`] in the host's
//!   vectors. Both serve the sequencer; `Vectorized` also executes marked instructions, micro-op by micro-op, without it (`block::execution`).
//! - `translation` turns a hot block into x86-64 code with AVX2 or AVX-512, or AArch64 code with NEON. Most
//!   micro-ops that need another unit are calls back to their interpretation.
//!
//! # Which engine runs when
//! | call | engine |
//! |---|---|
//! | [`Qpu::run`] | that of the [`CodeCache`], the best that the host has unless another [`EngineKind`] is chosen |
//! | [`Qpu::run`] of a launch that [records](Launch::record) | the sequencer alone, whose events go to the timing model |
//! | [`Qpu::run_vectors`] | micro-ops in the vectors that every host of this architecture has |
//! | [`Qpu::run_one`] | the same for one instruction; afterwards the ports always show what it has read |
//! | [`Qpu::run_reference`] | the sequencer with the reference datapath |
//!
//! | kind | needs | executes |
//! |---|---|---|
//! | `reference` | | the sequencer with the reference datapath |
//! | `vectors` | | micro-ops in the vectors that every host of this architecture has; the sequencer for the rest |
//! | `avx2` | x86-64 with AVX2 and FMA | micro-ops in vectors of 8 elements, and hot blocks in translated code with vectors of 8 elements |
//! | `neon` | AArch64, not macOS | micro-ops in the vectors that every AArch64 has, and hot blocks in translated code with vectors of 4 elements |
//! | `avx512` | x86-64 with AVX-512 | as `avx2`, with vectors of 16 elements |
//!
//! [`conformance`] compares each of them with the reference on random programs.
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
mod engine;
pub(crate) mod float;
pub mod io;
pub mod isa;
pub mod lanes;
pub mod qps;
pub(crate) mod repetition;
mod sequencer;
pub mod steps;
#[cfg(test)]
pub(crate) mod test_words;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod translation;

pub use crate::fault::qpu::{QpuError, QpuFault};
pub use crate::fault::rule::Rule;
pub use block::CodeCache;
pub use engine::code_size::CodeSize;
pub use engine::kind::{EngineError, EngineKind};
pub use io::{Io, IoError, Varying, Wait};

use crate::counters::Counters;
use crate::fault::FaultLog;
use crate::memory::Memory;
use crate::qpu::lanes::{Lanes, Mask};
use crate::simd::vectors::Portable;
use crate::timing::costs;
use crate::timing::trace::{Invocation, Trace};
use crate::tmu::Tmu;
use datapath::reference::Reference;
use datapath::vector::Vectorized;
use engine::{Traced, dispatch};
use isa::registers::{self, Flags, RegisterIndex, RegisterSet, Registers};
use isa::touches::Touches;
use repetition::Repeated;
use sequencer::{Jump, RecentBlocks};
use v3d_hw::BusAddr;
use v3d_hw::qpu::INSTRUCTION_BYTES;

/// Clock cycles of an instruction.
pub const INSTRUCTION_CYCLES: u64 = costs::INSTRUCTION;
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
    /// Register A 15: W of a fragment shader.
    pub ra15: Lanes,
    /// Register B 15: Z of a fragment shader.
    pub rb15: Lanes,
    /// Whether it may switch threads.
    pub threading: Threading,
    /// Number of the QPU that executes it.
    pub qpu: u8,
    /// Elements of which nothing is defined: those of a vertex batch that have no vertex. Loops that they keep from ending are reported, and end.
    pub undefined_elements: Mask,
    /// Records a trace for the timing model, of this invocation.
    pub record: Option<Invocation>,
}

/// Why a QPU stopped running.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// The program has ended.
    Ended,
    /// It waits for a semaphore, the mutex or the scoreboard, and must be run again.
    Stalled,
    /// The budget is used up; can be run again.
    OutOfBudget,
}

/// One hardware thread of a QPU.
#[derive(Clone, Debug)]
pub struct Qpu {
    registers: Registers,
    /// Registers of files A and B that may not be 0, except for those that a launch sets, in the form of [`Touches`].
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
    /// Instructions executed in a row without a jump.
    run_length: u32,
    jumps: [Option<Jump>; 2],
    /// Instructions that are left before the program ends.
    ending: Option<u32>,
    /// Instructions that are left before the thread is switched.
    switching: Option<u32>,
    /// It has switched threads.
    switched: bool,
    last_switch: bool,
    /// Accumulators and flags that a thread switch has left undefined.
    undefined: u8,
    /// Elements that have no vertex.
    undefined_elements: Mask,
    /// Branches that they alone have decided.
    undefined_branches: u32,
    /// The bits of undefined accumulators that colour packing has not replaced yet.
    undefined_bits: [u32; 6],
    executed: u64,
    /// Of these, executed in translated code.
    translated: u64,
    /// The program was started, but its start has not been counted yet.
    is_new: bool,
    /// Address of the program's first instruction.
    program: u32,
    no_swap_at: Option<u64>,
    scoreboard: bool,
    /// The last program ran from its first instruction to its end in one call of translated code.
    ended_in_one_call: bool,
    /// Its runs that the counters lack.
    repeated: Repeated,
    /// The blocks in use; none while it runs.
    recent_blocks: Option<Box<RecentBlocks>>,
    faults: FaultLog,
    /// The events of the running program, if they are recorded.
    trace: Option<Box<Trace>>,
    /// Events that this thread has counted; those of repeated runs are added when it [starts](Self::start) another program or is asked for
    /// [all](Self::take_counters).
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
            run_length: 0,
            jumps: [None; 2],
            ending: Some(0),
            switching: None,
            switched: false,
            last_switch: false,
            undefined: 0,
            undefined_elements: 0,
            undefined_branches: 0,
            undefined_bits: [0; 6],
            executed: 0,
            translated: 0,
            is_new: false,
            program: 0,
            no_swap_at: None,
            scoreboard: false,
            ended_in_one_call: false,
            repeated: Repeated::default(),
            recent_blocks: None,
            faults: FaultLog::default(),
            trace: None,
            counters: Counters::default(),
        }
    }

    /// Starts a program. All registers that the launch does not set are 0; on hardware they are undefined.
    pub fn start(&mut self, launch: &Launch) {
        self.count_repeated();
        self.program = launch.pc.0 & !(INSTRUCTION_BYTES - 1);
        let all = RegisterSet { files: std::mem::take(&mut self.written), accumulators: registers::ALL_ACCUMULATORS };
        self.begin(all, launch.uniforms, &launch.ra15, &launch.rb15);
        *self.registers.at_mut(registers::QPU_NUMBER) = Lanes::splat(u32::from(launch.qpu));
        for (register, old) in &mut self.stale {
            (*register, *old) = (registers::ELEMENTS, Lanes::default());
        }
        self.stale_r4 = Lanes::default();
        self.latches = [[0; 4]; 2];
        self.uniforms_left = launch.uniforms_limit;
        self.threading = launch.threading;
        self.recent = [Touches::default(); 2];
        self.jumps = [None; 2];
        self.switching = None;
        self.undefined_elements = launch.undefined_elements;
        self.undefined_branches = 0;
        self.is_new = true;
        self.ended_in_one_call = false;
        self.submit_trace();
        self.trace = launch.record.map(|work| Box::new(Trace::new(BusAddr(self.pc), launch.uniforms, work)));
    }

    /// Resets what any run of the program may have changed, with some of its registers.
    #[inline(always)]
    fn begin(&mut self, cleared: RegisterSet, uniforms: BusAddr, ra15: &Lanes, rb15: &Lanes) {
        self.registers.clear(cleared);
        *self.registers.at_mut(registers::FILE_A + 15) = *ra15;
        *self.registers.at_mut(registers::FILE_B + 15) = *rb15;
        self.flags = Flags::default();
        for tmu in &mut self.tmu {
            tmu.reset();
        }
        self.pc = self.program;
        self.uniforms = uniforms.0;
        self.run_length = 0;
        self.ending = None;
        self.switched = false;
        self.last_switch = false;
        self.undefined = 0;
        self.executed = 0;
        self.translated = 0;
        self.no_swap_at = None;
        self.scoreboard = false;
    }

    /// Takes the events counted since the last call.
    pub fn take_counters(&mut self) -> Counters {
        self.count_repeated();
        std::mem::take(&mut self.counters)
    }

    /// Passes the trace to the counters.
    #[inline]
    fn submit_trace(&mut self) {
        if let Some(trace) = self.trace.take() {
            self.counters.add_trace(*trace);
        }
    }

    /// The number of events in the trace that have not been passed on.
    pub fn recorded_events(&self) -> usize {
        self.trace.as_ref().map_or(0, |trace| trace.events())
    }

    /// Passes on the events recorded so far; the program continues.
    pub fn hand_over_trace(&mut self) {
        if let Some(trace) = &mut self.trace {
            self.counters.add_trace(trace.take_part());
        }
    }

    /// Runs until the program ends or stalls or `budget` instructions have been executed; subtracts those from the budget. Uses the code cache's engine.
    pub fn run(&mut self, io: &mut dyn Io, memory: Memory<'_>, code: &CodeCache, budget: &mut u64) -> Exit {
        self.tmu.iter_mut().for_each(|tmu| tmu.limit_simd(code.simd()));
        if self.trace.is_some() {
            return self.run_recorded(io, memory, code, budget);
        }
        dispatch::run(self, io, memory, code, budget)
    }

    /// The same by the sequencer alone, which records events.
    #[inline(never)]
    fn run_recorded(&mut self, io: &mut dyn Io, memory: Memory<'_>, code: &CodeCache, budget: &mut u64) -> Exit {
        self.run_with::<Traced>(io, memory, code, budget)
    }

    /// The same in the vectors that every host of this architecture has.
    #[inline(never)]
    pub fn run_vectors(&mut self, io: &mut dyn Io, memory: Memory<'_>, code: &CodeCache, budget: &mut u64) -> Exit {
        self.run_with::<Vectorized<Portable<{ cfg!(target_arch = "aarch64") }>>>(io, memory, code, budget)
    }

    /// The same with the reference datapath.
    #[inline(never)]
    pub fn run_reference(&mut self, io: &mut dyn Io, memory: Memory<'_>, code: &CodeCache, budget: &mut u64) -> Exit {
        self.run_with::<Reference>(io, memory, code, budget)
    }

    /// Executes one instruction unless it stalls; returns whether it was executed. Afterwards the ports show what it has read from peripherals, which is not
    /// always the case after [`Self::run`].
    pub fn run_one(&mut self, io: &mut dyn Io, memory: Memory<'_>, code: &CodeCache) -> (Exit, bool) {
        let mut budget = 1;
        let exit = match self.trace {
            Some(_) => self.run_recorded(io, memory, code, &mut budget),
            None => self.run_vectors(io, memory, code, &mut budget),
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

    /// Whether the program has switched threads.
    pub fn has_switched_threads(&self) -> bool {
        self.switched
    }

    /// How many of these were executed in translated code.
    pub fn translated(&self) -> u64 {
        self.translated
    }

    /// The registers.
    pub fn registers(&self) -> &Registers {
        &self.registers
    }

    /// The flags.
    pub fn flags(&self) -> &Flags {
        &self.flags
    }

    /// Whether there are faults to be taken.
    pub fn has_faults(&self) -> bool {
        self.faults.total() != 0
    }

    /// Address of the next uniform.
    pub fn uniforms(&self) -> BusAddr {
        BusAddr(self.uniforms)
    }

    /// The queues between it and one of its TMUs, as the program numbers them.
    pub fn tmu(&self, unit: usize) -> &Tmu {
        &self.tmu[unit & 1]
    }

    /// Changes elements of a register between two instructions, as a debugger does.
    pub fn change_register(&mut self, register: RegisterIndex, value: Lanes, mask: Mask) {
        let place = self.registers.at_mut(register);
        *place = place.select(value, mask);
        if register < registers::ACCUMULATORS {
            self.written |= 1 << register;
        }
    }

    /// The faults that have been reported and not been taken.
    pub fn faults(&self) -> &FaultLog {
        &self.faults
    }

    /// Takes the faults that have been reported since the last call.
    pub fn take_faults(&mut self) -> FaultLog {
        std::mem::take(&mut self.faults)
    }
}
