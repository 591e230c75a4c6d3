# A loop of four turns by somebody who took branches to take effect at once.
.stage user
mov r0, 4
:loop
sub.setf r0, r0, 1
brr.anynz -, :loop
thrend
nop
nop
