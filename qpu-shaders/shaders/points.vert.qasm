# Vertex shader of points with a size of their own, which a matrix transforms to clip coordinates, for the renderer.
#
# Read: x, y, z, size, red, green, blue. Written: Ys:Xs, Zs, 1/Wc, size, and the varyings red, green, blue, size [AG p.60].

.stage vertex
.point_size
.attribute position, 3
.attribute size, 1              # in pixels
.attribute color, 3
.varying color, 3
.varying size
.uniform matrix, mat4           # row-major
.uniform viewport_half_width, float    # in 1/16 pixel
.uniform viewport_half_height, float
.uniform viewport_z_scale, float
.uniform viewport_z_offset, float

.include <vc4.qinc>
.include "transform.qinc"

    mov vr_setup, vpm_setup(7, 1, h32(0))   # read 7 vectors: horizontal, 32 bits, row by row from row 0
    mov vw_setup, vpm_setup(0, 1, h32(0))   # write likewise, from row 0
    nop                         # three instructions between set-up and first read
    nop
    mov ra0, vpm                # x
    mov ra1, vpm                # y
    mov ra2, vpm                # z
    mov ra12, vpm               # size
    mov ra9, vpm                # red
    mov ra10, vpm               # green
    mov ra11, vpm               # blue
    transform

    mov vpm, ra8                # Ys:Xs
    mov vpm, r2                 # Zs
    mov vpm, r3                 # 1/Wc
    fmax vpm, ra12, 0.125
    mov vpm, ra9
    mov vpm, ra10
    mov vpm, ra11
    fmax vpm, ra12, 0.125
    thrend
    nop
    nop
