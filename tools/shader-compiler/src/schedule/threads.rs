//! Switches of threads: a fragment program that waits for a lookup lets another one of its QPU go on.
//!
//! Accumulators and flags are lost, and the switch comes two instructions behind the one that asks for it [AG p.20-21]. Instructions that are there already
//! become its delay slots, parameters of lookups among them, as in Mesa's programs [mesa vc4_qpu_schedule.c].
//!
//! Both threads have one FIFO of lookups [AG p.39]. So a program loads all that it has asked for after the next switch and before the one behind that: what is
//! first in the FIFO is then its own.

use naga::Span;
use v3d_hw::qpu::{Instruction, Signal, THREAD_DELAY_SLOTS};

use super::pending::Pending;
use super::scheduler::{Scheduler, Threads};
use crate::encode::Line;
use crate::machine::Register;

impl Scheduler<'_> {
    /// Whether nothing would be lost if the other thread went on now.
    pub(super) fn can_switch(&self, work: &Pending<'_>, now: usize) -> bool {
        let is_empty = self.registers.in_accumulators().next().is_none() && self.registers.r4.is_none();
        is_empty && now >= self.r4_free && !work.is_bound()
    }

    /// Moves a value to where it survives a switch of threads; whether that was an instruction.
    pub(super) fn keep_over_switch(&mut self, work: &Pending<'_>) -> bool {
        let now = self.now();
        let lost: Vec<Register> = self.registers.in_accumulators().chain(self.registers.r4).collect();
        lost.into_iter().any(|register| {
            self.registers.ready(register) <= now
                && self.place_in_file(work, register).is_some_and(|to| self.relocate_to(register, Span::default(), to))
        })
    }

    /// The other thread goes on now: one of the instructions before has asked for it.
    pub(super) fn switch_threads(&mut self) {
        let delay = THREAD_DELAY_SLOTS as usize;
        let first = self.threads.first.max(self.now().saturating_sub(delay + 1));
        let is_free = |line: &Line| matches!(line.instruction, Instruction::Alu(alu) if alu.sig == Signal::None);
        let asks = (first..self.now()).find(|&at| is_free(&self.lines[at])).unwrap_or(self.now());
        while self.now() < asks + delay + 1 {
            self.idle();
        }
        self.set_signal(asks, Signal::ThreadSwitch);
        self.threads = Threads { switched: self.threads.switched + 1, first: self.now(), last: Some(asks) };
    }

    pub(super) fn set_signal(&mut self, at: usize, sig: Signal) {
        if let Some(Line { instruction: Instruction::Alu(alu), .. }) = self.lines.get_mut(at) {
            alu.sig = sig;
        }
    }

    /// Whether a register is read by what is expected behind the next switch of threads.
    pub(super) fn outlives_switch(&self, work: &Pending<'_>, register: Register) -> bool {
        let (switched, early) = (self.threads.switched, self.policy.early_switch);
        work.users(register).any(|user| work.is_behind_switch(user, switched, early))
    }
}
