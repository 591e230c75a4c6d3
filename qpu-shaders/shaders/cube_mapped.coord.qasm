# Coordinate shader of vertices that a matrix transforms to clip coordinates, for the binner.
#
# Read: x, y, z. Written: Xc, Yc, Zc, Wc, Ys:Xs, Zs, 1/Wc [AG p.61].

.stage coordinate
.attribute position, 3
.uniform matrix, mat4           # row-major
.uniform viewport_half_width, float    # in 1/16 pixel
.uniform viewport_half_height, float
.uniform viewport_z_scale, float
.uniform viewport_z_offset, float

.include <vc4.qinc>
.include "transform.qinc"

    mov vr_setup, vpm_setup(3, 1, h32(0))    # read 3 vectors: horizontal, 32 bits, row by row from row 0
    mov vw_setup, vpm_setup(0, 1, h32(0))    # write likewise, from row 0
    nop                         # three instructions between set-up and first read
    nop
    mov ra0, vpm                # x
    mov ra1, vpm                # y
    mov ra2, vpm                # z
    transform

    mov vpm, ra4                # Xc
    mov vpm, ra5                # Yc
    mov vpm, ra6                # Zc
    mov vpm, ra7                # Wc
    mov vpm, ra8                # Ys:Xs
    mov vpm, r2                 # Zs
    mov vpm, r3                 # 1/Wc
    thrend
    nop
    nop
