# Waits until all programs of the workgroup have arrived. Program 0 waits for the others and then releases them.
#
# This is done twice, with different semaphores: otherwise a fast program could take a release that is meant for another one.
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
