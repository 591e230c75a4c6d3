// The first instructions on a Pi Zero or 2, from 0x8000 on: core 0 in supervisor mode, memory mapped, stack, zeroed data, kernel_entry.
// PERIPHERALS is 0x20000000 on a Zero and 0x3f000000 on a Pi 2.

.section .text.start, "ax"
.arm
.globl _start
_start:
.if PERIPHERALS == 0x3f000000
    mrc     p15, 0, r0, c0, c0, 5       // MPIDR
    ands    r0, r0, #3
    bne     9f
    mrs     r0, cpsr
    and     r1, r0, #0x1f
    cmp     r1, #0x1a                   // hypervisor mode, in which the firmware enters
    bne     1f
    bic     r0, r0, #0x1f
    orr     r0, r0, #0xd3
    msr     spsr_cxsf, r0
    adr     r1, 1f
    .inst   0xe12ef301                  // msr elr_hyp, r1
    .inst   0xe160006e                  // eret
.endif
1:  msr     cpsr_c, #0xd3               // supervisor mode, interrupts masked
    mov     r0, #0
    mcr     p15, 0, r0, c7, c5, 0       // instruction cache
    mcr     p15, 0, r0, c8, c7, 0       // TLB
.if PERIPHERALS == 0x20000000
    mcr     p15, 0, r0, c7, c6, 0       // data cache
.endif
    mcr     p15, 0, r0, c2, c0, 2       // TTBCR
    ldr     r0, =sections
    mcr     p15, 0, r0, c2, c0, 0       // TTBR0
    mov     r0, #1                      // domain 0 is checked
    mcr     p15, 0, r0, c3, c0, 0
    mrc     p15, 0, r0, c1, c0, 0
    orr     r0, r0, #0x1000             // instruction cache
    orr     r0, r0, #0x5                // MMU, data cache
.if PERIPHERALS == 0x20000000
    orr     r0, r0, #0x800000           // tables in the format of ARMv6
.endif
    mcr     p15, 0, r0, c1, c0, 0
    mov     r0, #0
    mcr     p15, 0, r0, c7, c5, 4       // prefetch buffer
    ldr     sp, =__stack_end_exclusive
    ldr     r0, =__bss_start
    ldr     r1, =__bss_end_exclusive
    mov     r2, #0
2:  cmp     r0, r1
    strlo   r2, [r0], #4
    blo     2b
    bl      kernel_entry
9:  b       9b
.ltorg

// Sections of 1 MiB, full access: cached; not cached and not executable; devices likewise.
.section .data.tables, "aw"
.balign 16384
sections:
.set section, 0
.rept 16
    .word   (section << 20) | 0x1c0e
    .set    section, section + 1
.endr
.rept (PERIPHERALS >> 20) - 16
    .word   (section << 20) | 0x1c12
    .set    section, section + 1
.endr
.rept 4096 - (PERIPHERALS >> 20)
    .word   (section << 20) | 0xc16
    .set    section, section + 1
.endr
