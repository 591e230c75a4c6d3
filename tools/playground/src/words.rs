//! What words mean, and which there are: for hover and completion.

use qpu::explain::{explain_word, vocabulary};
use serde::Serialize;

/// A word that can be completed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Word {
    /// The word.
    pub label: String,
    /// What it is: an instruction, a signal, a register, a suffix, a directive, a function.
    pub kind: String,
}

/// The file that `.include <vc4.qinc>` finds.
const INCLUDED: &str = include_str!("../../qpu/include/vc4.qinc");

/// What a word of the assembly language means; none if it is not one.
pub fn explain(word: &str) -> Option<String> {
    let of_code = || qpu::Code::parse(word).map(|code| code.explanation().to_owned());
    let included =
        || included().find(|(name, ..)| *name == word).map(|(_, head, meaning)| format!("{head}\n\n{meaning}"));
    explain_word(word).or_else(of_code).or_else(included)
}

/// Functions and macros of the included file: name, head, and the comment above. Those that follow each other without one share it.
fn included() -> impl Iterator<Item = (&'static str, &'static str, String)> {
    let mut comment = String::new();
    let mut is_open = false;
    INCLUDED.lines().filter_map(move |line| {
        if let Some(text) = line.strip_prefix("# ") {
            if !std::mem::replace(&mut is_open, true) {
                comment.clear();
            }
            comment.push_str(if comment.is_empty() { "" } else { " " });
            comment.push_str(text);
            return None;
        }
        is_open = false;
        let head = line.strip_prefix(".func ").or_else(|| line.strip_prefix(".macro "))?;
        let name = head.split(['(', ',', ' ']).next()?;
        Some((name, head, comment.clone()))
    })
}

/// All words of the assembly language.
pub fn qasm() -> Vec<Word> {
    let mut words = Vec::new();
    for (kind, name) in vocabulary().filter(|(kind, _)| *kind != "operator") {
        let dot = if matches!(kind, "suffix" | "directive") { "." } else { "" };
        words.push(Word { label: format!("{dot}{name}"), kind: kind.to_owned() });
    }
    let numbered = [("ra", 32), ("rb", 32), ("r", 6)];
    for (name, count) in numbered {
        words.extend((0..count).map(|n| Word { label: format!("{name}{n}"), kind: "register".to_owned() }));
    }
    words.extend(included().map(|(name, ..)| Word { label: name.to_owned(), kind: "function".to_owned() }));
    words.sort_by(|a, b| a.label.cmp(&b.label));
    words.dedup_by(|a, b| a.label == b.label);
    words
}
