// The first instructions on a Pi 3, from 0x80000 on: core 0 to EL1, memory mapped, stack, zeroed data, kernel_entry.

.section .text.start, "ax"
.globl _start
_start:
    mrs     x0, mpidr_el1
    and     x0, x0, #3
    cbnz    x0, 9f
    mrs     x0, currentel
    cmp     x0, #(2 << 2)
    b.ne    1f
    mov     x0, #(1 << 31)              // HCR_EL2.RW: EL1 is AArch64
    msr     hcr_el2, x0
    mov     x0, #0x33ff                 // floating point does not trap
    msr     cptr_el2, x0
    mov     x0, #0x3c4                  // EL1t, interrupts masked
    msr     spsr_el2, x0
    adr     x0, 1f
    msr     elr_el2, x0
    eret
1:  mov     x0, #(3 << 20)              // CPACR_EL1.FPEN
    msr     cpacr_el1, x0
    ldr     x0, =0x0444ff               // attributes 0: cached, 1: not cached, 2: device
    msr     mair_el1, x0
    ldr     x0, =0x803520               // 4 GiB in pages of 4 KiB, tables cached
    msr     tcr_el1, x0
    ldr     x0, =level_1
    msr     ttbr0_el1, x0
    ic      iallu
    tlbi    vmalle1
    dsb     sy
    isb
    ldr     x0, =0x30d01805             // RES1 bits; MMU and caches
    msr     sctlr_el1, x0
    isb
    ldr     x0, =__stack_end_exclusive
    mov     sp, x0
    ldr     x0, =__bss_start
    ldr     x1, =__bss_end_exclusive
2:  cmp     x0, x1
    b.hs    3f
    stp     xzr, xzr, [x0], #16
    b       2b
3:  bl      kernel_entry
9:  wfe
    b       9b

// Blocks of 2 MiB: access flag, inner shareable, attribute, no execution outside of the first 16 MiB.
.section .data.tables, "aw"
.balign 4096
level_2:
.set block, 0
.rept 8
    .quad   (block << 21) | (1 << 10) | (3 << 8) | 1
    .set    block, block + 1
.endr
.rept 504 - 8
    .quad   (block << 21) | (1 << 54) | (1 << 53) | (1 << 10) | (2 << 8) | (1 << 2) | 1
    .set    block, block + 1
.endr
.rept 8
    .quad   (block << 21) | (1 << 54) | (1 << 53) | (1 << 10) | (2 << 8) | (2 << 2) | 1
    .set    block, block + 1
.endr
level_1:
    .quad   level_2 + 3
    .fill   3, 8, 0
