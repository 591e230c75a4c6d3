# Each instruction has room for an operation of the add ALU and one of the multiplier. Here every one has one of them.
.stage fragment
.output color
.varying right, 1
.varying up, 1

    fmul r0, vary, ra15
    fadd r0, r0, r5                 # 0 to 1 to the right
    fmul r1, vary, ra15
    fadd r1, r1, r5                 # 0 to 1 upwards
    fmul r2, r0, r0
    fadd r2, r2, r1
    fmul r2, r2, 0.5
    ldi ra1, 0xff000000
    fsub r3, 1.0, r0
    fmul r3, r3, r1
    fmul ra1.8a, r0, 1.0
    fmul ra1.8b, r2, 1.0
    fmul ra1.8c, r3, 1.0
    nop
    mov r0, ra1
