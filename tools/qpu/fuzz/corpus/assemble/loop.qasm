mov ra0, 16
mov r0, 0
:loop
sub.setf ra0, ra0, 1
brr.anynz -, r:loop
add r0, r0, r1; fmul r2, r3, r3
mov.ifcs rb1, r0 << 3
add.ifn r1.16a, ra1.8bs, r5
.back 1
nop
.endb
brr ra2, r:loop + 8
nop
nop
nop
bra -, ra2
.clone :loop, 2
nop
thrend
