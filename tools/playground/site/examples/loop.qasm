# A loop: the sum of 1/n for n from 4 to 1. A branch takes effect after three more instructions, which are executed in any case.
    ldi r2, 4
    ldi r1, 0
:again
    itof r0, r2
    nop
    mov recip, r0
    sub.setf r2, r2, 1
    nop
    fadd r1, r1, r4
    brr.anynz -, :again
    nop
    nop
    nop
    mov ra0, r1
    thrend
    nop
    nop
