//! Thread switches: while a fragment program waits for a lookup, the other thread of its QPU runs.
//!
//! Accumulators and flags are lost, and the switch takes effect two instructions after its signal [AG p.20-21]. Existing instructions become its delay slots,
//! including those that write lookup parameters, as in Mesa's programs [mesa vc4_qpu_schedule.c].
//!
//! Both threads share the FIFO of lookups [AG p.39]. So a program loads all results of its requests after the next switch and before the one after that: then
//! the first entries of the FIFO are its own.

use alloc::vec::Vec;

use naga::Span;
use v3d_hw::qpu::{Signal, THREAD_DELAY_SLOTS};

use super::Slot;
use super::list_scheduler::{Scheduler, Threads};
use super::ready_list::ReadyList;
use crate::bundle::Bank;
use crate::machine::Register;

impl Scheduler<'_> {
    /// Whether nothing would be lost if threads were switched now.
    pub(super) fn can_switch(&self, work: &ReadyList<'_>, now: usize) -> bool {
        let is_empty = self.occupancy.in_bank(Bank::Accumulator).is_empty() && self.occupancy.r4.is_none();
        is_empty && now >= self.r4_free && !work.is_bound()
    }

    /// Moves a value to a bank in which it survives a thread switch; returns whether that was an instruction.
    pub(super) fn keep_over_switch(&mut self, work: &ReadyList<'_>) -> bool {
        let now = self.now();
        let lost: Vec<Register> =
            self.occupancy.in_bank(Bank::Accumulator).iter().copied().chain(self.occupancy.r4).collect();
        lost.into_iter().any(|register| {
            self.occupancy.ready(register) <= now
                && self.file_to_copy_to(work, register).is_some_and(|to| self.copy_to(register, Span::default(), to))
        })
    }

    /// Switches threads after one of the previous instructions has signalled it.
    pub(super) fn switch_threads(&mut self) {
        let delay = THREAD_DELAY_SLOTS as usize;
        let first = self.threads.first.max(self.now().saturating_sub(delay + 1));
        let is_free = |slot: &Slot| matches!(slot, Slot::Bundle(bundle) if !bundle.has_signal());
        let asks = (first..self.now()).find(|&at| is_free(&self.slots[at])).unwrap_or(self.now());
        while self.now() < asks + delay + 1 {
            self.idle();
        }
        self.set_signal(asks, Signal::ThreadSwitch);
        self.threads = Threads { switched: self.threads.switched + 1, first: self.now(), last: Some(asks) };
    }

    pub(super) fn set_signal(&mut self, at: usize, sig: Signal) {
        if let Some(Slot::Bundle(bundle)) = self.slots.get_mut(at) {
            bundle.thread = Some(sig);
        }
    }

    /// Whether a register is read by operations that are expected after the next thread switch.
    pub(super) fn outlives_switch(&self, work: &ReadyList<'_>, register: Register) -> bool {
        if !work.has_phases() {
            return false;
        }
        let (switched, early) = (self.threads.switched, self.heuristic.switches_early);
        work.users(register).any(|user| work.is_behind_switch(user, switched, early))
    }
}
