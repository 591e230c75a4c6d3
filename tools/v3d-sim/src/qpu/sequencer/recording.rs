//! Recording: the events of instructions that take time, for the timing model.

use super::reads::is_stream;
use crate::qpu::Qpu;
use crate::qpu::isa::instruction::{DecodedInstruction, Kind};
use crate::qpu::lanes::Mask;
use crate::timing::trace::{Dma, Event};
use v3d_hw::qpu::Signal;
use v3d_hw::qpu::address_map::{ReadSource, WriteTarget};

impl Qpu {
    /// Records what an instruction waits for, and the instruction.
    pub(super) fn record(&mut self, instruction: &DecodedInstruction, gets_scoreboard: bool) {
        let Some(trace) = &mut self.trace else { return };
        if gets_scoreboard {
            trace.record(Event::ScoreboardWait);
        }
        if let Kind::Semaphore { number, decrement, .. } = instruction.kind {
            trace.record(Event::Semaphore { number, decrement });
        }
        let [a, b] = [instruction.port_a, instruction.port_b];
        for source in [a, b.filter(|source| !(is_stream(*source) && a == Some(*source)))].into_iter().flatten() {
            match source {
                ReadSource::Uniform => trace.record(Event::Uniform),
                ReadSource::Varying => trace.record(Event::Varying),
                ReadSource::VpmRead => trace.record(Event::VpmRead),
                ReadSource::VpmLdWait => trace.record(Event::DmaWait(Dma::Load)),
                ReadSource::VpmStWait => trace.record(Event::DmaWait(Dma::Store)),
                ReadSource::MutexAcquire => trace.record(Event::MutexAcquire),
                _ => {}
            }
        }
        match instruction.signal {
            Signal::LoadTmu0 => trace.record(Event::TmuLoad(0)),
            Signal::LoadTmu1 => trace.record(Event::TmuLoad(1)),
            _ => {}
        }
        trace.record_instruction(self.pc);
        if instruction.signal == Signal::ScoreboardUnlock {
            trace.record(Event::ScoreboardUnlock);
        }
    }

    /// Records what a write to a peripheral starts.
    pub(super) fn record_write(&mut self, target: WriteTarget, word: Option<u32>, mask: Mask) {
        let Some(trace) = &mut self.trace else { return };
        match (target, word) {
            (WriteTarget::VpmWrite, _) => trace.record(Event::VpmWrite),
            (WriteTarget::VpmVcdRdSetup, Some(word)) => trace.read_setup(word),
            (WriteTarget::VpmVcdWrSetup, Some(word)) => trace.write_setup(word),
            (WriteTarget::VpmLdAddr, Some(word)) => trace.dma(Dma::Load, word),
            (WriteTarget::VpmStAddr, Some(word)) => trace.dma(Dma::Store, word),
            (WriteTarget::MutexRelease, _) if mask != 0 => trace.record(Event::MutexRelease),
            (WriteTarget::UniformsAddress, Some(word)) => trace.record(Event::UniformsAddress(word)),
            _ => {}
        }
    }
}
