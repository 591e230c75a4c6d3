# Resizes a picture by bilinear interpolation. Coordinates are clamped to the edges.

.stage user
.uniform number, uint           # of the QPU
.uniform others, int            # see together.qinc
.uniform column, uint           # see grid.qinc
.uniform row, uint
.uniform step, uint
.uniform across, uint
.uniform blocks, uint
.uniform source, address
.uniform source_pitch, uint     # bytes per row
.uniform right, uint            # the last column
.uniform bottom, uint           # the last row
.uniform scale_x, float         # source pixels per target pixel
.uniform scale_y, float
.uniform first_x, float         # centre of the first pixel: 0 is the centre of the source's first
.uniform first_y, float
.uniform target, address
.uniform pitch, uint

.include <vc4.qinc>
.include "rows.qinc"
.include "grid.qinc"

.set ra_y, ra0
.set ra_right, ra3
.set ra_bottom, ra4
.set ra_left_bytes, ra7         # byte offsets of the two columns
.set ra_right_bytes, ra8
.set ra_down, ra9               # weight of the lower row
.set ra_to_right, ra10          # weight of the right column
.set ra_weight, ra11
.set rb_source, rb0
.set rb_source_pitch, rb1
.set rb_scale_x, rb2
.set rb_scale_y, rb3
.set rb_first_x, rb4
.set rb_first_y, rb5
.set rb_target, rb6
.set rb_pitch, rb7
.set rb_red, rb8
.set rb_green, rb9
.set rb_blue, rb10
.set rb_alpha, rb11
.set rb_out, rb12

# Splits the coordinate in r0: r0 = the pixel before it, r1 = the one after, at most `most`, and `share`, the weight of the second.
.macro between, most, share
    fmax r0, r0, 0.0
    ftoi r1, r0
    itof r2, r1
    fsub share, r0, r2
    min r0, r1, most
    add r1, r1, 1
    min r1, r1, most
.endm

.macro add_weighted
    nop; fmul r0, r4.8a, ra_weight
    fadd rb_red, rb_red, r0; fmul r0, r4.8b, ra_weight
    fadd rb_green, rb_green, r0; fmul r0, r4.8c, ra_weight
    fadd rb_blue, rb_blue, r0; fmul r0, r4.8d, ra_weight
    fadd rb_alpha, rb_alpha, r0
.endm

    rows_begin 4
    grid_begin
    mov rb_source, unif
    mov rb_source_pitch, unif
    mov ra_right, unif
    mov ra_bottom, unif
    mov rb_scale_x, unif
    mov rb_scale_y, unif
    mov rb_first_x, unif
    mov rb_first_y, unif
    mov rb_target, unif
    mov rb_pitch, unif

:block
    shl r0, ra_row, 2
    mov ra_y, r0
    shl r0, ra_column, 4
    add r0, r0, elem_num
    itof r0, r0
    fmul r0, r0, rb_scale_x
    fadd r0, r0, rb_first_x
    between ra_right, ra_to_right
    shl ra_left_bytes, r0, 2
    shl ra_right_bytes, r1, 2
    mov vw_setup, rb_write
:line
    itof r0, ra_y
    fmul r0, r0, rb_scale_y
    fadd r0, r0, rb_first_y
    between ra_bottom, ra_down
    nop; mul24 r0, r0, rb_source_pitch
    nop; mul24 r1, r1, rb_source_pitch
    add r0, r0, rb_source
    add r1, r1, rb_source
    add t0s, r0, ra_left_bytes
    add t0s, r0, ra_right_bytes
    add t0s, r1, ra_left_bytes
    add t0s, r1, ra_right_bytes
    fsub r2, 1.0, ra_to_right
    fsub r3, 1.0, ra_down
    mov rb_red, 0
    mov rb_green, 0
    mov rb_blue, 0
    mov rb_alpha, 0
    nop; fmul ra_weight, r2, r3
    nop; ldtmu0
    add_weighted
    nop; fmul ra_weight, r3, ra_to_right
    nop; ldtmu0
    add_weighted
    nop; fmul ra_weight, r2, ra_down
    nop; ldtmu0
    add_weighted
    mov r0, ra_to_right
    nop; fmul ra_weight, r0, ra_down
    nop; ldtmu0
    add_weighted
    mov r0, rb_red
    mov r1, rb_green
    fmul rb_out.8a, r0, 1.0
    fmul rb_out.8b, r1, 1.0
    mov r0, rb_blue
    mov r1, rb_alpha
    fmul rb_out.8c, r0, 1.0
    fmul rb_out.8d, r1, 1.0
    add r0, ra_y, 1
    mov vpm, rb_out
    mov ra_y, r0
    and.setf -, r0, 3
    brr.anynz -, r:line
    nop
    nop
    nop
    grid_store rb_target, rb_pitch
    grid_next r:block
