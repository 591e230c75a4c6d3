# Fragment shader: as texture_level.frag.qasm, for texels of 64 bits.

.stage fragment
.threads 1
.output half_color
.varying uv, 2
.uniform level, float
.texture source, 0, 2d64, bias

.include "texture_coordinates.qinc"

    mov r2, unif
    interpolate_uv
    mov t0t, r1
    mov t0b, r2
    mov t0s, r0
    ldtmu0                      # red and green
    mov r0, r4
    ldtmu0                      # blue and alpha
    mov r1, r4
