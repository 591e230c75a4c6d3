# The end of an iteration: advances to the next 16 invocations, of this workgroup or of the next one in its row, in the next row, or in the next plane. The
# branch to the next iteration is 7 instructions before the end; its target is patched later. The stream of uniforms is reset to the first word of an
# iteration.
#
# parts: iterations of a workgroup; 1 if its other parts are executed by other programs.

.if parts > 1
    mov r0, ra31
    add r0, r0, 1
    ldi r1, parts
    sub.setf -, r0, r1
    mov.ifz r0, 0
    mov ra31, r0
    mov r0, ra28
    add.ifz r0, r0, 1
.else
    mov r0, ra28
    add r0, r0, 1
.endif
    mov r1, unif
    sub.setf -, r0, r1
    mov.ifz r0, 0
    mov ra28, r0
    mov r0, ra29
    add.ifz r0, r0, 1
    mov r1, unif
    sub.setf -, r0, r1
    mov.ifz r0, 0
    mov ra29, r0
    mov r0, ra30
    add.ifz r0, r0, 1
    mov ra30, r0
    mov r0, ra27
    sub.setf ra27, r0, 1
    nop
    mov unif_addr, unif
    nop
    nop
    thrend
    nop
    nop
