# The last pass of a transform, of 8 points, any distance apart; see fft_rows.qinc.

.stage user
.uniform quarter, uint
.uniform others, int
.uniform block, uint
.uniform blocks, uint
.uniform parameters, address

.set RADIX, 8

.include <vc4.qinc>
.include "quarters.qinc"
.include "fft16.qinc"
.include "fft_pass.qinc"
.include "fft_points.qinc"

# Sums of points four apart, and their differences times twiddle factors (apart): two of each go to file A and two to file B, where they stay.
.func sum(i, g)
  .if i < 2
    2 * i + g
  .else
    2 * i + g + 8
  .endif
.endf
.func apart(i, g)
  .if i < 2
    2 * i + g + 8
  .else
    2 * i + g
  .endif
.endf
# Position of result i of group g is i * GROUPS + g: even results come from the sums.
.func place(j)
  .if j / 2 % 2 == 0
    sum(j / 4, j % 2)
  .else
    apart(j / 4, j % 2)
  .endif
.endf
.set result_re(j) re(place(j))
.set result_im(j) im(place(j))

.macro transform
.rep g, 2
.rep i, 4
    fadd r0, re(2 * i + g), re(2 * i + g + 8)
    fadd r1, im(2 * i + g), im(2 * i + g + 8)
    fsub r2, re(2 * i + g), re(2 * i + g + 8)
    fsub r3, im(2 * i + g), im(2 * i + g + 8)
    mov re(sum(i, g)), r0
    mov im(sum(i, g)), r1
.if i == 1
    rotate2 re(apart(1, g)), im(apart(1, g)), r2, r3
.elseif i == 2
    mov re(apart(2, g)), r3
    fsub im(apart(2, g)), 0.0, r2
.elseif i == 3
    rotate6 re(apart(3, g)), im(apart(3, g)), r2, r3
.else
    mov re(apart(0, g)), r2
    mov im(apart(0, g)), r3
.endif
.endr
    radix4_in_place re(sum(0, g)), im(sum(0, g)), re(sum(1, g)), im(sum(1, g)), re(sum(2, g)), im(sum(2, g)), re(sum(3, g)), im(sum(3, g))
    radix4_in_place re(apart(0, g)), im(apart(0, g)), re(apart(1, g)), im(apart(1, g)), re(apart(2, g)), im(apart(2, g)), re(apart(3, g)), im(apart(3, g))
.endr
.endm

.include "fft_rows.qinc"
