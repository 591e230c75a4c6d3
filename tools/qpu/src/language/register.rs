//! Names of registers.
//!
//! `ra0` … `ra63` and `rb0` … `rb63` denote an address of one file; with other names the assembler chooses the file, if the hardware has the same register in
//! both.

use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;

use v3d_hw::qpu::address_map::TmuCoordinate;
use v3d_hw::qpu::{ReadSource as R, WriteTarget as W};

use crate::value::{Access, Register};

const READ_A: Access = Access::READ.and(Access::A);
const READ_B: Access = Access::READ.and(Access::B);
const READ: Access = Access::READ.and(Access::AB);
const WRITE_A: Access = Access::WRITE.and(Access::A);
const WRITE_B: Access = Access::WRITE.and(Access::B);
const WRITE: Access = Access::WRITE.and(Access::AB);

const fn tmu(unit: u8, coordinate: TmuCoordinate) -> u8 {
    W::Tmu { unit, coordinate }.address()
}

/// Registers with a name of their own [AG p.37-38].
///
/// r0 to r4 are read through the operand multiplexers, not through a register file: they have no read access here.
/// r5 has no write access either: writes must say `r5quad` or `r5rep`.
pub const NAMED: &[(&str, u8, Access)] = &[
    ("r0", W::Accumulator(0).address(), WRITE),
    ("r1", W::Accumulator(1).address(), WRITE),
    ("r2", W::Accumulator(2).address(), WRITE),
    ("r3", W::Accumulator(3).address(), WRITE),
    ("r4", W::TmuNoSwap.address(), WRITE),
    ("r5", W::R5PerQuad.address(), Access::AB),
    ("r5quad", W::R5PerQuad.address(), WRITE_A),
    ("r5rep", W::R5Replicated.address(), WRITE_B),
    ("unif", R::Uniform.address(), READ),
    ("uniform_read", R::Uniform.address(), READ),
    ("vary", R::Varying.address(), READ),
    ("varying_read", R::Varying.address(), READ),
    ("tmurs", W::TmuNoSwap.address(), WRITE),
    ("tmu_noswap", W::TmuNoSwap.address(), WRITE),
    ("elem_num", R::ElementNumber.address(), READ_A),
    ("element_number", R::ElementNumber.address(), READ_A),
    ("qpu_num", R::QpuNumber.address(), READ_B),
    ("qpu_number", R::QpuNumber.address(), READ_B),
    ("irq", W::HostInterrupt.address(), WRITE),
    ("interrupt", W::HostInterrupt.address(), WRITE),
    ("host_int", W::HostInterrupt.address(), WRITE),
    ("nop", R::Nop.address(), READ.and(WRITE)),
    ("unif_addr", W::UniformsAddress.address(), WRITE_A),
    ("unif_addr_rel", W::UniformsAddress.address(), WRITE_B),
    ("x_coord", R::XPixelCoord.address(), READ_A.and(WRITE_A)),
    ("x_pixel_coord", R::XPixelCoord.address(), READ_A.and(WRITE_A)),
    ("quad_x", R::XPixelCoord.address(), READ_A.and(WRITE_A)),
    ("y_coord", R::YPixelCoord.address(), READ_B.and(WRITE_B)),
    ("y_pixel_coord", R::YPixelCoord.address(), READ_B.and(WRITE_B)),
    ("quad_y", R::YPixelCoord.address(), READ_B.and(WRITE_B)),
    ("ms_mask", R::MsFlags.address(), READ_A.and(WRITE_A)),
    ("ms_flags", R::MsFlags.address(), READ_A.and(WRITE_A)),
    ("rev_flag", R::RevFlag.address(), READ_B.and(WRITE_B)),
    ("stencil", W::TlbStencilSetup.address(), WRITE),
    ("tlb_stencil", W::TlbStencilSetup.address(), WRITE),
    ("tlbz", W::TlbZ.address(), WRITE),
    ("tlb_z", W::TlbZ.address(), WRITE),
    ("tlbm", W::TlbColorMs.address(), WRITE),
    ("tlb_colour_ms", W::TlbColorMs.address(), WRITE),
    ("tlb_color_ms", W::TlbColorMs.address(), WRITE),
    ("tlbc", W::TlbColorAll.address(), WRITE),
    ("tlb_colour_all", W::TlbColorAll.address(), WRITE),
    ("tlb_color_all", W::TlbColorAll.address(), WRITE),
    ("tlbam", W::TlbAlphaMask.address(), WRITE),
    ("tlb_alpha_mask", W::TlbAlphaMask.address(), WRITE),
    ("vpm", R::VpmRead.address(), READ.and(WRITE)),
    ("vpm_read", R::VpmRead.address(), READ),
    ("vpm_write", W::VpmWrite.address(), WRITE),
    ("vr_busy", R::VpmLdBusy.address(), READ_A),
    ("vpm_ld_busy", R::VpmLdBusy.address(), READ_A),
    ("vw_busy", R::VpmStBusy.address(), READ_B),
    ("vpm_st_busy", R::VpmStBusy.address(), READ_B),
    ("vr_setup", W::VpmVcdRdSetup.address(), WRITE_A),
    ("vpmvcd_rd_setup", W::VpmVcdRdSetup.address(), WRITE_A),
    ("vw_setup", W::VpmVcdWrSetup.address(), WRITE_B),
    ("vpmvcd_wr_setup", W::VpmVcdWrSetup.address(), WRITE_B),
    ("vr_wait", R::VpmLdWait.address(), READ_A),
    ("vpm_ld_wait", R::VpmLdWait.address(), READ_A),
    ("vw_wait", R::VpmStWait.address(), READ_B),
    ("vpm_st_wait", R::VpmStWait.address(), READ_B),
    ("vr_addr", W::VpmLdAddr.address(), WRITE_A),
    ("vpm_ld_addr", W::VpmLdAddr.address(), WRITE_A),
    ("vw_addr", W::VpmStAddr.address(), WRITE_B),
    ("vpm_st_addr", W::VpmStAddr.address(), WRITE_B),
    ("mutex", R::MutexAcquire.address(), READ.and(WRITE)),
    ("mutex_acq", R::MutexAcquire.address(), READ),
    ("mutex_acquire", R::MutexAcquire.address(), READ),
    ("mutex_rel", W::MutexRelease.address(), WRITE),
    ("mutex_release", W::MutexRelease.address(), WRITE),
    ("recip", W::SfuRecip.address(), WRITE),
    ("sfu_recip", W::SfuRecip.address(), WRITE),
    ("recipsqrt", W::SfuRecipSqrt.address(), WRITE),
    ("sfu_recipsqrt", W::SfuRecipSqrt.address(), WRITE),
    ("exp", W::SfuExp.address(), WRITE),
    ("sfu_exp", W::SfuExp.address(), WRITE),
    ("log", W::SfuLog.address(), WRITE),
    ("sfu_log", W::SfuLog.address(), WRITE),
    ("t0s", tmu(0, TmuCoordinate::S), WRITE),
    ("t0t", tmu(0, TmuCoordinate::T), WRITE),
    ("t0r", tmu(0, TmuCoordinate::R), WRITE),
    ("t0b", tmu(0, TmuCoordinate::B), WRITE),
    ("t1s", tmu(1, TmuCoordinate::S), WRITE),
    ("t1t", tmu(1, TmuCoordinate::T), WRITE),
    ("t1r", tmu(1, TmuCoordinate::R), WRITE),
    ("t1b", tmu(1, TmuCoordinate::B), WRITE),
    ("tmu0_s", tmu(0, TmuCoordinate::S), WRITE),
    ("tmu0_t", tmu(0, TmuCoordinate::T), WRITE),
    ("tmu0_r", tmu(0, TmuCoordinate::R), WRITE),
    ("tmu0_b", tmu(0, TmuCoordinate::B), WRITE),
    ("tmu1_s", tmu(1, TmuCoordinate::S), WRITE),
    ("tmu1_t", tmu(1, TmuCoordinate::T), WRITE),
    ("tmu1_r", tmu(1, TmuCoordinate::R), WRITE),
    ("tmu1_b", tmu(1, TmuCoordinate::B), WRITE),
];

/// All register names and the registers that they denote.
pub fn all() -> impl Iterator<Item = (String, Register)> {
    let named = NAMED.iter().map(|&(name, address, access)| (name.to_owned(), Register::new(address, access)));
    let read_write = Access::READ.and(Access::WRITE);
    let files = [("ra", Access::A), ("rb", Access::B)].into_iter().flat_map(move |(prefix, file)| {
        (0..64).map(move |n| (format!("{prefix}{n}"), Register::new(n, read_write.and(file))))
    });
    let semaphores = [("sacq", Access::ACQUIRE), ("srel", Access::RELEASE)]
        .into_iter()
        .flat_map(|(prefix, kind)| (0..16).map(move |n| (format!("{prefix}{n}"), Register::new(n, kind))));
    named.chain(files).chain(semaphores)
}
