# Fragment shader: the interpolated colour, in r0.
#
# The hardware delivers a varying without its perspective: the shader multiplies with W, which stands in ra15, and adds C, which comes
# into r5 with the varying [AG p.51]. The pack of the MUL ALU clamps to [0, 1] and scales to 255.
#
# It has no end of its own: what becomes of the colour is put behind it when a pipeline is made.

.stage fragment
.threads 1
.output color
.varying shade, 3

    fmul r3, vary, ra15
    fadd r3, r3, r5; fmul r1, vary, ra15
    fadd r1, r1, r5; fmul r2, vary, ra15
    fadd r2, r2, r5; fmul r0.8abcd, 1.0, 1.0    # alpha 255
    fmul r0.8a, r3, 1.0
    fmul r0.8b, r1, 1.0
    fmul r0.8c, r2, 1.0
