# Vertex shader of textured vertices in the light of one direction: what the renderer gets.
#
# Read: x, y, z, the normal, u, v. Written: Ys:Xs, Zs, 1/Wc, and the varyings u, v and light [AG p.60].

.stage vertex
.attribute position, 3
.attribute normal, 3
.attribute uv, 2
.varying uv, 2
.varying light
.uniform matrix, mat4           # row by row
.uniform viewport_half_width, float    # in 1/16 pixel
.uniform viewport_half_height, float
.uniform viewport_z_scale, float
.uniform viewport_z_offset, float
.uniform to_light, vec3         # as long as the light is bright, in the coordinates of the normals
.uniform ambient, float

.include <vc4.qinc>
.include "transform.qinc"

    mov vr_setup, vpm_setup(8, 1, h32(0))    # read 8 vectors: horizontal, 32 bits, row by row from row 0
    mov vw_setup, vpm_setup(0, 1, h32(0))    # write likewise, from row 0
    nop                         # three instructions between set-up and first read
    nop
    mov ra0, vpm                # x
    mov ra1, vpm                # y
    mov ra2, vpm                # z
    mov ra9, vpm                # normal
    mov ra10, vpm
    mov ra11, vpm
    mov ra12, vpm               # u
    mov ra13, vpm               # v
    transform

    mov vpm, ra8                # Ys:Xs
    mov vpm, r2                 # Zs
    mov vpm, r3                 # 1/Wc
    mov vpm, ra12
    mov vpm, ra13
    fmul r0, ra9, unif
    fmul r1, ra10, unif
    fadd r0, r0, r1; fmul r1, ra11, unif
    fadd r0, r0, r1
    fmax r0, r0, 0              # what faces away has only the ambient light
    fadd vpm, r0, unif
    thrend
    nop
    nop
