# The maximum of floats; see reduce.qinc.

.stage user
.uniform number, uint           # of the QPU
.uniform others, int            # see together.qinc
.uniform exchanged, uint        # bits of each word that are inverted first
.uniform source, address        # first block
.uniform stride, uint           # bytes from one block to the next
.uniform blocks, uint           # at least 1
.uniform neutral, uint          # neutral element
.uniform target, address        # 16 words

.include <vc4.qinc>

.macro combine, target, a, b
    fmax target, a, b
.endm

.include "reduce.qinc"
