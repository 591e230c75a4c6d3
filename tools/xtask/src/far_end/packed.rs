//! Run-length encoding of memory for the serial line.
//!
//! An encoded block is a sequence of pieces. A piece starts with a control byte `n`:
//! * `n` below 128: `n + 1` literal bytes follow;
//! * `n` from 128 on: 4 bytes follow, which are repeated `n - 126` times (2 to 129 times).
//!
//! Most words of graphics memory are equal to their neighbours (cleared tiles, colours, zeros), and the encoder takes only a few lines in the kernel.

use anyhow::{Context, Result};

/// Most literal bytes of a piece.
const MAX_LITERAL: usize = 128;
/// Most repetitions of the four bytes of a run.
const MAX_RUN: usize = 129;

/// Encodes a block of whole words.
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

/// Decodes a block.
pub(crate) fn unpack(mut packed: &[u8]) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    while let Some((&control, rest)) = packed.split_first() {
        let (length, times) = match control {
            0..=127 => (usize::from(control) + 1, 1),
            128.. => (4, usize::from(control) - 126),
        };
        let (piece, rest) = rest.split_at_checked(length).context("the last piece of a packed block is incomplete")?;
        for _ in 0..times {
            bytes.extend_from_slice(piece);
        }
        packed = rest;
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces() {
        assert_eq!(unpack(&[1, 7, 8, 128, 1, 2, 3, 4, 0, 9]).unwrap(), [7, 8, 1, 2, 3, 4, 1, 2, 3, 4, 9]);
        assert_eq!(unpack(&[255, 0, 0, 0, 0]).unwrap(), [0; 129 * 4]);
        assert!(unpack(&[3, 1, 2, 3]).is_err());
        assert_eq!(pack(&[9, 9, 9, 9, 1, 2, 3, 4, 1, 2, 3, 4, 5]), [3, 9, 9, 9, 9, 128, 1, 2, 3, 4, 0, 5]);
        assert_eq!(pack(&[0; 130 * 4]), [255, 0, 0, 0, 0, 3, 0, 0, 0, 0]);
    }
}
