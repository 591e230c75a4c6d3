# Fragment shader: the colour of a point, in r0, opaque. See flat.frag.qasm.

.stage fragment
.threads 1
.output color
.primitive points
.varying color                  # red + 256 green + 65536 blue

    mov -, vary                 # the place in the point, across
    mov -, vary                 # and down
    mov -, vary                 # brings the colour into r5
    mov r1, 0xff000000          # alpha 255
    ftoi r0, r5
    or r0, r0, r1
