# Fragment shader of glowing points: their colour, brightest in the middle and 0 at the edge, as half floats for additive blending.
#
# With d as the distance from the centre in units of the size, the brightness is (1 - 4 d^2)^2.

.stage fragment
.threads 1
.output half_color
.primitive points
.varying color, 3
.varying size

    fmul r0, vary, ra15
    fadd r0, r0, r5; fmul r1, vary, ra15
    fadd r1, r1, r5
    fsub r0, r0, 0.5
    fsub r1, r1, 0.5; fmul r0, r0, r0
    fmul r1, r1, r1
    fadd r0, r0, r1
    fsub r3, 0.25, r0
    fmax r3, r3, 0              # (1 - 4 d^2) / 4
    fmul r3, r3, r3
    fmul r0, vary, ra15
    fadd r0, r0, r5; fmul r1, vary, ra15
    fadd r1, r1, r5; fmul r2, vary, ra15
    fadd r2, r2, r5; fmul r3, r3, 16.0
    mov -, vary                 # the size
    mov ra1, 0
    fmul ra0.16a, r0, r3
    fmul ra0.16b, r1, r3
    fmul ra1.16a, r2, r3
    mov r0, ra0
    mov r1, ra1
