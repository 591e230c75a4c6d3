//! The most recent text of the console, for a screen that attaches later
//!
//! It keeps what is printed before there is a screen, and later what is printed while a scene listens. When it is full, the oldest text is dropped.

/// Bytes that are kept: more than a boot says.
const BYTES: usize = 8192;

/// The last bytes that were said.
#[derive(Clone, Debug)]
pub struct TextHistory {
    bytes: [u8; BYTES],
    /// Bytes ever said.
    said: usize,
}

impl Default for TextHistory {
    fn default() -> Self {
        Self::new()
    }
}

impl TextHistory {
    /// Nothing was said.
    #[must_use]
    pub const fn new() -> Self {
        Self { bytes: [0; BYTES], said: 0 }
    }

    /// Keeps text. What is not ASCII becomes question marks.
    pub fn append(&mut self, text: &str) {
        for character in text.chars() {
            self.bytes[self.said % BYTES] = if character.is_ascii() { character as u8 } else { b'?' };
            self.said += 1;
        }
    }

    /// Forgets all.
    pub fn clear(&mut self) {
        self.said = 0;
    }

    /// How many bytes are left.
    #[must_use]
    pub fn kept(&self) -> usize {
        self.said.min(BYTES)
    }

    /// What is left, oldest first, from the beginning of a line on.
    pub fn read(&self) -> impl Iterator<Item = &str> {
        let kept = self.kept();
        let start = (self.said - kept) % BYTES;
        let (end, beginning) = (&self.bytes[start..kept.max(start)], &self.bytes[..start]);
        let cut = if kept < self.said {
            end.iter().position(|&byte| byte == b'\n').map_or(end.len(), |at| at + 1)
        } else {
            0
        };
        // Only ASCII is ever put in.
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
