# Shader T of the boards' tests: the texture's colour. The result is awaited three instructions after its request. 17 instructions.

.stage fragment
.varying uv, 2
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
    sbwait                                  # 12
    mov tlb_z, rb15                         # 13
    ldtmu0                                  # 14
    mov tlb_color_all, r4; thrend           # 15
    nop
    sbdone
