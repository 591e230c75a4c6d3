//! Branches: conditions, targets, and the delay slots before they take effect.
//!
//! # Sources
//! [AG p.34]; [vc4asm] where said.

use crate::fault::qpu::QpuError;
use crate::fault::rule::{Rule, Rules};
use crate::qpu::Qpu;
use crate::qpu::isa::instruction::{DecodedInstruction, Kind};
use crate::qpu::isa::registers::Flags;
use crate::qpu::lanes::{ALL, Mask};
use v3d_hw::qpu::{BRANCH_DELAY_SLOTS, BranchCondition, INSTRUCTION_BYTES, LANES};

/// A taken branch in its delay slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::qpu) struct Jump {
    /// Instructions until it takes effect, the current one included.
    pub(super) after: u32,
    pub(super) target: u32,
}

/// Branches that elements without a vertex may decide alone. A loop with an end for all elements has less iterations: others run on a board for seconds.
const UNDEFINED_BRANCHES: u32 = 1 << 14;

impl Qpu {
    /// Whether a condition holds in all elements.
    pub(in crate::qpu) fn branch_holds(&self, condition: BranchCondition) -> bool {
        self.holds_among(condition, ALL)
    }

    /// Whether a branch is taken. Elements without a vertex take part, as on hardware [mesa CI]; but once they have decided often enough to be taken for a
    /// loop that they keep from ending, that is reported, and the other elements decide.
    pub(super) fn branch_is_taken(&mut self, condition: BranchCondition) -> bool {
        let among_all = self.branch_holds(condition);
        if self.undefined_elements == 0 {
            return among_all;
        }
        let among_vertices = self.holds_among(condition, ALL & !self.undefined_elements);
        if among_all == among_vertices || self.undefined_branches < UNDEFINED_BRANCHES {
            self.undefined_branches += u32::from(among_all != among_vertices);
            return among_all;
        }
        self.report(QpuError::UndefinedBranch(UNDEFINED_BRANCHES));
        among_vertices
    }

    fn holds_among(&self, condition: BranchCondition, elements: Mask) -> bool {
        let Flags { zero, negative, carry } = self.flags;
        let (z, n, c) = (zero & elements, negative & elements, carry & elements);
        match condition {
            BranchCondition::AllZSet => z == elements,
            BranchCondition::AllZClear => z == 0,
            BranchCondition::AnyZSet => z != 0,
            BranchCondition::AnyZClear => z != elements,
            BranchCondition::AllNSet => n == elements,
            BranchCondition::AllNClear => n == 0,
            BranchCondition::AnyNSet => n != 0,
            BranchCondition::AnyNClear => n != elements,
            BranchCondition::AllCSet => c == elements,
            BranchCondition::AllCClear => c == 0,
            BranchCondition::AnyCSet => c != 0,
            BranchCondition::AnyCClear => c != elements,
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
