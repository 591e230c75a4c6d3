# Counts the keys of each 4-bit digit: 16 registers, one per digit, of 16 elements that the CPU adds up.

.stage user
.uniform number, uint           # of the QPU
.uniform others, int            # see together.qinc
.uniform source, address        # first block of keys
.uniform blocks, uint           # at least 1, adjacent
.uniform shift, uint            # of the digit's lowest bit
.uniform target, address        # 16 vectors

.include <vc4.qinc>
.include "rows.qinc"

.set ra_source, ra16
.set ra_vectors, ra17

    rows_begin 4
    mov r0, unif
    shl r1, elem_num, 2
    add ra_source, r0, r1
    mov r0, unif
    shl r0, r0, 4
    mov ra_vectors, r0
    mov r3, unif                # shift
.rep d, 16
    mov ra0 + d, 0
.endr
    mov r2, 1
:vector
    mov t0s, ra_source
    ldi r1, 64
    add ra_source, ra_source, r1
    nop; ldtmu0
    shr r0, r4, r3
    and r0, r0, 15
    mov.setf -, r0
.rep d, 16
    add.ifz ra0 + d, ra0 + d, r2
    sub.setf r0, r0, r2
.endr
    sub.setf ra_vectors, ra_vectors, 1
    brr.anynz -, r:vector
    nop
    nop
    nop
    mov r0, unif
    ldi r1, 256
    mov vw_setup, vdw_setup_1(0)
.rep quarter, 4
    mov vw_setup, rb_write
.rep i, 4
    mov vpm, ra0 + 4 * quarter + i
.endr
    mov vw_setup, rb_store
    mov vw_addr, r0
    add r0, r0, r1
    read vw_wait
.endr
    thrend
    nop
    nop
