//! Rules on which sources contradict each other, or which working programs break on boards.
//!
//! They are applied only on request ([`super::Rules::All`]), and give warnings.

use alloc::borrow::ToOwned;
use alloc::format;

use v3d_hw::qpu::{Condition, Hazard, ReadSource, Signal, WriteTarget};

use super::facts::{Facts, Register};
use super::flow::{Node, Pending};
use super::state::State;
use super::{Findings, Program};
use crate::code::Code;
use crate::diagnostic::Severity;

/// Number of outstanding direct lookups that is known to work [vc4asm].
const DIRECT_LOOKUPS: u8 = 4;

impl Program<'_> {
    pub(super) fn check_doubtful(&self, states: &[Option<State>], findings: &mut Findings) {
        for node in self.flow.nodes() {
            let at = self.flow.at(node);
            let facts = &self.facts[at];
            if facts.writes_to(WriteTarget::VpmVcdRdSetup) {
                self.flow.ahead(node, Hazard::VpmReadAfterSetup.between(), &mut |next, _| {
                    let next = self.flow.at(next);
                    if self.facts[next].reads(ReadSource::VpmRead) {
                        let related = Some((at, "VPM reads are set up here"));
                        let message = Hazard::VpmReadAfterSetup.sentence().to_owned();
                        findings.add(Severity::Warning, Code::VpmReadSoon, next, related, message);
                    }
                    true
                });
            }
            if facts.writes_to(WriteTarget::TlbZ) {
                self.z_near_the_end(node, at, findings);
            }
            both_conditions(at, facts, findings);
            self.rotated_result(node, at, facts, findings);
            if facts.branch.is_some_and(|branch| branch.register.is_some_and(|register| register & 1 != 0)) {
                findings.warning(Code::OddBranchTarget, at, "the branch target is in an odd register");
            }
            if let Some(state) = &states[self.flow.index(node)] {
                self.doubtful_values(at, facts, state, findings);
            }
        }
        self.at_start(findings);
    }

    fn doubtful_values(&self, at: usize, facts: &Facts, state: &State, findings: &mut Findings) {
        for unit in 0..2u8 {
            let requests = &state.requests[usize::from(unit)];
            let direct = state.coordinates[usize::from(unit)].max == 0;
            if facts.starts_lookup(unit) && direct && requests.min() >= DIRECT_LOOKUPS {
                let message = format!("TMU {unit} has {} lookups under way already", requests.min());
                findings.warning(Code::ManyDirectLookups, at, message);
            }
        }
        if facts.sets_up_vpm_read() && state.vpm_vectors.min > 1 {
            let message = format!("VPM reads are set up while {} vectors are not read yet", state.vpm_vectors.min);
            findings.warning(Code::VpmSetupSoon, at, message);
        }
        if facts.reads(ReadSource::MutexAcquire) && state.vpm_vectors.min > 0 {
            findings.warning(Code::MutexWithVpmReads, at, "the mutex is taken while VPM reads are under way");
        }
    }

    /// A register that the mul ALU writes with a rotation, and that the second instruction after it reads.
    fn rotated_result(&self, node: Node, at: usize, facts: &Facts, findings: &mut Findings) {
        let mul = &facts.accesses.writes[1];
        let register = Register::written(mul).filter(|_| mul.happens() && facts.accesses.rotation.is_some());
        let Some(register @ Register::InFile(..)) = register else { return };
        let steps = Hazard::ReadAfterRotatedWrite.between();
        self.flow.ahead(node, steps, &mut |next, distance| {
            let next = self.flow.at(next);
            let is_read = self.facts[next].registers_read().any(|(other, _)| other == register);
            if distance == steps && is_read {
                let related = Some((at, "written here"));
                let message = Hazard::ReadAfterRotatedWrite.sentence().to_owned();
                findings.add(Severity::Warning, Code::RotatedResultSoon, next, related, message);
            }
            true
        });
    }

    fn z_near_the_end(&self, node: Node, at: usize, findings: &mut Findings) {
        let mut near = false;
        self.flow.ahead(node, Hazard::EndAfterTlbZ.between(), &mut |next, _| {
            near |= matches!(self.flow.pending(next), Pending::End(_, 2));
            !near
        });
        if near {
            findings.warning(Code::TlbZNearEnd, at, Hazard::EndAfterTlbZ.sentence());
        }
    }

    /// The first two instructions.
    fn at_start(&self, findings: &mut Findings) {
        let Some(&start) = self.flow.entries().first() else { return };
        for node in core::iter::once(start).chain(self.flow.successors(start).iter()) {
            let at = self.flow.at(node);
            if self.facts[at].writes_tmu() {
                findings.warning(Code::TmuAtStart, at, Hazard::TmuAfterStart.sentence());
            }
            if node != start && self.facts[at].signal() == Signal::ScoreboardWait {
                findings.warning(Code::ScoreboardWaitSecond, at, "the second instruction waits for the scoreboard");
            }
        }
    }
}

/// Both ALUs write the same peripheral with complementary conditions.
fn both_conditions(at: usize, facts: &Facts, findings: &mut Findings) {
    let [add, mul] = &facts.accesses.writes;
    let both = add.happens() && mul.happens() && add.target == mul.target;
    let opposite = add.condition != Condition::Always && add.condition.excludes(mul.condition);
    if both && opposite && add.target.ignores_condition() {
        let message = "both ALUs write to a peripheral, with opposite conditions";
        findings.warning(Code::BothAlusWriteParts, at, message);
    }
}
