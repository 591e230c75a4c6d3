//! Rules between instructions a few steps apart.

use v3d_hw::qpu::{Condition, Signal};

use super::facts::{Facts, WriteFact, overlap};
use super::flow::{Node, Pending};
use super::{Findings, Program};
use crate::code::Code;
use crate::diagnostic::Severity;
use crate::interface::Stage;

impl Program<'_> {
    pub(super) fn check_sequences(&self, findings: &mut Findings) {
        for node in self.flow.nodes() {
            let at = self.flow.at(node);
            let facts = &self.facts[at];
            self.read_after_write(node, at, facts, findings);
            self.rotations(node, at, facts, findings);
            if facts.writes_sfu() {
                self.sfu(node, at, findings);
            }
            if facts.write_a.is_some_and(|write| write.address == 40)
                || facts.write_b.is_some_and(|write| write.address == 40)
            {
                self.within(node, 2, findings, |next| {
                    next.reads(32).then_some((
                        Code::UniformAfterAddress,
                        "the uniforms' address is written here",
                        "a uniform is read within two instructions of a new uniforms' address",
                    ))
                });
            }
            if facts.writes_to(44) {
                self.within(node, 2, findings, |next| {
                    (next.read_a == Some(42)).then_some((
                        Code::MsFlagsAfterTlbZ,
                        "Z is written here",
                        "the multisample mask is read within two instructions of a Z write",
                    ))
                });
            }
            if facts.writes_to(36) {
                self.within(node, 2, findings, |next| {
                    next.writes_tmu().then_some((
                        Code::TmuSoonAfterNoSwap,
                        "TMU swap is changed here",
                        "a TMU is written less than three instructions after a change of the swap",
                    ))
                });
            }
            if let (Pending::Branch(branch, 1..=2), Some(_)) = (self.flow.pending(node), facts.branch) {
                findings.error_after(
                    Code::BranchInDelaySlots,
                    at,
                    branch,
                    "first branch",
                    "a branch in the delay slots of another",
                );
            }
        }
        self.start(findings);
    }

    /// Reports what `rule` says about instructions up to `steps` after `node`.
    fn within(
        &self,
        node: Node,
        steps: u32,
        findings: &mut Findings,
        rule: impl Fn(&Facts) -> Option<(Code, &'static str, &'static str)>,
    ) {
        let first = self.flow.at(node);
        self.flow.ahead(node, steps, &mut |next, _| {
            let at = self.flow.at(next);
            if let Some((code, what, message)) = rule(&self.facts[at]) {
                findings.error_after(code, at, first, what, message);
            }
            true
        });
    }

    fn read_after_write(&self, node: Node, at: usize, facts: &Facts, findings: &mut Findings) {
        let written = |write: Option<WriteFact>| write.filter(|write| write.address < 32);
        let (a, b) = (written(facts.write_a), written(facts.write_b));
        if a.is_none() && b.is_none() {
            return;
        }
        for next in self.flow.successors(node).iter() {
            let next_at = self.flow.at(next);
            let reader = &self.facts[next_at];
            let clash = |write: Option<WriteFact>, read: Option<u8>, condition: Condition| {
                // New flags make of the reader's condition another one.
                let meet = |write: &WriteFact| facts.sets_flags || overlap(write.condition, condition);
                write.filter(|write| read == Some(write.address) && condition != Condition::Never && meet(write))
            };
            let found = [
                ('a', clash(a, reader.read_a, reader.read_a_condition)),
                ('b', clash(b, reader.read_b, reader.read_b_condition)),
            ];
            for (file, write) in found {
                let Some(write) = write else { continue };
                // The guide makes no exception for a branch between the two, but tuned programs that run on boards have it.
                let (severity, over) = match self.flow.pending(node) {
                    Pending::Branch(..) if next_at != at + 1 => (Severity::Warning, ", over a branch"),
                    _ => (Severity::Error, ""),
                };
                let message = format!("r{file}{} is read right after it is written{over}", write.address);
                findings.add(severity, Code::ReadAfterWrite, next_at, Some((at, "written here")), message);
            }
        }
    }

    fn rotations(&self, node: Node, at: usize, facts: &Facts, findings: &mut Findings) {
        let accumulators: Vec<(u8, Condition)> = facts
            .writes
            .iter()
            .filter(|write| (32..36).contains(&write.address) && write.condition != Condition::Never && !write.idle)
            .map(|write| (write.address - 32, write.condition))
            .collect();
        // The C coefficient of a varying comes into r5.
        let r5 = facts.writes_to(37) || facts.reads(35);
        if accumulators.is_empty() && !r5 {
            return;
        }
        for next in self.flow.successors(node).iter() {
            let next_at = self.flow.at(next);
            let reader = &self.facts[next_at];
            let Some(rotation) = reader.rotation else { continue };
            if rotation == 0 && r5 {
                let message = "a rotation by r5 right after r5 is written";
                findings.error_after(Code::RotationByR5AfterWrite, next_at, at, "r5 is written here", message);
            }
            for &(number, condition) in &accumulators {
                if reader.rotated & 1 << number == 0 || reader.mul_condition == Condition::Never {
                    continue;
                }
                // A condition, here or there, may leave out the elements that come from another quad; a rotation by less than a quad into r5 uses
                // only what stays in the quad.
                let into_r5 = rotation >= 13 && reader.writes[1].address == 37;
                let conditional = condition != Condition::Always || reader.mul_condition != Condition::Always;
                if rotation == 0 || reader.mul_sets_flags || !into_r5 && !conditional {
                    let message = format!("r{number} is rotated right after it is written");
                    // Broadcom's tessellator does it where the elements that come from another quad do not matter.
                    findings.add(
                        Severity::Warning,
                        Code::RotationAfterWrite,
                        next_at,
                        Some((at, "written here")),
                        message,
                    );
                }
            }
        }
    }

    fn sfu(&self, node: Node, first: usize, findings: &mut Findings) {
        self.flow.ahead(node, 2, &mut |next, _| {
            let at = self.flow.at(next);
            let facts = &self.facts[at];
            let what = "the SFU is started here";
            if facts.writes_sfu() {
                findings.error_after(Code::SfuBusy, at, first, what, "the SFU is still computing");
            }
            if facts.loads_r4() {
                let message = "r4 is loaded while the SFU's result is on its way to it";
                findings.error_after(Code::SfuBusy, at, first, what, message);
            }
            if facts.reads_r4() {
                let message = "r4 is read before the SFU's result is there";
                findings.error_after(Code::R4BeforeSfu, at, first, what, message);
            }
            true
        });
    }

    /// The first instruction of a fragment shader, and the second, as far as it accesses the tile.
    fn start(&self, findings: &mut Findings) {
        if !matches!(self.interface.stage, Stage::Fragment | Stage::Unknown) {
            return;
        }
        let Some(&start) = self.flow.entries().first() else { return };
        let mut check = |at: usize, first: bool| {
            let facts = &self.facts[at];
            let waits_only = facts.sig == Signal::ScoreboardWait && !facts.accesses_tlb();
            if facts.locks_scoreboard() && (first || !waits_only) {
                let message = "a scoreboard wait in the first two instructions";
                findings.error(Code::ScoreboardAtStart, at, message);
            }
        };
        check(self.flow.at(start), true);
        for next in self.flow.successors(start).iter() {
            check(self.flow.at(next), false);
        }
    }
}
