//! The most recent output of the console, for a screen that is attached later
//!
//! It stores output before there is a screen, and later while a scene listens. When it is full, the oldest text is dropped.

/// Capacity in bytes: more than the output of a boot.
const BYTES: usize = 8192;

/// The last bytes of output.
#[derive(Clone, Debug)]
pub struct TextHistory {
    bytes: [u8; BYTES],
    /// Total number of bytes of output.
    said: usize,
}

impl Default for TextHistory {
    fn default() -> Self {
        Self::new()
    }
}

impl TextHistory {
    /// An empty history.
    #[must_use]
    pub const fn new() -> Self {
        Self { bytes: [0; BYTES], said: 0 }
    }

    /// Appends text. Characters other than ASCII become question marks.
    pub fn append(&mut self, text: &str) {
        for character in text.chars() {
            self.bytes[self.said % BYTES] = if character.is_ascii() { character as u8 } else { b'?' };
            self.said += 1;
        }
    }

    /// Removes everything.
    pub fn clear(&mut self) {
        self.said = 0;
    }

    /// Number of bytes that it holds.
    #[must_use]
    pub fn kept(&self) -> usize {
        self.said.min(BYTES)
    }

    /// The text, oldest first, starting at the beginning of a line.
    pub fn read(&self) -> impl Iterator<Item = &str> {
        let kept = self.kept();
        let start = (self.said - kept) % BYTES;
        let (end, beginning) = (&self.bytes[start..kept.max(start)], &self.bytes[..start]);
        let cut = if kept < self.said {
            end.iter().position(|&byte| byte == b'\n').map_or(end.len(), |at| at + 1)
        } else {
            0
        };
        // It contains only ASCII.
        [&end[cut..], beginning].into_iter().map(|piece| str::from_utf8(piece).unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(history: &TextHistory) -> String {
        history.read().collect()
    }

    #[test]
    fn what_was_said_is_kept_in_order() {
        let mut history = TextHistory::new();
        assert_eq!(all(&history), "");
        history.append("one\ntw\u{f6}\n");
        assert_eq!((all(&history).as_str(), history.kept()), ("one\ntw?\n", 8));
        history.clear();
        assert_eq!((all(&history).as_str(), history.kept()), ("", 0));
    }

    #[test]
    fn the_oldest_lines_go() {
        let mut history = TextHistory::new();
        for line in 0..2000 {
            history.append(&format!("line {line:4}\n"));
        }
        let text = all(&history);
        assert!(text.starts_with("line ") && text.ends_with("line 1999\n"), "{text}");
        // 8192 bytes are 819 lines of 10 and a piece of one more.
        assert_eq!(text.lines().count(), 819);
        assert_eq!(text.lines().next(), Some("line 1181"));
    }
}
