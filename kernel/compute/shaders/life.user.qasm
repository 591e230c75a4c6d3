# A generation of the game of life on a torus, 32 cells per word, 16 words per vector: 512 cells per block.
#
# Bits 0 to 31 of a word are cells from left to right. Neighbours are counted for all cells of a word at once, with bitwise adders: first the sums of the three
# cells of each row, then of the three rows.
#
# A block's words are addressed by its column and row; coordinates wrap around at the edges.

.stage user
.uniform number, uint           # of the QPU
.uniform others, int            # see together.qinc
.uniform column, uint           # see grid.qinc, of vectors
.uniform row, uint
.uniform step, uint
.uniform across, uint
.uniform blocks, uint
.uniform source, address
.uniform target, address
.uniform words, uint            # words per row, a multiple of 16
.uniform rows, uint             # rows

.include <vc4.qinc>
.include "rows.qinc"
.include "grid.qinc"

.set ra_source, ra0
.set ra_target, ra1
.set rb_words, rb0
.set rb_rows, rb1

# Looks up three adjacent words of the row in r0: the middle one, and those to the left and right for its outermost cells.
.macro look_up
    nop; mul24 r0, r0, r3
    shl r0, r0, 2
    add r0, r0, ra_source
    add t0s, r0, ra2
    add t0s, r0, ra3
    add t0s, r0, ra4
.endm

# From the three words: `ones` and `twos`, the binary digits of the number of live cells among left, middle and right.
.macro count_row, ones, twos
    nop; ldtmu0
    mov r0, r4; ldtmu0          # the word
    shl r1, r0, 1
    shr r2, r4, 31
    or r1, r1, r2; ldtmu0       # to the left: the lower neighbour
    shr r2, r0, 1
    shl r3, r4, 31
    or r2, r2, r3               # to the right
    mov ra5, r0
    xor r3, r1, r2
    and r1, r1, r2
    and r2, r3, r0
    or twos, r1, r2
    xor ones, r3, r0
.endm

    rows_begin 1
    grid_begin
    mov ra_source, unif
    mov ra_target, unif
    mov rb_words, unif
    mov rb_rows, unif

:block
    # Byte offsets in the row: of the words, of those to the left, of those to the right.
    mov r3, rb_words
    shl r0, ra_column, 4
    add r0, r0, elem_num
    shl ra2, r0, 2
    sub.setf r1, r0, 1
    add.ifn r1, r1, r3
    shl ra3, r1, 2
    add r1, r0, 1
    sub.setf -, r1, r3
    mov.ifnn r1, 0
    shl ra4, r1, 2

    sub.setf r0, ra_row, 1
    add.ifn r0, r0, rb_rows
    look_up
    mov r0, ra_row
    nop; mul24 r0, r0, r3
    shl r0, r0, 2
    mov rb2, r0
    count_row rb3, rb4
    mov r3, rb_words
    mov r0, ra_row
    look_up
    count_row rb5, rb6
    mov rb7, ra5                # the cells themselves
    mov r3, rb_words
    add r0, ra_row, 1
    sub.setf -, r0, rb_rows
    mov.ifnn r0, 0
    look_up
    count_row ra7, ra8

    # Adds the three rows: their ones, then their twos and the carry.
    mov r0, rb3
    xor r1, r0, rb5
    and r2, r0, rb5
    xor rb8, r1, ra7            # ones of the sum of nine
    and r1, r1, ra7
    or r0, r1, r2               # carry into the twos
    mov r1, rb4
    xor r2, r1, rb6
    and r3, r1, rb6
    xor r1, r2, ra8             # the twos' sum without the carry
    and r2, r2, ra8
    or r2, r2, r3               # fours, from the three twos
    and r3, r1, r0              # fours, from the carry
    xor r1, r1, r0              # twos
    xor r0, r2, r3              # fours
    and r2, r2, r3              # eights
    # The count includes the cell itself: with three it is alive next; with four it is unchanged.
    not r2, r2
    and r2, r2, rb8
    and r2, r2, r1
    not r3, r0
    and ra9, r2, r3             # three: ones, twos, no fours
    or r1, r1, rb8
    not r1, r1
    and r0, r0, r1              # four: fours, no ones, no twos
    and r0, r0, rb7
    or r0, r0, ra9

    mov vw_setup, rb_write
    mov vpm, r0
    mov vw_setup, rb_store
    mov r0, rb2
    shl r1, ra_column, 6
    add r0, r0, r1
    add vw_addr, r0, ra_target
    read vw_wait
    grid_next r:block
