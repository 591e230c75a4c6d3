# Fills memory with 0.
#
# ra15: the address, in all elements; lines: number of lines of 64 bytes.

.include <vc4.qinc>

    mov rb28, r0
    mov rb29, r1
    mov rb30, r2
    mov rb31, r3
    mov vw_setup, rb26
    mov vpm, 0
    mov r1, ra15
    mov r2, rb27
    shl r2, r2, 7
    ldi r3, vdw_setup_0(1, 16, dma_h32(0, 0))
    add r2, r2, r3
    ldi r3, lines
    ldi r0, 64
    ldi vw_setup, vdw_setup_1(0)
:line
    mov vw_setup, r2
    mov vw_addr, r1
    mov -, vw_wait
    sub.setf r3, r3, 1
    brr.anynz -, r:line
    add r1, r1, r0
    nop
    nop
    mov r0, rb28
    bra -, ra14
    mov r1, rb29
    mov r2, rb30
    mov r3, rb31
