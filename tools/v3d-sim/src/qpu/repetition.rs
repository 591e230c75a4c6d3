//! Repetition: a program that has just run in one piece of translated code runs again, with other start values.
//!
//! Most programs of a frame are short, and each runs for many batches in a row. Resetting all of a thread, finding the block of its first instruction and
//! counting a run takes the host longer than some of them. A program that ran from its first instruction to its end in one call of translated code has left
//! nothing pending: only what its successor can see of it is reset, and the call follows at once. If a repeated run leaves the code before its end, the
//! sequencer goes on as after any other start.

use super::block::Block;
use super::block::effects::Effects;
use super::engine::dispatch;
use super::isa::registers::RegisterSet;
use super::{CodeCache, Exit, INSTRUCTION_CYCLES, Io, Launch, Qpu, Threading};
use crate::memory::Memory;
use crate::qpu::lanes::Lanes;
use crate::tmu::{TEXTURE_QUADS, Tmu};
use v3d_hw::BusAddr;
use v3d_hw::qpu::INSTRUCTION_BYTES;
use v3d_hw::registers::performance::CounterSource;

/// How a program starts again: as with a [`Launch`] on QPU 0 without a limit of uniforms, undefined elements and a record.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Relaunch<'a> {
    /// Address of the first instruction.
    pub(crate) pc: BusAddr,
    /// Address of the first uniform.
    pub(crate) uniforms: BusAddr,
    /// Register A 15.
    pub(crate) ra15: &'a Lanes,
    /// Register B 15.
    pub(crate) rb15: &'a Lanes,
    /// Whether it may switch threads.
    pub(crate) threading: Threading,
}

impl Relaunch<'_> {
    /// The same as a launch.
    pub(crate) const fn launch(&self) -> Launch {
        let Self { pc, uniforms, ra15, rb15, threading } = *self;
        Launch {
            pc,
            uniforms,
            uniforms_limit: None,
            ra15: *ra15,
            rb15: *rb15,
            threading,
            qpu: 0,
            undefined_elements: 0,
            record: None,
        }
    }
}

/// Runs that have not been added to the counters yet, all of the program that ran last.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::qpu) struct Repeated {
    runs: u64,
    instructions: u64,
}

impl Qpu {
    /// Starts the program that ended last once more. `false` if it is another one, or if something is to be reset that only [`Qpu::start`] does: then nothing
    /// has changed.
    #[inline(always)]
    pub(crate) fn restart(&mut self, launch: &Relaunch<'_>, code: &CodeCache) -> bool {
        let is_same = self.ended_in_one_call
            && launch.pc.0 & !(INSTRUCTION_BYTES - 1) == self.program
            && launch.threading == self.threading
            && self.uniforms_left.is_none()
            && self.undefined_elements == 0;
        if !is_same {
            return false;
        }
        let Some(first_reads) = self.last_block(code).and_then(Block::first_reads) else { return false };
        let cleared = RegisterSet { files: first_reads.files & self.written, ..first_reads };
        self.begin(cleared, launch.uniforms, launch.ra15, launch.rb15);
        true
    }

    /// Runs a program after [`Qpu::restart`], as [`Qpu::run`] does.
    #[inline(always)]
    pub(crate) fn rerun<I: Io>(&mut self, io: &mut I, memory: Memory<'_>, code: &CodeCache, budget: &mut u64) -> Exit {
        let before = *budget;
        if dispatch::rerun(self, io, memory, code, budget) {
            self.repeated.runs += 1;
            self.repeated.instructions += before - *budget;
            return Exit::Ended;
        }
        self.ended_in_one_call = false;
        self.counters.add(CounterSource::QpuInstructionCycles, self.executed * INSTRUCTION_CYCLES);
        self.counters.add_run(BusAddr(self.program), 1, self.executed, 0);
        self.run(io, memory, code, budget)
    }

    /// The block that the last program ended in, if its code is still the same.
    #[inline(always)]
    fn last_block(&self, code: &CodeCache) -> Option<&Block> {
        self.recent_blocks.as_ref().filter(|recent| recent.generation() == code.generation())?.current()
    }

    /// The program that ended last, if it ran in one call of translated code.
    pub(crate) fn repeatable(&self, code: &CodeCache) -> Option<&Block> {
        self.last_block(code).filter(|_| self.ended_in_one_call)
    }

    /// Whether no lookup can fail in the textures that have been looked up since they were [forgotten](Self::forget_textures).
    pub(crate) fn lookups_cannot_fail(&self, memory: Memory<'_>) -> bool {
        self.tmu.iter().all(|tmu| tmu.cannot_fail(memory))
    }

    /// Forgets the textures that earlier programs have looked up.
    pub(crate) fn forget_textures(&mut self) {
        self.tmu.iter_mut().for_each(Tmu::forget_textures);
    }

    /// Counts runs of a program with these effects that were left out.
    pub(crate) fn count_left_out(&mut self, code: BusAddr, runs: u64, effects: &Effects) {
        let program = code.0 & !(INSTRUCTION_BYTES - 1);
        self.count_runs(program, runs, runs * effects.instructions, runs * effects.lookups * TEXTURE_QUADS);
    }

    /// Counts runs of the program at an address, with all of their instructions and quads of lookups.
    fn count_runs(&mut self, program: u32, runs: u64, instructions: u64, tmu_quads: u64) {
        self.counters.add(CounterSource::QpuInstructionCycles, instructions * INSTRUCTION_CYCLES);
        self.counters.add(CounterSource::TmuQuads, tmu_quads);
        self.counters.add_run(BusAddr(program), runs, instructions, tmu_quads);
    }

    /// Adds the runs that have not been counted yet to the counters.
    pub(in crate::qpu) fn count_repeated(&mut self) {
        let Repeated { runs, instructions } = std::mem::take(&mut self.repeated);
        if runs == 0 {
            return;
        }
        let tmu_quads = self.tmu.iter_mut().map(Tmu::take_quads).sum();
        self.count_runs(self.program, runs, instructions, tmu_quads);
    }
}
