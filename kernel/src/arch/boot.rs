//! The first instructions: from the firmware's jump to the image's entry until Rust code runs
//!
//! The firmware's stub enters all cores at EL2 with MMU and caches off; `x0` of core 0 is the address of the device tree, if there is one. Entry at EL1 is
//! supported too. The steps in order:
//! 1. Cores 1 to 3 sleep for ever.
//! 2. The boot trace is initialised ([`crate::boot::trace`]): from here on each stage stores a word there, and sends a letter to the serial port.
//! 3. If the image is not at its link address, it is copied there: firmware loads 64-bit kernels at 0x80000 or at 0x200000 [config.txt docs]. All code up to
//!    here is position-independent.
//! 4. The core leaves EL2 for EL1, with all traps to EL2 disabled.
//! 5. FP/SIMD is enabled, because the compiler uses it anywhere, and the exception vectors are set.
//! 6. MMU and caches are enabled with a provisional map: the first 64 MiB as normal memory, the boot trace, the serial ports. While the MMU is off, all data
//!    accesses are Device accesses: unaligned accesses fault and atomics need not work. The compiler assumes normal memory, so no Rust code may run before this
//!    step.
//! 7. The stacks are set up: `SP_EL1` for exceptions, `SP_EL0` for the kernel; .bss is cleared.
//! 8. All stacks are filled with a pattern, from which the command `mem` reads their greatest use.
//! 9. `kernel_entry` below replaces the provisional map by the final one and calls [`crate::boot::start`].
//!
//! # Sources
//! ARM DDI 0487 (D1.2 exception levels, D19.2 system registers); the firmware's armstub8.S for the state at entry.

use core::arch::global_asm;

use super::{Handover, mmu};
use crate::{
    board::addresses,
    boot::trace::{BootStage, LAST_STAGE_WORD, MAGIC, PREVIOUS_WORDS, RECORD_WORDS, STAGES_WORD, STICKY_WORD},
    mm::layout::STACK_PAINT,
};

/// Intermediate address for an image that overlaps its link address: beyond everything that the image and its stacks occupy.
const REFUGE: usize = 0x0300_0000;

global_asm!(
    r#"
// Records a stage. Changes x0, x1, x9 to x13 and x30.
.macro STAGE number
    mov     x0, #\number
    bl      __leave_mark
.endm

.pushsection .text.boot, "ax"
.global _start
_start:
    // Only core 0 continues; MPIDR_EL1 bits 1:0 are the number of the core on this chip.
    mrs     x1, mpidr_el1
    and     x1, x1, #3
    cbz     x1, 2f
1:  wfe
    b       1b

2:  mov     x19, x0                     // address of the device tree, if any, for kernel_entry

    // The trace of the previous boot is moved to its second place, and this boot starts an empty one.
    ldr     x9, =__boot_trace_start
    add     x10, x9, #4 * {previous}
    mov     x11, #0
3:  ldr     w12, [x9, x11]
    str     w12, [x10, x11]
    str     wzr, [x9, x11]
    add     x11, x11, #4
    cmp     x11, #4 * {record}
    b.lo    3b
    ldr     w11, [x10]
    ldr     w12, ={magic}
    str     w12, [x9]
    cmp     w11, w12
    ldr     w11, [x10, #4]
    csinc   w11, wzr, w11, ne           // boots since power-on, if memory holds a trace
    str     w11, [x9, #4]
    ldr     w11, [x10, #4 * {sticky}]
    csel    w11, wzr, w11, ne
    str     w11, [x9, #4 * {sticky}]
    STAGE   {entered}

__find_place:
    adr     x0, _start
    ldr     x1, =_start
    cmp     x0, x1
    b.eq    __in_place
    ldr     x2, =__bss_start            // end of the loaded image; a multiple of 16, as is _start
    sub     x2, x2, x1
    subs    x3, x0, x1
    cneg    x3, x3, lo
    cmp     x3, x2
    b.hs    4f
    ldr     x1, ={refuge}               // overlapping: copied to the refuge first, then to its place
4:  mov     x4, x0
    mov     x5, x1
    add     x6, x0, x2
5:  ldp     x7, x8, [x4], #16
    stp     x7, x8, [x5], #16
    cmp     x4, x6
    b.lo    5b
    dsb     sy
    ic      iallu
    dsb     sy
    isb
    add     x1, x1, #(__find_place - _start)
    br      x1

// Records stage x0: the low half of the counter in the trace, and a letter on the serial port.
__leave_mark:
    ldr     x9, =__boot_trace_start
    mrs     x10, cntpct_el0
    orr     w10, w10, #1                // never 0
    add     x11, x9, x0, lsl #2
    str     w10, [x11, #4 * {stages}]
    str     w0, [x9, #4 * {last}]
    add     w0, w0, #'a' - 1
    b       __send_early_letter

__in_place:
    STAGE   {in_place}
    // RAM starts at 0: an address that is not a multiple of 8, or that is beyond RAM, is not a device tree.
    mov     w21, #0
    cbz     x19, 2f
    tst     x19, #7
    b.ne    2f
    ldr     x9, ={memory_end}
    cmp     x19, x9
    b.hs    2f
    ldr     w21, [x19]                  // its first word, for kernel_entry

2:  mrs     x20, currentel
    lsr     x20, x20, #2                // the exception level at entry, for kernel_entry
    cmp     x20, #2
    b.eq    3f
    cmp     x20, #1
    b.eq    4f
1:  wfe                                 // EL3: not used by firmware of this family
    b       1b

    // EL2: allow EL1 everything, then switch to EL1.
3:  mov     x0, #3                      // EL1PCTEN, EL1PCEN: EL1 may use counter and timer
    msr     cnthctl_el2, x0
    msr     cntvoff_el2, xzr            // virtual counter = physical counter
    mov     x0, #(1 << 31)              // RW: EL1 is AArch64; all traps off
    msr     hcr_el2, x0
    mov     x0, #0x33ff                 // RES1 bits; FP/SIMD does not trap
    msr     cptr_el2, x0
    msr     hstr_el2, xzr
    mrs     x0, midr_el1
    msr     vpidr_el2, x0
    mrs     x0, mpidr_el1
    msr     vmpidr_el2, x0
    mov     x0, #0x3c4                  // EL1t, all of DAIF masked
    msr     spsr_el2, x0
    adr     x0, 4f
    msr     elr_el2, x0
    eret

4:  msr     daifset, #0xf
    STAGE   {el1}
    ldr     x0, =0x30d00800             // SCTLR_EL1: RES1 bits; MMU, caches, alignment check off
    msr     sctlr_el1, x0
    isb
    mov     x0, #(3 << 20)              // CPACR_EL1.FPEN: FP/SIMD without traps
    msr     cpacr_el1, x0
    ldr     x0, =__exception_vectors
    msr     vbar_el1, x0
    ldr     x0, ={mair}
    msr     mair_el1, x0
    ldr     x0, ={tcr}
    msr     tcr_el1, x0
    ldr     x0, =__provisional_level_1
    msr     ttbr0_el1, x0
    ic      iallu
    tlbi    vmalle1
    dsb     sy
    isb
    ldr     x0, =0x30d01805             // the same with M, C and I
    msr     sctlr_el1, x0
    isb
    STAGE   {mmu}

    msr     spsel, #1
    ldr     x0, =__exception_stack_end_exclusive
    mov     sp, x0
    msr     spsel, #0
    ldr     x0, =__kernel_stack_end_exclusive
    mov     sp, x0

    ldr     x0, =__bss_start
    ldr     x1, =__bss_end_exclusive
5:  cmp     x0, x1
    b.hs    6f
    stp     xzr, xzr, [x0], #16         // both ends are multiples of 16, see linker.ld
    b       5b

6:  ldr     x2, ={paint}
    ldr     x0, =__kernel_stack_start
    ldr     x1, =__kernel_stack_end_exclusive
    bl      7f
    ldr     x0, =__exception_stack_start
    ldr     x1, =__exception_stack_end_exclusive
    bl      7f
    ldr     x0, =__last_resort_stack_start
    ldr     x1, =__last_resort_stack_end_exclusive
    bl      7f
    b       8f

7:  stp     x2, x2, [x0], #16
    cmp     x0, x1
    b.lo    7b
    ret

8:  STAGE   {stacks}
    mov     x0, x19
    mov     x1, x20
    mov     w2, w21
    mov     x29, xzr                    // terminates every backtrace
    mov     x30, xzr
    bl      kernel_entry
9:  wfe
    b       9b
.popsection

// The provisional map: 32 blocks of 2 MiB, cached, readable, writable and executable; the boot trace's block, not cached; the block of GPIO and UARTs, as
// device memory.
.pushsection .data.provisional_map, "aw"
.balign 4096
__provisional_level_2:
.set block, 0
.rept 32
    .quad   (block << 21) | (1 << 10) | (3 << 8) | 1    // access flag, inner shareable, attribute 0, block
    .set    block, block + 1
.endr
    .quad   (32 << 21) | (1 << 10) | (2 << 8) | (1 << 2) | 1
    .fill   ({gpio} >> 21) - 33, 8, 0
    .quad   {gpio} | (1 << 54) | (1 << 53) | (1 << 10) | (2 << 8) | (2 << 2) | 1
    .fill   511 - ({gpio} >> 21), 8, 0
__provisional_level_1:
    .quad   __provisional_level_2 + 3
    .fill   3, 8, 0
.popsection
"#,
    paint = const STACK_PAINT,
    mair = const mmu::MEMORY_ATTRIBUTES,
    tcr = const mmu::TRANSLATION_CONTROL,
    refuge = const REFUGE,
    memory_end = const addresses::PERIPHERALS.start,
    gpio = const addresses::GPIO,
    magic = const MAGIC,
    record = const RECORD_WORDS,
    previous = const PREVIOUS_WORDS,
    last = const LAST_STAGE_WORD,
    sticky = const STICKY_WORD,
    stages = const STAGES_WORD,
    entered = const BootStage::Entered as u32,
    in_place = const BootStage::InPlace as u32,
    el1 = const BootStage::El1 as u32,
    mmu = const BootStage::Mmu as u32,
    stacks = const BootStage::Stacks as u32,
);

/// Entry from the assembly above into Rust.
///
/// `device_tree` is `x0` as the firmware set it, and `first_word` the word at that address, or 0 if it cannot be a device tree; `entry_level` is the exception
/// level at entry.
#[unsafe(no_mangle)]
extern "C" fn kernel_entry(device_tree: u64, entry_level: u64, first_word: u32) -> ! {
    /// The magic number at the start of a device tree, in byte order [devicetree specification 5.2].
    const DEVICE_TREE_MAGIC: [u8; 4] = [0xd0, 0x0d, 0xfe, 0xed];

    mmu::install_final_map();
    let device_tree = (first_word.to_le_bytes() == DEVICE_TREE_MAGIC).then_some(device_tree);
    crate::boot::start::kernel_main(Handover { device_tree, entry_level })
}
