.rep i, 2
.rep j, 3
.if i ^ j & 1
ldi ra0 + i, j ** 2 << i
.elseif j == 2
:1 mov rb0 + j, 0x02020202
.else
nop
.endif
.endr
.endr
.foreach r, ra1, rb2, r3
add r, r, 15; mov r2, 0
.endfor
