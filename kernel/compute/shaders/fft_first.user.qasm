# The first pass of a transform: 16 adjacent points go to different blocks, so each element has its own twiddle factors: powers 1 to 15 of one factor.
#
# The next word after the parameters of `pass_load` is the address of a table: the factor of each element, in pieces like signals. The results of an element
# become adjacent, as a piece.

.stage user
.uniform quarter, uint
.uniform others, int
.uniform block, uint
.uniform blocks, uint
.uniform parameters, address

.include <vc4.qinc>
.include "quarters.qinc"
.include "fft16.qinc"
.include "fft_pass.qinc"

# Powers of the factor: 1 to 3 and 12 for results in file B, 4 and 8 for those in file A, and their products with 1 to 3.
.set w1r, ra1
.set w1i, ra9
.set w2r, ra3
.set w2i, ra11
.set w3r, ra5
.set w3i, ra13
.set w4r, rb1
.set w4i, rb9
.set w8r, rb3
.set w8i, rb11
.set w12r, ra7
.set w12i, ra15

.macro rotate_result, j, wr, wi
    complex_product out_re(j), out_im(j), out_re(j), out_im(j), wr, wi
.endm

    pass_begin
:block
    pass_load
    # The factors of this block: piece t & load_mask of the table.
    ldi r0, 20
    add unif_addr, ra_parameters, r0
    mov r1, ra_block
    shl r0, elem_num, 2
    mov r2, unif
    and r1, r1, unif
    shl r1, r1, 7
    add r0, r0, r1
    add r0, r0, r2
    mov t0s, r0
    ldi r1, 64
    add t1s, r0, r1
    fft16
    nop; ldtmu0
    mov w1r, r4; ldtmu1
    mov w1i, r4
    mov r0, w1r                                     # the square
    mov r1, w1i
    fmul r2, r0, r0
    fmul r3, r1, r1
    fsub w2r, r2, r3; fmul r2, r0, r1
    fadd w2i, r2, r2
    mov r0, w2r                                     # third and fourth
    mov r1, w2i
    fmul r2, r0, w1r
    fmul r3, r1, w1i
    fsub w3r, r2, r3; fmul r2, r0, w1i
    fmul r3, r1, w1r
    fadd w3i, r2, r3; fmul r2, r0, r0
    fmul r3, r1, r1
    fsub w4r, r2, r3; fmul r2, r0, r1
    fadd w4i, r2, r2
    mov r0, w4r                                     # eighth and twelfth
    mov r1, w4i
    fmul r2, r0, r0
    fmul r3, r1, r1
    fsub r3, r2, r3; fmul r2, r0, r1
    fadd r2, r2, r2; mov w8r, r3
    mov w8i, r2
    fmul rb5, r3, r0                                # r3, r2: eighth; r0, r1: fourth
    fmul rb7, r2, r1
    fmul r3, r3, r1
    fmul r2, r2, r0
    fadd w12i, r3, r2
    mov r0, rb7
    fsub w12r, rb5, r0

    rotate_result 1, w1r, w1i
    rotate_result 2, w2r, w2i
    rotate_result 3, w3r, w3i
    rotate_result 4, w4r, w4i
    complex_product rb5, rb13, w1r, w1i, w4r, w4i
    nop
    rotate_result 5, rb5, rb13
    complex_product rb5, rb13, w2r, w2i, w4r, w4i
    nop
    rotate_result 6, rb5, rb13
    complex_product rb5, rb13, w3r, w3i, w4r, w4i
    nop
    rotate_result 7, rb5, rb13
    rotate_result 8, w8r, w8i
    complex_product rb5, rb13, w1r, w1i, w8r, w8i
    nop
    rotate_result 9, rb5, rb13
    complex_product rb5, rb13, w2r, w2i, w8r, w8i
    nop
    rotate_result 10, rb5, rb13
    complex_product rb5, rb13, w3r, w3i, w8r, w8i
    nop
    rotate_result 11, rb5, rb13
    rotate_result 12, w12r, w12i
    # File B has power 12 and its products; the first three go beside them.
    mov rb5, w12r
    mov rb13, w12i
    complex_product w1r, w1i, w1r, w1i, rb5, rb13
    complex_product w2r, w2i, w2r, w2i, rb5, rb13
    complex_product w3r, w3i, w3r, w3i, rb5, rb13
    rotate_result 13, w1r, w1i
    rotate_result 14, w2r, w2i
    rotate_result 15, w3r, w3i

    pass_second_half
    ldi r2, vpm_setup(0, 1, v32(0, 0)) - vpm_setup(0, 1, h32(0))
    add rb1, rb_write, r2
    claim
    mov vw_setup, rb1
.rep j, 16
    mov vpm, out_re(j)
.endr
    mov r1, unif
    mov rb3, unif
    mov r3, unif                # stride's set-up word
    add r1, ra_target, r1
    store16 r1, r3
    read vw_wait
    mov vw_setup, rb1
.rep j, 16
    mov vpm, out_im(j)
.endr
    add r1, ra_target, rb3
    store16 r1, r3
    release
    pass_next r:block
    end
