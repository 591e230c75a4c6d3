//! Rules within one instruction.

use alloc::borrow::ToOwned;
use alloc::format;
use alloc::vec;

use v3d_hw::qpu::access::{Peripheral, Stages};
use v3d_hw::qpu::accesses::Write;
use v3d_hw::qpu::{Condition, File, ReadSource, SmallImmediate, WriteTarget, address_sets};

use super::facts::{Facts, Register};
use super::{Findings, Program};
use crate::code::Code;
use crate::diagnostic::Severity;
use crate::interface::Stage;

impl Program<'_> {
    pub(super) fn check_instructions(&self, findings: &mut Findings) {
        let mut reached = vec![false; self.facts.len()];
        for node in self.flow.nodes() {
            reached[self.flow.at(node)] = true;
        }
        for (at, facts) in self.facts.iter().enumerate() {
            if reached[at] {
                self.check_instruction(at, facts, findings);
            }
        }
        // Only the first of consecutive unreachable instructions is reported.
        let one_way_in = self.flow.entries().len() == 1 && !self.has_unknown_targets();
        let mut before = true;
        for (at, facts) in self.facts.iter().enumerate() {
            let here = reached[at] || facts.data;
            if !here && before && one_way_in {
                findings.warning(Code::Unreachable, at, "this is never reached");
            }
            before = here;
        }
    }

    /// Whether the program has a branch whose target is in a register.
    fn has_unknown_targets(&self) -> bool {
        self.facts.iter().any(|facts| facts.branch.is_some_and(|branch| branch.distance.is_none()))
    }

    fn check_instruction(&self, at: usize, facts: &Facts, findings: &mut Findings) {
        let accesses = &facts.accesses;
        // Reserved values are accepted in a word that the source wrote as a number.
        if facts.reserved && !facts.data {
            findings.error(Code::ReservedCode, at, "the instruction has a reserved code in it");
        }
        if accesses.writes_twice() {
            findings.error(Code::BothAlusWriteSame, at, "both ALUs write to the same register");
        }
        if accesses.reads_any(address_sets::UNMAPPED) {
            unmapped_reads(at, facts, findings);
        }
        if accesses.writes_any(address_sets::UNITS_WRITTEN | address_sets::R5) {
            peripheral_writes(at, facts, findings);
        }
        if accesses.coupled_accesses() > 1 {
            findings.error(Code::TwoPeripherals, at, "more than one access to TMU, TLB, SFU, mutex or semaphore");
        }
        let across_quads = matches!(accesses.rotation, Some(SmallImmediate::Rotate(4..=12)));
        let reads_b = accesses.reads[1].is_some_and(|read| read.used != Condition::Never);
        if across_quads && accesses.rotated == 0 && !reads_b {
            findings.warning(Code::RotationWithinQuads, at, "none of the sources can be rotated across quads");
        }
        if self.threaded {
            other_threads_registers(at, facts, findings);
        }
        if let Some(stage) = stages_of(self.interface.stage) {
            other_stages_units(at, facts, stage, findings);
        }
    }
}

fn unmapped_reads(at: usize, facts: &Facts, findings: &mut Findings) {
    for read in facts.accesses.read().filter(|read| read.used != Condition::Never) {
        if let ReadSource::Unmapped(address) = read.source {
            findings.warning(Code::Unmapped, at, format!("there is nothing to read at address {address}"));
        }
    }
}

/// Writes to peripherals and r5.
fn peripheral_writes(at: usize, facts: &Facts, findings: &mut Findings) {
    let [add, mul] = &facts.accesses.writes;
    let both = add.target == mul.target && add.happens() && mul.happens();
    let opposite = both && add.condition.excludes(mul.condition);
    for write in facts.accesses.written() {
        if write.is_conditional() && write.target.ignores_condition() && !opposite {
            // Broadcom's tessellator writes VPM vectors under conditions, a part at a time.
            let is_vector = write.target == WriteTarget::VpmWrite;
            let severity = if is_vector { Severity::Warning } else { Severity::Error };
            let message = "a conditional write to a peripheral register".to_owned();
            findings.add(severity, Code::ConditionalPeripheralWrite, at, None, message);
        }
        let has_parts = matches!(write.target, WriteTarget::Register(_) | WriteTarget::Accumulator(_));
        if write.bytes != Write::WHOLE && !has_parts {
            let message = "a single byte is written to a peripheral register or r5";
            findings.error(Code::PartialPeripheralWrite, at, message);
        }
    }
    let is_setup = |target| matches!(target, WriteTarget::VpmVcdRdSetup | WriteTarget::VpmVcdWrSetup);
    let vpm_setups = facts.accesses.written().filter(|write| is_setup(write.target)).count();
    if vpm_setups == 2 {
        findings.error(Code::VpmConflict, at, "VPM read and write set-up in one instruction");
    } else if vpm_setups == 1 && facts.reads(ReadSource::VpmRead) {
        findings.error(Code::VpmConflict, at, "VPM read and set-up in one instruction");
    } else if vpm_setups == 1 && facts.writes_to(WriteTarget::VpmWrite) {
        findings.error(Code::VpmConflict, at, "VPM write and set-up in one instruction");
    }
}

/// Uses of registers that belong to the other thread.
fn other_threads_registers(at: usize, facts: &Facts, findings: &mut Findings) {
    let registers = || facts.registers_read().chain(facts.registers_written()).map(|(register, _)| register);
    for file in [File::A, File::B] {
        let upper = |register: &Register| matches!(register, Register::InFile(in_file, 16..) if *in_file == file);
        if let Some(register) = registers().find(upper) {
            findings.error(Code::UpperHalfOfFile, at, format!("{register} belongs to the other thread"));
        }
    }
}

/// Uses of units that a program of this stage cannot access.
fn other_stages_units(at: usize, facts: &Facts, stage: Stages, findings: &mut Findings) {
    let accesses = &facts.accesses;
    let read = accesses.read().map(|read| read.source.row());
    let written = accesses.written().map(|write| write.target.row().access);
    for row in read.chain(written).chain([facts.signal().row()]).filter(|row| !row.stages.include(stage)) {
        match row.peripheral {
            Some(Peripheral::Vpm | Peripheral::VpmDma) => {
                findings.error(Code::VpmInFragment, at, "a fragment shader cannot access the VPM");
            }
            Some(Peripheral::Varyings) => {
                findings.error(Code::StageMismatch, at, "only fragment shaders have varyings to read");
            }
            Some(Peripheral::TileBuffer) => {
                findings.error(Code::StageMismatch, at, "only fragment shaders have a tile buffer");
            }
            _ => {}
        }
    }
}

/// The stage in the terms of `v3d-hw`, if the source declares it.
fn stages_of(stage: Stage) -> Option<Stages> {
    match stage {
        Stage::Fragment => Some(Stages::FRAGMENT),
        Stage::Vertex | Stage::Coordinate => Some(Stages::VERTEX),
        Stage::User => Some(Stages::USER),
        Stage::Unknown => None,
    }
}
