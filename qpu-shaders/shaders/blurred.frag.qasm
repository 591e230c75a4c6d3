# Fragment shader: a picture in half floats, blurred along one direction by a Gaussian of nine texels. Two neighbours are one lookup between them, so there are
# five lookups: at the texel, and on both sides at the distances `near` and `far`, which are 18/13 and 42/13 texels.

.stage fragment
.threads 1
.output half_color
.varying uv, 2
.uniform near, vec2
.uniform far, vec2
.texture image, 0, 2d64, 5

.include "texture_coordinates.qinc"
.include "halves.qinc"

    interpolate_uv
    mov r2, unif
    mov r3, unif
    mov ra2, unif
    mov rb2, unif
    mov t0t, r1
    mov t0s, r0
    fadd t0t, r1, r3
    fadd t0s, r0, r2
    fsub t0t, r1, r3
    fsub t0s, r0, r2
    fadd ra3, r0, ra2
    fadd rb3, r1, rb2
    fsub ra4, r0, ra2
    fsub rb4, r1, rb2
    mov rb0, 0.2270270          # 924 / 4070: binomial coefficients of 12, without the outermost two on both sides
    mov r0, 0
    mov r1, 0
    mov r2, 0
    add_weighted rb0
    mov t0t, rb3                # no more than three lookups at a time
    mov t0s, ra3
    mov rb0, 0.3162162          # (792 + 495) / 4070
    nop
    add_weighted rb0
    mov t0t, rb4
    mov t0s, ra4
    add_weighted rb0
    mov rb0, 0.0702703          # (220 + 66) / 4070
    nop
    add_weighted rb0
    add_weighted rb0
    half_color
