# Interpolation by hand. The FIFO of varyings gives A * x + B * y for each; multiplied by W it is right in perspective, and the constant term comes into r5
# with it, to be added [AG p.51].
.stage fragment
.output color
.varying right, 1
.varying up, 1

    fmul r0, vary, ra15                         # W is in ra15
    fadd r0, r0, r5; fmul r1, vary, ra15        # the second one: its C comes into r5 now
    fadd r1, r1, r5; fmul r3.8abcd, 1.0, 1.0    # alpha, and all else, 255
    nop
    fmul r3.8a, r0, 1.0                         # the pack of the MUL ALU makes bytes of 0.0 to 1.0
    fmul r3.8b, r1, 1.0
    mov r0, r3
