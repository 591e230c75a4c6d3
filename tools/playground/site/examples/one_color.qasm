# The shortest fragment shader: a colour in r0, red in the lowest byte. The pipeline appends the store to the tile buffer, which must not be among the first
# two instructions.
.stage fragment
.output color

    ldi r0, 0xff4088ff
    nop
