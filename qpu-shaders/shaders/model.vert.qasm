# Vertex shader of a model's vertices in the light of one direction: what the renderer gets.
#
# Vertices stand in memory as `renderer::asset::ModelPart` has them. The normal's half floats are unpacked as they are read from register file A [AG p.31].
#
# Read: x, y, z, the normal in two words, u, v. Written: Ys:Xs, Zs, 1/Wc, and the varyings u, v and light [AG p.60].

.stage vertex
.attribute position, 3
.attribute normal, 4, f16       # x, y, z, and 0
.attribute uv, 2
.varying uv, 2
.varying light
.uniform matrix, mat4           # row by row
.uniform viewport_half_width, float    # in 1/16 pixel
.uniform viewport_half_height, float
.uniform viewport_z_scale, float
.uniform viewport_z_offset, float
.uniform normal_matrix, mat3    # row by row; takes normals to where to_light is, without changing their length
.uniform to_light, vec3         # as long as the light is bright
.uniform ambient, float         # light that comes from everywhere

.include <vc4.qinc>
.include "transform.qinc"

# One row of the normal's matrix times the normal.
.macro normal_row, target
    fmul r0, ra9.16a, unif
    fmul r1, ra9.16b, unif
    fadd r0, r0, r1; fmul r1, ra10.16a, unif
    fadd target, r0, r1
.endm

    mov vr_setup, vpm_setup(7, 1, h32(0))    # read 7 vectors: horizontal, 32 bits, row by row from row 0
    mov vw_setup, vpm_setup(0, 1, h32(0))    # write likewise, from row 0
    nop                         # three instructions between set-up and first read
    nop
    mov ra0, vpm                # x
    mov ra1, vpm                # y
    mov ra2, vpm                # z
    mov ra9, vpm                # normal: y:x
    mov ra10, vpm               # normal: 0:z
    mov ra11, vpm               # u
    mov ra12, vpm               # v
    transform

    mov vpm, ra8                # Ys:Xs
    mov vpm, r2                 # Zs
    mov vpm, r3                 # 1/Wc
    mov vpm, ra11
    mov vpm, ra12
    normal_row r2
    normal_row r3
    normal_row ra13
    fmul r2, r2, unif
    fmul r3, r3, unif
    fadd r2, r2, r3; fmul r0, ra13, unif
    fadd r0, r0, r2
    fmax r0, r0, 0              # what faces away has only the ambient light
    fadd vpm, r0, unif
    thrend
    nop
    nop
