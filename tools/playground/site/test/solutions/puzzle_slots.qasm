.include <vc4.qinc>

    mov r0, 0
    ldi r1, 20
:again
    sub.setf r1, r1, 1; mov r2, r1
    brr.anynz -, :again
    add r0, r0, r2
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
