# The last pass of a transform, of 16 points, any distance apart; see fft_rows.qinc.

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
.include "fft_points.qinc"

.set result_re(j) out_re(j)
.set result_im(j) out_im(j)

.macro transform
    fft16
.endm

.include "fft_rows.qinc"
