# Loads a word for each element, bypassing all caches, by DMA into a row of the VPM: all at once if the words are adjacent, else one element after the other.
#
# ra15: addresses, 0 in inactive elements; rb14: the words.

.include <vc4.qinc>

    mov rb28, r0
    mov rb29, r1
    mov rb30, r2
    mov rb31, r3
    mov r1, ra15
    mov r5rep, r1
    shl r0, elem_num, 2
    add r0, r0, r5
    xor.setf -, r0, r1
    mov r2, rb27
    brr.anynz -, r:scattered
    shl r2, r2, 4
    nop
    nop
    ldi r3, vdr_setup_0(1, 16, 1, vdr_h32(1, 0, 0))
    add vr_setup, r2, r3
    mov vr_addr, r1
    brr -, r:done
    mov -, vr_wait
    nop
    nop
:scattered
    ldi r3, vdr_setup_0(1, 1, 1, vdr_h32(1, 0, 0))
    add r2, r2, r3
    mov r3, -16
:element
    mov r5rep, r1
    nop
    mov.setf -, r5
    brr.allz -, r:next
    mov r1, r1 << 1
    mov r0, r2
    add r2, r2, 1
    mov vr_setup, r0
    mov vr_addr, r5
    mov -, vr_wait
:next
    add.setf r3, r3, 1
    brr.anynz -, r:element
    nop
    nop
    nop
:done
    ldi r0, vpm_setup(1, 1, h32(0))
    add vr_setup, r0, rb27
    mov r0, rb28
    mov r1, rb29
    mov r2, rb30
    mov rb14, vpm
    bra -, ra14
    mov r3, rb31
    nop
    nop
