# Fragment shader: the texture's colour, and outside of it the border colour, which the lookup's r holds in the format of the texture's type.

.stage fragment
.threads 1
.output color
.varying uv, 2
.uniform border, uint
.texture image, 0, 2d, bias     # three words: r takes the third, as a bias would

.include "texture_coordinates.qinc"

    mov r2, unif
    interpolate_uv
    mov t0t, r1
    mov t0r, r2
    mov t0s, r0
    ldtmu0
    mov r0, r4
