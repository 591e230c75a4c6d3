# The sum of 1 to 20 in each element, stored at 0x9000. Three instructions behind a branch are executed in any case, and they are empty here.
.include <vc4.qinc>

    mov r0, 0
    ldi r1, 20
:again
    add r0, r0, r1
    sub.setf r1, r1, 1
    brr.anynz -, :again
    nop
    nop
    nop
    mov vw_setup, vpm_setup(1, 1, h32(0))
    mov vpm, r0
    mov vw_setup, vdw_setup_0(1, 16, dma_h32(0, 0))
    mov vw_addr, unif
    mov -, vw_wait
    thrend
    nop
    nop
