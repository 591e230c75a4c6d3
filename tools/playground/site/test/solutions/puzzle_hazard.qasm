# The puzzle, solved: an instruction between a write of file A or B and its read, and two between the special function and r4.
    mov ra1, unif
    mov r1, elem_num
    itof r2, r1
    mov recip, r2
    fadd r3, r2, 1.0
    nop
    fmul r0, r4, ra1
    mov ra2, r0
    nop
    fadd r3, r3, ra2
    thrend
    nop
    nop
