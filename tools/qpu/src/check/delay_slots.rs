//! Instructions in delay slots that were probably meant to come before or after the branch.
//!
//! Nothing here breaks a rule of the hardware, and useful instructions in delay slots are good practice. What is reported makes no sense if it is intended: a
//! program end that is reached before the second iteration of a loop, a loop counter that is reset in each iteration, a result that is never read, a branch
//! to an instruction in its own delay slots. `.slots` in the source marks the instructions as intended.

use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use v3d_hw::qpu::{BRANCH_DELAY_SLOTS, Signal};

use super::facts::{Facts, Register};
use super::flow::{Node, Pending};
use super::{Findings, Program};
use crate::code::Code;
use crate::diagnostic::Severity;

/// Instructions that are executed after a branch before it takes effect [AG p.34].
const SLOTS: usize = BRANCH_DELAY_SLOTS as usize;
/// Number of instructions after a delay slot that are searched for another write of the same register.
const FAR: u32 = 12;

/// Whether an instruction reads a register.
fn is_read(register: Register, facts: &Facts) -> bool {
    match register {
        Register::Accumulator(number) => facts.reads_accumulator(number),
        Register::InFile(..) => facts.registers_read().any(|(other, _)| other == register),
    }
}

/// Whether an instruction overwrites a register completely.
fn is_replaced(register: Register, facts: &Facts) -> bool {
    facts.accesses.writes.iter().any(|write| write.replaces() && Register::written(write) == Some(register))
}

impl Program<'_> {
    pub(super) fn check_delay_slots(&self, findings: &mut Findings) {
        for node in self.flow.nodes() {
            let at = self.flow.at(node);
            match self.flow.pending(node) {
                Pending::Branch(branch, _) if !self.is_meant(at) => {
                    if self.facts[at].signal().ends_program() {
                        let message = "the program ends in the delay slots of this branch, which never takes effect";
                        warn(findings, branch, at, "the program ends here", message.to_owned());
                    }
                    self.undone(node, at, branch, findings);
                }
                Pending::None if self.facts[at].branch.is_some() => {
                    self.branch_to_own_slots(at, findings);
                    self.counter(at, findings);
                }
                _ => {}
            }
        }
    }

    /// Whether the source marks a word as intended for a delay slot.
    fn is_meant(&self, at: usize) -> bool {
        self.info.get(at).is_some_and(|info| info.in_slot)
    }

    /// The word that a branch goes to, if it is known and inside of the program.
    fn target(&self, branch: usize) -> Option<usize> {
        let distance = self.facts[branch].branch?.distance?;
        let target = usize::try_from((branch + SLOTS + 1) as i64 + distance).ok()?;
        (target < self.facts.len()).then_some(target)
    }

    /// A branch over fewer than three instructions executes them in its delay slots, and then some of them again.
    fn branch_to_own_slots(&self, branch: usize, findings: &mut Findings) {
        let Some(target) = self.target(branch).filter(|target| (branch + 1..=branch + SLOTS).contains(target)) else {
            return;
        };
        let again = (target..=branch + SLOTS).find(|&at| self.facts.get(at).is_some_and(has_effect));
        if let Some(at) = again.filter(|&at| !self.is_meant(at)) {
            let message = "this branch goes into its own delay slots: what stands there is executed twice".to_owned();
            warn(findings, branch, at, "executed before the branch takes effect, and again", message);
        }
    }

    /// A loop counter that a delay slot resets in each iteration.
    fn counter(&self, branch: usize, findings: &mut Findings) {
        let conditional = self.facts[branch].branch.is_some_and(|branch| !branch.always);
        let Some(start) = self.target(branch).filter(|&target| conditional && target <= branch) else { return };
        // The instruction in the loop that sets the flags for the branch, if there is one.
        let before = (start..branch).rev().take_while(|&at| self.facts[at].branch.is_none());
        let Some(decides) = before.into_iter().find(|&at| self.facts[at].sets_flags()) else { return };
        let counters: Vec<Register> = self.facts[decides]
            .registers_written()
            .map(|(register, _)| register)
            .filter(|&register| is_read(register, &self.facts[decides]))
            .collect();
        for at in (branch + 1..=branch + SLOTS).filter(|&at| at < self.facts.len() && !self.is_meant(at)) {
            for (register, _) in self.facts[at].registers_written() {
                if counters.contains(&register) && !is_read(register, &self.facts[at]) {
                    let message =
                        format!("{register} decides whether this loop goes on, and is set in each iteration of it");
                    warn(findings, branch, at, "a delay slot of the branch: executed in each iteration", message);
                }
            }
        }
    }

    /// A result of a delay slot that is overwritten on all paths before it is read.
    fn undone(&self, node: Node, at: usize, branch: usize, findings: &mut Findings) {
        for (register, _) in self.facts[at].registers_written() {
            if self.is_dead(node, register, FAR) {
                let message = format!("{register} is written in a delay slot of this branch, and never read");
                warn(findings, branch, at, "executed before the branch takes effect", message);
            }
        }
    }

    /// Whether a register is dead after a node: overwritten on all paths before it is read, within `steps` instructions.
    fn is_dead(&self, node: Node, register: Register, steps: u32) -> bool {
        let successors = self.flow.successors(node);
        let mut any = false;
        let all = successors.iter().all(|next| {
            any = true;
            let facts = &self.facts[self.flow.at(next)];
            !is_read(register, facts)
                && !facts.signal().switches_threads()
                && (is_replaced(register, facts) || steps > 1 && self.is_dead(next, register, steps - 1))
        });
        any && all && !successors.falls_off
    }
}

/// Whether an instruction has any effect.
fn has_effect(facts: &Facts) -> bool {
    facts.accesses.written().count() > 0 || facts.sets_flags() || facts.signal() != Signal::None
}

fn warn(findings: &mut Findings, branch: usize, at: usize, what: &'static str, message: String) {
    findings.add(Severity::Warning, Code::DelaySlots, branch, Some((at, what)), message);
}
