# Uses operations of each file that user programs can use. In each element n it computes a number, stores it, and adds it to a sum.

.include <vc4.qinc>
.include "operations/integer.qinc"
.include "operations/multiply.qinc"
.include "operations/bits.qinc"
.include "operations/convert.qinc"
.include "operations/float.qinc"
.include "operations/functions.qinc"
.include "operations/double.qinc"
.include "operations/fma.qinc"
.include "operations/quad.qinc"
.include "operations/control.qinc"
.include "operations/shared.qinc"
.include "operations/image_memory.qinc"
.include "operations/image_atomic.qinc"

.stage user
.uniform results, uint          # address of 16 words
.uniform sum, uint              # address of a word

# The operation that image_atomic applies to the word in memory.
.macro image_operation
    image_atomic_add
.endm

    # 100.25 / (n + 1), rounded to an integer.
    mov r0, elem_num
    cvt_int_f32 32, round_n
    mov r1, 1.0
    add_rn_f32
    rcp_f32
    ldi r1, 100.25
    mul_rn_f32
    cvt_f32_int 32, round_n
    # Times 3, plus n, and some bits inverted.
    mov r1, 3
    mul_b32
    mov r1, elem_num
    add_b32
    ldi r1, 0x55
    xor_b32 0, 0
    # The horizontal neighbour's number.
    quad_dox
    # Times 1 plus 1, as a double.
    cvt_int_f64 32
    ldi r3, 0x3ff00000
    mov r2, 0; mov sb0, r3
    mov sa0, 0
    nop
    # SRC3 is in sb0 (higher word) and sa0, SRC2 in r3 and r2.
    fma_f64 round_n
    cvt_f64_int 32, round_z
    mov rb10, r0
    # Elements with an odd number skip an addition.
    flow_begin
    and r0, elem_num, 1
    bra_if 1
    mov r0, rb10
    mov.setf -, flow
    add.ifz rb10, r0, 8
    join 1
    flow_end
    # Plus the number of the QPU.
    mov_physid
    mov r1, rb10
    add_b32
    mov ra16, r0
    # Stores the result, to a separate address in each element.
    shl r1, elem_num, 2
    add ra26, r1, unif
    nop
    image_scatter 5, 32
    # And to the sum.
    mov ra26, unif
    mov ra17, 0
    mov ra18, 0
    nop
    image_atomic 3
    mov irq, 1
    thrend
    nop
    nop
