# Fragment shader: the colour of one level of a texture, for the level after it. The texture's own level of detail is switched off, so that the bias
# alone says which level is read.

.stage fragment
.threads 1
.output color
.varying uv, 2
.uniform level, float
.texture source, 0, 2d, bias

.include "texture_coordinates.qinc"

    mov r2, unif
    interpolate_uv
    mov t0t, r1
    mov t0b, r2
    mov t0s, r0
    ldtmu0
    mov r0, r4
