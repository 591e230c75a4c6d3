//! Lines that a tool sends during a command: blocks of bytes, each acknowledged

use alloc::{
    format,
    string::{String, ToString},
    vec::Vec,
};

use super::session::Session;
use crate::{
    arch::clock,
    capture::read_block,
    println,
    terminal::{console, keys::CONTROL_C},
};

/// Most bytes of a line: those of a block that cannot be compressed, and some more.
const MAX_LINE_BYTES: usize = 1536;

/// The lines of an upload.
#[derive(Debug)]
pub(super) struct Upload {
    line: Vec<u8>,
    patience_us: u64,
}

impl Upload {
    /// Waits so many microseconds for each line.
    pub(super) fn new(patience_us: u64) -> Self {
        Self { line: Vec::with_capacity(MAX_LINE_BYTES), patience_us }
    }

    /// The next line that is not empty. It ends with CR or LF; one that is too long is truncated, which its CRC reveals. Input is not echoed.
    pub(super) fn line(&mut self, session: &mut Session) -> Result<&str, String> {
        self.line.clear();
        let deadline = clock::now_us() + self.patience_us;
        loop {
            let Some(byte) = console::read_until_tick() else {
                session.watchdog.sign_of_life();
                if clock::now_us() > deadline {
                    return Err(format!("no line has come for {} s", self.patience_us / 1_000_000));
                }
                continue;
            };
            match byte {
                b'\r' | b'\n' if self.line.iter().all(u8::is_ascii_whitespace) => self.line.clear(),
                b'\r' | b'\n' => return Ok(str::from_utf8(&self.line).unwrap_or("?").trim()),
                CONTROL_C => return Err("interrupted".into()),
                _ if self.line.len() < MAX_LINE_BYTES => self.line.push(byte),
                _ => {}
            }
        }
    }
}

/// A line that is a block.
#[derive(Debug)]
pub(super) struct Block<'l> {
    line: &'l str,
}

impl<'l> Block<'l> {
    pub(super) const fn of(line: &'l str) -> Self {
        Self { line }
    }

    /// Has its bytes stored, and acknowledges them or says why not. The answer contains the offset, if it can be read, so that the sender knows which block is
    /// meant. Returns the number of bytes that were stored.
    pub(super) fn answer(&self, store: impl FnOnce(u32, Vec<u8>) -> Result<(), String>) -> Option<usize> {
        let name = self.line.split(' ').next().filter(|word| word.len() == 8).unwrap_or("?");
        let stored = read_block(self.line).map_err(|error| error.to_string()).and_then(|(offset, bytes)| {
            let count = bytes.len();
            store(offset, bytes).map(|()| count)
        });
        match stored {
            Ok(count) => {
                println!("+ {name}");
                Some(count)
            }
            Err(why) => {
                println!("- {name} {why}");
                None
            }
        }
    }
}
