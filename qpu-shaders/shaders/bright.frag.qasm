# Fragment shader: a smaller picture of what is brighter than a threshold, from one in half floats. Each pixel is the mean of four by four: four lookups, each
# of them between four texels.

.stage fragment
.threads 1
.output half_color
.varying uv, 2
.uniform texel, vec2            # width and height of a texel
.texture image, 0, 2d64, 4
.uniform threshold, float

.include "texture_coordinates.qinc"
.include "halves.qinc"

    interpolate_uv
    mov r2, unif
    mov r3, unif
    fadd t0t, r1, r3
    fadd t0s, r0, r2
    fadd t0t, r1, r3
    fsub t0s, r0, r2
    fsub t0t, r1, r3
    fadd t0s, r0, r2
    fsub ra3, r0, r2
    fsub rb3, r1, r3
    mov rb0, 0.25
    mov r0, 0
    mov r1, 0
    mov r2, 0
    add_weighted rb0
    mov t0t, rb3                # no more than three lookups at a time
    mov t0s, ra3
    add_weighted rb0
    add_weighted rb0
    add_weighted rb0
    mov r3, unif
    fsub r0, r0, r3
    fsub r1, r1, r3
    fsub r2, r2, r3
    fmax r0, r0, 0
    fmax r1, r1, 0
    fmax r2, r2, 0
    half_color
