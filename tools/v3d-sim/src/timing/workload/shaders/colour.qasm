# Shader C of the boards' tests: three interpolated varyings as the colour. 17 instructions.

.stage fragment
.varying color, 3

    nop
    nop
    mov r3, ra15                            # W
    mov r0, vary
    fmul r0, r0, r3
    fadd r0, r0, r5; mov r1, vary; sbwait   # 6
    fmul r1, r1, r3
    fadd r1, r1, r5; mov r2, vary
    fmul r2, r2, r3
    fadd r2, r2, r5
    fmul r3.8d, 1.0, 1.0
    mov r3.8a, r0
    mov r3.8b, r1
    mov tlb_z, rb15; mov r3.8c, r2          # 14
    mov tlb_color_all, r3; thrend           # 15
    nop
    sbdone
