//! Text format of a captured job on the serial line
//!
//! A capture consists of text lines, which any terminal can transmit: a line that describes the job, a line for each block of memory that is not zero, and a
//! line with the number of bytes. `cargo xtask capture` writes them to a job folder.
//!
//! ```text
//! capture job {"name":"cube","has_bin":true,"bin_ct0ca":134221824,…}
//! capture memory 08001000 5a0c93f1 AAECAwSCAAAA…
//! capture end 524288
//! ```
//!
//! `cargo xtask replay` sends blocks in the opposite direction, one per line, without the words `capture memory`.
//!
//! A block's three words are its offset in RAM, the CRC-32 of its bytes, and the bytes, which are run-length encoded and then written in base64 [RFC 4648]. The
//! encoding is a sequence of pieces with a control byte `n` each: below 128, `n + 1` literal bytes follow; from 128 on, 4 bytes follow that are repeated `n -
//! 126` times. Most words of graphics memory are equal to their neighbours.

pub mod names_in_json;
#[cfg(target_os = "none")]
pub mod replay;

use alloc::vec::Vec;
use core::fmt::{self, Write};

use data_encoding::BASE64;

use crate::crc32;

/// Bytes of memory per line; a multiple of 4.
pub const BLOCK_BYTES: usize = 1024;

/// Most literal bytes of a piece.
const MAX_LITERAL: usize = 128;
/// Most repetitions of the four bytes of a run.
const MAX_RUN: usize = 255 - 126;

/// Run-length encodes bytes.
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

/// Number of times that `bytes` starts with its first four bytes in succession, at most [`MAX_RUN`]; 0 if there are fewer than four bytes.
fn run_length(bytes: &[u8]) -> usize {
    let (words, _) = bytes.as_chunks::<4>();
    match words.first() {
        Some(first) => words.iter().take(MAX_RUN).take_while(|word| *word == first).count(),
        None => 0,
    }
}

fn put_literal(packed: &mut Vec<u8>, bytes: &[u8]) {
    for piece in bytes.chunks(MAX_LITERAL) {
        packed.push((piece.len() - 1) as u8);
        packed.extend_from_slice(piece);
    }
}

/// Decodes run-length encoded bytes; `None` if the last piece is incomplete, or if the result is longer than a block.
#[must_use]
pub fn unpack(mut packed: &[u8]) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    while let Some((&control, rest)) = packed.split_first() {
        let control = usize::from(control);
        let (length, times) = if control < MAX_LITERAL { (control + 1, 1) } else { (4, control - 126) };
        let (piece, rest) = rest.split_at_checked(length)?;
        if bytes.len() + length * times > BLOCK_BYTES {
            return None;
        }
        bytes.extend(piece.repeat(times));
        packed = rest;
    }
    Some(bytes)
}

/// Why a line is not a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockError {
    /// It does not have three words of which the first two are hexadecimal numbers.
    Words,
    /// Its third word is not a run-length encoding in base64.
    Bytes,
    /// The CRC-32 of its bytes differs from its second word.
    Crc {
        /// The CRC in the line.
        said: u32,
        /// The CRC of the bytes.
        found: u32,
    },
}

impl fmt::Display for BlockError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Words => f.write_str("a block is an offset, a CRC-32 and bytes"),
            Self::Bytes => f.write_str("the bytes are not packed bytes in base64"),
            Self::Crc { said, found } => write!(f, "the CRC of the bytes is {found:08x} instead of {said:08x}"),
        }
    }
}

impl core::error::Error for BlockError {}

/// Parses a block; returns its offset and its bytes.
///
/// # Errors
/// When the line is damaged.
pub fn read_block(line: &str) -> Result<(u32, Vec<u8>), BlockError> {
    let mut words = line.split(' ');
    let (Some(offset), Some(said), Some(bytes), None) = (words.next(), words.next(), words.next(), words.next()) else {
        return Err(BlockError::Words);
    };
    let number = |word| u32::from_str_radix(word, 16).map_err(|_| BlockError::Words);
    let (offset, said) = (number(offset)?, number(said)?);
    let bytes = BASE64.decode(bytes.as_bytes()).ok().and_then(|packed| unpack(&packed)).ok_or(BlockError::Bytes)?;
    let found = crc32::of_bytes(&bytes);
    if found == said { Ok((offset, bytes)) } else { Err(BlockError::Crc { said, found }) }
}

/// Writes the line of a block unless the block is zero, since memory without a block is zero. Returns the number of bytes that the line carries.
///
/// # Errors
/// Those of `output`.
pub fn write_block(output: &mut dyn Write, offset: usize, bytes: &[u8]) -> Result<usize, fmt::Error> {
    if bytes.iter().all(|&byte| byte == 0) {
        return Ok(0);
    }
    writeln!(output, "capture memory {offset:08x} {:08x} {}", crc32::of_bytes(bytes), BASE64.encode(&pack(bytes)))?;
    Ok(bytes.len())
}

#[cfg(test)]
mod tests {
    use oorandom::Rand32;

    use super::*;

    #[test]
    fn pieces_are_those_of_the_format() {
        assert_eq!(pack(&[]), [0u8; 0]);
        assert_eq!(pack(&[7, 8, 9]), [2, 7, 8, 9]);
        assert_eq!(pack(&[1, 2, 3, 4].repeat(5)), [131, 1, 2, 3, 4]);
        assert_eq!(pack(&[9, 9, 9, 9, 1, 2, 3, 4, 1, 2, 3, 4, 5]), [3, 9, 9, 9, 9, 128, 1, 2, 3, 4, 0, 5]);
        assert_eq!(pack(&[0; 130 * 4]), [255, 0, 0, 0, 0, 3, 0, 0, 0, 0]);
    }

    #[test]
    fn what_is_packed_unpacks() {
        let mut random = Rand32::new(1);
        for _ in 0..200 {
            let mut bytes = Vec::new();
            for _ in 0..random.rand_range(0..4) {
                let word = [0, random.rand_u32(), 0xff][random.rand_range(0..3) as usize].to_le_bytes();
                bytes.extend(word.repeat(random.rand_range(0..60) as usize));
                bytes.extend((0..random.rand_range(0..7)).map(|n| n as u8));
            }
            assert_eq!(unpack(&pack(&bytes)).as_deref(), Some(&*bytes));
        }
    }

    /// The CRC is another implementation's (zlib).
    #[test]
    fn a_block_is_a_line() {
        let mut text = alloc::string::String::new();
        assert_eq!(write_block(&mut text, 0x2004, b"abc"), Ok(3));
        assert_eq!(write_block(&mut text, 0x3000, &[0; 64]), Ok(0));
        assert_eq!(text, "capture memory 00002004 352441c2 AmFiYw==\n");
        assert_eq!(read_block("00002004 352441c2 AmFiYw=="), Ok((0x2004, b"abc".to_vec())));
    }

    #[test]
    fn damaged_blocks_are_refused() {
        assert_eq!(read_block("2004 352441c2"), Err(BlockError::Words));
        assert_eq!(read_block("2004 352441cz AmFiYw=="), Err(BlockError::Words));
        for bytes in ["AmFiY", "AmFiYw=", "A?FiYw==", "A2FiYw=="] {
            assert_eq!(read_block(&alloc::format!("2004 352441c2 {bytes}")), Err(BlockError::Bytes), "{bytes}");
        }
        let (said, found) = (0x3524_41c3, 0x3524_41c2);
        assert_eq!(read_block("2004 352441c3 AmFiYw=="), Err(BlockError::Crc { said, found }));
        assert_eq!(unpack(&[255; 4 * 5]), None);
    }
}
