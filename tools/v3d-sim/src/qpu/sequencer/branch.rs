//! Branches: conditions, targets, and the delay slots before they take effect.
//!
//! # Sources
//! [AG p.34]; [vc4asm] where said.

use crate::fault::rule::{Rule, Rules};
use crate::lanes::ALL;
use crate::qpu::Qpu;
use crate::qpu::isa::instruction::{DecodedInstruction, Kind};
use crate::qpu::isa::registers::Flags;
use v3d_hw::qpu::{BRANCH_DELAY_SLOTS, BranchCondition, INSTRUCTION_BYTES, LANES};

/// A taken branch in its delay slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::qpu) struct Jump {
    /// Instructions until it takes effect, the current one included.
    pub(super) after: u32,
    pub(super) target: u32,
}

impl Qpu {
    pub(in crate::qpu) fn branch_holds(&self, condition: BranchCondition) -> bool {
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

    pub(super) fn branch_target(&self, instruction: &DecodedInstruction, broken: &Rules) -> Option<u32> {
        let Kind::Branch { relative, offset, register, .. } = instruction.kind else { return None };
        let base = if relative { self.after_delay_slots() } else { 0 };
        let added = register.map_or(0, |register| {
            let stale = broken.contains(Rule::StaleRead) && self.stale[0].0 == register;
            let value = if stale { &self.stale[0].1 } else { self.registers.at(register) };
            // Element 0 according to the guide; the last one on hardware [vc4asm].
            value.0[LANES - 1]
        });
        Some(base.wrapping_add(offset).wrapping_add(added) & !(INSTRUCTION_BYTES - 1))
    }

    pub(super) fn start_jump(&mut self, target: u32) {
        let jump = Jump { after: BRANCH_DELAY_SLOTS + 1, target };
        match &mut self.jumps {
            [free @ None, _] | [_, free @ None] => *free = Some(jump),
            // A branch too close to two others is a broken rule already.
            [_, last] => *last = Some(jump),
        }
    }

    pub(super) fn after_delay_slots(&self) -> u32 {
        self.pc.wrapping_add((BRANCH_DELAY_SLOTS + 1) * INSTRUCTION_BYTES)
    }
}
