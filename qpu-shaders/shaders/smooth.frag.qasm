# Fragment shader: the interpolated colour, whatever is there already.

.stage fragment
.threads 1
.varying shade, 3

.include "smooth.qinc"

    smooth_color
    mov tlbc, r3                # waits until the pixels are free
    thrend
    nop
    sbdone                      # and lets others have them
