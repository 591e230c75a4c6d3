# Fragment shader of a model without a texture: its colour times the light, in r0.

.stage fragment
.threads 1
.output color
.varying uv, 2                  # not looked at: vertices and programs are those of textured models
.varying light
.uniform base_color, vec4       # red, green, blue, alpha, 0 to 1

    mov r0, vary
    mov r0, vary
    fmul r1, vary, ra15
    fadd r1, r1, r5
    fmul r0.8abcd, r1, unif     # clamps to [0, 1] and scales to 255
    fmul r0.8b, r1, unif
    fmul r0.8c, r1, unif
    fmul r0.8d, 1.0, unif
