//! Rules within one instruction.

use v3d_hw::qpu::address_map::NOP;
use v3d_hw::qpu::{Condition, File, ReadSource, Signal, WriteTarget};

use super::facts::{Facts, WriteFact, overlap};
use super::{Findings, Program};
use crate::code::Code;
use crate::diagnostic::Severity;
use crate::interface::Stage;

/// Write addresses of peripherals: all but registers, accumulators and "none".
pub(super) fn is_peripheral(address: u8) -> bool {
    address >= 36 && !matches!(address, 37 | 39)
}

/// Peripherals that work with a condition: the host interrupt [vc4asm], Z and colour of the tile buffer, where elements that are left out are
/// pixels that are left out [mesa vc4_qpu_emit.c], and the multisample mask, one for each element [brcm glsl_allocator_4.c].
pub(super) fn takes_condition(address: u8) -> bool {
    matches!(address, 38 | 42 | 44..=46)
}

/// Address of VPM data.
const VPM: u8 = 48;

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
        // The first of a run of instructions that nothing leads to.
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

    /// Whether a branch goes to where a register says.
    fn has_unknown_targets(&self) -> bool {
        self.facts.iter().any(|facts| facts.branch.is_some_and(|branch| branch.distance.is_none()))
    }

    fn check_instruction(&self, at: usize, facts: &Facts, findings: &mut Findings) {
        // A word that was written as a number is meant as it is.
        if facts.reserved && !facts.data {
            findings.error(Code::ReservedCode, at, "the instruction has a reserved code in it");
        }
        self.both_alus(at, facts, findings);
        let reads = [(File::A, facts.read_a, facts.read_a_condition), (File::B, facts.read_b, facts.read_b_condition)];
        for (file, address, condition) in reads {
            let Some(address) = address.filter(|_| condition != Condition::Never) else { continue };
            if let ReadSource::Unmapped(address) = ReadSource::of(file, address) {
                findings.warning(Code::Unmapped, at, format!("there is nothing to read at address {address}"));
            }
        }
        let [add, mul] = facts.writes;
        if facts.branch.is_none() {
            let writes = |write: &WriteFact| write.condition != Condition::Never && !write.idle;
            let both = add.address == mul.address && writes(&add) && writes(&mul);
            let opposite = both && !overlap(add.condition, mul.condition);
            for write in facts.writes {
                let conditional = !matches!(write.condition, Condition::Always | Condition::Never) && !write.idle;
                if conditional && is_peripheral(write.address) && !takes_condition(write.address) && !opposite {
                    // Broadcom's tessellator writes vectors in parts.
                    let severity = if write.address == VPM { Severity::Warning } else { Severity::Error };
                    let message = "a conditional write to a peripheral register".to_owned();
                    findings.add(severity, Code::ConditionalPeripheralWrite, at, None, message);
                }
            }
            let whole = mul.address >= 36 && mul.address != NOP;
            if facts.mul_byte_pack && whole && mul.condition != Condition::Never && !mul.idle {
                findings.error(
                    Code::PartialPeripheralWrite,
                    at,
                    "a single byte is written to a peripheral register or r5",
                );
            }
        }
        let vpm_setups = u32::from(facts.write_a.is_some_and(|write| write.address == 49))
            + u32::from(facts.write_b.is_some_and(|write| write.address == 49));
        if vpm_setups == 2 {
            findings.error(Code::VpmConflict, at, "VPM read and write set-up in one instruction");
        } else if vpm_setups == 1 && facts.reads(48) {
            findings.error(Code::VpmConflict, at, "VPM read and set-up in one instruction");
        } else if vpm_setups == 1 && facts.writes_to(48) {
            findings.error(Code::VpmConflict, at, "VPM write and set-up in one instruction");
        }
        if peripheral_accesses(facts) > 1 {
            findings.error(Code::TwoPeripherals, at, "more than one access to TMU, TLB, SFU, mutex or semaphore");
        }
        let across_quads = facts.rotation.is_some_and(|by| (4..=12).contains(&by));
        if across_quads && facts.rotated == 0 && facts.read_b_condition == Condition::Never {
            findings.warning(Code::RotationWithinQuads, at, "none of the sources can be rotated across quads");
        }
        if self.threaded {
            let upper = |address: Option<u8>| address.filter(|address| (16..32).contains(address));
            let a = upper(facts.read_a).or(upper(facts.write_a.map(|write| write.address)));
            let b = upper(facts.read_b).or(upper(facts.write_b.map(|write| write.address)));
            for (file, address) in [('a', a), ('b', b)] {
                if let Some(address) = address {
                    findings.error(Code::UpperHalfOfFile, at, format!("r{file}{address} belongs to the other thread"));
                }
            }
        }
        let stage = self.interface.stage;
        let vpm = facts.reads(48) || facts.written().any(|address| matches!(address, 48..=50)) || facts.reads(50);
        if stage == Stage::Fragment && vpm {
            findings.error(Code::VpmInFragment, at, "a fragment shader cannot access the VPM");
        }
        if !matches!(stage, Stage::Fragment | Stage::Unknown) {
            if facts.reads(35) {
                findings.error(Code::StageMismatch, at, "only fragment shaders have varyings to read");
            }
            if facts.accesses_tlb() || facts.sig == Signal::ScoreboardWait {
                findings.error(Code::StageMismatch, at, "only fragment shaders have a tile buffer");
            }
        }
    }

    fn both_alus(&self, at: usize, facts: &Facts, findings: &mut Findings) {
        let (Some(a), Some(b)) = (facts.write_a, facts.write_b) else { return };
        // r5 has an address with another meaning in each file.
        let same = a.address == b.address && (a.address == 37 || is_same_target(a.address));
        // Two writes of one value do no harm to a register; of a peripheral they are two accesses.
        let agree = facts.same_moves && !is_peripheral(a.address);
        if same && !agree && overlap(a.condition, b.condition) {
            findings.error(Code::BothAlusWriteSame, at, "both ALUs write to the same register");
        }
    }
}

/// Whether an address above the registers is the same target in both files.
fn is_same_target(address: u8) -> bool {
    address >= 32 && address != NOP && WriteTarget::of(File::A, address) == WriteTarget::of(File::B, address)
}

/// Accesses to the peripherals of which there can be one in an instruction [AG p.37], the tile buffer among them [AG p.48].
fn peripheral_accesses(facts: &Facts) -> u32 {
    use Signal::{LoadAlpha, LoadColor, LoadColorEnd, LoadCoverage, LoadTmu0, LoadTmu1};
    const STENCIL_SETUP: u8 = 43;
    let loads_tmu = matches!(facts.sig, LoadTmu0 | LoadTmu1);
    let is_access = |address: u8| matches!(address, STENCIL_SETUP..=47 | 52..);
    let mut writes: Vec<u8> = facts.written().filter(|&address| is_access(address)).collect();
    // Both ALUs writing one register is one access.
    writes.dedup();
    // Mesa sets the stencil test up in instructions that load a lookup's result or a colour [mesa].
    if writes == [STENCIL_SETUP] && facts.loads_r4() {
        writes.clear();
    }
    let color_loaded = matches!(facts.sig, LoadColor | LoadColorEnd);
    // A colour read and a colour write together are one access.
    let combined = color_loaded && writes.iter().any(|address| matches!(address, 45 | 46));
    let loads = loads_tmu || color_loaded && !combined || matches!(facts.sig, LoadCoverage | LoadAlpha);
    writes.len() as u32 + u32::from(facts.reads(51)) + u32::from(loads) + u32::from(facts.semaphore.is_some())
}
