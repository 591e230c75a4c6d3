mov r5, 1
add r0, r1
frobnicate r0
.bogus
ldi r0, 0x1ffffffff
.if 1
.rep i,
add r0, ra1, ra2; sub r1, r2, r3 << r5
mov (((1)
:1f brr r:2b, r:nowhere
