//! Editing of a command line
//!
//! Characters are inserted at the cursor. Backspace, the arrows, Home, End, Delete, and ctrl-A, E, B, F, D, U, K and C have their usual meaning; up and down
//! select earlier lines. Output to the terminal goes to the given `fmt::Write`. A line ends with CR or LF; the LF of a CR LF pair is ignored.
//!
//! # Why not a crate
//! noline, the crate for `no_std`, queries the terminal's size and cursor position with escape sequences and waits for the answers. `cargo xtask`, which sends
//! commands too, is not a terminal and does not answer.

use core::fmt::{self, Write};

use crate::terminal::keys::{
    BACKSPACE, CARRIAGE_RETURN, CONTROL_A, CONTROL_B, CONTROL_C, CONTROL_D, CONTROL_E, CONTROL_F, CONTROL_K, CONTROL_U,
    DELETE, ESCAPE, LINE_FEED,
};

/// Most characters of a line; further input is ignored.
const MAX_LINE_BYTES: usize = 240;
/// Number of lines in the history.
const HISTORY_LINES: usize = 16;

/// A line of ASCII in a fixed array, so that input does not change the use of the heap.
#[derive(Clone, Copy, Debug)]
struct Line {
    bytes: [u8; MAX_LINE_BYTES],
    len: usize,
}

impl Line {
    const EMPTY: Self = Self { bytes: [0; MAX_LINE_BYTES], len: 0 };

    fn as_str(&self) -> &str {
        // The line contains only printable ASCII.
        str::from_utf8(&self.bytes[..self.len]).unwrap_or_default()
    }

    /// Inserts a character at `position` if there is room; returns whether there was.
    fn insert(&mut self, position: usize, byte: u8) -> bool {
        if self.len == MAX_LINE_BYTES || position > self.len {
            return false;
        }
        self.bytes.copy_within(position..self.len, position + 1);
        self.bytes[position] = byte;
        self.len += 1;
        true
    }

    /// Removes the character at `position`, if there is one.
    fn remove(&mut self, position: usize) -> bool {
        if position >= self.len {
            return false;
        }
        self.bytes.copy_within(position + 1..self.len, position);
        self.len -= 1;
        true
    }

    fn truncate(&mut self, len: usize) {
        self.len = self.len.min(len);
    }
}

/// State of an escape sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sequence {
    None,
    Escape,
    /// After `ESC [`, with the number read so far.
    Bracket(u8),
}

/// The line that is being edited, and the history.
#[derive(Debug)]
pub struct LineEditor {
    line: Line,
    /// The last line that was entered.
    taken: Line,
    /// Number of bytes before the cursor.
    cursor: usize,
    /// Earlier lines, the latest first; `remembered` of them are in use.
    history: [Line; HISTORY_LINES],
    remembered: usize,
    /// Position in the history of the displayed line; 0 is the line that is being edited.
    back: usize,
    sequence: Sequence,
    after_carriage_return: bool,
}

impl Default for LineEditor {
    fn default() -> Self {
        Self::new()
    }
}

impl LineEditor {
    /// An empty line without a history.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            line: Line::EMPTY,
            taken: Line::EMPTY,
            cursor: 0,
            history: [Line::EMPTY; HISTORY_LINES],
            remembered: 0,
            back: 0,
            sequence: Sequence::None,
            after_carriage_return: false,
        }
    }

    /// The last line that was entered.
    #[must_use]
    pub fn line(&self) -> &str {
        self.taken.as_str()
    }

    /// Processes a byte; returns whether it ends a line. Errors of the terminal are ignored.
    pub fn feed(&mut self, byte: u8, terminal: &mut dyn Write) -> bool {
        self.take(byte, terminal).unwrap_or(false)
    }

    fn take(&mut self, byte: u8, terminal: &mut dyn Write) -> Result<bool, fmt::Error> {
        let second_half = self.after_carriage_return && byte == LINE_FEED;
        self.after_carriage_return = byte == CARRIAGE_RETURN;
        if second_half {
            return Ok(false);
        }
        match self.sequence {
            Sequence::None => return self.plain(byte, terminal),
            Sequence::Escape => {
                self.sequence = if byte == b'[' || byte == b'O' { Sequence::Bracket(0) } else { Sequence::None }
            }
            Sequence::Bracket(number) => {
                self.sequence = Sequence::None;
                match (byte, number) {
                    (b'0'..=b'9', _) => self.sequence = Sequence::Bracket(byte - b'0'),
                    (b'A', _) => self.recall(self.back + 1, terminal)?,
                    (b'B', _) => self.recall(self.back.saturating_sub(1), terminal)?,
                    (b'C', _) => self.move_to(self.cursor + 1, terminal)?,
                    (b'D', _) => self.move_to(self.cursor.saturating_sub(1), terminal)?,
                    (b'H', _) | (b'~', 1 | 7) => self.move_to(0, terminal)?,
                    (b'F', _) | (b'~', 4 | 8) => self.move_to(self.line.len, terminal)?,
                    (b'~', 3) => self.delete(terminal)?,
                    _ => {}
                }
            }
        }
        Ok(false)
    }

    fn plain(&mut self, byte: u8, terminal: &mut dyn Write) -> Result<bool, fmt::Error> {
        match byte {
            CARRIAGE_RETURN | LINE_FEED => {
                terminal.write_str("\n")?;
                self.take_line();
                return Ok(true);
            }
            ESCAPE => self.sequence = Sequence::Escape,
            CONTROL_A => self.move_to(0, terminal)?,
            CONTROL_B => self.move_to(self.cursor.saturating_sub(1), terminal)?,
            CONTROL_E => self.move_to(self.line.len, terminal)?,
            CONTROL_F => self.move_to(self.cursor + 1, terminal)?,
            CONTROL_C | CONTROL_U => self.replace(Line::EMPTY, terminal)?,
            CONTROL_D => self.delete(terminal)?,
            CONTROL_K => {
                let removed = self.line.len - self.cursor;
                self.line.truncate(self.cursor);
                rewrite_tail("", removed, terminal)?;
            }
            BACKSPACE | DELETE if self.cursor > 0 => {
                self.move_to(self.cursor - 1, terminal)?;
                self.delete(terminal)?;
            }
            b' '..=b'~' if self.line.insert(self.cursor, byte) => {
                terminal.write_char(char::from(byte))?;
                self.cursor += 1;
                rewrite_tail(self.tail(), 0, terminal)?;
            }
            _ => {}
        }
        Ok(false)
    }

    fn take_line(&mut self) {
        self.taken = core::mem::replace(&mut self.line, Line::EMPTY);
        self.cursor = 0;
        self.back = 0;
        let repeated = self.remembered > 0 && self.history[0].as_str() == self.taken.as_str();
        if !self.taken.as_str().trim().is_empty() && !repeated {
            self.history.rotate_right(1);
            self.history[0] = self.taken;
            self.remembered = (self.remembered + 1).min(HISTORY_LINES);
        }
    }

    /// The text to the right of the cursor.
    fn tail(&self) -> &str {
        self.line.as_str().get(self.cursor..).unwrap_or_default()
    }

    fn move_to(&mut self, position: usize, terminal: &mut dyn Write) -> fmt::Result {
        let position = position.min(self.line.len);
        if position < self.cursor {
            for _ in position..self.cursor {
                terminal.write_char('\u{8}')?;
            }
        } else {
            terminal.write_str(self.line.as_str().get(self.cursor..position).unwrap_or_default())?;
        }
        self.cursor = position;
        Ok(())
    }

    /// Deletes the character under the cursor.
    fn delete(&mut self, terminal: &mut dyn Write) -> fmt::Result {
        if self.line.remove(self.cursor) {
            rewrite_tail(self.tail(), 1, terminal)?;
        }
        Ok(())
    }

    fn replace(&mut self, line: Line, terminal: &mut dyn Write) -> fmt::Result {
        self.move_to(0, terminal)?;
        let removed = self.line.len.saturating_sub(line.len);
        self.line = line;
        rewrite_tail(self.line.as_str(), removed, terminal)?;
        self.move_to(self.line.len, terminal)
    }

    fn recall(&mut self, back: usize, terminal: &mut dyn Write) -> fmt::Result {
        let line = match back.checked_sub(1) {
            None => Line::EMPTY,
            Some(index) => match self.history[..self.remembered].get(index) {
                Some(line) => *line,
                None => return Ok(()),
            },
        };
        self.back = back;
        self.replace(line, terminal)
    }
}

/// Displays the text to the right of the cursor, erases `removed` characters after it, and moves the cursor back.
fn rewrite_tail(tail: &str, removed: usize, terminal: &mut dyn Write) -> fmt::Result {
    terminal.write_str(tail)?;
    for _ in 0..removed {
        terminal.write_char(' ')?;
    }
    for _ in 0..tail.len() + removed {
        terminal.write_char('\u{8}')?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Processes all of `input`; returns the entered lines, and what the terminal shows of the last one.
    fn typed(input: &str) -> (Vec<String>, String) {
        let mut editor = LineEditor::new();
        let mut shown = String::new();
        let mut lines = Vec::new();
        for byte in input.bytes() {
            if editor.feed(byte, &mut shown) {
                lines.push(String::from(editor.line()));
            }
        }
        (lines, on_screen(&shown))
    }

    /// The last line on a terminal that receives the output.
    fn on_screen(output: &str) -> String {
        let mut line: Vec<char> = Vec::new();
        let mut column = 0;
        for character in output.chars() {
            match character {
                '\n' => (line, column) = (Vec::new(), 0),
                '\u{8}' => column -= 1,
                _ => {
                    if column == line.len() {
                        line.push(' ');
                    }
                    line[column] = character;
                    column += 1;
                }
            }
        }
        line.into_iter().collect::<String>().trim_end().into()
    }

    #[test]
    fn lines_end_with_cr_lf_or_both() {
        assert_eq!(typed("one\rtwo\nthree\r\nfour\r").0, ["one", "two", "three", "four"]);
        assert_eq!(typed("\r\r").0, ["", ""]);
    }

    #[test]
    fn what_is_edited_is_what_comes_out() {
        let cases = [
            ("scnee\u{8}\u{8}\u{8}ene", "scene"),
            ("mem\x7f\x7f\x7f\x7f\x7finfo", "info"),
            ("run\x01scene \x05 x", "scene run x"),
            ("ab\x1b[Dc\x1b[C!", "acb!"),
            ("abc\x1b[H\x1b[3~\x1b[F.", "bc."),
            ("wrong\x15right", "right"),
            ("keep this\x02\x02\x02\x02\x02\x0b", "keep"),
            ("a\x1bZb\x07\u{c3}\u{a9}c", "abc"),
        ];
        for (input, line) in cases {
            assert_eq!(typed(input).1, line, "shown for {input:?}");
            assert_eq!(typed(&format!("{input}\r")).0[0].trim_end(), line, "taken for {input:?}");
        }
    }

    #[test]
    fn earlier_lines_come_back() {
        let (lines, shown) = typed("one\rtwo\r\x1b[A\x1b[A\x1b[A\r\x1b[A\x1b[A\x1b[B!\r");
        assert_eq!(lines, ["one", "two", "one", "one!"]);
        assert_eq!(shown, "");
        assert_eq!(typed("longer line\rx\x1b[A\x1b[B").1, "");
    }

    #[test]
    fn a_line_has_an_end() {
        let (lines, _) = typed(&format!("{}\r", "x".repeat(1000)));
        assert_eq!(lines[0].len(), MAX_LINE_BYTES);
    }
}
