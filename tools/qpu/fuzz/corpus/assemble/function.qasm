.func f(x, y)
.if x > y
x - y
.else
f(y, x)
.endif
.endf
.macro put, reg, n
.local
.lset k, n * 2
ldi reg, f(k, 3)
.endloc
.endm
put r0, 7
put rb5, floor(-1.5)
ldi r1, [0,1,2,3,-1,0,1,0,0,0,0,0,0,0,0,1]
