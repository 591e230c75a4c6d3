//! Datapaths: the computing part of a QPU, as opposed to the controlling sequencer.
//!
//! A datapath reads operands from the register array, performs two operations, rotates, packs, sets flags and writes registers. The sequencer
//! fetches, accesses peripherals, stalls, branches and finds broken rules; it is generic over the engine (`qpu::engine`), which names a datapath.
//!
//! - [`Reference`](reference::Reference): element by element.
//! - [`Vectorized`](vector::Vectorized): in vectors, compiled for several SIMD levels.

pub mod reference;
pub mod vector;

use crate::qpu::isa::instruction::DecodedInstruction;
use crate::qpu::isa::registers::{Flags, Registers};
use crate::qpu::lanes::{Lanes, Mask};

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
    /// Unpacks, operates, rotates, packs, sets flags and writes registers; values for peripherals are put into `results`.
    fn execute(registers: &mut Registers, flags: &mut Flags, instruction: &DecodedInstruction, results: &mut Results);
}
