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

/// What a word of the assembly language means; none if it is not one.
pub fn explain(word: &str) -> Option<String> {
    explain_word(word).or_else(|| qpu::Code::parse(word).map(|code| code.explanation().to_owned()))
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
    words.sort_by(|a, b| a.label.cmp(&b.label));
    words.dedup_by(|a, b| a.label == b.label);
    words
}
