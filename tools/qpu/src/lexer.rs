//! Text to tokens.
//!
//! A file is cut into tokens once; macros and repetitions go over the same tokens again. What a word means depends on its place and is
//! decided later. Numbers keep their text: a digit can also start a label (`1f`) or a suffix (`8a`).

use crate::language::Binary;
use crate::source::Span;
use crate::symbol::{Symbol, Symbols};

/// Kind of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A name.
    Word,
    /// Something that starts with a digit.
    Number,
    /// An operator of two operands; some of them are also of one.
    Operator(Binary),
    /// `!`
    Not,
    /// `~`
    Tilde,
    /// `(`
    Open,
    /// `)`
    Close,
    /// `[`
    OpenBracket,
    /// `]`
    CloseBracket,
    /// `.`
    Dot,
    /// `,`
    Comma,
    /// `;`
    Semicolon,
    /// `:`
    Colon,
    /// End of the line.
    End,
    /// A character or sign without a meaning.
    Unknown,
}

/// A token.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Token {
    pub(crate) kind: Kind,
    /// Number of the word; also of what starts with a digit, where it can be a suffix or label.
    pub(crate) symbol: Symbol,
    pub(crate) start: u32,
    pub(crate) end: u32,
}

impl Token {
    /// The place of the token.
    pub(crate) fn span(&self, file: u32) -> Span {
        Span { file, start: self.start, end: self.end }
    }
}

/// A file cut into tokens.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tokens {
    /// All tokens; each line ends with [`Kind::End`].
    pub(crate) tokens: Vec<Token>,
    /// Index of the first token of each line.
    pub(crate) lines: Vec<u32>,
}

/// Characters that end a word.
const fn delimits(byte: u8) -> bool {
    matches!(
        byte,
        b'.' | b','
            | b';'
            | b':'
            | b'+'
            | b'-'
            | b'*'
            | b'/'
            | b'%'
            | b'('
            | b')'
            | b'['
            | b']'
            | b'&'
            | b'|'
            | b'^'
            | b'~'
            | b'!'
            | b'='
            | b'<'
            | b'>'
            | b'#'
            | b' '
            | b'\t'
            | b'\r'
            | b'\n'
    )
}

const DELIMITS: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = delimits(byte as u8);
        byte += 1;
    }
    table
};

/// Cuts `text` into tokens.
pub(crate) fn lex(text: &str, symbols: &mut Symbols) -> Tokens {
    let bytes = text.as_bytes();
    // Places are 32 bits wide; the caller refuses longer texts.
    let mut out = Tokens { tokens: Vec::with_capacity(bytes.len() / 3), lines: Vec::with_capacity(bytes.len() / 16) };
    let mut at = 0;
    while at < bytes.len() {
        out.lines.push(out.tokens.len() as u32);
        at = lex_line(text, at, symbols, &mut out.tokens);
    }
    out
}

/// Cuts one line, gives back where the next one starts.
fn lex_line(text: &str, mut at: usize, symbols: &mut Symbols, tokens: &mut Vec<Token>) -> usize {
    let bytes = text.as_bytes();
    let byte_at = |at: usize| bytes.get(at).copied().unwrap_or(b'\n');
    let mut before = Kind::End;
    loop {
        let start = at;
        let mut symbol = 0;
        let first = byte_at(at);
        at += 1;
        let kind = match first {
            b' ' | b'\t' | b'\r' => continue,
            b'\n' | b'#' => {
                let end = start.min(bytes.len());
                tokens.push(Token { kind: Kind::End, symbol: 0, start: end as u32, end: end as u32 });
                let rest = bytes.get(start..).unwrap_or_default();
                return start + rest.iter().position(|&byte| byte == b'\n').unwrap_or(rest.len()) + 1;
            }
            b'(' => Kind::Open,
            b')' => Kind::Close,
            b'[' => Kind::OpenBracket,
            b']' => Kind::CloseBracket,
            b'.' => Kind::Dot,
            b',' => Kind::Comma,
            b';' => Kind::Semicolon,
            b':' => Kind::Colon,
            b'~' => Kind::Tilde,
            b'+' | b'-' | b'/' | b'%' | b'*' | b'&' | b'|' | b'^' | b'<' | b'>' | b'=' | b'!' => {
                at = sign_end(bytes, start);
                let sign = &text[start..at];
                match Binary::from_sign(sign) {
                    Some(operator) => Kind::Operator(operator),
                    None if sign == "!" => Kind::Not,
                    None => Kind::Unknown,
                }
            }
            _ => {
                let number = first.is_ascii_digit();
                let dots = number && before != Kind::Dot;
                let bad = first < b' ' || first == b'"' || first == b'\'' || first == b'$' || first == b'@';
                while let Some(&byte) = bytes.get(at)
                    && (!DELIMITS[byte as usize] || dots && byte == b'.')
                {
                    at += 1;
                }
                // The sign of an exponent belongs to the number.
                if dots
                    && matches!(bytes[at - 1], b'e' | b'E')
                    && !matches!(byte_at(start + 1), b'x' | b'X')
                    && matches!(byte_at(at), b'+' | b'-')
                    && byte_at(at + 1).is_ascii_digit()
                {
                    at += 1;
                    while byte_at(at).is_ascii_digit() {
                        at += 1;
                    }
                }
                // Numbers are many and different, and need no symbol.
                if !bad && (!number || matches!(before, Kind::Dot | Kind::Colon)) {
                    symbol = symbols.intern_at(text, start, at);
                }
                match (bad, number) {
                    (true, _) => Kind::Unknown,
                    (false, true) => Kind::Number,
                    (false, false) => Kind::Word,
                }
            }
        };
        before = kind;
        tokens.push(Token { kind, symbol, start: start as u32, end: at as u32 });
    }
}

/// Where the operator sign that starts at `start` ends.
fn sign_end(bytes: &[u8], start: usize) -> usize {
    let at = |n: usize| bytes.get(start + n).copied().unwrap_or(b'\n');
    let length = match at(0) {
        b'!' if matches!(at(1), b'^' | b'=') => 2 + usize::from(at(2) == at(1)),
        b'&' | b'*' | b'^' | b'|' if at(1) == at(0) => 2,
        b'=' if at(1) == b'=' => 2 + usize::from(at(2) == b'='),
        b'<' | b'>' => (1..).take_while(|&n| matches!(at(n), b'<' | b'=' | b'>')).count() + 1,
        _ => 1,
    };
    start + length
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(text: &str) -> Vec<(Kind, String)> {
        let mut symbols = Symbols::new();
        let tokens = lex(text, &mut symbols);
        tokens.tokens.iter().map(|t| (t.kind, text[t.start as usize..t.end as usize].to_owned())).collect()
    }

    #[test]
    fn numbers_keep_their_points_but_suffixes_end_at_them() {
        let texts: Vec<String> = kinds("1.5e-3 ra0.8a.setf 0x1e-5").into_iter().map(|(_, text)| text).collect();
        assert_eq!(texts, ["1.5e-3", "ra0", ".", "8a", ".", "setf", "0x1e", "-", "5", ""]);
    }

    #[test]
    fn the_longest_sign_wins() {
        use Binary::{Identical, RotateRight64, Xnor};
        let signs: Vec<Kind> = kinds("a >>>< b === c !^ d !").into_iter().map(|(kind, _)| kind).collect();
        let operators: Vec<Kind> = signs.into_iter().filter(|kind| !matches!(kind, Kind::Word | Kind::End)).collect();
        let [rotate, identical, xnor] = [RotateRight64, Identical, Xnor].map(Kind::Operator);
        assert_eq!(operators, [rotate, identical, xnor, Kind::Not]);
    }

    #[test]
    fn every_line_has_an_end() {
        let mut symbols = Symbols::new();
        let tokens = lex("a # b\n\n;", &mut symbols);
        assert_eq!(tokens.lines, [0, 2, 3]);
        assert_eq!(tokens.tokens.last().map(|token| token.kind), Some(Kind::End));
    }
}
