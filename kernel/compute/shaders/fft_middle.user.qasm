# A pass of a transform: 16 points for each of 16 elements, which share their twiddle factors.

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
.include "fft_twiddles.qinc"

    pass_begin
:block
    pass_load
    fft16
    pass_twiddle
    pass_second_half
    claim
    mov vw_setup, rb_write
.rep j, 16
    mov vpm, out_re(j)
.endr
    mov r1, unif
    mov rb1, unif
    mov r3, unif                # stride's set-up word
    add r1, ra_target, r1
    store16 r1, r3
    read vw_wait
    mov vw_setup, rb_write
.rep j, 16
    mov vpm, out_im(j)
.endr
    add r1, ra_target, rb1
    store16 r1, r3
    release
    pass_next r:block
    end
