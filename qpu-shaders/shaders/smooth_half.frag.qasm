# Fragment shader: the interpolated colour with its alpha as half floats, for targets of 64 bits per pixel. See smooth.frag.qasm.
#
# Only writes to register file A can pack to half floats, and the second instruction after such a write is the first that can read the result.

.stage fragment
.threads 1
.output half_color
.varying shade, 4               # red, green, blue, alpha

    fmul r0, vary, ra15
    fadd ra0.16a, r0, r5; fmul r1, vary, ra15
    fadd ra0.16b, r1, r5; fmul r2, vary, ra15
    fadd ra1.16a, r2, r5; fmul r3, vary, ra15
    fadd ra1.16b, r3, r5; mov r0, ra0
    nop
    mov r1, ra1
