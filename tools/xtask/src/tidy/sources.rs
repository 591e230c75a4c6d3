//! Source files: documentation, unsafe code, and leftovers.

use super::{TextFile, none, text_files};
use crate::workspace::Workspace;
use anyhow::Result;

/// Files that may contain unsafe code: CPU, MMIO, memory, the ABIs of QEMU, of C and of Mesa's simulator, a hot loop with special vectors, code that is
/// generated at run time, a test's heap. A folder ends in `/`.
const UNSAFE_MAY_STAND_IN: &[&str] = &[
    "kernel/src/arch/",
    "kernel/src/mm/",
    "kernel/src/mmio.rs",
    "kernel/src/board/raspberry_pi_3/peripherals.rs",
    // Pointers and functions of C.
    "kernel/c-interface/src/",
    "kernel/renderer/guide/own-kernel/src/machine.rs",
    "kernel/renderer/guide/rpi-hal/src/raw.rs",
    "kernel/renderer/tests/ownership/heap.rs",
    "kernel/v3d/tests/validator/heap.rs",
    "tools/qemu-v3d/src/ffi.rs",
    "tools/qemu-v3d/src/ffi/",
    "tools/simpenrose/src/ffi.rs",
    "tools/v3d-sim/src/qpu/engine/dispatch.rs",
    "tools/v3d-sim/src/qpu/translation/entry.rs",
    "tools/v3d-sim/src/qpu/translation/entry/",
    "tools/v3d-sim/src/simd.rs",
    "tools/v3d-sim/src/simd/avx2.rs",
    "tools/v3d-sim/src/simd/avx512.rs",
];

/// Crate roots that allow unsafe code in named modules.
const DENY_INSTEAD_OF_FORBID: &[&str] = &[
    "kernel/src/lib.rs",
    "kernel/renderer/guide/own-kernel/src/main.rs",
    "kernel/c-interface/src/lib.rs",
    "kernel/renderer/guide/rpi-hal/src/lib.rs",
    "tools/qemu-v3d/src/lib.rs",
    "tools/simpenrose/src/lib.rs",
    "tools/v3d-sim/src/lib.rs",
];

/// The first line of a module's documentation must fit on one line of an editor.
const MAX_FIRST_LINE: usize = 120;

/// Maximum line length. Rows of tables and raw strings, which contain the output of programs, may be longer.
const MAX_LINE_CHARACTERS: usize = 160;

/// Module names that are not allowed because they do not describe their contents.
const CATCH_ALL: [&str; 5] = ["utils.rs", "util.rs", "common.rs", "misc.rs", "helpers.rs"];

/// Text that must not occur in any source file, and why. It is split, so that this file does not violate its own rule.
const UNWANTED: [(&str, &str); 7] = [
    (concat!("#[ig", "nore"), "a test that is switched off"),
    (concat!("to", "do!("), "unfinished"),
    (concat!("unimpl", "emented!("), "unfinished"),
    (concat!("TO", "DO"), "unfinished"),
    (concat!("FIX", "ME"), "unfinished"),
    (concat!("XX", "X "), "unfinished"),
    (concat!("db", "g!("), "a leftover of debugging"),
];

/// Paths that exist on one machine only.
const MACHINE_PATHS: [&str; 6] = [
    concat!("/ho", "me/"),
    concat!("/ro", "ot/"),
    concat!("/wo", "rk/"),
    concat!("/Us", "ers/"),
    concat!("/tm", "p/"),
    concat!("../sha", "red"),
];

/// Checks every source file.
pub(super) fn rule(workspace: &Workspace) -> Result<()> {
    none(text_files(workspace)?.iter().flat_map(breaches).collect())
}

fn breaches(file: &TextFile) -> Vec<String> {
    let mut breaches = Vec::new();
    let path = file.path.as_str();
    for (number, line) in file.text.lines().enumerate() {
        let mut breach = |sentence: String| breaches.push(format!("{path}:{}: {sentence}", number + 1));
        if path != "Cargo.lock" {
            for machine in MACHINE_PATHS.iter().filter(|&&machine| has_path(line, machine)) {
                breach(format!("a path of one machine, {machine}"));
            }
        }
        if path.ends_with(".rs") {
            for (text, why) in UNWANTED.iter().filter(|(text, _)| line.contains(text)) {
                breach(format!("{text} is {why}"));
            }
        }
    }
    if path.ends_with(".rs") || path.ends_with(".md") {
        let long = long_lines(path, &file.text).into_iter();
        breaches.extend(long.map(|number| format!("{path}:{number}: longer than {MAX_LINE_CHARACTERS} characters")));
    }
    if path.ends_with(".rs") {
        breaches.extend(whole_file(path, &file.text).map(|sentence| format!("{path}: {sentence}")));
        let allowed = UNSAFE_MAY_STAND_IN.iter().any(|place| path.starts_with(place));
        let code = code_only(&file.text);
        for (number, line) in code.lines().enumerate().filter(|_| !allowed) {
            if line.split(|c| !is_word(c)).any(|word| word == "unsafe") {
                breaches.push(format!("{path}:{}: unsafe code does not belong here", number + 1));
            }
        }
    }
    breaches
}

/// Violations of a Rust file as a whole.
fn whole_file<'a>(path: &'a str, text: &'a str) -> impl Iterator<Item = String> + 'a {
    let name = path.rsplit('/').next().unwrap_or(path);
    let first = text.lines().next().unwrap_or_default();
    let root = is_crate_root(path);
    let lint = if DENY_INSTEAD_OF_FORBID.contains(&path) { "deny" } else { "forbid" };
    let level = format!("#![{lint}(unsafe_code)]");
    [
        (name == "mod.rs").then(|| "modules have their own names, not mod.rs".to_owned()),
        CATCH_ALL.contains(&name).then(|| "this name does not describe the contents".to_owned()),
        (!first.starts_with("//! ")).then(|| "the first line is not the module's documentation (//! ...)".to_owned()),
        (first.chars().count() > MAX_FIRST_LINE).then(|| "the first line is longer than a line".to_owned()),
        (root && !text.lines().any(|line| line == level)).then(|| format!("the crate root has no {level}")),
    ]
    .into_iter()
    .flatten()
}

/// Roots of libraries and programs. Tests and build scripts are crates too, but only need to be free of unsafe code.
fn is_crate_root(path: &str) -> bool {
    path.ends_with("src/lib.rs") || path.ends_with("src/main.rs")
}

/// The numbers of lines that are too long.
fn long_lines(path: &str, text: &str) -> Vec<usize> {
    let mut exempt = vec![false; text.lines().count() + 1];
    if path.ends_with(".rs") {
        let mut line = 0;
        for (kind, piece) in pieces(text) {
            let ends = piece.matches('\n').count();
            if kind == PieceKind::RawString && ends > 0 {
                exempt[line..=line + ends].fill(true);
            }
            line += ends;
        }
    }
    let is_row = |line: &str| line.trim_start().trim_start_matches(['/', '!', ' ']).starts_with('|');
    let lines = text.lines().zip(exempt).zip(1..);
    let long =
        lines.filter(|((line, exempt), _)| !exempt && !is_row(line) && line.chars().count() > MAX_LINE_CHARACTERS);
    long.map(|(_, number)| number).collect()
}

/// The kind of a piece of a Rust file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PieceKind {
    Code,
    /// A comment, a string or a character literal.
    Other,
    RawString,
}

/// A Rust file split into pieces; each character of code is a piece.
fn pieces(text: &str) -> Vec<(PieceKind, &str)> {
    let mut pieces = Vec::new();
    let mut rest = text;
    let mut last = ' ';
    while let Some(first) = rest.chars().next() {
        let (kind, length) = match first {
            '/' if rest.starts_with("//") => (PieceKind::Other, rest.find('\n').unwrap_or(rest.len())),
            '/' if rest.starts_with("/*") => (PieceKind::Other, end_of(rest, 2, "*/")),
            '"' => (PieceKind::Other, end_of_string(rest)),
            'r' if is_raw_string(rest) && !is_word(last) => {
                let hashes = rest[1..].find('"').unwrap_or(0);
                let close = format!("\"{}", "#".repeat(hashes));
                (PieceKind::RawString, end_of(rest, 2 + hashes, &close))
            }
            '\'' => match char_literal(rest) {
                Some(length) => (PieceKind::Other, length),
                None => (PieceKind::Code, 1),
            },
            _ => (PieceKind::Code, first.len_utf8()),
        };
        last = if kind == PieceKind::Code { first } else { ' ' };
        let (piece, after) = rest.split_at(length);
        pieces.push((kind, piece));
        rest = after;
    }
    pieces
}

/// The file's code: comments, strings and character literals are replaced by blanks, line ends are kept.
fn code_only(text: &str) -> String {
    let mut code = String::with_capacity(text.len());
    for (kind, piece) in pieces(text) {
        if kind == PieceKind::Code {
            code.push_str(piece);
        } else {
            code.push(' ');
            code.extend(piece.chars().filter(|&c| c == '\n'));
        }
    }
    code
}

fn is_word(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

fn is_raw_string(text: &str) -> bool {
    text[1..].trim_start_matches('#').starts_with('"')
}

/// Length up to and including the next `close` from byte `from` on; the whole length if there is none.
fn end_of(text: &str, from: usize, close: &str) -> usize {
    text.get(from..).and_then(|rest| rest.find(close)).map_or(text.len(), |at| from + at + close.len())
}

/// Length of the string literal at the start of `text`.
fn end_of_string(text: &str) -> usize {
    let mut escaped = true;
    for (at, character) in text.char_indices() {
        match character {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

/// Length of the character literal at the start of `text`; `None` if it is a lifetime.
fn char_literal(text: &str) -> Option<usize> {
    let inside = &text[1..];
    if let Some(escape) = inside.strip_prefix('\\') {
        return escape.char_indices().skip(1).find(|&(_, c)| c == '\'').map(|(at, _)| at + 3);
    }
    let length = inside.chars().next()?.len_utf8();
    inside[length..].starts_with('\'').then_some(length + 2)
}

/// Whether `line` has a path that starts like this. Parts of longer paths do not count.
fn has_path(line: &str, beginning: &str) -> bool {
    line.match_indices(beginning).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        !before.is_some_and(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '}' | '/'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(path: &str, text: &str) -> Vec<String> {
        breaches(&TextFile { path: path.to_owned(), text: text.to_owned() })
    }

    #[test]
    fn a_good_file_breaks_nothing() {
        let text = "//! The QPU's special function unit.\n#![forbid(unsafe_code)]\nfn f() {} // no unsafe here\n";
        assert_eq!(check("kernel/v3d/src/lib.rs", text), Vec::<String>::new());
        assert_eq!(check("kernel/v3d/src/sfu.rs", text), Vec::<String>::new());
    }

    #[test]
    fn each_breach_is_found() {
        let one = |path: &str, text: &str| {
            let breaches = check(path, text);
            assert_eq!(breaches.len(), 1, "{breaches:?}");
            breaches[0].clone()
        };
        let docs = "//! What it is.\n";
        assert!(one("a/src/x.rs", "fn f() {}\n").contains("first line"));
        assert!(one("a/src/lib.rs", docs).contains("forbid"));
        assert!(one("kernel/src/lib.rs", docs).contains("deny"));
        assert!(one("a/src/utils.rs", docs).contains("name"));
        assert!(one("a/src/x/mod.rs", docs).contains("mod.rs"));
        assert!(one("a/src/x.rs", &format!("{docs}unsafe {{}}\n")).contains("a/src/x.rs:2: unsafe"));
        assert!(one("a/src/x.rs", &format!("{docs}{}]\n", concat!("#[ig", "nore"))).contains("switched off"));
        assert!(one("a/x.toml", concat!("path = \"/ho", "me/me/x\"\n")).contains("machine"));
    }

    #[test]
    fn long_lines_are_found_but_for_tables_and_raw_strings() {
        let check = |path: &str, text: &str, expected: &[usize]| assert_eq!(long_lines(path, text), expected, "{text}");
        let (fits, long) = ("ä".repeat(MAX_LINE_CHARACTERS - 3), "ä".repeat(MAX_LINE_CHARACTERS - 2));
        check("a.rs", &format!("// {fits}\n// {long}\nf();\n"), &[2]);
        check("a.rs", &format!("//! | {long} |\n    let s = \"{long}\";\n"), &[2]);
        check("a.rs", &format!("let s = r#\"\n{long}-\n{long}\"#;\nlet t = r\"{long}\"; // {long}\n"), &[4]);
        check("a.md", &format!("{long}-\n{long}\n| {long} |\n   {long}\n"), &[4]);
    }

    #[test]
    fn words_in_comments_and_strings_are_no_code() {
        let text = concat!(
            "// unsafe\n/* unsafe\n */ let s = \"unsafe \\\" \nunsafe\"; let r = r#\"\" unsafe\"#;\n",
            "let c = '\"'; let d = '\\''; let e = '\\u{1}'; fn f<'a>(x: &'a str) { unsafe { g(x) } }\n",
        );
        let code = code_only(text);
        let words: Vec<&str> = code.split(|c| !is_word(c)).filter(|word| !word.is_empty()).collect();
        assert_eq!(words, "let s let r let c let d let e fn f a x a str unsafe g x".split(' ').collect::<Vec<_>>());
        assert_eq!(code.lines().count(), text.lines().count());
    }

    #[test]
    fn only_whole_beginnings_are_paths() {
        assert!(has_path(concat!("see /tm", "p/x"), MACHINE_PATHS[4]));
        assert!(!has_path(concat!("$ROOT/tm", "p/x"), MACHINE_PATHS[4]));
    }
}
