# Coordinate shader of vertices that are in normalised device coordinates, for the binner.
#
# In the VPM, each vertex is a column. Read: x, y, z. Written: Xc, Yc, Zc, Wc, Ys:Xs, Zs, 1/Wc [AG p.61].

.stage coordinate
.attribute position, 3
.uniform viewport_half_width, float    # in 1/16 pixel
.uniform viewport_half_height, float
.uniform viewport_z_scale, float
.uniform viewport_z_offset, float

.include <vc4.qinc>

    mov vr_setup, vpm_setup(3, 1, h32(0))   # read 3 vectors: horizontal, 32 bits, row by row from row 0
    mov vw_setup, vpm_setup(0, 1, h32(0))   # write likewise, from row 0
    nop                         # three instructions between set-up and first read
    nop
    mov r0, vpm                 # x
    mov r1, vpm                 # y
    mov r2, vpm                 # z

    mov vpm, r0                 # Xc
    mov vpm, r1                 # Yc
    mov vpm, r2                 # Zc
    mov vpm, 1.0                # Wc

    fmul r0, r0, unif
    fmul r1, r1, unif
    ftoi ra0.16a, r0            # Xs
    ftoi ra0.16b, r1            # Ys
    fmul r2, r2, unif
    fadd r2, r2, unif
    mov vpm, ra0                # Ys:Xs
    mov vpm, r2                 # Zs
    mov vpm, 1.0                # 1/Wc
    thrend
    nop
    nop
