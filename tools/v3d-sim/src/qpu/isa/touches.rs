//! What an instruction touches (registers, accumulators, flags, units), and the rules it breaks with the two before it.
//!
//! # Sources
//! [AG p.37-38].

use super::instruction::DecodedInstruction;
use crate::fault::rule::{Rule, Rules};

/// What an instruction touches, in the form in which neighbours are compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Touches {
    /// Registers that operands come from: bits 0 to 31 file A, 32 to 63 file B.
    pub reads: u64,
    /// Registers that are written.
    pub writes: u64,
    /// Accumulators r0 to r5 (bits 0 to 5) and flags (bit 6) that are read.
    pub reads_accumulators: u8,
    /// Accumulators and flags that are written, in whatever elements.
    pub writes_accumulators: u8,
    /// Accumulators and flags that are written in all elements.
    pub replaces_accumulators: u8,
    /// Accumulators that are rotated.
    pub rotates: u8,
    /// Rotates by r5.
    pub rotates_by_r5: bool,
    /// Writes to the SFU.
    pub sfu: bool,
    /// A signal loads r4.
    pub loads_r4: bool,
    /// Writes Z.
    pub tlb_z: bool,
    /// Accesses the tile buffer or its set-up.
    pub tlb: bool,
    /// Reads or writes samples of the tile buffer, for which the scoreboard is waited. The set-up of the stencil test does not: Mesa's fragment
    /// shaders begin with it [mesa vc4_qpu_schedule.c].
    pub tlb_samples: bool,
    /// Reads the multisample mask.
    pub ms_flags: bool,
    /// Writes the uniforms' address.
    pub uniforms_address: bool,
    /// Reads a uniform.
    pub uniform: bool,
    /// Reads a varying.
    pub varying: bool,
    /// Reads or writes the VPM or its DMA.
    pub vpm: bool,
    /// Writes to a TMU.
    pub tmu_write: bool,
    /// Is a branch.
    pub branch: bool,
    /// Accesses register 14 of either file.
    pub register_14: bool,
}

/// The flags' bit among the accumulators of [`Touches`].
pub const FLAGS_BIT: u8 = 1 << 6;
/// The bits of all accumulators and of the flags.
pub const ACCUMULATORS_AND_FLAGS: u8 = FLAGS_BIT | (FLAGS_BIT - 1);
/// r4's bit.
pub const R4_BIT: u8 = 1 << 4;
/// r5's bit.
pub const R5_BIT: u8 = 1 << 5;

impl DecodedInstruction {
    /// The rules that this instruction breaks with two others: `previous` directly before it, `before` before that.
    pub fn hazards(&self, previous: &Touches, before: &Touches) -> Rules {
        let mut broken = Rules::default();
        let now = &self.touches;
        broken.add_if(now.reads & previous.writes != 0, Rule::StaleRead);
        if previous.sfu || before.sfu {
            broken.add_if(now.reads_accumulators & R4_BIT != 0, Rule::SfuTooEarly);
            broken.add_if(now.loads_r4 || now.sfu, Rule::SfuClobbered);
        }
        // A condition, here or there, is how programs keep clear of the elements that are not written yet [vc4asm].
        broken.add_if(now.rotates & previous.replaces_accumulators != 0, Rule::RotationTooEarly);
        broken.add_if(now.rotates_by_r5 && previous.writes_accumulators & R5_BIT != 0, Rule::RotationByFreshR5);
        broken.add_if(now.ms_flags && (previous.tlb_z || before.tlb_z), Rule::MsFlagsTooEarly);
        broken.add_if(now.uniform && (previous.uniforms_address || before.uniforms_address), Rule::UniformTooEarly);
        broken.add_if(now.branch && (previous.branch || before.branch), Rule::BranchTooClose);
        broken
    }
}
