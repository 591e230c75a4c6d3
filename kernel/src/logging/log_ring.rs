//! A ring buffer of log text that survives a warm reset
//!
//! Its memory is outside of .bss: after a reset by the watchdog it still holds the previous run's log, including the last lines before a hang. A header of four
//! words (magic number, position, and the position's complement) identifies a valid log.

use alloc::string::String;
use core::fmt;

use crate::mm::shared::SharedWords;

/// "VC4 log 1", shortened.
const MAGIC: u32 = 0x5643_4c31;
const HEADER_WORDS: usize = 4;
const MAGIC_WORD: usize = 0;
/// Bytes ever written, modulo 2^32.
const WRITTEN_WORD: usize = 1;
/// The complement of the word before; written after it.
const CHECK_WORD: usize = 2;

/// The ring buffer.
#[derive(Clone, Copy, Debug)]
pub struct LogRing {
    memory: SharedWords,
}

impl LogRing {
    /// The ring buffer in `memory`, with its present contents.
    #[must_use]
    pub fn new(memory: SharedWords) -> Self {
        Self { memory }
    }

    /// Empties the ring buffer.
    pub fn clear(&mut self) {
        self.memory.set(MAGIC_WORD, MAGIC);
        self.set_written(0);
    }

    /// The text in the ring buffer, oldest first, if it holds a log.
    #[must_use]
    pub fn text(&self) -> Option<String> {
        let written = self.memory.get(WRITTEN_WORD)?;
        if self.memory.get(MAGIC_WORD)? != MAGIC || self.memory.get(CHECK_WORD)? != !written {
            return None;
        }
        let capacity = self.capacity_bytes();
        let kept = (written as usize).min(capacity);
        let bytes = (written as usize - kept..written as usize).map(|position| self.byte(position % capacity));
        // The oldest line is incomplete, and bytes may have been damaged during the reset.
        let text: String = bytes
            .map(|byte| if byte == b'\n' || (b' '..=b'~').contains(&byte) { char::from(byte) } else { '?' })
            .collect();
        if kept < written as usize {
            return Some(text.split_once('\n').map_or(String::new(), |(_, rest)| rest.into()));
        }
        Some(text)
    }

    /// Appends text, overwriting the oldest.
    pub fn append(&mut self, text: &str) {
        let capacity = self.capacity_bytes();
        let Some(mut written) = self.memory.get(WRITTEN_WORD) else { return };
        if capacity == 0 {
            return;
        }
        for byte in text.bytes() {
            let position = written as usize % capacity;
            let index = HEADER_WORDS + position / 4;
            let shift = position % 4 * 8;
            let word = self.memory.get(index).unwrap_or(0);
            self.memory.set(index, word & !(0xff << shift) | u32::from(byte) << shift);
            written = written.wrapping_add(1);
        }
        self.set_written(written);
    }

    fn set_written(&mut self, written: u32) {
        self.memory.set(WRITTEN_WORD, written);
        self.memory.set(CHECK_WORD, !written);
    }

    /// A power of two, so that positions stay right when the counter wraps.
    fn capacity_bytes(&self) -> usize {
        let bytes = self.memory.len().saturating_sub(HEADER_WORDS) * 4;
        if bytes == 0 { 0 } else { 1 << bytes.ilog2() }
    }

    fn byte(&self, position: usize) -> u8 {
        let word = self.memory.get(HEADER_WORDS + position / 4).unwrap_or(0);
        (word >> (position % 4 * 8)) as u8
    }
}

impl fmt::Write for LogRing {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.append(text);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use core::sync::atomic::AtomicU32;

    use super::*;

    fn memory(words: usize) -> SharedWords {
        let words: Vec<AtomicU32> = (0..words).map(|n| AtomicU32::new((n as u32).wrapping_mul(0x9e37_79b9))).collect();
        SharedWords::from_words(words.leak())
    }

    #[test]
    fn noise_is_no_log() {
        assert_eq!(LogRing::new(memory(20)).text(), None);
        assert_eq!(LogRing::new(memory(0)).text(), None);
    }

    #[test]
    fn text_survives_a_new_ring_on_the_same_memory() {
        let memory = memory(20);
        let mut ring = LogRing::new(memory);
        ring.clear();
        ring.append("one\ntwo\n");
        assert_eq!(LogRing::new(memory).text().as_deref(), Some("one\ntwo\n"));
    }

    #[test]
    fn the_oldest_lines_give_way() {
        let mut ring = LogRing::new(memory(4 + 4));
        ring.clear();
        // 19 bytes into a ring buffer of 16: "fir" is overwritten, and the rest of its line is left out.
        ring.append("first\nsecond\nthird\n");
        assert_eq!(ring.text().as_deref(), Some("second\nthird\n"));
    }
}
