# Fragment shader: the colour of a child image of a texture, which has coordinates from 0 to 1. All four coordinates are written [AG p.40].

.stage fragment
.threads 1
.output color
.varying uv, 2
.texture image, 0, child

.include "texture_coordinates.qinc"

    interpolate_uv
    mov t0t, r1
    mov t0r, 0
    mov t0b, 0
    mov t0s, r0
    ldtmu0
    mov r0, r4
