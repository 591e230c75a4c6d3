# Fragment shader: the texture's colour times the light, in r0.
#
# While the TMU is at work, the light is interpolated and packed: the product of two packed colours is one operation.

.stage fragment
.threads 1
.output color
.varying uv, 2
.varying light
.texture image, 0, 2d

.include "texture_coordinates.qinc"

    look_up_uv
    fmul r0, vary, ra15
    fadd r0, r0, r5
    fmul r3.8abcd, r0, 1.0
    fmul r3.8d, 1.0, 1.0        # alpha stays
    ldtmu0
    v8muld r0, r4, r3
