//! A job over a serial line: how memory is packed, and how it is written
//!
//! A capture is lines of text, which survive any terminal: one that describes the job, one for each block of memory that is
//! not zero, and one with the sum of bytes. `cargo xtask capture` makes a job folder of them.
//!
//! ```text
//! capture job {"name":"cube","has_bin":true,"bin_ct0ca":134221824,…}
//! capture memory 08001000 5a0c93f1 AAECAwSCAAAA…
//! capture end 524288
//! ```
//!
//! A block's three words are its offset in RAM, the CRC-32 of its bytes, and the bytes, packed and then in base64
//! [RFC 4648]. Packed bytes are pieces, each with a control byte `n`: below 128, `n + 1` bytes follow as they are; from 128
//! on, 4 bytes follow that stand `n - 126` times. Graphics memory is mostly equal words.

use alloc::{string::String, vec::Vec};
use core::fmt::{self, Write};

use crate::crc32;

/// Bytes of memory that one line carries; a multiple of 4.
pub const BLOCK_BYTES: usize = 1024;

/// The longest piece of bytes as they are.
const LONGEST_LITERAL: usize = 128;
/// How often the four bytes of a run can stand at most.
const LONGEST_RUN: usize = 255 - 126;

/// Packs bytes.
#[must_use]
pub fn pack(bytes: &[u8]) -> Vec<u8> {
    let mut packed = Vec::new();
    let mut literal = 0;
    let mut at = 0;
    while at < bytes.len() {
        let run = run_length(&bytes[at..]);
        if run >= 2 {
            put_literal(&mut packed, &bytes[literal..at]);
            packed.push((run + 126) as u8);
            packed.extend_from_slice(&bytes[at..at + 4]);
            at += 4 * run;
            literal = at;
        } else {
            at = (at + 4).min(bytes.len());
        }
    }
    put_literal(&mut packed, &bytes[literal..]);
    packed
}

/// How often the first four bytes stand at the start of `bytes`, at most [`LONGEST_RUN`]; 0 if there are not four.
fn run_length(bytes: &[u8]) -> usize {
    let (words, _) = bytes.as_chunks::<4>();
    match words.first() {
        Some(first) => words.iter().take(LONGEST_RUN).take_while(|word| *word == first).count(),
        None => 0,
    }
}

fn put_literal(packed: &mut Vec<u8>, bytes: &[u8]) {
    for piece in bytes.chunks(LONGEST_LITERAL) {
        packed.push((piece.len() - 1) as u8);
        packed.extend_from_slice(piece);
    }
}

/// Bytes in base64, padded.
#[must_use]
pub fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for three in bytes.chunks(3) {
        let byte = |index: usize| u32::from(three.get(index).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for digit in 0..4 {
            if digit <= three.len() {
                text.push(char::from(DIGITS[(bits >> (18 - 6 * digit) & 63) as usize]));
            } else {
                text.push('=');
            }
        }
    }
    text
}

/// Writes the line of one block, unless it is all zero: what no block covers is zero. Says how many bytes it carries.
///
/// # Errors
/// Those of `output`.
pub fn write_block(output: &mut dyn Write, offset: usize, bytes: &[u8]) -> Result<usize, fmt::Error> {
    if bytes.iter().all(|&byte| byte == 0) {
        return Ok(0);
    }
    writeln!(output, "capture memory {offset:08x} {:08x} {}", crc32::of_bytes(bytes), base64(&pack(bytes)))?;
    Ok(bytes.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The format's own reading, written a second time: what a packed block stands for.
    fn unpack(mut packed: &[u8]) -> Vec<u8> {
        let mut bytes = Vec::new();
        while let Some((&control, rest)) = packed.split_first() {
            let control = usize::from(control);
            let (length, times) = if control < 128 { (control + 1, 1) } else { (4, control - 126) };
            bytes.extend(rest[..length].repeat(times));
            packed = &rest[length..];
        }
        bytes
    }

    #[test]
    fn base64_of_the_standard() {
        // RFC 4648, section 10.
        for (text, bytes) in [("", ""), ("Zg==", "f"), ("Zm8=", "fo"), ("Zm9v", "foo"), ("Zm9vYmFy", "foobar")] {
            assert_eq!(base64(bytes.as_bytes()), text);
        }
    }

    #[test]
    fn pieces_are_those_of_the_format() {
        assert_eq!(pack(&[]), []);
        assert_eq!(pack(&[7, 8, 9]), [2, 7, 8, 9]);
        assert_eq!(pack(&[1, 2, 3, 4].repeat(5)), [131, 1, 2, 3, 4]);
        assert_eq!(pack(&[9, 9, 9, 9, 1, 2, 3, 4, 1, 2, 3, 4, 5]), [3, 9, 9, 9, 9, 128, 1, 2, 3, 4, 0, 5]);
        assert_eq!(pack(&[0; 130 * 4]), [255, 0, 0, 0, 0, 3, 0, 0, 0, 0]);
    }

    #[test]
    fn what_is_packed_unpacks() {
        let mut state = 1u32;
        let mut random = move || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            state >> 16
        };
        for _ in 0..200 {
            let mut bytes = Vec::new();
            for _ in 0..random() % 20 {
                let word = [0, random(), 0xff][random() as usize % 3].to_le_bytes();
                bytes.extend(word.repeat(random() as usize % 200));
                bytes.extend((0..random() % 7).map(|n| n as u8));
            }
            assert_eq!(unpack(&pack(&bytes)), bytes);
        }
    }

    /// The CRC is another implementation's (zlib).
    #[test]
    fn a_block_is_a_line() {
        let mut text = String::new();
        assert_eq!(write_block(&mut text, 0x2004, b"abc"), Ok(3));
        assert_eq!(write_block(&mut text, 0x3000, &[0; 64]), Ok(0));
        assert_eq!(text, "capture memory 00002004 352441c2 AmFiYw==\n");
    }
}
