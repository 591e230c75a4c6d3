.rodata
:table .byte 1, -2, 0b101, 017
.align 4
.half 0.5, -1
.float 1e-3, exp2(3)
.long 0x123456789abcdef0
.bit 1, 0, 1
.global size, :end - :table
:end
.code
ldi r0, :table
.assert size(4) > 2
