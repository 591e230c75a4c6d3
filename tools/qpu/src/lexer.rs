//! Text to tokens.
//!
//! A file is split into tokens once; macros and repetitions process the same tokens again. The meaning of a word depends on its place and is determined
//! later. Numbers keep their text, because a digit can also start a label (`1f`) or a suffix (`8a`).

use alloc::vec::Vec;

use crate::language::Binary;
use crate::source::Span;
use crate::symbol::{Symbol, Symbols};

/// Kind of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TokenKind {
    /// A name.
    Word,
    /// A number, or another word that starts with a digit.
    Number,
    /// A binary operator; some of them are also unary.
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
    /// A character that is not part of the language.
    Unknown,
}

/// A token.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Token {
    pub(crate) kind: TokenKind,
    /// Symbol of a word; also of a word that starts with a digit where it can be a suffix or label.
    pub(crate) symbol: Symbol,
    pub(crate) start: u32,
    pub(crate) end: u32,
}

impl Token {
    /// The span of the token.
    pub(crate) fn span(&self, file: u32) -> Span {
        Span { file, start: self.start, end: self.end }
    }
}

/// The tokens of a file.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tokens {
    /// All tokens; each line ends with [`TokenKind::End`].
    pub(crate) tokens: Vec<Token>,
    /// Index of the first token of each line.
    pub(crate) lines: Vec<u32>,
}

/// Whether a byte ends a word.
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

/// The token that a single byte is.
const fn sign(byte: u8) -> Option<TokenKind> {
    Some(match byte {
        b'(' => TokenKind::Open,
        b')' => TokenKind::Close,
        b'[' => TokenKind::OpenBracket,
        b']' => TokenKind::CloseBracket,
        b'.' => TokenKind::Dot,
        b',' => TokenKind::Comma,
        b';' => TokenKind::Semicolon,
        b':' => TokenKind::Colon,
        b'~' => TokenKind::Tilde,
        _ => return None,
    })
}

/// Whether a name or number starts with a byte.
const fn starts_word(byte: u8) -> bool {
    !delimits(byte) && !matches!(byte, 0..b' ' | b'"' | b'\'' | b'$' | b'@')
}

/// Properties of each byte, as a table.
struct Bytes {
    delimits: [bool; 256],
    starts_word: [bool; 256],
    sign: [Option<TokenKind>; 256],
}

static BYTES: Bytes = {
    let mut bytes = Bytes { delimits: [false; 256], starts_word: [false; 256], sign: [None; 256] };
    let mut byte = 0;
    while byte < 256 {
        bytes.delimits[byte] = delimits(byte as u8);
        bytes.starts_word[byte] = starts_word(byte as u8);
        bytes.sign[byte] = sign(byte as u8);
        byte += 1;
    }
    bytes
};

/// The length of the prefix of eight bytes, lowest first, that consists of digits and small letters. A word may be longer, but rarely is.
#[inline]
const fn plain_bytes(eight: u64) -> usize {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const HIGH: u64 = 0x80 * ONES;
    /// The high bit of each byte that is `limit` or more, for bytes below 128: the additions do not carry into the next byte.
    #[inline]
    const fn at_least(bytes: u64, limit: u8) -> u64 {
        bytes + (0x80 - limit as u64) * ONES
    }
    let low = eight & !HIGH;
    let digits = at_least(low, b'0') ^ at_least(low, b'9' + 1);
    let letters = at_least(low, b'a') ^ at_least(low, b'z' + 1);
    (!((digits | letters) & !eight) & HIGH).trailing_zeros() as usize / 8
}

/// The end of the word that starts at `start`; a number may contain points.
#[inline]
fn word_end(bytes: &[u8], start: usize, points: bool) -> usize {
    let mut at = start
        + bytes.get(start..).and_then(<[u8]>::first_chunk).map_or(0, |eight| plain_bytes(u64::from_le_bytes(*eight)));
    while let Some(&byte) = bytes.get(at)
        && (!BYTES.delimits[byte as usize] || points && byte == b'.')
    {
        at += 1;
    }
    at
}

/// Splits `text` into tokens.
pub(crate) fn lex(text: &str, symbols: &mut Symbols) -> Tokens {
    let bytes = text.as_bytes();
    // Offsets have 32 bits; the caller refuses longer texts.
    let mut out = Tokens { tokens: Vec::with_capacity(bytes.len() / 3), lines: Vec::with_capacity(bytes.len() / 16) };
    let mut at = 0;
    while at < bytes.len() {
        out.lines.push(out.tokens.len() as u32);
        at = lex_line(text, at, symbols, &mut out.tokens);
    }
    out
}

/// Splits one line into tokens; returns the start of the next line.
fn lex_line(text: &str, mut at: usize, symbols: &mut Symbols, tokens: &mut Vec<Token>) -> usize {
    let bytes = text.as_bytes();
    let byte_at = |at: usize| bytes.get(at).copied().unwrap_or(b'\n');
    let mut before = TokenKind::End;
    loop {
        let start = at;
        let first = byte_at(at);
        at += 1;
        let mut symbol = 0;
        let kind = if BYTES.starts_word[first as usize] && !first.is_ascii_digit() {
            at = word_end(bytes, start, false);
            symbol = symbols.intern_at(text, start, at);
            TokenKind::Word
        } else if let Some(kind) = BYTES.sign[first as usize] {
            kind
        } else if first.is_ascii_digit() {
            // In a suffix, digits are followed by neither a point nor an exponent.
            at = match before {
                TokenKind::Dot => word_end(bytes, start, false),
                _ => exponent_end(bytes, start, word_end(bytes, start, true)),
            };
            // Only suffixes and labels need a symbol; interning all numbers would fill the table.
            if matches!(before, TokenKind::Dot | TokenKind::Colon) {
                symbol = symbols.intern_at(text, start, at);
            }
            TokenKind::Number
        } else {
            match first {
                b' ' | b'\t' | b'\r' => continue,
                b'\n' | b'#' => break,
                _ if delimits(first) => {
                    at = operator_end(bytes, start);
                    operator(&text[start..at])
                }
                _ => {
                    at = word_end(bytes, start, false);
                    TokenKind::Unknown
                }
            }
        };
        before = kind;
        tokens.push(Token { kind, symbol, start: start as u32, end: at as u32 });
        // Fast path: a single space follows most tokens.
        at += usize::from(byte_at(at) == b' ');
    }
    let end = (at - 1).min(bytes.len());
    tokens.push(Token { kind: TokenKind::End, symbol: 0, start: end as u32, end: end as u32 });
    let rest = bytes.get(end..).unwrap_or_default();
    end + rest.iter().position(|&byte| byte == b'\n').unwrap_or(rest.len()) + 1
}

/// The operator that a sign denotes.
fn operator(sign: &str) -> TokenKind {
    match Binary::from_sign(sign) {
        Some(operator) => TokenKind::Operator(operator),
        None if sign == "!" => TokenKind::Not,
        None => TokenKind::Unknown,
    }
}

/// The end of a number, if the sign at `end` may belong to its exponent.
fn exponent_end(bytes: &[u8], start: usize, end: usize) -> usize {
    let at = |at: usize| bytes.get(at).copied().unwrap_or(b'\n');
    let signed = matches!(bytes[end - 1], b'e' | b'E')
        && !matches!(at(start + 1), b'x' | b'X')
        && matches!(at(end), b'+' | b'-')
        && at(end + 1).is_ascii_digit();
    if !signed {
        return end;
    }
    let digits = bytes.get(end + 1..).unwrap_or_default();
    end + 1 + digits.iter().take_while(|byte| byte.is_ascii_digit()).count()
}

/// The end of the operator that starts at `start`.
fn operator_end(bytes: &[u8], start: usize) -> usize {
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
    use alloc::borrow::ToOwned;
    use alloc::string::String;

    fn kinds(text: &str) -> Vec<(TokenKind, String)> {
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
        let signs: Vec<TokenKind> = kinds("a >>>< b === c !^ d !").into_iter().map(|(kind, _)| kind).collect();
        let operators: Vec<TokenKind> =
            signs.into_iter().filter(|kind| !matches!(kind, TokenKind::Word | TokenKind::End)).collect();
        let [rotate, identical, xnor] = [RotateRight64, Identical, Xnor].map(TokenKind::Operator);
        assert_eq!(operators, [rotate, identical, xnor, TokenKind::Not]);
    }

    #[test]
    fn plain_bytes_are_digits_and_small_letters() {
        for byte in 0..=255u8 {
            let plain = byte.is_ascii_digit() || byte.is_ascii_lowercase();
            for at in 0..8 {
                let mut eight = *b"az09zba5";
                eight[at] = byte;
                assert_eq!(plain_bytes(u64::from_le_bytes(eight)), if plain { 8 } else { at }, "{byte:#x} at {at}");
            }
        }
    }

    #[test]
    fn every_line_has_an_end() {
        let mut symbols = Symbols::new();
        let tokens = lex("a # b\n\n;", &mut symbols);
        assert_eq!(tokens.lines, [0, 2, 3]);
        assert_eq!(tokens.tokens.last().map(|token| token.kind), Some(TokenKind::End));
    }
}
