.stage fragment
.output color
.varying right, 1
.varying up, 1
.texture image, 0, 2d

    fmul r0, vary, ra15
    fadd r0, r0, r5; fmul r1, vary, ra15
    fadd r1, r1, r5
    fsub t0t, 1.0, r1
    mov t0s, r0
    fsub r2, 1.0, r0
    fmul r2, r2, r0
    fsub r3, 1.0, r1
    fmul r3, r3, r1
    fmul r2, r2, r3
    fmul r2, r2, 4.0
    fadd r2, r2, r2
    fadd r2, r2, r2
    fmul r2, r2, r2; ldtmu0
    fmul r3.8abcd, r2, 1.0
    v8muld r0, r3, r4
