//! Words to text that assembles to the same words.
//!
//! Branches to places inside the program get labels. Words that the language cannot express exactly are written as data, with the closest instruction as a
//! comment; `qpu_text` defines which words these are.

use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use core::fmt;
use core::fmt::Write;

use qpu_text::{LINE_BYTES, Line, has_exact_text, write_text};
use v3d_hw::qpu::{BRANCH_DELAY_SLOTS, INSTRUCTION_BYTES, Instruction, Signal};

/// What the text shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Style {
    /// Byte offset and word as a comment behind each line.
    pub offsets: bool,
}

/// The text of a program, which assembles to the same words, whatever they are.
pub fn disassemble(words: &[u64], style: Style) -> String {
    let labels = labels(words);
    let mut next_label = 0;
    let mut text = Text { bytes: vec![0; words.len() * 24], length: 0 };
    for (at, &word) in words.iter().enumerate() {
        if labels.get(next_label) == Some(&at) {
            text.format(format_args!(":L{next_label}\n"));
            next_label += 1;
        }
        let start = text.length;
        text.instruction(word, at, words.len(), &labels);
        if style.offsets {
            let padding = (start + 56).saturating_sub(text.length);
            text.format(format_args!("{:padding$}  # {:04x}: {word:016x}", "", at * INSTRUCTION_BYTES as usize));
        }
        text.end_line();
    }
    if labels.get(next_label) == Some(&words.len()) {
        text.format(format_args!(":L{next_label}\n"));
    }
    text.bytes.truncate(text.length);
    // The buffer contains only strings.
    String::from_utf8(text.bytes).unwrap_or_default()
}

/// The output buffer, with spare capacity.
struct Text {
    bytes: Vec<u8>,
    length: usize,
}

impl Text {
    /// Capacity for the longest line.
    #[inline]
    fn room(&mut self) -> &mut [u8] {
        const ENOUGH: usize = 2 * LINE_BYTES;
        if self.bytes.len() - self.length < ENOUGH {
            self.bytes.resize(self.length + self.length / 2 + ENOUGH, 0);
        }
        &mut self.bytes[self.length..]
    }

    #[inline]
    fn end_line(&mut self) {
        if let Some(end) = self.bytes.get_mut(self.length) {
            *end = b'\n';
            self.length += 1;
        }
    }

    fn format(&mut self, arguments: fmt::Arguments<'_>) {
        // Writing to a buffer in memory cannot fail.
        let _ = self.write_fmt(arguments);
    }

    /// One instruction or datum.
    #[inline]
    fn instruction(&mut self, word: u64, at: usize, length_of_program: usize, labels: &[usize]) {
        let Some(line) = self.room().first_chunk_mut() else { return };
        let Line { length, exact } = write_text(word, line);
        if !exact {
            let inexact = *line;
            let inexact = str::from_utf8(&inexact[..length]).unwrap_or_default();
            self.format(format_args!(".int {:#x}, {:#x}  # {inexact}", word as u32, word >> 32));
            return;
        }
        if is_branch(word)
            && let Some(target) = target(&Instruction::decode(word), at, length_of_program)
            && let Ok(number) = labels.binary_search(&target)
            && let Some(space) = line[..length].iter().rposition(|&byte| byte == b' ')
        {
            // The distance is the last operand of the text.
            self.length += space + 1;
            self.format(format_args!("r:L{number}"));
        } else {
            self.length += length;
        }
    }
}

impl Write for Text {
    fn write_str(&mut self, piece: &str) -> fmt::Result {
        for piece in piece.as_bytes().chunks(LINE_BYTES) {
            self.room()[..piece.len()].copy_from_slice(piece);
            self.length += piece.len();
        }
        Ok(())
    }
}

/// Whether a word is a branch; a cheap test, since few words are.
#[inline]
fn is_branch(word: u64) -> bool {
    word >> 60 == u64::from(Signal::Branch.code())
}

/// The index of the word that a relative branch goes to, if it is in the program or directly behind it.
pub fn target(instruction: &Instruction, at: usize, length: usize) -> Option<usize> {
    let Instruction::Branch(branch) = instruction else { return None };
    if !branch.rel || branch.reg {
        return None;
    }
    let bytes = i64::from(INSTRUCTION_BYTES);
    let address = (at as i64 + 1 + i64::from(BRANCH_DELAY_SLOTS)) * bytes + i64::from(branch.immediate);
    let target = usize::try_from(address / bytes).ok()?;
    (address % bytes == 0 && address >= 0 && target <= length).then_some(target)
}

/// All branch targets, sorted.
fn labels(words: &[u64]) -> Vec<usize> {
    let branches = words.iter().enumerate().filter(|(_, word)| is_branch(**word));
    let mut labels: Vec<usize> = branches
        .filter_map(|(at, &word)| target(&Instruction::decode(word), at, words.len()).filter(|_| has_exact_text(word)))
        .collect();
    labels.sort_unstable();
    labels.dedup();
    labels
}
