# Counts bytes: how often each of 128 values, from `first` on, occurs in blocks of 16 vectors. Two programs count all 256 values.
#
# 32 registers have four 8-bit counts each, of adjacent values. A byte selects its register by counting down: a number is decremented once per register, and
# where it is 0, 1 is added to the count. After 3 blocks, before a count can exceed 255, the counts of all elements are added to 8 vectors of 32-bit sums:
# counts 4 * k to 4 * k + 3 are element k % 16 of vectors k / 16 * 4 to k / 16 * 4 + 3.

.stage user
.uniform number, uint           # of the QPU
.uniform others, int            # see together.qinc
.uniform first, uint            # 0 or 128
.uniform source, address        # first block
.uniform stride, uint           # bytes from one block to the next
.uniform blocks, uint           # at least 1
.uniform target, address        # 8 vectors

.include <vc4.qinc>
.include "rows.qinc"

.set ra_source, ra24
.set ra_blocks, ra25
.set ra_link, ra26
.set ra_until, ra27             # blocks until the counts may overflow
.set ra_word, ra28
.set ra_vectors, ra29
.set rb_first, rb24
.set rb_stride, rb25
.set rb_low, rb26               # 0x00ff00ff
.set rb_target, rb27

# 32 registers of counts: 16 of each file, from 0 on; and 8 vectors of sums, in file A.
.func counts(k)
  .if k < 16
    ra0 + k
  .else
    rb0 + (k - 16)
  .endif
.endf
.set sums, ra16

    rows_begin 4
    mov rb_first, unif
    mov ra_source, unif
    mov rb_stride, unif
    mov ra_blocks, unif
    mov rb_target, unif
    ldi rb_low, 0x00ff00ff
.rep i, 8
    mov sums + i, 0
.endr
.rep k, 16
    mov ra0 + k, 0; mov rb0 + k, 0
.endr
    mov ra_until, 3

:block
    mov ra_vectors, 0
    nop
:vector
    mov r0, ra_vectors
    shl r0, r0, 6
    shl r1, elem_num, 2
    add r0, r0, r1
    add t0s, r0, ra_source
    nop; ldtmu0
    mov ra_word, r4
    mov r2, 1
.rep byte, 4
    # r0: index of the register; r1: a one in the position of its count.
    ldi r3, 8 * byte
    shr r0, ra_word, r3
    ldi r3, 255
    and r0, r0, r3
    sub r0, r0, rb_first
    and r1, r0, 3
    shl r1, r1, 3
    shl r1, r2, r1
    asr r0, r0, 2
    mov.setf -, r0
.rep k, 32
    sub.setf r0, r0, r2; v8adds.ifz counts(k), counts(k), r1
.endr
.endr
    add r0, ra_vectors, 1
    mov ra_vectors, r0
    and.setf -, r0, 15
    brr.anynz -, r:vector
    nop
    nop
    nop
    sub.setf ra_until, ra_until, 1
    brr.anynz -, r:more
    nop
    nop
    nop
    brr ra_link, r:add_up
    mov ra_until, 3
    nop
    nop
:more
    mov r0, rb_stride
    sub.setf ra_blocks, ra_blocks, 1
    brr.anynz -, r:block
    add ra_source, ra_source, r0
    nop
    nop
    brr ra_link, r:add_up
    nop
    nop
    nop
    # Four vectors at a time.
.rep half, 2
    mov vw_setup, rb_write
.rep i, 4
    mov vpm, sums + 4 * half + i
.endr
    mov vw_setup, rb_store
    mov vw_setup, vdw_setup_1(0)
    ldi r0, 256 * half
    add vw_addr, rb_target, r0
    read vw_wait
.endr
    thrend
    nop
    nop

# Adds all counts to the sums and clears them.
:add_up
.rep k, 32
    # Counts 0 and 2, and 1 and 3, as 16-bit halves of words; then the sum over all elements.
    mov r1, counts(k)
    and r0, r1, rb_low
    shr r1, r1, 8
    and r1, r1, rb_low
.rep step, 4
    nop
    mov r2, r0 >> (1 << step)
    mov r3, r1 >> (1 << step)
    add r0, r0, r2
    add r1, r1, r3
.endr
    sub.setf -, elem_num, k % 16
    ldi r3, 0xffff
    and r2, r0, r3
    and r3, r1, r3
    shr r0, r0, 8
    shr r0, r0, 8
    shr r1, r1, 8
    shr r1, r1, 8
    add.ifz sums + 4 * (k / 16), sums + 4 * (k / 16), r2
    add.ifz sums + 4 * (k / 16) + 1, sums + 4 * (k / 16) + 1, r3
    add.ifz sums + 4 * (k / 16) + 2, sums + 4 * (k / 16) + 2, r0
    add.ifz sums + 4 * (k / 16) + 3, sums + 4 * (k / 16) + 3, r1
    mov counts(k), 0
.endr
    bra -, ra_link
    nop
    nop
    nop
