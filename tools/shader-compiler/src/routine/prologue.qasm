# The start of a compute program: reads the description of its share, which is kept in registers.
#
# ra28, ra29, ra30: index of the workgroup; ra31: index of the 16 invocations in it; ra27: remaining iterations;
# rb27: the first of four rows of the VPM; rb26: the set-up word of writes to them.

.include <vc4.qinc>

    mov ra28, unif
    mov ra29, unif
    mov ra30, unif
    mov ra31, unif
    mov ra27, unif
    mov r0, unif
    mov rb27, r0
    ldi r1, vpm_setup(0, 1, h32(0))
    add rb26, r0, r1
