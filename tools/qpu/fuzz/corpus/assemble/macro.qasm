.macro m, x
.rep i, x
add r0, r0, i
.endr
.endm
m 3
