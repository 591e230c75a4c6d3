//! Letters that the boot code sends before Rust runs
//!
//! They go to the UART that is connected to pins 14 and 15, with the firmware's settings, since the kernel has not initialised it yet. A UART whose FIFO stays
//! full is polled some thousand times for each letter, then the letter is dropped.

use core::arch::global_asm;

use super::addresses;

// The boot code's provisional map has a single block of 2 MiB for all registers that are accessed here.
const _: () =
    assert!(addresses::PL011 >> 21 == addresses::GPIO >> 21 && addresses::AUXILIARY >> 21 == addresses::GPIO >> 21);

global_asm!(
    r#"
// Sends the byte in w0. Changes x9 to x11; position-independent.
.pushsection .text.early_letter, "ax"
.global __send_early_letter
__send_early_letter:
    ldr     x9, ={gpio}                 // GPFSEL1 bits 14:12: the function of pin 14
    ldr     w10, [x9, #4]
    ubfx    w10, w10, #12, #3
    mov     x11, #0x2000                // most polls
    cmp     w10, #2                     // ALT5: the mini UART
    b.eq    2f
    ldr     x9, ={pl011}
1:  subs    x11, x11, #1
    b.eq    4f
    ldr     w10, [x9, #0x18]            // FR bit 5: the PL011's transmit FIFO is full
    tbnz    w10, #5, 1b
    str     w0, [x9]
    ret
2:  ldr     x9, ={auxiliary}
3:  subs    x11, x11, #1
    b.eq    4f
    ldr     w10, [x9, #0x54]            // LSR bit 5: the mini UART's transmit FIFO has room
    tbz     w10, #5, 3b
    str     w0, [x9, #0x40]
4:  ret
.popsection
"#,
    gpio = const addresses::GPIO,
    pl011 = const addresses::PL011,
    auxiliary = const addresses::AUXILIARY,
);
