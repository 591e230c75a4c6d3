//! Text format of a captured job on the serial line
//!
//! A capture is lines of text, which survive any terminal: one that describes the job, one for each block of memory that is
//! not zero, and one with the number of bytes. `cargo xtask capture` makes a job folder of them.
//!
//! ```text
//! capture job {"name":"cube","has_bin":true,"bin_ct0ca":134221824,…}
//! capture memory 08001000 5a0c93f1 AAECAwSCAAAA…
//! capture end 524288
//! ```
//!
//! `cargo xtask replay` sends blocks the other way, a line each without `capture memory`.
//!
//! A block's three words are its offset in RAM, the CRC-32 of its bytes, and the bytes, packed and then in base64
//! [RFC 4648]. Packed bytes are pieces, each with a control byte `n`: below 128, `n + 1` bytes follow as they are; from 128
//! on, 4 bytes follow that stand `n - 126` times. Graphics memory is mostly equal words.

use alloc::vec::Vec;
use core::fmt::{self, Write};

use data_encoding::BASE64;

use crate::crc32;

/// Bytes of memory that one line carries; a multiple of 4.
pub const BLOCK_BYTES: usize = 1024;

/// The longest piece of bytes as they are.
const MAX_LITERAL: usize = 128;
/// How often the four bytes of a run can stand at most.
const MAX_RUN: usize = 255 - 126;

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

/// How often the first four bytes stand at the start of `bytes`, at most [`MAX_RUN`]; 0 if there are not four.
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

/// Unpacks bytes; `None` if they end within a piece, or stand for more than a line may carry.
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

/// Why a line is no block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockError {
    /// It has not three words, the first two hexadecimal numbers.
    Words,
    /// Its bytes are not packed bytes in base64.
    Bytes,
    /// The CRC-32 of its bytes is another than it says.
    Crc {
        /// What the line says.
        said: u32,
        /// That of the bytes.
        found: u32,
    },
}

impl fmt::Display for BlockError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Words => f.write_str("a block is an offset, a CRC-32 and bytes"),
            Self::Bytes => f.write_str("the bytes are damaged"),
            Self::Crc { said, found } => write!(f, "the CRC of the bytes is {found:08x} instead of {said:08x}"),
        }
    }
}

impl core::error::Error for BlockError {}

/// Reads a block: its offset and its bytes.
///
/// # Errors
/// When something got lost on the line.
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

/// Writes the line of one block, unless it is all zero: what no block covers is zero. Says how many bytes it carries.
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
        assert_eq!(pack(&[]), []);
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
