# Waits until all programs of the workgroup have come here. Program 0 waits for the others and then lets them go on.
#
# That happens twice, by semaphores of their own: a program that is quick could otherwise take what another is let go on by.
#
# ra31: which program of the workgroup; programs: 2 to 12.

.rep phase, 2
    mov.setf -, ra31
    brr.anynz -, r:1f
    nop
    nop
    nop
.rep i, programs - 1
    sacq -, 2 * phase
.endr
.rep i, programs - 1
    srel -, 2 * phase + 1
.endr
    brr -, r:2f
    nop
    nop
    nop
:1
    srel -, 2 * phase
    sacq -, 2 * phase + 1
:2
.endr
    bra -, ra14
    nop
    nop
    nop
