# User program: each of the 16 elements computes 3 * its number + the first uniform; the VPM's DMA stores all of them at the second uniform.

.stage user
.uniform start, uint
.uniform result, address        # 16 words

.include <vc4.qinc>

    mov vw_setup, vpm_setup(1, 1, h32(0))
    mov r0, elem_num
    shl r1, r0, 1
    add r0, r0, r1
    add r0, r0, unif
    mov vpm, r0
    mov vw_setup, vdw_setup_0(1, 16, dma_h32(0, 0))
    mov vw_addr, unif
    mov -, vw_wait
    thrend
    nop
    nop
