//! How memory travels over a serial line: runs of equal words folded, then base64.
//!
//! A packed block is a row of pieces. A piece begins with a control byte `n`:
//! * `n` below 128: `n + 1` bytes follow, as they are;
//! * `n` from 128 on: 4 bytes follow, which stand `n - 126` times (2 to 129 times).
//!
//! Graphics memory is mostly equal words (cleared tiles, colours, zeros), and the packer fits in a few lines of a kernel.

use anyhow::{Context, Result, bail, ensure};

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
    }
}
