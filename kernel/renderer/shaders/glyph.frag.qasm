# Fragment shader: a colour with the coverage of a glyph from an atlas, in r0, premultiplied.
#
# An atlas of coverage holds the covered part of a pixel, an atlas of distances the distance to the glyph's outline: either way the coverage is a linear
# function of the texel, clamped to 0 to 1.

.stage fragment
.threads 1
.output color
.varying uv, 2
.varying slope                  # covered = slope * value + offset
.varying offset
.varying color, 4               # red, green, blue, alpha, premultiplied
.texture atlas, 0, 2d           # values as alpha

.include "texture_coordinates.qinc"

    look_up_uv
    fmul r0, vary, ra15
    fadd ra2, r0, r5; fmul r1, vary, ra15
    fadd ra3, r1, r5; fmul r0, vary, ra15
    fadd ra4, r0, r5; fmul r1, vary, ra15
    fadd ra5, r1, r5; fmul r0, vary, ra15
    fadd ra6, r0, r5; fmul r1, vary, ra15
    fadd ra7, r1, r5
    ldtmu0
    fmul r0, r4.8df, ra2
    fadd r0, r0, ra3
    fmin r0, r0, 1.0
    fmax r1, r0, 0
    fmul r0.8a, ra4, r1
    fmul r0.8b, ra5, r1
    fmul r0.8c, ra6, r1
    fmul r0.8d, ra7, r1
