//! What an engine has to do: the data of an instruction, as opposed to its control.
//!
//! All engines share the sequencer, which fetches, reads and writes peripherals, stalls, branches and finds faults. An engine computes:
//! operands out of the register array, two operations, rotation, packing, flags and the writes to registers. There are four:
//! [`Reference`](reference::Reference), [`Fast`](vector::Vectorized), which is compiled for several sets of vectors,
//! [`Traced`](vector::Traced), which computes as `Fast` does and leaves a trace, and translated code (`native`).

pub(in crate::qpu) mod dispatch;
pub mod reference;
pub mod vector;

use crate::lanes::{Lanes, Mask};
use crate::memory::Memory;
use crate::qpu::Qpu;
use crate::qpu::block::Block;
use crate::qpu::io::Io;
use crate::qpu::isa::instruction::DecodedInstruction;
use crate::qpu::isa::registers::{Flags, Registers};

/// The results of an instruction for destinations that are not plain registers, with the elements that are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Results {
    /// The add ALU's.
    pub add: (Lanes, Mask),
    /// The mul ALU's.
    pub mul: (Lanes, Mask),
}

/// An engine.
pub trait Datapath {
    /// Whether it trusts what was found out about neighbours in memory when they were decoded.
    const TRUSTS_DECODER: bool;
    /// Whether the sequencer notes what takes time.
    const RECORDS: bool = false;

    /// Unpacks, operates, rotates, packs, sets flags and writes registers; what is meant for peripherals is put into `results`.
    fn execute(registers: &mut Registers, flags: &mut Flags, instruction: &DecodedInstruction, results: &mut Results);

    /// Executes as many instructions as it can without the sequencer, from an index of a block on, and gives the index of the next one. An engine
    /// may leave all of them to the sequencer.
    #[inline(always)]
    fn run_block(
        qpu: &mut Qpu,
        block: &Block,
        index: usize,
        io: &mut dyn Io,
        memory: Memory<'_>,
        budget: &mut u64,
    ) -> usize {
        let _ = (qpu, block, io, memory, budget);
        index
    }
}
