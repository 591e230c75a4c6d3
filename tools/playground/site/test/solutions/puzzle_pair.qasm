.stage fragment
.output color
.varying right, 1
.varying up, 1

    fmul r0, vary, ra15
    fadd r0, r0, r5; fmul r1, vary, ra15
    fadd r1, r1, r5; fmul r2, r0, r0
    fadd r2, r2, r1; fmul ra1.8abcd, 1.0, 1.0
    fsub r3, 1.0, r0; fmul ra1.8a, r0, 1.0
    nop; fmul r2, r2, 0.5
    nop; fmul r3, r3, r1
    nop; fmul ra1.8b, r2, 1.0
    nop; fmul ra1.8c, r3, 1.0
    nop
    mov r0, ra1
