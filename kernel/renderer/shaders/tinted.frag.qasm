# Fragment shader: the texture's colour times another, in r0.
#
# While the TMU looks up the texel, the other colour is interpolated and packed: the product of two packed colours is one operation.

.stage fragment
.threads 1
.output color
.varying uv, 2
.varying tint, 4                # red, green, blue, alpha
.texture image, 0, 2d

.include "texture_coordinates.qinc"

    look_up_uv
    fmul r0, vary, ra15
    fadd r0, r0, r5; fmul r1, vary, ra15
    fadd r1, r1, r5; fmul r3.8a, r0, 1.0
    fmul r0, vary, ra15
    fadd r0, r0, r5; fmul r3.8b, r1, 1.0
    fmul r1, vary, ra15
    fadd r1, r1, r5; fmul r3.8c, r0, 1.0
    fmul r3.8d, r1, 1.0
    ldtmu0
    v8muld r0, r4, r3
