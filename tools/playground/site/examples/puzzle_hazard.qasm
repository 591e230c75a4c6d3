# Something here reads what is not there yet. Which instruction, and what has to stand before it?
    mov ra1, unif
    mov r1, elem_num
    itof r2, r1
    mov recip, r2
    fadd r3, r2, 1.0
    fmul r0, r4, ra1
    mov ra2, r0
    fadd r3, r3, ra2
    thrend
    nop
    nop
