# Fragment shader: the interpolated colour where the depth test passes.
#
# The write of Z is what makes the test; it comes before the colour. Z stands in rb15 when the shader starts.

.stage fragment
.threads 1
.varying shade, 3

.include "smooth.qinc"

    smooth_color
    mov tlbz, rb15              # tests, and waits until the pixels are free
    mov tlbc, r3
    nop                         # no Z write in the last four instructions (HW-2806)
    thrend
    nop
    sbdone
