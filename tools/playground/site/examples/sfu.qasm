# The special function unit: a write to recip, rsqrt, exp or log gives its result in r4 three instructions later.
.stage fragment
.output color
.varying right, 1

    fmul r0, vary, ra15
    fadd r0, r0, r5
    fadd r0, r0, 1.0
    mov recip, r0
    nop                                         # something useful could be done here
    nop
    fmul r0.8abcd, r4, 1.0
