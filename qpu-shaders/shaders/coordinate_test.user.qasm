# The output of a coordinate shader, made visible: a user program that computes it for one made-up vertex and stores it to memory.
#
# This is the program of JayStation's article on VPM and VCD ("VPM, VCD, and VCM for Vertex Shaders"), whose words and results are printed there. To assemble
# to exactly the same words, the source names what an assembler would choose by itself: register files (ra32 reads a uniform and writes r0 by way of file A),
# the sources of operations that do nothing, and a register whose value is not used (read ra0).
#
# 16 lanes compute the same. One row each is written to the VPM: Xc, Yc, Zc, Wc, Ys:Xs, Zs, 1/Wc; then 7 rows of 16 words are stored to memory.

.stage user
.uniform screen_xy, uint        # Ys:Xs in 12.4 fixed point, from the corner of a picture of 640 x 480
.uniform screen_z, float
.uniform reciprocal_w, float
.uniform result, address        # 7 * 16 words

.include <vc4.qinc>

    nop

    or ra0, ra32, rb39; nop -, ra32, rb39       # Ys:Xs
    or ra1, ra32, rb39; nop -, ra32, rb39       # Zs
    or ra2, ra32, rb39; nop -, ra32, rb39       # 1/Wc

    # Of 0x17bc1ac2 only the lower 18 bits matter: stride 1, horizontal, 32 bits, row 2.
    ldi rb49, 0x17bc1ac2
    ldi ra48, 0.0                               # Zc
    ldi ra48, 1.0                               # Wc
    or ra48, ra0, rb39; nop -, ra0, rb39        # Ys:Xs
    or ra48, ra1, rb39; nop -, ra1, rb39        # Zs
    or ra48, ra2, rb39; nop -, ra2, rb39        # 1/Wc

    # Screen to clip coordinates: whole pixels to [-1, 1].
    shr r0, ra0.16a, 4
    shr r1, ra0.16b, 4
    itof.setf r0, r0, rb0; nop -, ra0, rb0
    itof.setf r1, r1, rb0; nop -, ra0, rb0
    ldi r2, 0x3b4d1ed9                          # 2 / 639
    ldi r3, 0x3b88d181                          # 2 / 479
    nop.never -, ra0, rb0; fmul.setf ra32, r0, r2
    nop.never -, ra0, rb0; fmul.setf ra33, r1, r3
    fsub r0, r0, 1.0; read ra0
    fsub r1, r1, 1.0; read ra0

    ldi rb49, 0x17bc1ac0                        # as above, from row 0
    or ra48, r0, r0                             # Xc
    or ra48, r1, r1; nop -, r1, r1              # Yc

    ldi rb49, vdw_setup_0(7, 16, dma_h32(0, 0)) # DMA store: 7 rows of 16 words from row 0
    or rb50, ra32, 0; nop -, ra32, 0            # to the address in the last uniform
    sbdone
    thrend
    nop
    nop
