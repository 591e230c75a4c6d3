# Uses operations of each file for fragment shaders: an interpolated texture lookup, darkened where its level of detail is high.

.include <vc4.qinc>
.include "operations/interpolation.qinc"
.include "operations/image.qinc"
.include "operations/image_lod.qinc"
.include "operations/image_sample.qinc"

.stage fragment
.threads 1
.varying place, 2

    nop
    interpolate
    mov ra0, r0
    interpolate
    mov ra1, r0
    image_resource
    image_get_lod
    nop
    # The reciprocal of the level of detail plus 1; the level of detail is at least 0.
    mov r0, ra16
    fadd r0, r0, 1.0
    image_reciprocal rb3, r0
    mov ra3, 0
    nop
    image_sample 0, image_implicit, 1, 0
    fmul ra16, ra16, rb3
    fmul ra17, ra17, rb3
    fmul ra18, ra18, rb3
    nop
    image_pack
    mov tlbc, r0
    thrend
    nop
    nop; sbdone
