//! What an instruction touches (registers, accumulators, flags, units), and the rules it breaks with the two before it.
//!
//! # Sources
//! [AG p.37-38].

use crate::fault::rule::{Rule, Rules};
use v3d_hw::qpu::access::Peripheral;
use v3d_hw::qpu::accesses::{Accesses, accumulators};
use v3d_hw::qpu::{Condition, Hazard, ReadSource, SmallImmediate, WriteTarget, address_sets};

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
    /// Takes a uniform: reads it, or writes t, r or b of a TMU.
    pub takes_uniform: bool,
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

impl Touches {
    /// What an instruction touches that makes these accesses.
    pub fn of(accesses: &Accesses) -> Self {
        let units = || {
            let read = accesses.read().map(|read| read.source.row().peripheral);
            read.chain(accesses.written().map(|write| write.target.row().access.peripheral)).flatten()
        };
        let always = accesses.writes[1].condition == Condition::Always;
        Self {
            reads: accesses.registers_read(),
            writes: accesses.registers_written(),
            reads_accumulators: accesses.accumulators_read(),
            writes_accumulators: accesses.accumulators_written(),
            replaces_accumulators: accesses.accumulators_replaced(),
            rotates: if always { accesses.rotated } else { 0 },
            rotates_by_r5: accesses.rotation == Some(SmallImmediate::RotateByR5),
            sfu: accesses.writes_any(address_sets::SFU),
            loads_r4: accesses.signal.loads_r4(),
            tlb_z: accesses.writes_to(WriteTarget::TlbZ),
            tlb: accesses.accesses_tile_buffer(),
            tlb_samples: accesses.accesses_samples(),
            ms_flags: accesses.reads(ReadSource::MsFlags),
            uniforms_address: accesses.writes_to(WriteTarget::UniformsAddress),
            uniform: accesses.reads(ReadSource::Uniform),
            takes_uniform: accesses.takes_uniform(),
            varying: accesses.reads(ReadSource::Varying),
            vpm: units().any(|unit| matches!(unit, Peripheral::Vpm | Peripheral::VpmDma)),
            tmu_write: accesses.writes_any(address_sets::TMU),
            branch: accesses.branch.is_some(),
            register_14: accesses.accesses_register_14(),
        }
    }

    /// The rules that an instruction breaks with two others: `previous` directly before it, `before` before that.
    pub fn hazards(&self, previous: &Self, before: &Self) -> Rules {
        let now = self;
        // Hazards between neighbours reach two instructions back at most.
        let after = |hazard: Hazard, is_first: fn(&Self) -> bool| {
            is_first(previous) || hazard.between() > 1 && is_first(before)
        };
        let written_by =
            |hazard: Hazard, set: fn(&Self) -> u64| set(previous) | if hazard.between() > 1 { set(before) } else { 0 };
        let written = written_by(Hazard::ReadAfterWrite, |touches| touches.writes);
        // A condition, here or there, is how programs keep clear of the elements that are not written yet [vc4asm].
        let replaced = written_by(Hazard::RotationAfterWrite, |touches| u64::from(touches.replaces_accumulators));
        let amounts = written_by(Hazard::RotationByR5AfterWrite, |touches| u64::from(touches.writes_accumulators));
        let after_sfu = |hazard| after(hazard, |touches| touches.sfu);
        let after_z = after(Hazard::MsFlagsAfterTlbZ, |touches| touches.tlb_z);
        let after_address = after(Hazard::UniformAfterAddress, |touches| touches.uniforms_address);
        let after_branch = after(Hazard::BranchAfterBranch, |touches| touches.branch);
        let mut broken = Rules::default();
        broken.add_if(now.reads & written != 0, Rule::StaleRead);
        let reads_r4 = now.reads_accumulators & accumulators::R4 != 0;
        broken.add_if(reads_r4 && after_sfu(Hazard::SfuResult), Rule::SfuTooEarly);
        broken.add_if((now.loads_r4 || now.sfu) && after_sfu(Hazard::SfuBusy), Rule::SfuClobbered);
        broken.add_if(u64::from(now.rotates) & replaced != 0, Rule::RotationTooEarly);
        let writes_r5 = amounts & u64::from(accumulators::R5) != 0;
        broken.add_if(now.rotates_by_r5 && writes_r5, Rule::RotationByFreshR5);
        broken.add_if(now.ms_flags && after_z, Rule::MsFlagsTooEarly);
        broken.add_if(now.takes_uniform && after_address, Rule::UniformTooEarly);
        broken.add_if(now.branch && after_branch, Rule::BranchTooClose);
        broken
    }
}
