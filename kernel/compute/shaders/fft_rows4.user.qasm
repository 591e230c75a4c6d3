# The last pass of a transform, of 4 points, any distance apart; see fft_rows.qinc.

.stage user
.uniform quarter, uint
.uniform others, int
.uniform block, uint
.uniform blocks, uint
.uniform parameters, address

.set RADIX, 4

.include <vc4.qinc>
.include "quarters.qinc"
.include "fft16.qinc"
.include "fft_pass.qinc"
.include "fft_points.qinc"

.set result_re(j) re(j)
.set result_im(j) im(j)

.macro transform
.rep k, 4
    radix4_in_place re(k), im(k), re(k + 4), im(k + 4), re(k + 8), im(k + 8), re(k + 12), im(k + 12)
.endr
.endm

.include "fft_rows.qinc"
