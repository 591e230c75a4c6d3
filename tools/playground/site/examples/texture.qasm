# A texture lookup by its words: each write of a coordinate takes a parameter word from the uniforms, and `s`, the last one, starts the lookup.
.stage fragment
.output color
.varying right, 1
.varying up, 1
.texture image, 0, 2d

    fmul r0, vary, ra15
    fadd r0, r0, r5; fmul r1, vary, ra15
    fadd r1, r1, r5
    fsub t0t, 1.0, r1                           # the rows of a picture begin at the top
    mov t0s, r0
    nop; ldtmu0                                 # the result comes into r4: red in the lowest byte
    mov r0, r4
