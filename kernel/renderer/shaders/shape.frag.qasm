# Fragment shader: an antialiased rounded box or its outline, in r0, premultiplied.
#
# The signed distance to the box's edge, negative inside, with q = |place| - straight, is
# |max(q, 0)| + min(max(q.x, q.y), 0) - radius. The outline is a band of half width `band` inside the edge; the distance to the band is
# | distance + band | - band. A band wider than the box fills it. Coverage is 0.5 minus this distance, clamped to 0 to 1.

.stage fragment
.threads 1
.output color
.varying place, 2               # from the box's centre along its axes, in pixels
.varying straight, 2            # half of the straight part of its sides
.varying radius                 # of its corners
.varying band                   # half of the outline's width
.varying color, 4               # red, green, blue, alpha, premultiplied

    fmul r0, vary, ra15
    fadd ra0, r0, r5; fmul r1, vary, ra15
    fadd ra1, r1, r5; fmul r0, vary, ra15
    fadd r2, r0, r5; fmul r1, vary, ra15
    fadd r3, r1, r5; fmul r0, vary, ra15
    fadd ra2, r0, r5; fmul r1, vary, ra15
    fadd ra3, r1, r5; fmul r0, vary, ra15
    fadd ra4, r0, r5; fmul r1, vary, ra15
    fadd ra5, r1, r5; fmul r0, vary, ra15
    fadd ra6, r0, r5; fmul r1, vary, ra15
    fadd ra7, r1, r5

    fmaxabs r0, ra0, ra0
    fmaxabs r1, ra1, ra1
    fsub r0, r0, r2             # q
    fsub r1, r1, r3
    fmax r2, r0, r1
    fmin r2, r2, 0              # min(max(q.x, q.y), 0)
    fmax r0, r0, 0
    fmax r1, r1, 0; fmul r0, r0, r0
    fmul r1, r1, r1
    fadd r0, r0, r1             # the square of |max(q, 0)|
    mov r1, 1e-12               # 1 / sqrt(0) is infinite
    fmax r0, r0, r1
    mov sfu_recipsqrt, r0       # comes into r4 two instructions later, to 12 bits or so
    nop
    nop
    fmul r1, r0, r4             # the root, and one step of Newton's method to make it exact
    fmul r3, r1, r1
    fsub r3, r0, r3
    fmul r3, r3, r4
    fmul r3, r3, 0.5
    fadd r1, r1, r3
    fadd r1, r1, r2
    fsub r1, r1, ra2            # the distance
    fadd r1, r1, ra3
    fmaxabs r1, r1, r1
    fsub r1, r1, ra3
    fsub r1, 0.5, r1
    fmin r1, r1, 1.0
    fmax r1, r1, 0
    fmul r0.8a, ra4, r1
    fmul r0.8b, ra5, r1
    fmul r0.8c, ra6, r1
    fmul r0.8d, ra7, r1
