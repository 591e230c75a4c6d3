# Changes words under the mutex that all QPUs share, element after element: so elements, and QPUs, may name the same word.
#
# ra15: addresses, 0 where nothing happens; ra25: the other operand; ra24: the expected word; rb14: what was there before.
# in_vpm: 0 for words in memory, 1 for words of the workgroup's memory in the VPM, whose addresses are in bytes, 64 a row.
# function: 0 add, 1 subtract, 2 and, 3 exclusive or, 4 inclusive or, 5 signed min, 6 signed max, 7 unsigned min, 8 unsigned max, 9 exchange,
# 10 compare and exchange.

.include <vc4.qinc>

    mov rb28, r0
    mov rb29, r1
    mov rb30, r2
    mov rb31, r3
.if !in_vpm
    mov r0, rb27
    shl r0, r0, 4
    ldi r1, vdr_setup_0(1, 1, 1, vdr_h32(1, 0, 0))
    add rb24, r0, r1
    shl r0, r0, 3
    ldi r1, vdw_setup_0(1, 1, dma_h32(0, 0))
    add rb25, r0, r1
.endif
    ldi rb22, 16
    mov ra26, 0
    mov -, mutex_acq
.if !in_vpm
    ldi vw_setup, vdw_setup_1(0)
.endif
:element
    # Element 0 is processed.
    mov r0, ra15
    mov r5rep, r0
    nop
    mov.setf -, r5
    brr.allz -, r:next
    shr r0, r5, 6
    ldi r2, vpm_setup(1, 1, h32(0))
    ldi r3, vpm_setup(0, 1, h32(0))
.if in_vpm
    # The word moves from its column to element 0, and the new one back.
    add vr_setup, r0, r2
    add vw_setup, r0, r3
    shr r1, r5, 2
    mov rb25, r1
    sub r1, 0, r1
    mov r5rep, r1
    mov r0, vpm
    mov r1, ra25
    mov rb24, r0
    mov r0, r0 >> r5
.else
    mov vr_setup, rb24
    mov vr_addr, r5
    mov -, vr_wait
    add vr_setup, r2, rb27
    mov vw_setup, rb26
    mov r1, ra25
    mov r0, vpm
.endif
    mov r2, ra24
    mov rb23, r0
.if function == 0
    add r3, r0, r1
.elseif function == 1
    sub r3, r0, r1
.elseif function == 2
    and r3, r0, r1
.elseif function == 3
    xor r3, r0, r1
.elseif function == 4
    or r3, r0, r1
.elseif function == 5
    min r3, r0, r1
.elseif function == 6
    max r3, r0, r1
.elseif function == 7 || function == 8
    # Unsigned numbers are ordered like signed ones with the highest bit inverted.
    ldi r2, 0x80000000
    xor r0, r0, r2
    xor r1, r1, r2
.if function == 7
    min r3, r0, r1
.else
    max r3, r0, r1
.endif
    xor r3, r3, r2
.elseif function == 9
    mov r3, r1
.else
    xor.setf -, r0, r2
    mov r3, r0
    mov.ifz r3, r1
.endif
    mov r0, ra26
.if in_vpm
    mov r5rep, rb25
    mov r1, elem_num
    mov r2, rb24
    nop; mov.setf -, r1 >> r5
    mov.ifz r2, r3 >> r5
    mov vpm, r2
.else
    mov vpm, r3
    mov vw_setup, rb25
    mov vw_addr, r5
.endif
    mov.setf -, elem_num
    mov.ifz r0, rb23
    mov ra26, r0
.if !in_vpm
    mov -, vw_wait
.endif
:next
    # Rotates the next element to 0.
    mov r0, ra15
    mov r1, ra25
    mov r2, ra24
    mov r3, ra26
    mov ra15, r0 << 1
    mov ra25, r1 << 1
    mov ra24, r2 << 1
    mov ra26, r3 << 1
    mov r0, rb22
    sub.setf rb22, r0, 1
    brr.anynz -, r:element
    nop
    nop
    nop
.if in_vpm
    # A read waits for the writes before it.
    ldi vr_setup, vpm_setup(1, 1, h32(0))
    nop
    nop
    mov -, vpm
.endif
    mov mutex_rel, 0
    mov rb14, ra26
    mov r0, rb28
    bra -, ra14
    mov r1, rb29
    mov r2, rb30
    mov r3, rb31
