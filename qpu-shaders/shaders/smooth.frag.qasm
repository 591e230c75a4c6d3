# Fragment shader: the interpolated colour, in r0.
#
# The hardware interpolates a varying without perspective: the shader multiplies by W, which is in ra15, and adds C, which is in r5 after the read [AG p.51].
# The pack of the MUL ALU clamps to [0, 1] and scales to 255.
#
# It does not end itself: the pipeline appends the code for blending and tests.

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
