# The last pass of a transform: like fft_middle, with a scale instead of twiddle factors.

.stage user
.uniform quarter, uint
.uniform others, int
.uniform block, uint
.uniform blocks, uint
.uniform parameters, address

.include <vc4.qinc>
.include "quarters.qinc"
.include "fft16.qinc"
.include "fft_pass.qinc"

    pass_begin
:block
    pass_load
    fft16
    pass_second_half
    claim
    mov rb5, unif
    mov rb1, unif
    mov rb3, unif               # stride's set-up word
    mov r2, unif                # scale
    mov vw_setup, rb_write
.rep j, 16
    fmul vpm, out_re(j), r2
.endr
    add r1, ra_target, rb5
    mov r3, rb3
    store16 r1, r3
    read vw_wait
    mov vw_setup, rb_write
.rep j, 16
    fmul vpm, out_im(j), r2
.endr
    add r1, ra_target, rb1
    store16 r1, r3
    release
    pass_next r:block
    end
