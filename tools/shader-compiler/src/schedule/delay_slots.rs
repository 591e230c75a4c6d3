//! Branches and calls: the last instructions of a block become their delay slots.
//!
//! The three instructions after a branch are executed whether it is taken or not [AG p.34]. A loop's branch tests the flags at the time when it is executed,
//! so it can be moved up to right after the last instruction that sets them; a call can be moved up by three. After the last delay slot, the first
//! instruction of the loop or of the routine is executed, which must not read results of the delay slots too early.

use v3d_hw::qpu::{BRANCH_DELAY_SLOTS, THREAD_DELAY_SLOTS, WriteTarget};

use super::Slot;
use super::list_scheduler::Scheduler;
use super::occupancy::latency;
use crate::bundle::{Bank, Bundle, Destination, Placed, PlacedOperand, RangeId};
use crate::machine::Work;

/// Number of instructions at the branch's target that can be too close to the delay slots.
const NEAR: usize = 3;

impl Scheduler<'_> {
    /// Ends a block, whose first instruction is at `start`, with a branch or call.
    pub(super) fn end_by(&mut self, branch: Slot, start: usize) {
        let slots = BRANCH_DELAY_SLOTS as usize;
        let end = self.now();
        let target = match branch {
            Slot::Branch { to } => Some(to),
            _ => None,
        };
        let mut first = start;
        if target.is_some() {
            let sets_flags = |slot: &Slot| matches!(slot, Slot::Bundle(bundle) if bundle.operations().any(|placed| placed.sets_flags));
            first = (start..end).rev().find(|&at| sets_flags(&self.slots[at])).map_or(end, |at| at + 1);
        }
        // A thread switch takes effect after two more instructions.
        let is_switching = |slot: &Slot| matches!(slot, Slot::Bundle(bundle) if bundle.thread.is_some());
        if let Some(asks) = (start..end).rev().find(|&at| is_switching(&self.slots[at])) {
            first = first.max(asks + THREAD_DELAY_SLOTS as usize + 1);
        }
        let most = slots.min(end - first.min(end));
        let fits = |filled: &usize| {
            (end - filled..end).enumerate().all(|(number, at)| self.may_follow(at, number, *filled, target))
        };
        let filled = (1..=most).rev().find(|filled| fits(filled)).unwrap_or(0);
        let at = end - filled;
        self.slots.insert(at, branch);
        self.occupancy.move_down(at);
        if self.r4_free > at {
            self.r4_free += 1;
        }
        (filled..slots).for_each(|_| self.idle());
    }

    /// Whether an instruction can be in delay slot `number` of `filled` ones; the others are nops.
    fn may_follow(&self, at: usize, number: usize, filled: usize, target: Option<usize>) -> bool {
        let Some(Slot::Bundle(bundle)) = self.slots.get(at) else { return false };
        // The accesses of a routine are not known here: only registers that are not reserved are allowed, with one instruction in between.
        let is_plain = |placed: &Placed| match placed.destination {
            Destination::Nothing => true,
            Destination::Range(bank, _) => bank != Bank::R4,
            Destination::Address(_, WriteTarget::Register(_)) => target.is_none(),
            Destination::Address(..) => false,
        };
        if bundle.load.is_some() || !bundle.operations().all(is_plain) {
            return false;
        }
        let empty = BRANCH_DELAY_SLOTS as usize - filled;
        // Distance from this instruction to the first one at the target.
        let distance = filled - number + empty;
        let Some(to) = target else {
            let gives = |placed: &Placed| matches!(placed.destination, Destination::Address(..));
            return distance > 1 || !bundle.operations().any(gives);
        };
        bundle.operations().all(|placed| match placed.destination {
            Destination::Range(bank, range) => {
                let is_rotated = matches!(placed.work, Work::Rotate(_));
                let next = (to..at).take(NEAR).enumerate();
                next.into_iter().all(|(further, near)| {
                    let Some(Slot::Bundle(near)) = self.slots.get(near) else { return true };
                    distance + further >= needed(near, bank, range, is_rotated)
                })
            }
            _ => true,
        })
    }
}

/// Minimum distance from a write of a live range to an instruction; 0 if the instruction does not read it.
fn needed(reader: &Bundle, bank: Bank, range: RangeId, is_rotated: bool) -> usize {
    let reads = |placed: &&Placed| {
        placed.operands().iter().any(|operand| matches!(*operand, PlacedOperand::Range(_, read, _) if read == range))
    };
    let distances = reader
        .operations()
        .filter(reads)
        .map(|placed| latency(bank, is_rotated) + usize::from(matches!(placed.work, Work::Rotate(_))));
    distances.max().unwrap_or(0)
}
