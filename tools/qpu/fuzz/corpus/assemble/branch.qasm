:1
sub.setf ra0, ra0, 1
brr.anynz -, r:1
nop
nop
nop
thrend
nop
nop
