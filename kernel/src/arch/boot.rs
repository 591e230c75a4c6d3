//! The first instructions: from the firmware's jump to 0x80000 to Rust
//!
//! The firmware's stub enters all cores at EL2 with MMU and caches off, `x0` of core 0 pointing at the device tree. An
//! entry at EL1 works just as well. What happens, in order:
//! 1. cores 1 to 3 go to sleep for good;
//! 2. EL2 is left for EL1, after it has been told to trap nothing;
//! 3. FP/SIMD is switched on (the compiler uses it anywhere) and the vectors are set;
//! 4. MMU and caches are switched on with a provisional map: the first 64 MiB as ordinary memory. While the MMU is off all
//!    data is Device memory, where an unaligned access faults and atomics need not work, and the compiler knows nothing of
//!    either: no line of Rust may run before this;
//! 5. the stacks are set up: `SP_EL1` for exceptions, `SP_EL0` for the kernel, and .bss is cleared;
//! 6. all stacks are painted with a pattern, from which `mem` later reads how deep they ever went;
//! 7. `kernel_entry` below replaces the provisional map by the final one and goes on in [`crate::start`].
//!
//! # Sources
//! ARM DDI 0487 (D1.2 exception levels, D19.2 system registers); the firmware's armstub8.S for the state at entry.

use core::arch::global_asm;

use super::mmu;
use crate::mm::layout::STACK_PAINT;

global_asm!(
    r#"
.pushsection .text.boot, "ax"
.global _start
_start:
    // Core 0 goes on; MPIDR_EL1 bits 1:0 are the core's number on this chip.
    mrs     x1, mpidr_el1
    and     x1, x1, #3
    cbz     x1, 2f
1:  wfe
    b       1b

2:  mov     x19, x0                     // the device tree, kept for kernel_entry
    mrs     x20, currentel
    lsr     x20, x20, #2                // the level we were entered at, kept for kernel_entry
    cmp     x20, #2
    b.eq    3f
    cmp     x20, #1
    b.eq    4f
    b       1b                          // EL3: no firmware of this family does that

    // EL2: let EL1 use everything, then go there.
3:  mov     x0, #3                      // EL1PCTEN, EL1PCEN: counter and timer are free to use
    msr     cnthctl_el2, x0
    msr     cntvoff_el2, xzr            // the virtual counter is the physical one
    mov     x0, #(1 << 31)              // RW: EL1 is AArch64; every trap off
    msr     hcr_el2, x0
    mov     x0, #0x33ff                 // the bits that must be one; no trap of FP/SIMD
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
    ldr     x0, =0x30d00800             // SCTLR_EL1: the bits that must be one; MMU, caches, alignment check off
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

8:  mov     x0, x19
    mov     x1, x20
    mov     x29, xzr                    // the end of every backtrace
    mov     x30, xzr
    bl      kernel_entry
9:  wfe
    b       9b
.popsection

// The provisional map: 32 blocks of 2 MiB, cached, read, write and execute.
.pushsection .data.provisional_map, "aw"
.balign 4096
__provisional_level_2:
.set block, 0
.rept 32
    .quad   (block << 21) | (1 << 10) | (3 << 8) | 1    // access flag, inner shareable, attribute 0, block
    .set    block, block + 1
.endr
    .fill   480, 8, 0
__provisional_level_1:
    .quad   __provisional_level_2 + 3
    .fill   3, 8, 0
.popsection
"#,
    paint = const STACK_PAINT,
    mair = const mmu::MEMORY_ATTRIBUTES,
    tcr = const mmu::TRANSLATION_CONTROL,
);

/// Where the assembly above calls into Rust.
///
/// `device_tree` is what the firmware left in `x0`, `entry_level` the exception level it entered at.
#[unsafe(no_mangle)]
extern "C" fn kernel_entry(device_tree: u64, entry_level: u64) -> ! {
    mmu::install_final_map();
    crate::start::kernel_main(crate::start::Handover { device_tree, entry_level })
}
