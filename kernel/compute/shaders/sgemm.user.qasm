# C = alpha * A * B + beta * C, in tiles of 16 rows and 48 columns: an element of a vector is a row, a register is a column.
#
# For each k, the TMU loads a column of A, one iteration ahead, and 48 words of a row of B are read as uniforms: 48 multiplications and additions in 52
# instructions. A tile is three words of a list: the addresses of A's first row, B's first column, and C.

.stage user
.uniform quarter, uint
.uniform others, int
.uniform tiles, address         # list of tiles
.uniform count, uint            # tiles, at least 1
.uniform depth, uint            # columns of A and rows of B, at least 1
.uniform a_pitch, uint          # bytes per row
.uniform b_pitch, uint
.uniform c_pitch, uint
.uniform alpha, float
.uniform beta, float

.include <vc4.qinc>
.include "quarters.qinc"

.set ra_tiles, ra24
.set ra_count, ra25
.set ra_k, ra26
.set ra_c, ra27
.set rb_depth, rb24
.set rb_a_rows, rb25            # byte offset of each element's row in the tile
.set rb_b_pitch, rb26
.set rb_c_rows, rb27
.set rb_alpha, rb28
.set rb_beta, rb29
.set ra_c_stride, ra31          # set-up word of the stores' stride

# The register of the sum of column j.
.func sum(j)
  .if j % 2 == 0
    ra0 + j / 2
  .else
    rb0 + j / 2
  .endif
.endf

    begin
    mov ra_tiles, unif
    mov ra_count, unif
    mov rb_depth, unif
    mov r0, unif
    nop; mul24 rb_a_rows, r0, elem_num
    mov rb_b_pitch, unif
    mov r0, unif
    nop; mul24 rb_c_rows, r0, elem_num
    ldi r1, vdw_setup_1(0) - 64
    add ra_c_stride, r0, r1
    mov rb_alpha, unif
    mov rb_beta, unif

:tile
    mov unif_addr, ra_tiles
.rep j, 24
    mov ra0 + j, 0; mov rb0 + j, 0
.endr
    mov r1, unif
    mov r2, unif
    mov ra_c, unif
    mov unif_addr, r2
    mov r3, rb_b_pitch
    add r1, r1, rb_a_rows
    add r2, r2, r3; mov t0s, r1
    mov ra_k, rb_depth
    add r1, r1, 4
    mov t0s, r1
    nop; ldtmu0
:k
    sub.setf ra_k, ra_k, 1
    add r1, r1, 4; fmul r0, r4, unif
.rep j, 46
    fadd sum(j), sum(j), r0; fmul r0, r4, unif
.endr
    brr.anynz -, r:k
    fadd sum(46), sum(46), r0; fmul r0, r4, unif
    fadd sum(47), sum(47), r0; mov unif_addr, r2; ldtmu0
    add r2, r2, r3; mov t0s, r1
    # A column beyond the last one was requested twice; this discards the remaining result.
    mov r3, ra_c
    add r3, r3, rb_c_rows; ldtmu0

    mov r2, rb_alpha
    ldi r1, vpm_setup(0, 1, v32(0, 0)) - vpm_setup(0, 1, h32(0))
    mov t0s, r3
    add r3, r3, 4
    mov t0s, r3
    add r3, r3, 4
    mov t0s, r3
    add ra_k, rb_write, r1      # set-up word of writes by columns
    claim
.rep j, 48
.if j % 16 == 0
    mov vw_setup, ra_k
.endif
.if j < 45
    add r3, r3, 4
    mov t0s, r3
.endif
    nop; ldtmu0
    fmul r1, r4, rb_beta
    fmul r0, sum(j), r2
    fadd vpm, r0, r1
.if j % 16 == 15
    store16 ra_c, ra_c_stride
    ldi r1, 64
    add ra_c, ra_c, r1
    read vw_wait
.endif
.endr
    release
    ldi r0, 12
    sub.setf ra_count, ra_count, 1
    brr.anynz -, r:tile
    add ra_tiles, ra_tiles, r0
    nop
    nop
    end
