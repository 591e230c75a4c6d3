//! How memory travels over a serial line: runs of equal words folded, then base64.
//!
//! A packed block is a row of pieces. A piece begins with a control byte `n`:
//! * `n` below 128: `n + 1` bytes follow, as they are;
//! * `n` from 128 on: 4 bytes follow, which stand `n - 126` times (2 to 129 times).
//!
//! Graphics memory is mostly equal words (cleared tiles, colours, zeros), and the packer fits in a few lines of a kernel.

use anyhow::{Context, Result, bail, ensure};

/// The longest piece of bytes as they are.
const MAX_LITERAL: usize = 128;
/// How often the four bytes of a run can stand at most.
const MAX_RUN: usize = 129;

/// Packs a block of whole words.
pub(crate) fn pack(bytes: &[u8]) -> Vec<u8> {
    let mut packed = Vec::new();
    let mut literal: Vec<u8> = Vec::new();
    let (mut words, tail) = bytes.as_chunks::<4>();
    let flush = |literal: &mut Vec<u8>, packed: &mut Vec<u8>| {
        for piece in literal.chunks(MAX_LITERAL) {
            packed.push((piece.len() - 1) as u8);
            packed.extend_from_slice(piece);
        }
        literal.clear();
    };
    while let Some(word) = words.first() {
        let run = words.iter().take(MAX_RUN).take_while(|other| *other == word).count();
        if run > 1 {
            flush(&mut literal, &mut packed);
            packed.push((run + 126) as u8);
            packed.extend_from_slice(word);
        } else {
            literal.extend_from_slice(word);
        }
        words = &words[run..];
    }
    literal.extend_from_slice(tail);
    flush(&mut literal, &mut packed);
    packed
}

/// Unpacks a block.
pub(super) fn unpack(mut packed: &[u8]) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    while let Some((&control, rest)) = packed.split_first() {
        let (length, times) = match control {
            0..=127 => (usize::from(control) + 1, 1),
            128.. => (4, usize::from(control) - 126),
        };
        let (piece, rest) = rest.split_at_checked(length).context("a packed block ends within a piece")?;
        for _ in 0..times {
            bytes.extend_from_slice(piece);
        }
        packed = rest;
    }
    Ok(bytes)
}

/// Bytes in base64, padded.
pub(crate) fn to_base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for three in bytes.chunks(3) {
        let bits = three.iter().fold(0u32, |bits, &byte| bits << 8 | u32::from(byte)) << (8 * (3 - three.len()));
        for digit in 0..4 {
            let is_padding = digit > three.len();
            let digit = DIGITS[(bits >> (18 - 6 * digit) & 63) as usize];
            text.push(if is_padding { '=' } else { char::from(digit) });
        }
    }
    text
}

/// Decodes base64 with the usual alphabet and padding [RFC 4648, section 4].
pub(super) fn from_base64(text: &str) -> Result<Vec<u8>> {
    let digits = text.trim_end_matches('=');
    ensure!(text.len().is_multiple_of(4) && text.len() - digits.len() <= 2, "base64 of a wrong length");
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    let (mut bits, mut count) = (0u32, 0);
    for digit in digits.bytes() {
        let value = match digit {
            b'A'..=b'Z' => digit - b'A',
            b'a'..=b'z' => digit - b'a' + 26,
            b'0'..=b'9' => digit - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => bail!("a character that base64 does not have"),
        };
        bits = bits << 6 | u32::from(value);
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push((bits >> count) as u8);
        }
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_of_the_standard() {
        // RFC 4648, section 10.
        for (text, bytes) in [("", ""), ("Zg==", "f"), ("Zm8=", "fo"), ("Zm9v", "foo"), ("Zm9vYmFy", "foobar")] {
            assert_eq!(from_base64(text).unwrap(), bytes.as_bytes());
            assert_eq!(to_base64(bytes.as_bytes()), text);
        }
        assert!(from_base64("Zg=").is_err());
        assert!(from_base64("Z===").is_err());
        assert!(from_base64("Zm9-").is_err());
    }

    #[test]
    fn pieces() {
        assert_eq!(unpack(&[1, 7, 8, 128, 1, 2, 3, 4, 0, 9]).unwrap(), [7, 8, 1, 2, 3, 4, 1, 2, 3, 4, 9]);
        assert_eq!(unpack(&[255, 0, 0, 0, 0]).unwrap(), [0; 129 * 4]);
        assert!(unpack(&[3, 1, 2, 3]).is_err());
        assert_eq!(pack(&[9, 9, 9, 9, 1, 2, 3, 4, 1, 2, 3, 4, 5]), [3, 9, 9, 9, 9, 128, 1, 2, 3, 4, 0, 5]);
        assert_eq!(pack(&[0; 130 * 4]), [255, 0, 0, 0, 0, 3, 0, 0, 0, 0]);
    }
}
