//! A test of the exception vectors: FP/SIMD registers are preserved across interrupts
//!
//! The compiler uses FP/SIMD registers anywhere, in interrupted code and in handlers. A vector that failed to save one would corrupt a computation only rarely.
//! In this test, all 32 registers hold known values while interrupts occur whose handler overwrites all 32.

use core::{
    arch::asm,
    sync::atomic::{AtomicBool, Ordering},
};

use super::clock;

/// Whether handlers overwrite all FP/SIMD registers.
static DISTURB: AtomicBool = AtomicBool::new(false);

/// Overwrites all FP/SIMD registers while the test is running; called by the timer's handler.
pub fn disturb_if_testing() {
    if !DISTURB.load(Ordering::Relaxed) {
        return;
    }
    // SAFETY: all changed registers are listed as clobbers; no memory is touched.
    unsafe {
        asm!(
            ".irp n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31",
            "    movi v\\n\\().16b, #\\n",
            ".endr",
            out("v0") _, out("v1") _, out("v2") _, out("v3") _, out("v4") _, out("v5") _, out("v6") _, out("v7") _,
            out("v8") _, out("v9") _, out("v10") _, out("v11") _, out("v12") _, out("v13") _, out("v14") _, out("v15") _,
            out("v16") _, out("v17") _, out("v18") _, out("v19") _, out("v20") _, out("v21") _, out("v22") _, out("v23") _,
            out("v24") _, out("v25") _, out("v26") _, out("v27") _, out("v28") _, out("v29") _, out("v30") _, out("v31") _,
            options(nomem, nostack, preserves_flags),
        );
    }
}

/// Holds values in all FP/SIMD registers for `duration_us` microseconds; returns whether all of them are unchanged at the end.
#[must_use]
pub fn simd_registers_survive(duration_us: u64) -> bool {
    let end = clock::ticks() + duration_us * clock::frequency_hz() / 1_000_000;
    let difference: u64;
    DISTURB.store(true, Ordering::Relaxed);
    // SAFETY: the block changes FP/SIMD registers, which are all listed as clobbers, and the general registers that it was given; it touches no memory.
    unsafe {
        asm!(
            ".irp n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31",
            "    add {word}, {seed}, #\\n",
            "    dup v\\n\\().2d, {word}",
            "    not v\\n\\().8b, v\\n\\().8b", // clears the upper half
            "    ins v\\n\\().d[1], {word}",
            ".endr",
            "2:  mrs {word}, cntpct_el0",
            "    cmp {word}, {end}",
            "    b.lo 2b",
            "    mov {difference}, #0",
            ".irp n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31",
            "    add {word}, {seed}, #\\n",
            "    umov {half}, v\\n\\().d[1]",
            "    eor {half}, {half}, {word}",
            "    orr {difference}, {difference}, {half}",
            "    umov {half}, v\\n\\().d[0]",
            "    mvn {half}, {half}",
            "    eor {half}, {half}, {word}",
            "    orr {difference}, {difference}, {half}",
            ".endr",
            seed = in(reg) 0x0123_4567_89ab_cdefu64,
            end = in(reg) end,
            word = out(reg) _,
            half = out(reg) _,
            difference = out(reg) difference,
            out("v0") _, out("v1") _, out("v2") _, out("v3") _, out("v4") _, out("v5") _, out("v6") _, out("v7") _,
            out("v8") _, out("v9") _, out("v10") _, out("v11") _, out("v12") _, out("v13") _, out("v14") _, out("v15") _,
            out("v16") _, out("v17") _, out("v18") _, out("v19") _, out("v20") _, out("v21") _, out("v22") _, out("v23") _,
            out("v24") _, out("v25") _, out("v26") _, out("v27") _, out("v28") _, out("v29") _, out("v30") _, out("v31") _,
            options(nomem, nostack),
        );
    }
    DISTURB.store(false, Ordering::Relaxed);
    difference == 0
}
