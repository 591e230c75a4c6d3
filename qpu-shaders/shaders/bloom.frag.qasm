# Fragment shader: a picture in half floats with two blurred ones on it, tone-mapped: 1 - 2^(-exposure * light).

.stage fragment
.threads 1
.output color
.varying uv, 2
.texture image, 0, 2d64
.texture near, 0, 2d64
.texture far, 0, 2d64
.uniform near_share, float
.uniform far_share, float
.uniform exposure, float

.include "texture_coordinates.qinc"
.include "halves.qinc"

    look_up_uv
    mov t0t, r1
    mov t0s, r0
    mov t0t, r1
    mov t0s, r0
    mov rb0, 1.0
    mov r0, 0
    mov r1, 0
    mov r2, 0
    add_weighted rb0
    mov rb0, unif
    nop
    add_weighted rb0
    mov rb0, unif
    nop
    add_weighted rb0
    mov r3, unif
    fsub r3, 0, r3
    fmul exp, r0, r3
    nop                         # a result of the SFU is in r4 after two instructions
    nop
    fsub r0, 1.0, r4; fmul exp, r1, r3
    nop
    nop
    fsub r1, 1.0, r4; fmul exp, r2, r3
    fmul r3.8abcd, 1.0, 1.0     # alpha 255
    fmul r3.8a, r0, 1.0
    fsub r2, 1.0, r4; fmul r3.8b, r1, 1.0
    fmul r3.8c, r2, 1.0
    mov r0, r3
