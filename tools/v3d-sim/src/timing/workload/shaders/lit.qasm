# Shader L of the boards' tests: the texture's colour times a brightness. The result is awaited seven instructions after its request. 22 instructions.

.stage fragment
.varying uv, 2
.varying light
.texture image, 0, 2d

    nop
    nop
    mov r3, ra15                            # W
    mov r0, vary
    fmul r0, r0, r3
    fadd r0, r0, r5
    mov r1, vary
    fmul r1, r1, r3
    fadd r1, r1, r5
    mov t0t, r1                             # 10
    mov t0s, r0                             # 11
    mov r2, vary
    fmul r2, r2, r3
    fadd r2, r2, r5
    fmul r2.8abcd, r2, 1.0
    sbwait                                  # 16
    mov tlb_z, rb15                         # 17
    ldtmu0                                  # 18
    v8muld r0, r4, r2                       # 19
    mov tlb_color_all, r0; thrend           # 20
    nop
    sbdone
