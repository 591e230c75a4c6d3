# A pass of a radix sort of keys; see radix.qinc.

.stage user
.uniform number, uint           # of the QPU
.uniform others, int            # see together.qinc
.uniform keys, address
.uniform values, address
.uniform blocks, uint
.uniform shift, uint
.uniform table, address
.uniform to_values, uint

.set PAIRS, 0
.include "radix.qinc"
