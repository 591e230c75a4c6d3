//! Branches and calls: the last instructions of a block become their delay slots.
//!
//! The three instructions behind a branch are executed whether it is taken or not [AG p.34]. A branch back is decided by the flags that stand when it is
//! executed, so it can move up to behind the last instruction that sets them; a call can move up by three. What follows the last delay slot is the first
//! instruction of the loop or of the routine, which must not read too soon what the slots write.

use v3d_hw::qpu::{BRANCH_DELAY_SLOTS, THREAD_DELAY_SLOTS, WriteTarget};

use super::Slot;
use super::list_scheduler::Scheduler;
use super::occupancy::latency;
use crate::bundle::{Bank, Bundle, Destination, Placed, PlacedOperand, RangeId};
use crate::machine::Work;

/// Instructions of the branch's target that can be too near to one in the delay slots.
const NEAR: usize = 3;

impl Scheduler<'_> {
    /// Ends a block, whose first instruction is at `start`, by a branch or call.
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
        // A thread switch is in progress for two instructions.
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

    /// Whether an instruction may be in a delay slot with this number, of so many that are filled; the others are empty.
    fn may_follow(&self, at: usize, number: usize, filled: usize, target: Option<usize>) -> bool {
        let Some(Slot::Bundle(bundle)) = self.slots.get(at) else { return false };
        // What a routine reads and writes is not known here: registers for values only, and one instruction between the two.
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
        // Instructions from this one to the first of the target.
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

/// Instructions from a write of a live range to an instruction; 0 if that does not read it.
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
