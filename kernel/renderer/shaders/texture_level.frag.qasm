# Fragment shader: one mip level of a texture, from which the next level is rendered. The texture's automatic level of detail is disabled, so the bias alone
# selects the level.

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
