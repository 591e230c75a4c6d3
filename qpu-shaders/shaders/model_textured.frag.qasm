# Fragment shader of a model with a texture: the texture's colour times the model's colour times the light, in r0.
#
# While the TMU is at work, colour and light are multiplied and packed: the product of two packed colours is one operation.

.stage fragment
.threads 1
.output color
.varying uv, 2
.varying light
.texture image, 0, 2d
.uniform base_color, vec4       # red, green, blue, alpha, 0 to 1

.include "texture_coordinates.qinc"

    look_up_uv
    fmul r0, vary, ra15
    fadd r0, r0, r5
    fmul r3.8abcd, r0, unif     # clamps to [0, 1] and scales to 255
    fmul r3.8b, r0, unif
    fmul r3.8c, r0, unif
    fmul r3.8d, 1.0, unif
    ldtmu0
    v8muld r0, r4, r3
