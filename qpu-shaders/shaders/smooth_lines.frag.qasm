# Fragment shader of lines: the interpolated colour, in r0. See smooth.frag.qasm.

.stage fragment
.threads 1
.output color
.primitive lines
.varying shade, 3

    mov r0, vary                # the position across the line's width
    fmul r3, vary, ra15
    fadd r3, r3, r5; fmul r1, vary, ra15
    fadd r1, r1, r5; fmul r2, vary, ra15
    fadd r2, r2, r5; fmul r0.8abcd, 1.0, 1.0    # alpha 255
    fmul r0.8a, r3, 1.0
    fmul r0.8b, r1, 1.0
    fmul r0.8c, r2, 1.0
