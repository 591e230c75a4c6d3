//! The text of the console as lines for drawing
//!
//! A [`Transcript`] handles text as a terminal does: line feeds end lines, long lines wrap, a backspace moves back by a character. It keeps the last lines.
//! Each line is a sequence of [`Piece`]s with a column and a role.
//!
//! The shell aligns columns with blanks, for a fixed-width font. In a proportional font they stay aligned because text after two blanks begins a new piece,
//! which is placed at its column.

use alloc::{collections::VecDeque, string::String, vec::Vec};

use crate::shell::command::PROMPT;

/// Most characters of a line; longer lines wrap.
const COLUMNS: usize = 150;
/// Number of lines that are kept: more than fit on a screen.
const LINES: usize = 100;

/// The role of a piece, which determines its colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The prompt, and the word `ok`.
    Accent,
    /// Text.
    Plain,
    /// Explanatory text.
    Faint,
    /// Errors and warnings.
    Warning,
}

/// A piece of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece<'t> {
    /// Number of characters of the line before it.
    pub column: usize,
    /// Its role.
    pub role: Role,
    /// Its text.
    pub text: &'t str,
}

/// The last lines. Text is appended to the last of them.
#[derive(Clone, Debug)]
pub struct Transcript {
    lines: VecDeque<String>,
    /// Number of lines that have been dropped.
    gone: usize,
    /// Column of the next character in the last line.
    column: usize,
}

impl Default for Transcript {
    fn default() -> Self {
        Self { lines: [String::new()].into(), gone: 0, column: 0 }
    }
}

impl Transcript {
    /// Appends text. Characters other than ASCII become question marks.
    pub fn write(&mut self, text: &str) {
        for character in text.chars() {
            match character {
                '\n' => self.next_line(),
                '\r' => self.column = 0,
                '\u{8}' => self.column = self.column.saturating_sub(1),
                _ => {
                    if self.column == COLUMNS {
                        self.next_line();
                    }
                    let character = if (' '..='~').contains(&character) { character } else { '?' };
                    if let Some(line) = self.lines.back_mut() {
                        // The line contains only ASCII, so a character is a byte.
                        let end = line.len().min(self.column + 1);
                        line.replace_range(self.column..end, character.encode_utf8(&mut [0; 4]));
                    }
                    self.column += 1;
                }
            }
        }
    }

    fn next_line(&mut self) {
        if self.lines.len() == LINES {
            self.lines.pop_front();
            self.gone += 1;
        }
        self.lines.push_back(String::new());
        self.column = 0;
    }

    /// The lines, oldest first; there is always at least one, to which text is appended.
    pub fn lines(&self) -> impl ExactSizeIterator<Item = &str> {
        self.lines.iter().map(String::as_str)
    }

    /// Number of earlier lines that have been dropped.
    #[must_use]
    pub fn gone(&self) -> usize {
        self.gone
    }
}

/// The pieces of a line.
#[must_use]
pub fn pieces(line: &str) -> Vec<Piece<'_>> {
    let part = |first: usize, end: usize, role| Piece { column: first, role, text: line.get(first..end).unwrap_or("") };
    let two = |first: usize, role, rest| [part(0, first, role), part(first, line.len(), rest)].into();
    for (start, role, rest) in [
        (PROMPT, Role::Accent, Role::Plain),
        ("ok ", Role::Accent, Role::Faint),
        ("error ", Role::Warning, Role::Plain),
    ] {
        if line.starts_with(start) {
            return two(start.len(), role, rest);
        }
    }
    if let Some(end) = log_time(line) {
        let is_fine = ["INFO", "DEBUG", "TRACE"].iter().any(|level| line[end..].starts_with(level));
        return two(end, Role::Faint, if is_fine { Role::Plain } else { Role::Warning });
    }
    let mut pieces = Vec::new();
    let mut column = 0;
    while let Some(blanks) = line[column..].find(|character| character != ' ') {
        let first = column + blanks;
        let end = line[first..].find("  ").map_or(line.len(), |length| first + length);
        let role = if pieces.is_empty() { Role::Plain } else { Role::Faint };
        pieces.push(part(first, end, role));
        column = end;
    }
    pieces
}

/// End of the timestamp of a log line, if the line is one.
fn log_time(line: &str) -> Option<usize> {
    let (time, _) = line.strip_prefix('[')?.split_once("] ")?;
    time.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.').then_some(time.len() + 3)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(transcript: &Transcript) -> Vec<&str> {
        transcript.lines().collect()
    }

    #[test]
    fn text_becomes_lines() {
        let mut transcript = Transcript::default();
        assert_eq!(lines(&transcript), [""]);
        transcript.write("v3d> me");
        transcript.write("nn\u{8} \u{8}\u{8}m\nok m\u{f6}m\n");
        assert_eq!(lines(&transcript), ["v3d> mem ", "ok m?m", ""]);
        transcript.write("abc\rX\u{8}\u{8}\u{8}\u{8}YZ");
        assert_eq!(lines(&transcript)[2], "YZc");
    }

    #[test]
    fn long_lines_go_on_below_and_old_ones_go() {
        let mut transcript = Transcript::default();
        transcript.write(&"x".repeat(2 * COLUMNS + 1));
        assert_eq!(transcript.lines().map(str::len).collect::<Vec<_>>(), [COLUMNS, COLUMNS, 1]);
        for number in 0..3 * LINES {
            transcript.write(&alloc::format!("\nline {number}"));
        }
        let lines = lines(&transcript);
        assert_eq!((lines.len(), lines[0], lines[LINES - 1]), (LINES, "line 200", "line 299"));
        assert_eq!(transcript.gone(), 203);
    }

    #[test]
    fn lines_are_taken_apart() {
        let taken =
            |line| pieces(line).into_iter().map(|piece| (piece.column, piece.role, piece.text)).collect::<Vec<_>>();
        use Role::{Accent, Faint, Plain, Warning};
        assert_eq!(taken(""), []);
        assert_eq!(taken("   "), []);
        assert_eq!(taken("v3d> "), [(0, Accent, "v3d> "), (5, Plain, "")]);
        assert_eq!(taken("v3d> scene  list"), [(0, Accent, "v3d> "), (5, Plain, "scene  list")]);
        assert_eq!(taken("ok scene list"), [(0, Accent, "ok "), (3, Faint, "scene list")]);
        assert_eq!(taken("error mem: no"), [(0, Warning, "error "), (6, Plain, "mem: no")]);
        assert_eq!(taken("the watchdog is off"), [(0, Plain, "the watchdog is off")]);
        assert_eq!(taken("  help      this table"), [(2, Plain, "help"), (12, Faint, "this table")]);
        assert_eq!(taken("[0.5] INFO  a::b: c"), [(0, Faint, "[0.5] "), (6, Plain, "INFO  a::b: c")]);
        assert_eq!(taken("[0.5] WARN  a: b"), [(0, Faint, "[0.5] "), (6, Warning, "WARN  a: b")]);
        assert_eq!(taken("[on | off] no"), [(0, Plain, "[on | off] no")]);
    }
}
