//! Words to text that assembles to the same words.
//!
//! Branches to places inside the program get labels. Words that the language cannot express exactly are written as data, with the instruction that comes
//! nearest as a comment; see `v3d_hw::qpu` for what that means.

use std::fmt::Write;

use v3d_hw::qpu::{BRANCH_DELAY_SLOTS, INSTRUCTION_BYTES, Instruction};

/// What the text shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Style {
    /// Byte offset and word as a comment behind each line.
    pub offsets: bool,
}

/// The text of a program: it assembles to the same words, whatever they are.
pub fn disassemble(words: &[u64], style: Style) -> String {
    let labels = labels(words);
    let mut next_label = labels.iter().enumerate().peekable();
    let mut text = String::with_capacity(words.len() * 48);
    for (at, &word) in words.iter().enumerate() {
        while let Some((number, _)) = next_label.next_if(|(_, target)| **target == at) {
            let _ = writeln!(text, ":L{number}");
        }
        let start = text.len();
        line(&mut text, words.len(), &labels, at, word);
        if style.offsets {
            let column = (text.len() - start).max(56);
            while text.len() < start + column {
                text.push(' ');
            }
            let _ = write!(text, "  # {:04x}: {word:016x}", at * INSTRUCTION_BYTES as usize);
        }
        text.push('\n');
    }
    for (number, _) in next_label {
        let _ = writeln!(text, ":L{number}");
    }
    text
}

/// One instruction or datum.
fn line(text: &mut String, length: usize, labels: &[usize], at: usize, word: u64) {
    let instruction = Instruction::decode(word);
    let start = text.len();
    // Writing to a string does not fail.
    if instruction.write_text(text) != Ok(true) {
        let inexact = text.split_off(start);
        let _ = write!(text, ".int {:#x}, {:#x}  # {inexact}", word as u32, word >> 32);
        return;
    }
    if word >> 60 == 15
        && let Some(target) = target(&instruction, at, length)
        && let Ok(number) = labels.binary_search(&target)
    {
        // The distance is the last operand.
        if let Some(space) = text[start..].rfind(' ') {
            text.truncate(start + space + 1);
            let _ = write!(text, "r:L{number}");
        }
    }
}

/// The word that a relative branch goes to, if it is in the program or at its end.
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
    let branches = words.iter().enumerate().filter(|(_, word)| **word >> 60 == 15);
    let mut labels: Vec<usize> = branches
        .filter_map(|(at, &word)| {
            let instruction = Instruction::decode(word);
            target(&instruction, at, words.len()).filter(|_| instruction.has_exact_text())
        })
        .collect();
    labels.sort_unstable();
    labels.dedup();
    labels
}
