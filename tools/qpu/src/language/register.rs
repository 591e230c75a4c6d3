//! Names of registers.
//!
//! `ra0` … `ra63` and `rb0` … `rb63` name an address of one file; the other names leave the choice of the file to the assembler
//! where the hardware has the same behind both.

use crate::value::{Access, Register};

const READ_A: Access = Access::READ.and(Access::A);
const READ_B: Access = Access::READ.and(Access::B);
const READ: Access = Access::READ.and(Access::AB);
const WRITE_A: Access = Access::WRITE.and(Access::A);
const WRITE_B: Access = Access::WRITE.and(Access::B);
const WRITE: Access = Access::WRITE.and(Access::AB);

/// Registers with a name of their own [AG p.37-38].
///
/// r0 to r4 are read through the operand multiplexers, not through a register file: they have no read access here.
/// r5 has no write access either: writes must say `r5quad` or `r5rep`.
pub const NAMED: &[(&str, u8, Access)] = &[
    ("r0", 32, WRITE),
    ("r1", 33, WRITE),
    ("r2", 34, WRITE),
    ("r3", 35, WRITE),
    ("r4", 36, WRITE),
    ("r5", 37, Access::AB),
    ("r5quad", 37, WRITE_A),
    ("r5rep", 37, WRITE_B),
    ("unif", 32, READ),
    ("uniform_read", 32, READ),
    ("vary", 35, READ),
    ("varying_read", 35, READ),
    ("tmurs", 36, WRITE),
    ("tmu_noswap", 36, WRITE),
    ("elem_num", 38, READ_A),
    ("element_number", 38, READ_A),
    ("qpu_num", 38, READ_B),
    ("qpu_number", 38, READ_B),
    ("irq", 38, WRITE),
    ("interrupt", 38, WRITE),
    ("host_int", 38, WRITE),
    ("nop", 39, READ.and(WRITE)),
    ("unif_addr", 40, WRITE_A),
    ("unif_addr_rel", 40, WRITE_B),
    ("x_coord", 41, READ_A.and(WRITE_A)),
    ("x_pixel_coord", 41, READ_A.and(WRITE_A)),
    ("quad_x", 41, READ_A.and(WRITE_A)),
    ("y_coord", 41, READ_B.and(WRITE_B)),
    ("y_pixel_coord", 41, READ_B.and(WRITE_B)),
    ("quad_y", 41, READ_B.and(WRITE_B)),
    ("ms_mask", 42, READ_A.and(WRITE_A)),
    ("ms_flags", 42, READ_A.and(WRITE_A)),
    ("rev_flag", 42, READ_B.and(WRITE_B)),
    ("stencil", 43, WRITE),
    ("tlb_stencil", 43, WRITE),
    ("tlbz", 44, WRITE),
    ("tlb_z", 44, WRITE),
    ("tlbm", 45, WRITE),
    ("tlb_colour_ms", 45, WRITE),
    ("tlb_color_ms", 45, WRITE),
    ("tlbc", 46, WRITE),
    ("tlb_colour_all", 46, WRITE),
    ("tlb_color_all", 46, WRITE),
    ("tlbam", 47, WRITE),
    ("tlb_alpha_mask", 47, WRITE),
    ("vpm", 48, READ.and(WRITE)),
    ("vpm_read", 48, READ),
    ("vpm_write", 48, WRITE),
    ("vr_busy", 49, READ_A),
    ("vpm_ld_busy", 49, READ_A),
    ("vw_busy", 49, READ_B),
    ("vpm_st_busy", 49, READ_B),
    ("vr_setup", 49, WRITE_A),
    ("vpmvcd_rd_setup", 49, WRITE_A),
    ("vw_setup", 49, WRITE_B),
    ("vpmvcd_wr_setup", 49, WRITE_B),
    ("vr_wait", 50, READ_A),
    ("vpm_ld_wait", 50, READ_A),
    ("vw_wait", 50, READ_B),
    ("vpm_st_wait", 50, READ_B),
    ("vr_addr", 50, WRITE_A),
    ("vpm_ld_addr", 50, WRITE_A),
    ("vw_addr", 50, WRITE_B),
    ("vpm_st_addr", 50, WRITE_B),
    ("mutex", 51, READ.and(WRITE)),
    ("mutex_acq", 51, READ),
    ("mutex_acquire", 51, READ),
    ("mutex_rel", 51, WRITE),
    ("mutex_release", 51, WRITE),
    ("recip", 52, WRITE),
    ("sfu_recip", 52, WRITE),
    ("recipsqrt", 53, WRITE),
    ("sfu_recipsqrt", 53, WRITE),
    ("exp", 54, WRITE),
    ("sfu_exp", 54, WRITE),
    ("log", 55, WRITE),
    ("sfu_log", 55, WRITE),
    ("t0s", 56, WRITE),
    ("t0t", 57, WRITE),
    ("t0r", 58, WRITE),
    ("t0b", 59, WRITE),
    ("t1s", 60, WRITE),
    ("t1t", 61, WRITE),
    ("t1r", 62, WRITE),
    ("t1b", 63, WRITE),
    ("tmu0_s", 56, WRITE),
    ("tmu0_t", 57, WRITE),
    ("tmu0_r", 58, WRITE),
    ("tmu0_b", 59, WRITE),
    ("tmu1_s", 60, WRITE),
    ("tmu1_t", 61, WRITE),
    ("tmu1_r", 62, WRITE),
    ("tmu1_b", 63, WRITE),
];

/// All register names with what they stand for.
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
