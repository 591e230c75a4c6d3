# Fragment shader of round points: their colour in r0, with alpha falling from 1 to 0 over the outermost pixel.
#
# With d as the distance from the centre in units of the size, (1/4 - d^2) * size is about the distance from the edge in pixels.

.stage fragment
.threads 1
.output color
.primitive points
.varying color, 3
.varying size                   # in pixels

    fmul r0, vary, ra15
    fadd r0, r0, r5; fmul r1, vary, ra15
    fadd r1, r1, r5
    fsub r0, r0, 0.5
    fsub r1, r1, 0.5; fmul r0, r0, r0
    fmul r1, r1, r1
    fadd r0, r0, r1
    fsub r3, 0.25, r0           # 1/4 - d^2
    fmul r1, vary, ra15
    fadd r1, r1, r5; fmul r2, vary, ra15
    fadd r2, r2, r5; fmul r0.8a, r1, 1.0
    fmul r1, vary, ra15
    fadd r1, r1, r5; fmul r0.8b, r2, 1.0
    fmul r2, vary, ra15
    fadd r2, r2, r5; fmul r0.8c, r1, 1.0        # size
    fmul r3, r3, r2
    fadd r3, r3, 0.5
    fmul r0.8d, r3, 1.0
