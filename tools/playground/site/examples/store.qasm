# A user program: 16 elements through the VPM to memory. Its uniforms are a number and the address to store to; start it in the tab Step.
.include <vc4.qinc>

    mov r0, unif
    itof r1, elem_num
    fmul r1, r1, r0                             # the number, times 0 to 15
    mov vw_setup, vpm_setup(1, 1, h32(0))
    mov vpm, r1
    mov vw_setup, vdw_setup_0(1, 16, dma_h32(0, 0))
    mov vw_addr, unif                           # starts the DMA
    mov -, vw_wait
    thrend
    nop
    nop
