# Vertex shader of textured vertices that a matrix transforms to clip coordinates, for the renderer.
#
# Read: x, y, z, u, v. Written: Ys:Xs, Zs, 1/Wc, and the varyings u, v [AG p.60].

.stage vertex
.attribute position, 3
.attribute uv, 2
.varying uv, 2
.uniform matrix, mat4           # row-major
.uniform viewport_half_width, float    # in 1/16 pixel
.uniform viewport_half_height, float
.uniform viewport_z_scale, float
.uniform viewport_z_offset, float

.include <vc4.qinc>
.include "transform.qinc"

    mov vr_setup, vpm_setup(5, 1, h32(0))    # read 5 vectors: horizontal, 32 bits, row by row from row 0
    mov vw_setup, vpm_setup(0, 1, h32(0))    # write likewise, from row 0
    nop                         # three instructions between set-up and first read
    nop
    mov ra0, vpm                # x
    mov ra1, vpm                # y
    mov ra2, vpm                # z
    mov ra9, vpm                # u
    mov ra10, vpm               # v
    transform

    mov vpm, ra8                # Ys:Xs
    mov vpm, r2                 # Zs
    mov vpm, r3                 # 1/Wc
    mov vpm, ra9
    mov vpm, ra10
    thrend
    nop
    nop
