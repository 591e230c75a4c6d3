# The Mandelbrot set, in blocks of 16 x 4 pixels: the number of iterations of z = z * z + c with |z| <= 2, looked up in a palette.

.stage user
.uniform number, uint           # of the QPU
.uniform others, int            # see together.qinc
.uniform column, uint           # see grid.qinc
.uniform row, uint
.uniform step, uint
.uniform across, uint
.uniform blocks, uint
.uniform left, float            # real part of the first pixel
.uniform top, float
.uniform size, float            # distance of two pixels
.uniform rounds, uint           # most iterations, a multiple of 4
.uniform palette, address       # rounds + 1 colours
.uniform target, address
.uniform pitch, uint            # bytes per row

.include <vc4.qinc>
.include "rows.qinc"
.include "grid.qinc"

.set ra_cx, ra0
.set ra_cy, ra1
.set ra_count, ra2
.set ra_square, ra3
.set ra_rounds, ra4
.set ra_rows, ra5
.set ra_left_edge, ra6
.set ra_top_edge, ra7
.set ra_palette, ra9
.set rb_live, rb0
.set rb_two, rb1
.set rb_four, rb2
.set rb_size, rb3
.set rb_most, rb4
.set rb_target, rb5
.set rb_pitch, rb6

    rows_begin 4
    grid_begin
    mov ra_left_edge, unif
    mov ra_top_edge, unif
    mov rb_size, unif
    mov rb_most, unif
    mov ra_palette, unif
    mov rb_target, unif
    mov rb_pitch, unif
    mov rb_two, 2.0
    mov rb_four, 4.0

:block
    mov vw_setup, rb_write
    shl r0, ra_column, 4
    add r0, r0, elem_num
    itof r0, r0
    fmul r0, r0, rb_size
    shl r1, ra_row, 2
    mov ra_rows, r1
    fadd ra_cx, ra_left_edge, r0

:line
    itof r0, ra_rows
    fmul r0, r0, rb_size
    fadd ra_cy, ra_top_edge, r0
    mov r0, 0
    mov r1, 0
    mov ra_count, -1
    mov rb_live, 1
    mov ra_rounds, rb_most
:round
.rep i, 4
    add ra_count, ra_count, rb_live; fmul r2, r0, r0
    nop; fmul r3, r1, r1
    fadd ra_square, r2, r3; fmul r1, r0, r1
    fsub r0, r2, r3; fmul r1, r1, rb_two
    fsub.setf -, rb_four, ra_square
    fadd r0, r0, ra_cx; mov.ifn rb_live, 0
    fadd r1, r1, ra_cy
.endr
    mov.setf -, rb_live
    brr.allz -, r:escaped
    nop
    sub.setf ra_rounds, ra_rounds, 4
    nop
    brr.anynz -, r:round
    nop
    nop
    nop
:escaped
    add r0, ra_count, rb_live
    shl r0, r0, 2
    add t0s, ra_palette, r0
    add r0, ra_rows, 1
    mov ra_rows, r0; ldtmu0
    mov vpm, r4
    and.setf -, r0, 3
    brr.anynz -, r:line
    nop
    nop
    nop

    grid_store rb_target, rb_pitch
    grid_next r:block
