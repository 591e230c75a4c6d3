# Loads a word for each element from the workgroup's memory in the VPM: from two rows if the words are one behind the other, else from each element's row.
#
# ra15: addresses in bytes, 64 a row, valid in all elements; rb14: the words.

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
    shr r0, r1, 6
    brr.anynz -, r:scattered
    shr r1, r1, 2
    mov r5rep, r0
    ldi r3, vpm_setup(2, 1, h32(0))
    add vr_setup, r0, r3
    # A word's column is its element's number and that of the first word; where that is 16 or more, the word is in the second row.
    sub r1, 0, r1
    xor.setf -, r0, r5
    mov r5rep, r1
    mov r0, vpm
    mov r1, vpm
    mov r2, r0 >> r5
    brr -, r:done
    mov.ifnz r2, r1 >> r5
    nop
    mov rb14, r2
:scattered
    # While a row is read, the row of the element after the next is set up already.
    ldi r3, vpm_setup(1, 1, h32(0))
    add r0, r0, r3
    sub r1, elem_num, r1
    mov vr_setup, r0
    mov vr_setup, r0 << 1
    mov ra26, 1
    add r3, elem_num, 1
.rep element, 16
.if element == 0
    mov r2, vpm
    mov r5rep, r1
.else
    mov r2, vpm; mov r5rep, r1 << element
.endif
.if element < 14
    sub.setf r3, r3, ra26; mov vr_setup, r0 << (element + 2)
.else
    sub.setf r3, r3, ra26
.endif
    mov.ifz rb14, r2 >> r5
.endr
:done
    mov r0, rb28
    bra -, ra14
    mov r1, rb29
    mov r2, rb30
    mov r3, rb31
