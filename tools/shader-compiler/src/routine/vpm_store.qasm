# Stores a word of each element in the workgroup's memory in the VPM: in two rows if the words are one behind the other, else in each element's row.
#
# A condition of a write to the VPM does not choose elements everywhere [vc4asm], so a row is read, changed and written again. Other programs may be changing
# other words of that row: they do so under the mutex, and wait for their writes by a read.
#
# ra15: addresses in bytes, 64 a row, 0 where nothing is stored; rb14: the words. has_others: 1 if the workgroup is several programs.

.include <vc4.qinc>

    mov rb28, r0
    mov rb29, r1
    mov rb30, r2
    mov rb31, r3
    mov r1, ra15
    mov r5rep, r1
    shl r0, elem_num, 2
    mov.setf -, r1
    add r0, r0, r5
    brr.allz -, r:done
    sub.ifnz r0, r0, r1
    mov.ifz r0, 0
    mov r2, rb14
.if has_others
    mov -, mutex_acq
.endif
    # A set-up word of reads is one of writes, too.
    ldi r3, vpm_setup(1, 1, h32(0))
    mov.setf -, r0
    shr r0, r1, 6
    brr.anynz -, r:scattered
    shr r1, r1, 2
    nop
    nop
    # Words and rows move to the columns. The row of an element without a word is 0, which is no row of this memory.
    mov r5rep, r1
    add r3, r0, r3
    mov r1, r2 >> r5
    mov r2, r0 >> r5
    mov r5rep, r0
    mov vr_setup, r3
    mov vw_setup, r3
    sub.setf r2, r2, r5
    mov r0, vpm
    mov.ifz r0, r1
    sub.setf -, r2, 1
    brr.allnz -, r:stored
    mov vpm, r0
    nop
    nop
    add r3, r3, 1
    mov vr_setup, r3
    mov vw_setup, r3
    nop
    mov r0, vpm
    brr -, r:stored
    mov.ifz r0, r1
    mov vpm, r0
    nop
:scattered
    # An element without a word changes the first row that this program has for DMA.
    mov.setf -, ra15
    mov.ifz r0, rb27
    add r0, r0, r3
    sub r1, r1, elem_num
    # Is 0 in the element whose turn it is.
    add r3, elem_num, 1
    mov ra26, 1
.rep element, 16
.if element == 0
    mov r5rep, r1
    mov vr_setup, r0
    sub r3, r3, ra26
    mov vw_setup, r0
.else
    sub r3, r3, ra26; mov r5rep, r1 << element
    nop
    mov vpm, ra15
    mov vr_setup, r0 << element
    mov vw_setup, r0 << element
.endif
    nop; mov.setf -, r3 >> r5
    mov ra15, vpm
    mov.ifz ra15, r2 >> r5
.endr
    nop
    nop
    mov vpm, ra15
:stored
.if has_others
    ldi vr_setup, vpm_setup(1, 1, h32(0))
    nop
    nop
    mov -, vpm
    mov mutex_rel, 0
.endif
:done
    mov r0, rb28
    bra -, ra14
    mov r1, rb29
    mov r2, rb30
    mov r3, rb31
