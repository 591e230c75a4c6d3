# Fragment shader: one colour, the same everywhere, and no varying. It waits for the scoreboard, writes the colour, and ends.

.stage fragment
.threads 1

    ldi r0, 0x78563412          # red 0x12, green 0x34, blue 0x56, alpha 0x78
    nop; sbwait
    mov tlb_color_all, r0
    nop; thrend
    nop
    nop; sbdone
