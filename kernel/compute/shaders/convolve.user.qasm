# Convolves a picture: each channel of a pixel becomes the weighted sum of its neighbours'. Coordinates are clamped to the edges.
#
# A list has three words per neighbour: columns to the right, rows down, and its weight. 16 pixels are processed at a time; each neighbour is looked up while
# the previous one is added.

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
.uniform list, address
.uniform count, uint            # neighbours, at least 1
.uniform bias, float            # added to each channel, where 1 is 255
.uniform target, address
.uniform pitch, uint

.include <vc4.qinc>
.include "rows.qinc"
.include "grid.qinc"

.set ra_y, ra0
.set ra_x, ra1
.set ra_count, ra2
.set ra_right, ra3
.set ra_bottom, ra4
.set ra_weight, ra5
.set rb_source, rb0
.set rb_source_pitch, rb1
.set rb_list, rb2
.set rb_count, rb3
.set rb_bias, rb4
.set rb_target, rb5
.set rb_pitch, rb6
.set rb_red, rb7
.set rb_green, rb8
.set rb_blue, rb9
.set rb_alpha, rb10
.set rb_out, rb11

# Looks up the next neighbour of the list; its weight is the next uniform. Clobbered: r0, r1.
.macro look_up
    add r0, ra_x, unif
    max r0, r0, 0
    min r0, r0, ra_right
    add r1, ra_y, unif
    max r1, r1, 0
    min r1, r1, ra_bottom
    nop; mul24 r1, r1, rb_source_pitch
    shl r0, r0, 2
    add r0, r0, r1
    add t0s, r0, rb_source
.endm

    rows_begin 4
    grid_begin
    mov rb_source, unif
    mov rb_source_pitch, unif
    mov ra_right, unif
    mov ra_bottom, unif
    mov rb_list, unif
    mov rb_count, unif
    mov rb_bias, unif
    mov rb_target, unif
    mov rb_pitch, unif

:block
    shl r0, ra_row, 2
    mov ra_y, r0
    shl r0, ra_column, 4
    add ra_x, r0, elem_num
    mov vw_setup, rb_write
:line
    mov unif_addr, rb_list
    mov ra_count, rb_count
    mov rb_red, rb_bias
    mov rb_green, rb_bias
    mov rb_blue, rb_bias
    mov rb_alpha, rb_bias
    look_up
:neighbour
    mov ra_weight, unif
    sub.setf ra_count, ra_count, 1
    brr.allz -, r:last
    nop; ldtmu0
    nop
    nop
    look_up
:last
    # r4 has the result of the lookup; its channels are 0 to 1.
    nop; fmul r0, r4.8a, ra_weight
    fadd rb_red, rb_red, r0; fmul r0, r4.8b, ra_weight
    fadd rb_green, rb_green, r0; fmul r0, r4.8c, ra_weight
    fadd rb_blue, rb_blue, r0; fmul r0, r4.8d, ra_weight
    brr.anynz -, r:neighbour
    fadd rb_alpha, rb_alpha, r0
    nop
    nop
    mov r0, rb_red
    fmul rb_out.8a, r0, 1.0
    mov r1, rb_green
    fmul rb_out.8b, r1, 1.0
    mov r2, rb_blue
    fmul rb_out.8c, r2, 1.0
    mov r3, rb_alpha
    fmul rb_out.8d, r3, 1.0
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
