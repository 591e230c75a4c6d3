//! What an engine has to do: the data of an instruction, as opposed to its control.
//!
//! Both engines share the sequencer, which fetches, reads and writes peripherals, stalls, branches and finds faults. An engine computes:
//! operands out of the register array, two operations, rotation, packing, flags and the writes to registers.

use super::micro_op::MicroOp;
use super::registers::{Flags, Registers};
use crate::lanes::{Lanes, Mask};

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
    /// Whether instructions that only touch registers are executed in runs, without the sequencer.
    const RUNS_AHEAD: bool;
    /// Whether the sequencer notes what takes time.
    const RECORDS: bool = false;

    /// Unpacks, operates, rotates, packs, sets flags and writes registers; what is meant for peripherals is put into `results`.
    fn execute(registers: &mut Registers, flags: &mut Flags, op: &MicroOp, results: &mut Results);

    /// The same for an instruction that is [`simple`](MicroOp::simple).
    fn execute_simple(registers: &mut Registers, flags: &mut Flags, op: &MicroOp);
}
