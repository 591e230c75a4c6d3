//! The V3D's caches: cleared before the V3D reads new data.
//!
//! L2 holds textures, uniforms and instructions for all slices; each slice has caches of its own for uniforms, instructions and each TMU. None of
//! them sees what the CPU writes, so all are cleared before each job.
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
    registers.write(Register::L2CACTL, flags(L2cactl { l2cclr: true, ..L2cactl::default() }));
    clear_slices(registers);
}

/// Enables the L2 cache.
pub fn enable(registers: &impl RegisterAccess) {
    registers.write(Register::L2CACTL, flags(L2cactl { l2cena: true, ..L2cactl::default() }));
}

fn clear_slices(registers: &impl RegisterAccess) {
    let all = Slcactl { t1ccs: ALL_SLICES, t0ccs: ALL_SLICES, uccs: ALL_SLICES, iccs: ALL_SLICES };
    registers.write(Register::SLCACTL, flags(all));
}
