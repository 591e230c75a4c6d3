# Waits until all programs of the workgroup have come here. Program 0 waits for the others and then lets them go on.
#
# That happens twice, by semaphores of their own: a program that is quick could otherwise take what another is let go on by.
#
# ra31: which program of the workgroup; programs: 2 to 12; in_vpm: 1 if the workgroup's memory is in the VPM.

.include <vc4.qinc>

.if in_vpm
    # A read waits for the writes before it.
    ldi vr_setup, vpm_setup(1, 1, h32(0))
    nop
    nop
    mov -, vpm
.endif
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
