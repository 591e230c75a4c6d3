# Fragment shader: the texture's colour where the depth test passes.

.stage fragment
.threads 1
.varying uv, 2
.texture image, 0, 2d

.include "texture_coordinates.qinc"

    look_up_uv
    ldtmu0
    mov tlbz, rb15              # tests, and waits until the pixels are free
    mov tlbc, r4
    nop                         # no Z write in the last four instructions (HW-2806)
    thrend
    nop
    sbdone
