.stage fragment
.threads 2
.uniform tint, vec4
.uniform map, texture, 2
.varying uv, 2
.texture wood, 1
mov r0, unif
fmul r1, ra15, vary
fadd t1t, r1, r5
mov t1s, r0
lthrsw
nop
nop
ldtmu1
mov tlbc, r4; sbdone
thrend
nop
nop
