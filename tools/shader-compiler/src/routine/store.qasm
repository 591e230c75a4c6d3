# Stores adjacent words from the columns of the VPM's rows to the elements' addresses: all at once if the addresses are `stride` apart, else one element after
# the other.
#
# ra15: addresses, 0 in inactive elements; words: 1 to 4; stride: bytes.

.include <vc4.qinc>

    mov rb28, r0
    mov rb29, r1
    mov rb30, r2
    mov rb31, r3
    mov r1, ra15
    mov r5rep, r1
    ldi r0, stride
    mul24 r0, r0, elem_num
    add r0, r0, r5
    xor.setf -, r0, r1
    mov r2, rb27
    brr.anynz -, r:scattered
    shl r2, r2, 7
    nop
    nop
.if words == 1 && stride == 4
    ldi r3, vdw_setup_0(1, 16, dma_h32(0, 0))
.else
    ldi r3, vdw_setup_0(16, words, dma_v32(0, 0))
.endif
    add vw_setup, r2, r3
    ldi vw_setup, vdw_setup_1(stride - 4 * words)
    mov vw_addr, r1
    brr -, r:done
    mov -, vw_wait
    nop
    nop
:scattered
    ldi r3, vdw_setup_0(1, words, dma_v32(0, 0))
    add r2, r2, r3
    ldi vw_setup, vdw_setup_1(0)
    mov r3, -16
:element
    mov r5rep, r1
    nop
    mov.setf -, r5
    brr.allz -, r:next
    mov r1, r1 << 1
    mov r0, r2
    add r2, r2, 8
    mov vw_setup, r0
    mov vw_addr, r5
    mov -, vw_wait
:next
    add.setf r3, r3, 1
    brr.anynz -, r:element
    nop
    nop
    nop
:done
    mov r0, rb28
    bra -, ra14
    mov r1, rb29
    mov r2, rb30
    mov r3, rb31
