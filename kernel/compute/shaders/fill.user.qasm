# Fills blocks of up to 64 vectors with one word. All QPUs write the same words to all rows of the VPM, so none has to wait for another.

.stage user
.uniform others, int            # see together.qinc
.uniform value, uint
.uniform rows, uint             # vectors of a block, 1 to 64
.uniform target, address        # first block
.uniform stride, uint           # bytes from one block to the next
.uniform blocks, uint           # at least 1

.include <vc4.qinc>
.include "together.qinc"

    begin_together
    mov vw_setup, vpm_setup(0, 1, h32(0))
    mov r0, unif
.rep i, 64
    mov vpm, r0
.endr
    mov r0, unif
    ldi r1, 23
    shl r0, r0, r1
    ldi r1, vdw_setup_0(0, 16, dma_h32(0, 0))
    or r3, r0, r1
    mov r0, unif
    mov r1, unif
    mov r2, unif
    mov vw_setup, vdw_setup_1(0)
:block
    mov vw_setup, r3
    mov vw_addr, r0
    sub.setf r2, r2, 1
    brr.anynz -, r:block
    add r0, r0, r1
    read vw_wait
    nop
    thrend
    nop
    nop
