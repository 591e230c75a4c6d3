//! The tokens of a text in WGSL or GLSL, to the extent that both languages agree.

use alloc::vec::Vec;
use core::ops::Range;

/// Kind of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TokenKind {
    Word,
    Number,
    /// A bracket or separator.
    Mark,
    /// Anything else: an operator of one character, or one character of a longer operator.
    Operator,
}

/// A token and its place.
#[derive(Clone, Debug)]
pub(super) struct Token<'t> {
    pub(super) kind: TokenKind,
    pub(super) text: &'t str,
    pub(super) place: Range<usize>,
    /// Its line number; a backslash at the end of a line continues the line.
    pub(super) line: usize,
}

/// Characters that end a line of WGSL, and so a comment.
const LINE_ENDS: [char; 7] = ['\n', '\u{b}', '\u{c}', '\r', '\u{85}', '\u{2028}', '\u{2029}'];

/// The tokens of a text, without white space and comments. `nested`: comments can be nested.
pub(super) fn tokens(text: &str, nested: bool) -> Vec<Token<'_>> {
    let mut tokens = Vec::new();
    let (mut at, mut line) = (0, 0);
    while let Some(first) = text[at..].chars().next() {
        let rest = &text[at..];
        let (kind, length) = if rest.starts_with("//") {
            (None, rest.find(LINE_ENDS).unwrap_or(rest.len()))
        } else if rest.starts_with("/*") {
            (None, comment(rest, nested))
        } else if first.is_whitespace() || first == '\\' {
            line += usize::from(first == '\n' && !text[..at].ends_with('\\'));
            (None, first.len_utf8())
        } else if first.is_ascii_digit() {
            (Some(TokenKind::Number), length(rest, |c| c.is_alphanumeric() || c == '_' || c == '.'))
        } else if first.is_alphabetic() || first == '_' {
            (Some(TokenKind::Word), length(rest, |c| c.is_alphanumeric() || c == '_'))
        } else if "()[]{};,:@#".contains(first) {
            (Some(TokenKind::Mark), 1)
        } else {
            (Some(TokenKind::Operator), first.len_utf8())
        };
        if let Some(kind) = kind {
            tokens.push(Token { kind, text: &rest[..length], place: at..at + length, line });
        }
        at += length;
    }
    tokens
}

fn length(text: &str, belongs: impl Fn(char) -> bool) -> usize {
    text.find(|character| !belongs(character)).unwrap_or(text.len())
}

/// Length in bytes of the comment at the start of a text.
fn comment(text: &str, nested: bool) -> usize {
    let (bytes, mut depth, mut at) = (text.as_bytes(), 0usize, 0);
    while at + 1 < bytes.len() {
        match [bytes[at], bytes[at + 1]] {
            [b'/', b'*'] if nested || depth == 0 => depth += 1,
            [b'*', b'/'] => depth -= 1,
            _ => {
                at += 1;
                continue;
            }
        }
        at += 2;
        if depth == 0 {
            return at;
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_taken_apart() {
        let check = |text: &str, expected: &[&str]| {
            let found: Vec<&str> = tokens(text, true).iter().map(|token| token.text).collect();
            assert_eq!(found, expected, "{text}");
        };
        check("a.b1[2u] += -3.5e2;", &["a", ".", "b1", "[", "2u", "]", "+", "=", "-", "3.5e2", ";"]);
        check("x// y\n/* z */w", &["x", "w"]);
        check("é=0x1fu", &["é", "=", "0x1fu"]);
        check("/* open", &[]);
        check("/* a /* b */ c */d", &["d"]);
        let flat: Vec<&str> = tokens("/* a /* b */ c", false).iter().map(|token| token.text).collect();
        assert_eq!(flat, ["c"]);
    }

    #[test]
    fn lines_go_on_behind_a_backslash() {
        let lines: Vec<usize> = tokens("#define A \\\n 1\nb", false).iter().map(|token| token.line).collect();
        assert_eq!(lines, [0, 0, 0, 0, 1]);
    }
}
