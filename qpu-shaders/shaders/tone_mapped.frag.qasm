# Fragment shader: tone mapping of a texture of half floats, in r0: 1 - 2^(-exposure * colour), which is below 1 for any colour.

.stage fragment
.threads 1
.output color
.varying uv, 2
.texture image, 0, 2d64
.uniform exposure, float

.include "texture_coordinates.qinc"

    look_up_uv
    ldtmu0                      # red and green
    mov ra0, r4
    ldtmu0                      # blue and alpha
    mov ra1, r4; mov r0, unif
    fsub r3, 0, r0
    fmul exp, ra0.16a, r3
    nop                         # a result of the SFU is in r4 after two instructions
    nop
    fsub r0, 1.0, r4; fmul exp, ra0.16b, r3
    nop
    nop
    fsub r1, 1.0, r4; fmul exp, ra1.16a, r3
    fmul r3.8abcd, 1.0, 1.0     # alpha 255
    fmul r3.8a, r0, 1.0
    fsub r2, 1.0, r4; fmul r3.8b, r1, 1.0
    fmul r3.8c, r2, 1.0
    mov r0, r3
