# The last pass of a transform, of 2 points, any distance apart; see fft_rows.qinc.

.stage user
.uniform quarter, uint
.uniform others, int
.uniform block, uint
.uniform blocks, uint
.uniform parameters, address

.set RADIX, 2

.include <vc4.qinc>
.include "quarters.qinc"
.include "fft16.qinc"
.include "fft_pass.qinc"
.include "fft_points.qinc"

.set result_re(j) re(j)
.set result_im(j) im(j)

.macro transform
.rep j, 8
    fadd r0, re(j), re(j + 8)
    fadd r1, im(j), im(j + 8)
    fsub re(j + 8), re(j), re(j + 8)
    fsub im(j + 8), im(j), im(j + 8)
    mov re(j), r0
    mov im(j), r1
.endr
.endm

.include "fft_rows.qinc"
