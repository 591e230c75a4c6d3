# Like fft_middle, for results too far apart for the stride of one store: rows are stored one by one.

.stage user
.uniform quarter, uint
.uniform others, int
.uniform block, uint
.uniform blocks, uint
.uniform parameters, address

.set RADIX, 16

.include <vc4.qinc>
.include "quarters.qinc"
.include "fft16.qinc"
.include "fft_pass.qinc"
.include "fft_twiddles.qinc"
.include "fft_points.qinc"

    pass_begin
:block
    pass_load
    fft16
    pass_twiddle
    pass_second_half
    mov r1, unif
    mov ra_step, unif           # bytes between results
    claim
    mov vw_setup, rb_write
.rep j, 16
    mov vpm, out_re(j)
.endr
    add r0, ra_target, r1
    store_points
    mov r0, unif
    mov vw_setup, rb_write
.rep j, 16
    mov vpm, out_im(j)
.endr
    add r0, ra_target, r0
    store_points
    release
    pass_next r:block
    end
