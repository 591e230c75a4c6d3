# Running sums of adjacent blocks of 16 vectors: each element becomes the sum of all elements up to it, plus the sum before the first block.
#
# Within a vector, an element adds those 1, 2, 4 and 8 places below it, by rotations; the last element's sum is carried to the next vector.

.stage user
.uniform quarter, uint
.uniform others, int
.uniform source, address        # first block
.uniform target, address
.uniform blocks, uint           # at least 1
.uniform before, uint           # sum of all elements before

.include <vc4.qinc>
.include "quarters.qinc"
.include "block.qinc"

    begin
    mov r0, unif
    shl r1, elem_num, 2
    add ra16, r0, r1
    mov ra17, unif
    mov ra19, unif
    mov ra20, unif
.rep i, 4
    sub.setf -, elem_num, 1 << i
    mov rb0 + i, 0
    mov.ifnn rb0 + i, -1        # elements with another one i places below
.endr
    mov r5rep, ra20

:block
    ldi r1, 64
    load_block ra16
    mov ra16, r0
.rep i, 16
    mov r0, ra0 + i
.rep step, 4
    nop
    mov r1, r0 >> (1 << step)
    and r1, r1, rb0 + step
    add r0, r0, r1
.endr
    add r0, r0, r5
    mov ra0 + i, r0
    mov r5rep, r0 >> 1
.endr
    store_block ra17
    sub.setf ra19, ra19, 1
    brr.anynz -, r:block
    ldi r2, 1024
    add ra17, ra17, r2
    nop
    end
