# Fragment shader: the interpolated colour with its alpha, in r0. See smooth.frag.qasm.

.stage fragment
.threads 1
.output color
.varying shade, 4               # red, green, blue, alpha

    fmul r3, vary, ra15
    fadd r3, r3, r5; fmul r1, vary, ra15
    fadd r1, r1, r5; fmul r2, vary, ra15
    fadd r2, r2, r5; fmul r0, vary, ra15
    fadd ra0, r0, r5; fmul r0.8a, r3, 1.0
    fmul r0.8b, r1, 1.0
    fmul r0.8c, r2, 1.0
    fmul r0.8d, ra0, 1.0
