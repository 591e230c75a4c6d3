//! The letters that the boot code sends before there is Rust
//!
//! They go to the UART that pins 14 and 15 belong to, as the firmware has left it: the kernel has not set it up yet. A port that takes none is looked at some
//! thousand times for each letter, no longer.

use core::arch::global_asm;

use super::addresses;

// The provisional map of the boot code has one block of 2 MiB for all that is touched here.
const _: () =
    assert!(addresses::PL011 >> 21 == addresses::GPIO >> 21 && addresses::AUXILIARY >> 21 == addresses::GPIO >> 21);

global_asm!(
    r#"
// Sends the byte in w0. Changes x9 to x11; works at whatever address the image is.
.pushsection .text.early_letter, "ax"
.global __send_early_letter
__send_early_letter:
    ldr     x9, ={gpio}                 // GPFSEL1 bits 14:12: whom pin 14 belongs to
    ldr     w10, [x9, #4]
    ubfx    w10, w10, #12, #3
    mov     x11, #0x2000                // looks, at most
    cmp     w10, #2                     // ALT5: the mini UART
    b.eq    2f
    ldr     x9, ={pl011}
1:  subs    x11, x11, #1
    b.eq    4f
    ldr     w10, [x9, #0x18]            // FR bit 5: the PL011's FIFO is full
    tbnz    w10, #5, 1b
    str     w0, [x9]
    ret
2:  ldr     x9, ={auxiliary}
3:  subs    x11, x11, #1
    b.eq    4f
    ldr     w10, [x9, #0x54]            // LSR bit 5: the mini UART takes a byte
    tbz     w10, #5, 3b
    str     w0, [x9, #0x40]
4:  ret
.popsection
"#,
    gpio = const addresses::GPIO,
    pl011 = const addresses::PL011,
    auxiliary = const addresses::AUXILIARY,
);
