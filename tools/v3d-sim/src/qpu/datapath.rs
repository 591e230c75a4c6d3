//! Datapaths: what computes, as opposed to the sequencer, which controls.
//!
//! A datapath takes operands out of the register array, performs two operations, rotates, packs, sets flags and writes registers. The sequencer
//! fetches, accesses peripherals, stalls, branches and finds broken rules; it is generic over the datapath.
//!
//! - [`Reference`](reference::Reference): element by element.
//! - [`Vectorized`](vector::Vectorized): in vectors, compiled for several SIMD levels; executes blocks without the sequencer, too.
//! - [`Traced`](vector::Traced): computes as `Vectorized`, and has the sequencer record events for the timing model.
//! - `Translated`: `Vectorized`, with hot blocks in host code.

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

/// Results for destinations other than plain registers, with the elements that are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Results {
    /// The add ALU's.
    pub add: (Lanes, Mask),
    /// The mul ALU's.
    pub mul: (Lanes, Mask),
}

/// A datapath.
pub trait Datapath {
    /// Whether rules found broken or kept at decoding are taken over from the [block](crate::qpu::block); else each is checked as the instruction is
    /// executed.
    const TRUSTS_DECODER: bool;
    /// Whether the sequencer records events for the timing model.
    const RECORDS: bool = false;

    /// Unpacks, operates, rotates, packs, sets flags and writes registers; values for peripherals are put into `results`.
    fn execute(registers: &mut Registers, flags: &mut Flags, instruction: &DecodedInstruction, results: &mut Results);

    /// Executes as many instructions as possible without the sequencer, from an index of a block on; returns the index of the next one. May leave all
    /// of them to the sequencer.
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
