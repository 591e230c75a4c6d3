# Fills rows of the VPM with 0.
#
# ra15: the address of the first in bytes, 64 a row; rows: how many.

.include <vc4.qinc>

    mov rb28, r0
    mov rb29, r1
    mov r0, ra15
    shr r0, r0, 6
    ldi r1, vpm_setup(0, 1, h32(0))
    add vw_setup, r0, r1
.rep row, rows
    mov vpm, 0
.endr
    bra -, ra14
    mov r0, rb28
    mov r1, rb29
    nop
