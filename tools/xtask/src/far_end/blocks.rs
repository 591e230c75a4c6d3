//! Blocks of bytes on the serial line, sent until the kernel acknowledges them.
//!
//! A block is a line: its offset, its CRC-32, and its bytes, run-length encoded and in base64. A block that arrives damaged, or is not acknowledged in time, is
//! sent again.

use super::console::Console;
use crate::far_end::packed;
use anyhow::{Result, bail};
use data_encoding::BASE64;
use std::time::Duration;

/// Bytes per block.
pub(crate) const BLOCK_BYTES: usize = 1024;
/// How often a block is sent before giving up.
const ATTEMPTS: usize = 5;
/// Time limit for the acknowledgement of a block: a line takes a tenth of a second.
pub(crate) const BLOCK_PATIENCE: Duration = Duration::from_secs(3);

/// The line of a block.
pub(crate) fn line(offset: u32, bytes: &[u8]) -> String {
    format!("{offset:08x} {:08x} {}", crc32fast::hash(bytes), BASE64.encode(&packed::pack(bytes)))
}

/// Sends a block during a command until it is acknowledged; returns the number of repetitions.
pub(crate) fn send(console: &Console, command: &str, offset: u32, bytes: &[u8]) -> Result<usize> {
    let name = format!("{offset:08x}");
    let line = line(offset, bytes);
    let mut refusal = "it does not answer".to_owned();
    for attempt in 0..ATTEMPTS {
        let answer = console.exchange(command, &line, BLOCK_PATIENCE, |line| match line.split_at_checked(2)? {
            ("+ ", taken) => (taken == name).then_some(Ok(())),
            ("- ", why) => Some(Err(why.to_owned())),
            _ => None,
        })?;
        match answer {
            Some(Ok(())) => return Ok(attempt),
            Some(Err(why)) => refusal = why,
            // The end of the line may have been lost: this ends it.
            None => console.keyboard().press(b"\r")?,
        }
    }
    bail!("the kernel did not take the block at {offset:#x}, which was sent {ATTEMPTS} times: {refusal}")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A connection on which the first line is damaged: the block is sent again, and acknowledgements of other blocks are ignored.
    #[test]
    fn a_block_is_sent_until_it_is_taken() {
        let console = |answers: &'static str| Console::new(answers.as_bytes(), std::io::sink(), Vec::new());
        let send = |console: &Console| send(console, "replay", 0x1000, b"abc");
        assert_eq!(send(&console("- 00001000 damaged\n+ 00000c00\n+ 00001000\n")).unwrap(), 1);
        let refusals = "- 00001000 the block is outside of all ranges\n".repeat(ATTEMPTS);
        let error =
            send(&Console::new(std::io::Cursor::new(refusals.into_bytes()), std::io::sink(), Vec::new())).unwrap_err();
        assert!(
            error.to_string().ends_with("which was sent 5 times: 00001000 the block is outside of all ranges"),
            "{error}"
        );
    }
}
