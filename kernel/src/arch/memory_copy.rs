//! Copies of memory: the functions `memcpy` and `memmove`, which the compiler calls wherever a value is moved
//!
//! `compiler_builtins` has both, in Rust, with one word of 8 bytes in each iteration: for a target that excludes unaligned accesses it cannot do better. In
//! this kernel all memory that Rust code copies is mapped as normal memory with alignment checks off (see `boot.rs`), so 16 bytes are copied at any address.
//! The compiler of shaders moves values of 100 to 400 bytes a hundred thousand times.
//! [measured: copies were 24 of the 76 million instructions from power-on to the end of compiling `flight.wgsl`, 150 each.]
//!
//! Both functions are the same code. Up to 64 bytes are all loaded before any is stored. Longer copies go upwards, or downwards if the destination begins
//! within the source; the 64 bytes at which they end are loaded first and stored last, whatever the length is.

use alloc::{vec, vec::Vec};
use core::{arch::global_asm, hint::black_box};

global_asm!(
    r#"
.pushsection .text.memory_copy, "ax"
.global memcpy
.global memmove
.type memcpy, %function
.type memmove, %function
.balign 16
// x0: destination, x1: source, x2: number of bytes. Returns x0. Changes x1 to x7 and v0 to v7.
memcpy:
memmove:
    add     x4, x1, x2                  // end of the source
    add     x5, x0, x2                  // end of the destination
    cmp     x2, #16
    b.lo    2f
    cmp     x2, #64
    b.hi    4f

    // 16 to 64 bytes: up to 32 from each end.
    ldr     q0, [x1]
    ldr     q1, [x4, #-16]
    cmp     x2, #32
    b.ls    1f
    ldr     q2, [x1, #16]
    ldr     q3, [x4, #-32]
    str     q2, [x0, #16]
    str     q3, [x5, #-32]
1:  str     q0, [x0]
    str     q1, [x5, #-16]
    ret

    // Less than 16 bytes: 8, 4, 2 or 1 from each end.
2:  tbz     x2, #3, 3f
    ldr     x6, [x1]
    ldr     x7, [x4, #-8]
    str     x6, [x0]
    str     x7, [x5, #-8]
    ret
3:  tbz     x2, #2, 6f
    ldr     w6, [x1]
    ldr     w7, [x4, #-4]
    str     w6, [x0]
    str     w7, [x5, #-4]
    ret
6:  cbz     x2, 8f
    tbz     x2, #1, 7f
    ldrh    w6, [x1]
    ldrh    w7, [x4, #-2]
    strh    w6, [x0]
    strh    w7, [x5, #-2]
    ret
7:  ldrb    w6, [x1]
    strb    w6, [x0]
8:  ret

4:  sub     x3, x0, x1
    cmp     x3, x2
    b.lo    9f                          // the destination begins within the source

    // Upwards; the last 64 bytes are loaded first.
    ldp     q4, q5, [x4, #-64]
    ldp     q6, q7, [x4, #-32]
    mov     x3, x0
5:  ldp     q0, q1, [x1]
    ldp     q2, q3, [x1, #32]
    stp     q0, q1, [x3]
    stp     q2, q3, [x3, #32]
    add     x1, x1, #64
    add     x3, x3, #64
    sub     x2, x2, #64
    cmp     x2, #64
    b.hi    5b
    stp     q4, q5, [x5, #-64]
    stp     q6, q7, [x5, #-32]
    ret

    // Downwards; the first 64 bytes are loaded first.
9:  ldp     q4, q5, [x1]
    ldp     q6, q7, [x1, #32]
10: ldp     q0, q1, [x4, #-64]
    ldp     q2, q3, [x4, #-32]
    stp     q0, q1, [x5, #-64]
    stp     q2, q3, [x5, #-32]
    sub     x4, x4, #64
    sub     x5, x5, #64
    sub     x2, x2, #64
    cmp     x2, #64
    b.hi    10b
    stp     q4, q5, [x0]
    stp     q6, q7, [x0, #32]
    ret
.size memcpy, . - memcpy
.popsection
"#
);

/// Longest copy of the test: four iterations of the loops, and each remainder.
const LONGEST: usize = 330;
/// Bytes around a copy that must not change.
const MARGIN: usize = 80;

/// Copies bytes within a buffer, between many alignments, and over distances at which source and destination overlap. Each byte of the buffer is compared with
/// the one that a copy byte by byte would leave. Returns the number of copies.
///
/// # Errors
/// Source, destination and length of the first copy that is wrong.
pub fn check_copies() -> Result<usize, (usize, usize, usize)> {
    let pattern = |at: usize| (at.wrapping_mul(167) >> 3) as u8 ^ at as u8;
    let mut memory: Vec<u8> = vec![0; 2 * LONGEST + 4 * MARGIN];
    let mut copies = 0;
    let mut check = |from: usize, to: usize, length: usize| {
        for (at, byte) in memory.iter_mut().enumerate() {
            *byte = pattern(at);
        }
        memory.copy_within(black_box(from..from + length), black_box(to));
        copies += 1;
        let expected = |at: usize| if (to..to + length).contains(&at) { pattern(at - to + from) } else { pattern(at) };
        let is_right = memory.iter().enumerate().all(|(at, byte)| *byte == expected(at));
        if is_right { Ok(()) } else { Err((from, to, length)) }
    };
    // Without overlap: all lengths up to 130, with different alignments of both ends.
    for length in 0..=130 {
        let from = MARGIN + length % 16;
        check(from, LONGEST + 2 * MARGIN + length * 7 % 16, length)?;
        check(LONGEST + 2 * MARGIN + length * 5 % 16, from, length)?;
    }
    // Overlapping: upwards and downwards.
    for length in (0..=LONGEST).step_by(11) {
        for distance in [0, 1, 7, 8, 15, 16, 33, 63, 64, 65, 79] {
            check(MARGIN, MARGIN + distance, length)?;
            check(MARGIN + distance, MARGIN, length)?;
        }
    }
    Ok(copies)
}
