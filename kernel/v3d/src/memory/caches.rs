//! The V3D's caches: cleared before the V3D reads new data.
//!
//! L2 holds textures, uniforms and instructions for all slices; each slice has caches of its own for uniforms, instructions and each TMU. None of
//! them sees what the CPU writes, nor what the V3D itself stores. So the caches are cleared before each start:
//!
//! | before | may have changed | cleared |
//! |---|---|---|
//! | a job's first list | everything, by the CPU | [all](clear) |
//! | a job's rendering list, after its binning list | textures: the job before may have rendered one since the binning began | [textures](clear_textures) |
//! | user programs | everything, by the CPU or by earlier programs | [all](clear) |
//!
//! A clear while the other thread works costs it time: it has to fetch its data again.
//!
//! # Sources
//! [AG p.93-94], [linux vc4_gem.c]

use crate::platform::RegisterAccess;
use crate::platform::register_access::flags;
use v3d_hw::registers::Register;
use v3d_hw::registers::cache::{L2cactl, Slcactl};

/// All four slices that the register has bits for.
const ALL_SLICES: u8 = 0xf;

/// Clears all caches.
pub fn clear(registers: &impl RegisterAccess) {
    clear_l2(registers);
    let all = Slcactl { t1ccs: ALL_SLICES, t0ccs: ALL_SLICES, uccs: ALL_SLICES, iccs: ALL_SLICES };
    registers.write(Register::SLCACTL, flags(all));
}

/// Clears the caches that hold textures. L2 holds other data too, which is then fetched again.
pub fn clear_textures(registers: &impl RegisterAccess) {
    clear_l2(registers);
    let textures = Slcactl { t1ccs: ALL_SLICES, t0ccs: ALL_SLICES, ..Slcactl::default() };
    registers.write(Register::SLCACTL, flags(textures));
}

/// Enables the L2 cache.
pub fn enable(registers: &impl RegisterAccess) {
    registers.write(Register::L2CACTL, flags(L2cactl { l2cena: true, ..L2cactl::default() }));
}

fn clear_l2(registers: &impl RegisterAccess) {
    registers.write(Register::L2CACTL, flags(L2cactl { l2cclr: true, ..L2cactl::default() }));
}
