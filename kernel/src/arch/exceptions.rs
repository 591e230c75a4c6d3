//! Exception vectors: saving and restoring registers, dispatching interrupts, reporting faults
//!
//! The vector table has four groups of four entries of 128 bytes. The kernel runs on `SP_EL0`, so its exceptions use the first group. An exception inside an
//! exception handler uses the second group, which switches to a third stack because the current one may be the cause. The two groups for lower exception levels
//! are never used, since nothing runs at EL0; they are reported like the rest.
//!
//! Each entry saves all integer and all FP/SIMD registers: the compiler uses both, in the interrupted code and in the handler.
//!
//! # Sources
//! ARM DDI 0487, D1.3 (exception entry, vector offsets).

use core::{
    arch::global_asm,
    sync::atomic::{AtomicBool, AtomicU64, Ordering},
};

use super::{backtrace, cpu, syndrome::Syndrome};
use crate::{board::interrupt_controller, mm::layout, panic::die_with, println};

/// All registers of the interrupted code, in the order in which the vectors store them.
#[repr(C)]
#[derive(Clone, Debug)]
pub struct Frame {
    /// `x0` to `x30`.
    pub x: [u64; 31],
    /// The stack pointer.
    pub sp: u64,
    /// `ELR_EL1`: address of the interrupted instruction.
    pub elr: u64,
    /// `SPSR_EL1`: the processor state.
    pub spsr: u64,
    /// `ESR_EL1`: cause of the exception.
    pub esr: u64,
    /// `FAR_EL1`: the address of the failed access, if the cause has one.
    pub far: u64,
    /// Floating-point control.
    pub fpcr: u64,
    /// Floating-point status.
    pub fpsr: u64,
    /// `q0` to `q31`.
    pub q: [u128; 32],
}

/// Bytes of a [`Frame`]; the assembly below uses the same number.
const FRAME_BYTES: usize = 816;
const _: () = assert!(size_of::<Frame>() == FRAME_BYTES);

global_asm!(
    r#"
.macro VECTOR number
    .balign 0x80
    sub     sp, sp, #{frame_bytes}
    stp     x0, x1, [sp]
    mrs     x0, sp_el0
    str     x0, [sp, #248]
    mov     x1, #\number
    b       __save_registers
.endm

// An exception inside a handler. The current stack may be its cause, so a separate one is used.
.macro NESTED_VECTOR number
    .balign 0x80
    msr     tpidr_el1, x0
    mov     x0, sp
    msr     tpidr_el0, x0
    ldr     x0, =__last_resort_stack_end_exclusive
    mov     sp, x0
    mrs     x0, tpidr_el1
    sub     sp, sp, #{frame_bytes}
    stp     x0, x1, [sp]
    mrs     x0, tpidr_el0
    str     x0, [sp, #248]
    mov     x1, #\number
    b       __save_registers
.endm

.pushsection .text.exceptions, "ax"
.balign 0x800
.global __exception_vectors
__exception_vectors:
    VECTOR 0
    VECTOR 1
    VECTOR 2
    VECTOR 3
    NESTED_VECTOR 4
    NESTED_VECTOR 5
    NESTED_VECTOR 6
    NESTED_VECTOR 7
    VECTOR 8
    VECTOR 9
    VECTOR 10
    VECTOR 11
    VECTOR 12
    VECTOR 13
    VECTOR 14
    VECTOR 15

.balign 0x80
__save_registers:                       // x0, x1 and the stack pointer are already saved; x1 = number of the vector
    stp     x2, x3, [sp, #16]
    stp     x4, x5, [sp, #32]
    stp     x6, x7, [sp, #48]
    stp     x8, x9, [sp, #64]
    stp     x10, x11, [sp, #80]
    stp     x12, x13, [sp, #96]
    stp     x14, x15, [sp, #112]
    stp     x16, x17, [sp, #128]
    stp     x18, x19, [sp, #144]
    stp     x20, x21, [sp, #160]
    stp     x22, x23, [sp, #176]
    stp     x24, x25, [sp, #192]
    stp     x26, x27, [sp, #208]
    stp     x28, x29, [sp, #224]
    str     x30, [sp, #240]
    mrs     x2, elr_el1
    mrs     x3, spsr_el1
    stp     x2, x3, [sp, #256]
    mrs     x2, esr_el1
    mrs     x3, far_el1
    stp     x2, x3, [sp, #272]
    mrs     x2, fpcr
    mrs     x3, fpsr
    stp     x2, x3, [sp, #288]
    add     x2, sp, #304
    stp     q0, q1, [x2], #32
    stp     q2, q3, [x2], #32
    stp     q4, q5, [x2], #32
    stp     q6, q7, [x2], #32
    stp     q8, q9, [x2], #32
    stp     q10, q11, [x2], #32
    stp     q12, q13, [x2], #32
    stp     q14, q15, [x2], #32
    stp     q16, q17, [x2], #32
    stp     q18, q19, [x2], #32
    stp     q20, q21, [x2], #32
    stp     q22, q23, [x2], #32
    stp     q24, q25, [x2], #32
    stp     q26, q27, [x2], #32
    stp     q28, q29, [x2], #32
    stp     q30, q31, [x2], #32
    mov     x0, sp
    bl      exception_entry

    add     x2, sp, #304
    ldp     q0, q1, [x2], #32
    ldp     q2, q3, [x2], #32
    ldp     q4, q5, [x2], #32
    ldp     q6, q7, [x2], #32
    ldp     q8, q9, [x2], #32
    ldp     q10, q11, [x2], #32
    ldp     q12, q13, [x2], #32
    ldp     q14, q15, [x2], #32
    ldp     q16, q17, [x2], #32
    ldp     q18, q19, [x2], #32
    ldp     q20, q21, [x2], #32
    ldp     q22, q23, [x2], #32
    ldp     q24, q25, [x2], #32
    ldp     q26, q27, [x2], #32
    ldp     q28, q29, [x2], #32
    ldp     q30, q31, [x2], #32
    ldp     x2, x3, [sp, #288]
    msr     fpcr, x2
    msr     fpsr, x3
    ldp     x2, x3, [sp, #256]
    msr     elr_el1, x2
    msr     spsr_el1, x3
    ldp     x2, x3, [sp, #16]
    ldp     x4, x5, [sp, #32]
    ldp     x6, x7, [sp, #48]
    ldp     x8, x9, [sp, #64]
    ldp     x10, x11, [sp, #80]
    ldp     x12, x13, [sp, #96]
    ldp     x14, x15, [sp, #112]
    ldp     x16, x17, [sp, #128]
    ldp     x18, x19, [sp, #144]
    ldp     x20, x21, [sp, #160]
    ldp     x22, x23, [sp, #176]
    ldp     x24, x25, [sp, #192]
    ldp     x26, x27, [sp, #208]
    ldp     x28, x29, [sp, #224]
    ldr     x30, [sp, #240]
    ldp     x0, x1, [sp]
    add     sp, sp, #{frame_bytes}
    eret
.popsection
"#,
    frame_bytes = const FRAME_BYTES,
);

/// The vector of an interrupt while the kernel runs: current level, SP_EL0.
const KERNEL_INTERRUPT: u64 = 1;

/// The vector of an SError while the kernel runs.
const KERNEL_SERROR: u64 = 3;

/// Set while an SError can only have been pending since before the kernel's entry.
static SETTLING: AtomicBool = AtomicBool::new(false);
/// The syndrome of such an SError, 0 if there was none.
static LEFT_OVER: AtomicU64 = AtomicU64::new(0);

/// Unmasks SErrors: from now on, a store that the bus rejects ends in a report. An SError that was already pending was caused by the firmware and is harmless;
/// its syndrome is returned.
pub fn unmask_serror() -> Option<Syndrome> {
    SETTLING.store(true, Ordering::Relaxed);
    // SAFETY: clearing PSTATE.A touches neither memory nor registers. The vectors are set before any Rust code runs, and a pending SError is taken at the
    // barrier at the latest.
    unsafe { core::arch::asm!("msr daifclr, #4", "isb", options(nostack, preserves_flags)) };
    SETTLING.store(false, Ordering::Relaxed);
    match LEFT_OVER.load(Ordering::Relaxed) {
        0 => None,
        syndrome => Some(Syndrome(syndrome)),
    }
}

/// Called by the vectors after they have saved the registers.
#[unsafe(no_mangle)]
extern "C" fn exception_entry(frame: &Frame, vector: u64) {
    if vector == KERNEL_INTERRUPT {
        interrupt_controller::dispatch();
    } else if vector == KERNEL_SERROR && SETTLING.load(Ordering::Relaxed) {
        LEFT_OVER.store(frame.esr, Ordering::Relaxed);
    } else {
        report_and_halt(frame, vector);
    }
}

/// The meaning of a vector's group, and of the vector in its group.
fn describe(vector: u64) -> (&'static str, &'static str) {
    let place = match vector / 4 {
        0 => "in the kernel",
        1 => "inside an exception handler",
        2 => "at EL0",
        _ => "at EL0 in AArch32",
    };
    let kind = match vector % 4 {
        0 => "synchronous",
        1 => "IRQ",
        2 => "FIQ",
        _ => "SError",
    };
    (place, kind)
}

fn report_and_halt(frame: &Frame, vector: u64) -> ! {
    /// Set once a report has begun: an exception during a report is not reported.
    static REPORTING: AtomicBool = AtomicBool::new(false);
    if REPORTING.swap(true, Ordering::Relaxed) {
        cpu::halt();
    }
    let syndrome = Syndrome(frame.esr);
    let (place, kind) = describe(vector);
    let explain = || explain(frame, vector);
    if syndrome.has_fault_address() {
        die_with(format_args!("exception: {syndrome}, address {:#x}, at {:#x} {place}", frame.far, frame.elr), explain);
    }
    die_with(format_args!("exception: {syndrome}, at {:#x} {place} ({kind})", frame.elr), explain);
}

/// Prints all that is known of an exception.
fn explain(frame: &Frame, vector: u64) {
    let syndrome = Syndrome(frame.esr);
    let (place, kind) = describe(vector);
    println!();
    println!("{kind} exception {place}: {syndrome}");
    println!("  ESR_EL1  {:#018x}   SPSR_EL1 {:#018x}", frame.esr, frame.spsr);
    println!("  ELR_EL1  {:#018x}   FAR_EL1  {:#018x}", frame.elr, frame.far);
    for (row, pair) in frame.x.chunks(2).enumerate() {
        match pair {
            [left, right] => println!("  x{:<2} {left:#018x}        x{:<2} {right:#018x}", row * 2, row * 2 + 1),
            _ => println!("  x{:<2} {:#018x}        sp  {:#018x}", row * 2, pair[0], frame.sp),
        }
    }
    println!("  backtrace: {:#x}", frame.elr);
    for address in backtrace::from_frame(frame.x[29] as usize) {
        println!("             {address:#x}");
    }
    if let (true, Some(stack)) = (syndrome.has_fault_address(), layout::guard_page_of(frame.far as usize)) {
        println!("  the {stack} stack overflowed: {:#x} is in the guard page under it", frame.far);
    }
}
