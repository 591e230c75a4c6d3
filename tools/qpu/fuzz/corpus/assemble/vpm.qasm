.include <vc4.qinc>
ldi vr_setup, vpm_setup(3, 1, v32(0, 0))
mov vw_setup, vpm_setup(3, 1, h32(16))
.rep i, 3
mov vpm, vpm
.endr
ldi vw_setup, vdw_setup_0(3, 16, dma_h32(16, 0))
mov vw_addr, unif
read vw_wait
thrend; nop
nop
nop
