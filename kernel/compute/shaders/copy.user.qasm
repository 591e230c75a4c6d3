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
.include "block.qinc"

    begin
    mov r0, unif
    shl r1, elem_num, 2
    add ra16, r0, r1
    mov ra17, unif
    mov ra18, unif
    mov ra19, unif
    ldi r1, 64

:block
    load_block ra16
    store_block ra17
    sub.setf ra19, ra19, 1
    brr.anynz -, r:block
    mov r2, ra18
    add ra16, ra16, r2
    add ra17, ra17, r2
    end
