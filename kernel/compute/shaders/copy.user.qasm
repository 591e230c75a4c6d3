# Copies blocks of 16 vectors: loads by both TMUs, stores by the VPM's DMA.

.stage user
.uniform quarter, uint
.uniform others, int
.uniform source, address        # first block
.uniform target, address
.uniform stride, uint           # bytes from one block to the next
.uniform blocks, uint           # at least 1

.include <vc4.qinc>
.include "quarters.qinc"

    begin
    mov r0, unif
    shl r1, elem_num, 2
    add ra16, r0, r1
    mov ra17, unif
    mov ra18, unif
    mov ra19, unif
    ldi r1, 64

:block
    mov r0, ra16
.rep i, 4
    add r0, r0, r1; mov t0s, r0
    add r0, r0, r1; mov t1s, r0
.endr
.rep i, 4
    nop; ldtmu0
    add r0, r0, r1; mov t0s, r0
    mov ra0 + 2 * i, r4; ldtmu1
    add r0, r0, r1; mov t1s, r0
    mov ra1 + 2 * i, r4
.endr
.rep i, 4
    nop; ldtmu0
    mov ra8 + 2 * i, r4; ldtmu1
    mov ra9 + 2 * i, r4
.endr
    claim
    mov vw_setup, rb_write
.rep i, 16
    mov vpm, ra0 + i
.endr
    mov r0, vdw_setup_1(0)
    store16 ra17, r0
    release
    sub.setf ra19, ra19, 1
    brr.anynz -, r:block
    mov r2, ra18
    add ra16, ra16, r2
    add ra17, ra17, r2
    end
