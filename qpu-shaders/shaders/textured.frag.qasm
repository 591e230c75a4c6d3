# Fragment shader: the texture's colour, in r0; the pipeline appends the code for blending and tests.

.stage fragment
.threads 1
.output color
.varying uv, 2
.texture image, 0, 2d

.include "texture_coordinates.qinc"

    look_up_uv
    ldtmu0                      # waits for the result in r4: alpha, blue, green, red from the highest byte
    mov r0, r4
