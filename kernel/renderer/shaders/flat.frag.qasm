# Fragment shader: one flat colour per triangle, in r0, opaque.
#
# A varying is (A (x - x0) + B (y - y0)) W + C [AG p.51]. A and B of a flat varying are 0, and C is the vertex's value, in which 24 bits are exact.

.stage fragment
.threads 1
.output color
.varying color                  # red + 256 green + 65536 blue

    mov -, vary                 # brings C into r5
    mov r1, 0xff000000          # alpha 255
    ftoi r0, r5
    or r0, r0, r1
