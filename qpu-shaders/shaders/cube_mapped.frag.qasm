# Fragment shader: the colour of a cube map in a direction, in r0.
#
# The TMU expects the direction divided by its largest component [AG p.44].

.stage fragment
.threads 1
.output color
.varying direction, 3
.texture surroundings, 0, cube

    fmul r0, vary, ra15
    fadd r0, r0, r5; fmul r1, vary, ra15
    fadd r1, r1, r5; fmul r2, vary, ra15
    fadd r2, r2, r5
    fmaxabs r3, r0, r1
    fmaxabs r3, r3, r2
    mov recip, r3               # the result is in r4 three instructions later
    mov ra0, r0
    mov ra1, r1
    # The SFU is accurate to 12 bits; a Newton step, r * (2 - m * r), doubles them.
    fmul r0, r4, r3
    fsub r0, 2.0, r0
    fmul r3, r4, r0
    fmul t0t, ra1, r3
    fmul t0r, r2, r3
    fmul t0s, ra0, r3
    ldtmu0
    mov r0, r4
