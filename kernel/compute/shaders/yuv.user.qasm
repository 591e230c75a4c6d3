# Converts planes of Y, U and V to pixels: blocks of 64 x 4, in which an element has four adjacent pixels of each row.
#
# A word of a plane is four bytes. 16 words of Y are 64 pixels; the same pixels have 32 bytes each of U and V, so two elements share a word of these and use its
# lower or upper half. For each row four vectors are written to the VPM, beginning with pixels 0, 4, 8 and so on, and stored by columns.
#
# With y = 1.164 (Y - 16/255): red y + 1.596 v, green y - 0.391 u - 0.813 v, blue y + 2.018 u, where u and v are from -0.5 to 0.5 (BT.601).

.stage user
.uniform number, uint           # of the QPU
.uniform others, int            # see together.qinc
.uniform column, uint           # see grid.qinc, of 64 x 4 pixels
.uniform row, uint
.uniform step, uint
.uniform across, uint
.uniform blocks, uint
.uniform y_plane, address
.uniform u_plane, address
.uniform v_plane, address
.uniform y_pitch, uint          # bytes per row; half of it in the other planes
.uniform target, address
.uniform pitch, uint            # bytes per row

.include <vc4.qinc>
.include "rows.qinc"
.include "grid.qinc"

.set ra_y, ra0
.set ra_u, ra1
.set ra_v, ra2
.set ra_line, ra3
.set ra_us, ra4                 # words of each plane
.set ra_vs, ra5
.set ra_ys, ra6
.set rb_pitch, rb0
.set rb_target, rb1
.set rb_y_pitch, rb2
.set rb_shift, rb3              # 16 for odd elements
.set rb_scale, rb4
.set rb_offset, rb5
.set rb_red_v, rb6
.set rb_green_u, rb7
.set rb_green_v, rb8
.set rb_blue_u, rb9
.set rb_middle, rb10
.set rb_out, rb12
.set rb_chroma, rb11            # byte offset of the element's chroma word in the block

    rows_begin 4
    ldi r0, vdw_setup_0(16, 4, dma_v32(0, 0)) - vdw_setup_0(4, 16, dma_h32(0, 0))
    add rb_store, rb_store, r0
    grid_begin
    mov ra_y, unif
    mov ra_u, unif
    mov ra_v, unif
    mov rb_y_pitch, unif
    mov rb_target, unif
    mov rb_pitch, unif
    ldi rb_scale, 1.1643836
    ldi rb_offset, -0.0730593       # -1.1643836 * 16 / 255
    ldi rb_red_v, 1.5960268
    ldi rb_green_u, -0.3917623
    ldi rb_green_v, -0.8129676
    ldi rb_blue_u, 2.0172321
    ldi rb_middle, -0.5019608       # -128 / 255
    and r0, elem_num, 1
    shl rb_shift, r0, 4
    shr r0, elem_num, 1
    shl rb_chroma, r0, 2

:block
    shl r0, ra_row, 2
    mov ra_line, r0
:line
    # Addresses of the words of this row.
    mov r2, rb_y_pitch
    mov r0, ra_line
    nop; mul24 r1, r0, r2
    shl r3, ra_column, 6
    add r1, r1, r3
    shl r3, elem_num, 2
    add r1, r1, r3
    add t0s, ra_y, r1
    shr r0, r0, 1
    shr r2, r2, 1
    nop; mul24 r1, r0, r2
    shl r3, ra_column, 5
    add r1, r1, r3
    add r1, r1, rb_chroma
    add t0s, ra_u, r1
    add t0s, ra_v, r1
    nop; ldtmu0
    mov ra_ys, r4; ldtmu0
    shr ra_us, r4, rb_shift; ldtmu0
    shr ra_vs, r4, rb_shift
    mov vw_setup, rb_write

.macro pixel, y, u, v
    fmul r0, y, rb_scale
    fadd r0, r0, rb_offset
    fadd r1, u, rb_middle
    fadd r2, v, rb_middle
    fmul r3, r2, rb_red_v
    fadd r3, r0, r3; fmul r2, r2, rb_green_v
    nop; fmul rb_out.8a, r3, 1.0
    fadd r2, r0, r2; fmul r3, r1, rb_blue_u
    fadd r3, r0, r3; fmul r1, r1, rb_green_u
    fadd r2, r2, r1
    fmul rb_out.8c, r3, 1.0
    fmul rb_out.8b, r2, 1.0
    nop
    mov vpm, rb_out
.endm
    ldi rb_out, 0xff000000
    pixel ra_ys.8a, ra_us.8a, ra_vs.8a
    pixel ra_ys.8b, ra_us.8a, ra_vs.8a
    pixel ra_ys.8c, ra_us.8b, ra_vs.8b
    pixel ra_ys.8d, ra_us.8b, ra_vs.8b

    mov r2, rb_pitch
    mov r0, ra_line
    nop; mul24 r0, r0, r2
    shl r1, ra_column, 8
    add r0, r0, r1
    mov vw_setup, rb_store
    mov vw_setup, vdw_setup_1(0)
    add vw_addr, r0, rb_target
    read vw_wait
    add r0, ra_line, 1
    mov ra_line, r0
    and.setf -, r0, 3
    brr.anynz -, r:line
    nop
    nop
    nop
    grid_next r:block
