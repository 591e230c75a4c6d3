//! The dictionary of the language: what each mnemonic, register, suffix, directive, function and operator means.
//!
//! There is one table for each kind of word. What the hardware's tables already contain (operands and flags of an operation, addresses of a register) is
//! printed from those tables, and not repeated in the texts here. Tests compare the tables with the language: each word has an entry, each word of an entry
//! exists, and each example assembles.

mod directives;
mod instructions;
mod operators;
mod registers;
mod signals;
mod suffixes;

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::Write;

use crate::code::Code;
use crate::similar;

/// The kind of a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum WordKind {
    /// An operation of an ALU, a move, a load, a branch or a semaphore access.
    Instruction,
    /// A signal, which an instruction may have beside its operations.
    Signal,
    /// A register or unit that instructions read or write.
    Register,
    /// A suffix of a mnemonic or operand.
    Suffix,
    /// A directive.
    Directive,
    /// A function in expressions that the assembler evaluates.
    Function,
    /// An operator in such expressions.
    Operator,
}

impl WordKind {
    /// All kinds, in the order in which they are listed.
    const ALL: [Self; 7] = [
        Self::Instruction,
        Self::Signal,
        Self::Register,
        Self::Suffix,
        Self::Directive,
        Self::Function,
        Self::Operator,
    ];

    /// The name of the kind.
    const fn name(self) -> &'static str {
        match self {
            Self::Instruction => "instruction",
            Self::Signal => "signal",
            Self::Register => "register",
            Self::Suffix => "suffix",
            Self::Directive => "directive",
            Self::Function => "function",
            Self::Operator => "operator",
        }
    }
}

/// An entry: words with one meaning.
pub(super) struct Entry {
    /// The words: the usual spelling first, then others.
    names: &'static [&'static str],
    /// Its syntax.
    form: &'static str,
    /// Its meaning, with the rules that are most often broken, and the source.
    meaning: &'static str,
    /// A source that uses the word, and assembles.
    example: &'static str,
    /// Codes of diagnostics about it.
    codes: &'static [Code],
}

/// The table of a kind.
fn table(kind: WordKind) -> &'static [Entry] {
    match kind {
        WordKind::Instruction => instructions::TABLE,
        WordKind::Signal => signals::TABLE,
        WordKind::Register => registers::TABLE,
        WordKind::Suffix => suffixes::TABLE,
        WordKind::Directive => directives::TABLE,
        WordKind::Function => operators::FUNCTIONS,
        WordKind::Operator => operators::OPERATORS,
    }
}

/// The meanings of a word; `None` if the language does not have it. The dot of suffixes and directives may be left out.
pub fn explain_word(word: &str) -> Option<String> {
    let bare = word.strip_prefix('.').unwrap_or(word);
    let dotted = bare.len() < word.len();
    let mut text = String::new();
    for kind in WordKind::ALL {
        if dotted && !matches!(kind, WordKind::Suffix | WordKind::Directive) {
            continue;
        }
        if let Some(entry) = table(kind).iter().find(|entry| entry.names.contains(&bare)) {
            print(&mut text, kind, bare, entry, facts(kind, bare));
        } else if let Some((entry, facts)) = family(kind, bare) {
            print(&mut text, kind, bare, entry, facts);
        }
    }
    (!text.is_empty()).then_some(text)
}

/// What the hardware's tables contain about a word.
fn facts(kind: WordKind, word: &str) -> Option<String> {
    match kind {
        WordKind::Instruction => instructions::facts(word),
        WordKind::Register => registers::facts(word),
        _ => None,
    }
}

/// The entry of a word of a numbered or composed family, such as `ra5`, `srel3` or `.16as`, with what is specific to this word.
fn family(kind: WordKind, word: &str) -> Option<(&'static Entry, Option<String>)> {
    match kind {
        WordKind::Register => registers::family(word),
        WordKind::Suffix => suffixes::family(word),
        _ => None,
    }
}

fn print(text: &mut String, kind: WordKind, word: &str, entry: &Entry, facts: Option<String>) {
    if !text.is_empty() {
        text.push('\n');
    }
    let dot = if matches!(kind, WordKind::Suffix | WordKind::Directive) { "." } else { "" };
    let _ = writeln!(text, "{dot}{word}: {}", kind.name());
    let others: Vec<&str> = entry.names.iter().copied().filter(|name| *name != word).collect();
    if !others.is_empty() {
        let _ = writeln!(text, "  also    {dot}{}", others.join(&format!(", {dot}")));
    }
    let _ = writeln!(text, "  form    {}", entry.form);
    if let Some(facts) = facts {
        let _ = writeln!(text, "  facts   {facts}");
    }
    let _ = writeln!(text, "\n{}\n\nExample:", entry.meaning);
    for line in entry.example.lines() {
        let _ = writeln!(text, "    {line}");
    }
    if !entry.codes.is_empty() {
        let _ = writeln!(text, "\nDiagnostics about it (`qpu explain CODE`):");
        for code in entry.codes {
            let _ = writeln!(text, "    {code}  {}", code.title());
        }
    }
}

/// All words that have entries of their own, with the names of their kinds; the dot before suffixes and directives is left out.
pub fn vocabulary() -> impl Iterator<Item = (&'static str, &'static str)> {
    let of_kind = |kind: WordKind| {
        table(kind).iter().flat_map(move |entry| entry.names.iter().map(move |name| (kind.name(), *name)))
    };
    WordKind::ALL.into_iter().flat_map(of_kind)
}

/// All words, one paragraph for each kind.
pub fn list_words() -> String {
    let mut text = String::new();
    for kind in WordKind::ALL {
        let names: Vec<&str> = table(kind).iter().flat_map(|entry| entry.names.iter().copied()).collect();
        let _ = write!(text, "{}s:", kind.name());
        let mut column = usize::MAX;
        for name in names {
            if column.saturating_add(name.len() + 1) > 110 {
                text.push_str("\n   ");
                column = 3;
            }
            let _ = write!(text, " {name}");
            column += name.len() + 1;
        }
        text.push_str("\n\n");
    }
    text.push_str("Registers ra0 to ra63, rb0 to rb63, sacq0 to sacq15 and srel0 to srel15, and the suffixes of packing, are explained by name, too.\n");
    text
}

/// The word of the language with the smallest edit distance to an unknown one.
pub fn nearest_word(word: &str) -> Option<&'static str> {
    similar::nearest(word, vocabulary().map(|(_, name)| name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::language::{Directive, Mnemonic, Unary, register, suffix};
    use crate::{Options, Source, assemble};
    use alloc::borrow::ToOwned;

    /// Words of a kind that the language has.
    fn language(kind: WordKind) -> Vec<String> {
        let is_signal = |mnemonic| matches!(mnemonic, Mnemonic::Signal(_));
        match kind {
            WordKind::Instruction => Mnemonic::named()
                .filter(|(_, mnemonic)| !is_signal(*mnemonic))
                .map(|(name, _)| name.to_owned())
                .collect(),
            WordKind::Signal => Mnemonic::named()
                .filter(|(_, mnemonic)| is_signal(*mnemonic))
                .map(|(name, _)| name.to_owned())
                .collect(),
            WordKind::Register => register::all().map(|(name, _)| name).collect(),
            WordKind::Suffix => suffix::all().into_iter().map(|(name, _)| name).collect(),
            WordKind::Directive => Directive::NAMED.iter().map(|(name, _)| (*name).to_owned()).collect(),
            WordKind::Function => Unary::NAMED.iter().map(|(name, _)| (*name).to_owned()).collect(),
            WordKind::Operator => operators::SIGNS.iter().map(|sign| (*sign).to_owned()).collect(),
        }
    }

    fn has_entry(kind: WordKind, word: &str) -> bool {
        table(kind).iter().any(|entry| entry.names.contains(&word)) || family(kind, word).is_some()
    }

    #[test]
    fn every_word_of_the_language_is_explained() {
        for kind in WordKind::ALL {
            for word in language(kind) {
                assert!(has_entry(kind, &word), "the {} {word} has no entry", kind.name());
                assert!(explain_word(&word).is_some_and(|text| text.contains(&word)), "{word}");
            }
        }
    }

    #[test]
    fn every_entry_is_a_word_of_the_language() {
        for kind in WordKind::ALL {
            let words = language(kind);
            for name in table(kind).iter().flat_map(|entry| entry.names) {
                assert!(words.iter().any(|word| word == name), "{name} is no {}", kind.name());
            }
        }
    }

    #[test]
    fn every_example_assembles_and_has_its_word() {
        let mut faults = Vec::new();
        for entry in WordKind::ALL.iter().flat_map(|&kind| table(kind)) {
            let name = entry.names[0];
            if !entry.names.iter().any(|name| entry.example.contains(name)) {
                faults.push(format!("the example of {name} does not have it"));
            }
            let source = Source::new("example.qasm", format!("{}\n", entry.example));
            if let Err(diagnostics) = assemble(&[source], &Options::default()) {
                faults.push(format!("the example of {name} does not assemble: {diagnostics:?}"));
            }
        }
        assert!(faults.is_empty(), "{}", faults.join("\n"));
    }

    #[test]
    fn the_operators_that_the_lexer_knows_are_listed() {
        use crate::language::Binary;
        for sign in operators::SIGNS {
            assert!(Binary::from_sign(sign).is_some() || matches!(*sign, "~" | "!"), "{sign}");
        }
    }

    #[test]
    fn a_dot_leaves_suffixes_and_directives() {
        let text = explain_word(".int").expect("a directive");
        assert!(text.starts_with(".int: directive"), "{text}");
        assert!(explain_word(".thrsw").is_none());
        let both = explain_word("exp").expect("a register and a function");
        assert!(both.contains("exp: register") && both.contains("exp: function"), "{both}");
    }

    #[test]
    fn numbered_registers_say_what_stands_at_their_address() {
        for (word, expected) in [
            ("ra41", "read: x_coord"),
            ("rb49", "written: vw_setup"),
            ("ra5", "a register of file A"),
            ("srel3", "semaphore 3"),
        ] {
            let text = explain_word(word).expect("a register");
            assert!(text.contains(expected), "{word}: {text}");
        }
        assert!(explain_word("ra64").is_none() && explain_word("sacq16").is_none());
    }

    #[test]
    fn unknown_words_have_a_suggestion() {
        assert_eq!(nearest_word("thsrw"), Some("thrsw"));
        assert!(explain_word("frobnicate").is_none());
    }
}
