//! Rules between instructions a few steps apart.

use alloc::format;

use v3d_hw::qpu::accesses::accumulators;
use v3d_hw::qpu::{Condition, Hazard, ReadSource, Signal, SmallImmediate, WriteTarget};

use super::facts::{Facts, Register};
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
                self.sfu(node, findings);
            }
            if facts.writes_to(WriteTarget::UniformsAddress) {
                let what = "the uniforms' address is written here";
                self.within(node, Hazard::UniformAfterAddress, Code::UniformAfterAddress, what, findings, |next| {
                    next.accesses.takes_uniform()
                });
            }
            if facts.writes_to(WriteTarget::TlbZ) {
                let what = "Z is written here";
                self.within(node, Hazard::MsFlagsAfterTlbZ, Code::MsFlagsAfterTlbZ, what, findings, |next| {
                    next.reads(ReadSource::MsFlags)
                });
            }
            if facts.writes_to(WriteTarget::TmuNoSwap) {
                let what = "TMU swap is changed here";
                self.within(node, Hazard::TmuAfterNoSwap, Code::TmuSoonAfterNoSwap, what, findings, Facts::writes_tmu);
            }
            if let (Pending::Branch(branch, slot), Some(_)) = (self.flow.pending(node), facts.branch)
                && slot <= Hazard::BranchAfterBranch.between()
            {
                let message = Hazard::BranchAfterBranch.sentence();
                findings.error_after(Code::BranchInDelaySlots, at, branch, "first branch", message);
            }
        }
        self.start(findings);
    }

    /// Reports instructions after `node` that are the second instruction of a hazard, at less than its minimum distance.
    fn within(
        &self,
        node: Node,
        hazard: Hazard,
        code: Code,
        what: &'static str,
        findings: &mut Findings,
        is_second: impl Fn(&Facts) -> bool,
    ) {
        let first = self.flow.at(node);
        self.flow.ahead(node, hazard.between(), &mut |next, _| {
            let at = self.flow.at(next);
            if is_second(&self.facts[at]) {
                findings.error_after(code, at, first, what, hazard.sentence());
            }
            true
        });
    }

    fn read_after_write(&self, node: Node, at: usize, facts: &Facts, findings: &mut Findings) {
        self.flow.ahead(node, Hazard::ReadAfterWrite.between(), &mut |next, _| {
            let next_at = self.flow.at(next);
            if !self.facts[next_at].reads_register_of(facts) {
                return true;
            }
            for (register, written) in facts.registers_written() {
                let Register::InFile(..) = register else { continue };
                // If the instruction between them sets flags, the two conditions are not comparable.
                let meets = |read: Condition| facts.sets_flags() || !written.excludes(read);
                let clash = |(other, read): (Register, Condition)| other == register && meets(read);
                if !self.facts[next_at].registers_read().any(clash) {
                    continue;
                }
                // The guide makes no exception for a branch between the two instructions, but optimized programs that run on boards rely on one.
                let (severity, over) = match self.flow.pending(node) {
                    Pending::Branch(..) if next_at != at + 1 => (Severity::Warning, ", over a branch"),
                    _ => (Severity::Error, ""),
                };
                let message = format!("{register} is read right after it is written{over}");
                findings.add(severity, Code::ReadAfterWrite, next_at, Some((at, "written here")), message);
            }
            true
        });
    }

    fn rotations(&self, node: Node, at: usize, facts: &Facts, findings: &mut Findings) {
        for next in self.flow.successors(node).iter() {
            let next_at = self.flow.at(next);
            let reader = &self.facts[next_at];
            let Some(rotation) = reader.accesses.rotation else { continue };
            let by_r5 = rotation == SmallImmediate::RotateByR5;
            if by_r5 && facts.accesses.accumulators_written() & accumulators::R5 != 0 {
                let message = Hazard::RotationByR5AfterWrite.sentence();
                findings.error_after(Code::RotationByR5AfterWrite, next_at, at, "r5 is written here", message);
            }
            for (register, condition) in facts.registers_written() {
                let Register::Accumulator(number) = register else { continue };
                if reader.accesses.rotated & 1 << number == 0 {
                    continue;
                }
                // A condition on either instruction may exclude the elements that come from another quad; and a rotation into r5 by less than four elements
                // uses only values of the same quad.
                let mul = &reader.accesses.writes[1];
                let into_r5 = matches!(rotation, SmallImmediate::Rotate(13..)) && mul.target.is_r5();
                let conditional = condition != Condition::Always || mul.condition != Condition::Always;
                if by_r5 || reader.mul_sets_flags() || !into_r5 && !conditional {
                    let message = format!("{register} is rotated right after it is written");
                    // Broadcom's tessellator does this where the elements that come from another quad are not used.
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

    fn sfu(&self, node: Node, findings: &mut Findings) {
        let what = "the SFU is started here";
        self.within(node, Hazard::SfuBusy, Code::SfuBusy, what, findings, |next| {
            next.writes_sfu() || next.signal().loads_r4()
        });
        self.within(node, Hazard::SfuResult, Code::R4BeforeSfu, what, findings, |next| next.reads_accumulator(4));
    }

    /// Accesses to the tile buffer by the first two instructions of a fragment shader.
    fn start(&self, findings: &mut Findings) {
        if !matches!(self.interface.stage, Stage::Fragment | Stage::Unknown) {
            return;
        }
        let Some(&start) = self.flow.entries().first() else { return };
        let mut check = |at: usize, first: bool| {
            let facts = &self.facts[at];
            let waits_only = facts.signal() == Signal::ScoreboardWait && !facts.accesses.accesses_tile_buffer();
            if facts.locks_scoreboard() && (first || !waits_only) {
                findings.error(Code::ScoreboardAtStart, at, Hazard::ScoreboardAfterStart.sentence());
            }
        };
        check(self.flow.at(start), true);
        for next in self.flow.successors(start).iter() {
            check(self.flow.at(next), false);
        }
    }
}
