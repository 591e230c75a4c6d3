//! Engines: how instructions are executed, by the sequencer alone or in blocks without it.
//!
//! - [`Reference`]: the sequencer alone, with the reference datapath.
//! - [`Vectorized`]: blocks by their micro-ops, in vectors of one SIMD level.
//! - [`Traced`]: the sequencer alone, with the vectorized datapath; it records events for the timing model.
//! - [`Translated`](super::translation::Translated): as `Vectorized`, with hot blocks in host code.

pub(super) mod code_size;
pub(super) mod dispatch;
pub(super) mod kind;

use super::Qpu;
use super::block::{Block, execution};
use super::datapath::Datapath;
use super::datapath::reference::Reference;
use super::datapath::vector::Vectorized;
use super::io::Io;
use crate::memory::Memory;
use crate::simd::vectors::{Portable, Vectors};

/// An engine.
pub(super) trait Engine {
    /// The datapath of instructions that the sequencer executes.
    type Datapath: Datapath;
    /// Whether rules found broken or kept at decoding are taken over from the [block](super::block); else each is checked as the instruction is executed.
    const TRUSTS_DECODER: bool;
    /// Whether the sequencer records events for the timing model.
    const RECORDS: bool = false;

    /// Executes as many instructions as possible without the sequencer, from an index of a block on; returns the index of the next one. May leave all of
    /// them to the sequencer.
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

impl Engine for Reference {
    type Datapath = Self;
    const TRUSTS_DECODER: bool = false;
}

impl<V: Vectors> Engine for Vectorized<V> {
    type Datapath = Self;
    const TRUSTS_DECODER: bool = true;

    #[inline(always)]
    fn run_block(
        qpu: &mut Qpu,
        block: &Block,
        index: usize,
        io: &mut dyn Io,
        memory: Memory<'_>,
        budget: &mut u64,
    ) -> usize {
        execution::run::<V>(qpu, block, index, io, memory, budget)
    }
}

/// Computes in vectors; the sequencer executes each instruction and records its events.
#[derive(Clone, Copy, Debug)]
pub(super) struct Traced;

impl Engine for Traced {
    type Datapath = Vectorized<Portable<false>>;
    const TRUSTS_DECODER: bool = false;
    const RECORDS: bool = true;
}
