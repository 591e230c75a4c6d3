fmul ra1.16af, r4.8bf, 0.5; mov.ifnz r0 << 3, r1
.if 1
mov.setf -, ra2.8dr; ldtmu0
.endif
