//! Counts the components of constants and types at each use.
//!
//! naga copies the value of a constant, with all of its components, wherever a function uses it, creates an expression for each element of a zero value, and
//! visits all components of a type at each use of the type.

use alloc::vec;
use alloc::vec::Vec;
use core::cell::Cell;
use core::ops::Range;
use hashbrown::HashMap;

use super::bounds::{Dialect, span};
use super::tokens::{Token, TokenKind};
use crate::budget::Budget;
use crate::diagnostic::{Result, refuse_beyond};
use crate::limit::Limit;

/// Maximum number of tokens that are visited for counting.
const MAX_STEPS: u64 = 1 << 24;

/// Refuses a text whose constants and types have too many components.
pub(super) fn check_parts(tokens: &[Token<'_>], dialect: Dialect, most: u64) -> Result<()> {
    let mut constants = Constants::new(tokens, dialect);
    let mut sum = 0u64;
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        match token.text {
            "{" => constants.scopes.push(HashMap::new()),
            "}" if constants.scopes.len() > 1 => drop(constants.scopes.pop()),
            "const" if dialect == Dialect::Wgsl && constants.scopes.len() > 1 => constants.declare(at),
            _ => {}
        }
        let (expressions, next) = constants.expressions_at(at);
        sum = sum.saturating_add(expressions);
        if sum > most || constants.is_spent() {
            return refuse_beyond(span(token), &Limit::PARTS, most, Budget::LARGE.parts);
        }
        // The tokens of a macro or a type are counted with it; they contain no brackets of blocks.
        at = next;
    }
    Ok(())
}

/// The meaning of a name.
#[derive(Clone, Debug, Default)]
struct Meaning {
    /// The tokens of its value or its type; of all declarations, if there is more than one.
    bodies: Vec<Range<usize>>,
    kind: Means,
    /// Number of expressions of its value, once computed.
    expressions: Option<u64>,
    /// Its value, once computed, if it is an integer.
    number: Option<Option<u64>>,
    /// Number of components of a type, and expressions of its zero value.
    parts: Option<u64>,
    zero: Option<u64>,
    /// It is being counted: recursive declarations are refused by the front end.
    is_open: bool,
}

/// The kind of a declaration.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Means {
    #[default]
    Value,
    Type,
    Macro,
}

/// The constants and types of a text by name.
struct Constants<'t> {
    tokens: &'t [Token<'t>],
    /// Number of visited tokens.
    steps: Cell<u64>,
    /// For each token the index of the next semicolon, closing brace or line.
    ends: Vec<[usize; 3]>,
    /// Names of the module, then of each open block.
    scopes: Vec<HashMap<&'t str, Meaning>>,
}

impl<'t> Constants<'t> {
    fn new(tokens: &'t [Token<'t>], dialect: Dialect) -> Self {
        let mut ends = vec![[tokens.len(); 3]; tokens.len() + 1];
        for (at, token) in tokens.iter().enumerate().rev() {
            let [mut semicolon, mut brace, mut line] = ends[at + 1];
            match token.text {
                ";" => semicolon = at,
                "}" => brace = at,
                _ => {}
            }
            if tokens.get(at + 1).is_some_and(|next| next.line != token.line) {
                line = at + 1;
            }
            ends[at] = [semicolon, brace, line];
        }
        let mut constants = Self { tokens, steps: Cell::new(0), ends, scopes: vec![HashMap::new()] };
        let mut depth = 0usize;
        for (at, token) in tokens.iter().enumerate() {
            match token.text {
                "{" => depth += 1,
                "}" => depth = depth.saturating_sub(1),
                "const" | "alias" | "struct" if depth == 0 && dialect == Dialect::Wgsl => constants.declare(at),
                "define" if dialect != Dialect::Wgsl && at > 0 && tokens[at - 1].text == "#" => constants.define(at),
                _ => {}
            }
        }
        constants
    }

    /// Whether too many tokens have been visited.
    fn is_spent(&self) -> bool {
        self.steps.get() > MAX_STEPS
    }

    /// The text of a token; empty if too many have been visited.
    fn text(&self, at: usize) -> &'t str {
        self.steps.set(self.steps.get() + 1);
        if self.is_spent() { "" } else { self.tokens.get(at).map_or("", |token| token.text) }
    }

    /// Adds the declaration of a keyword to the innermost scope.
    fn declare(&mut self, keyword: usize) {
        let Some(name) = self.tokens.get(keyword + 1) else { return };
        let [semicolon, brace, _] = self.ends[keyword];
        let (mut start, end, kind) = match self.text(keyword) {
            "struct" => (keyword + 2, brace, Means::Type),
            "alias" => (keyword + 2, semicolon, Means::Type),
            _ => (keyword + 2, semicolon, Means::Value),
        };
        if kind == Means::Value {
            // The name may be followed by a type.
            while start < end && !matches!(self.text(start), "=" | "") {
                start += 1;
            }
        }
        let body = (start + 1).min(end)..end;
        if self.scopes.len() > 1 {
            // In a block a name is declared after its value: the value is counted before the name is added.
            let expressions = Some(self.expressions_of_value(body.clone()));
            let number = Some(self.number(body.clone()));
            let meaning = Meaning { bodies: vec![body], kind, expressions, number, ..Meaning::default() };
            if let Some(scope) = self.scopes.last_mut() {
                scope.insert(name.text, meaning);
            }
            return;
        }
        self.add(name.text, body, kind);
    }

    fn add(&mut self, name: &'t str, body: Range<usize>, kind: Means) {
        let meaning = self.scopes[0].entry(name).or_default();
        meaning.bodies.push(body);
        meaning.kind = kind;
    }

    /// Adds a macro, which extends to the end of its line.
    fn define(&mut self, keyword: usize) {
        let Some(name) = self.tokens.get(keyword + 1) else { return };
        let end = self.ends[keyword][2].max(keyword + 2).min(self.tokens.len());
        let has_parameters =
            self.tokens.get(keyword + 2).is_some_and(|next| next.text == "(" && next.place.start == name.place.end);
        self.add(name.text, (keyword + 2).min(end)..end, if has_parameters { Means::Macro } else { Means::Value });
    }

    /// Expressions of a constant's value. Without brackets nothing is composed: the value is not larger than one of the operands.
    fn expressions_of_value(&mut self, body: Range<usize>) -> u64 {
        let mut largest = 1;
        for at in body.clone() {
            if self.text(at) == "(" || self.is_spent() {
                return self.expressions_in(body);
            }
            largest = self.expressions_at(at).0.max(largest);
        }
        largest
    }

    /// Number of expressions in a range of tokens.
    fn expressions_in(&mut self, range: Range<usize>) -> u64 {
        let (mut sum, mut at) = (0u64, range.start);
        while at < range.end && !self.is_spent() {
            let (expressions, next) = self.expressions_at(at);
            sum = sum.saturating_add(expressions);
            at = next;
        }
        sum
    }

    /// Number of expressions of the operand that starts at a token, and its end.
    fn expressions_at(&mut self, at: usize) -> (u64, usize) {
        let name = self.text(at);
        if self.tokens[at].kind != TokenKind::Word {
            return (1, at + 1);
        }
        // A constructor without arguments is a zero value.
        if let Some((zero, next)) = self.zero_value(at) {
            return (zero, next);
        }
        let Some(place) = self.place_of(name) else { return (1, at + 1) };
        match self.scopes[place][name].kind {
            Means::Type => (self.parts_of_type(at, false).max(1), at + 1),
            Means::Macro if self.text(at + 1) == "(" => {
                let end = self.closing(at + 1);
                let arguments = self.expressions_in(at + 2..end);
                let expressions = self.expressions_of(place, name);
                (expressions.saturating_mul(arguments.saturating_add(1)), end + 1)
            }
            Means::Value | Means::Macro => (self.expressions_of(place, name).max(1), at + 1),
        }
    }

    /// The innermost scope that declares a name.
    fn place_of(&self, name: &str) -> Option<usize> {
        (0..self.scopes.len()).rev().find(|&scope| self.scopes[scope].contains_key(name))
    }

    /// Number of expressions of a name's value.
    fn expressions_of(&mut self, scope: usize, name: &'t str) -> u64 {
        let Some(meaning) = self.scopes[scope].get_mut(name) else { return 1 };
        if let Some(known) = meaning.expressions {
            return known;
        }
        if core::mem::replace(&mut meaning.is_open, true) {
            return 1;
        }
        let bodies = meaning.bodies.clone();
        let expressions =
            bodies.into_iter().fold(0u64, |sum, body| sum.saturating_add(self.expressions_of_value(body)));
        if let Some(meaning) = self.scopes[scope].get_mut(name) {
            (meaning.expressions, meaning.is_open) = (Some(expressions), false);
        }
        expressions
    }

    /// The bracket that matches the one at a token.
    fn closing(&self, open: usize) -> usize {
        let mut depth = 0usize;
        for at in open..self.tokens.len() {
            match self.text(at) {
                "(" | "[" | "{" => depth += 1,
                ")" | "]" | "}" => depth = depth.saturating_sub(1),
                "" => return at,
                _ => {}
            }
            if depth == 0 {
                return at;
            }
        }
        self.tokens.len()
    }

    /// Number of expressions of `TYPE()`, if it starts at a token, and its end.
    fn zero_value(&mut self, at: usize) -> Option<(u64, usize)> {
        let name = self.text(at);
        if name != "array" && self.place_of(name).is_none_or(|place| self.scopes[place][name].kind != Means::Type) {
            return None;
        }
        let end = self.end_of_type(at)?;
        (self.text(end) == "(" && self.text(end + 1) == ")").then(|| (self.parts_of_type(at, true), end + 2))
    }

    /// The token after a type and its angle brackets.
    fn end_of_type(&self, at: usize) -> Option<usize> {
        if self.text(at + 1) != "<" {
            return Some(at + 1);
        }
        let (mut depth, mut round) = (0usize, 0usize);
        for at in at + 1..self.tokens.len() {
            match self.text(at) {
                "(" => round += 1,
                ")" => round = round.checked_sub(1)?,
                "<" if round == 0 => depth += 1,
                ">" if round == 0 => depth -= 1,
                ";" | "{" | "}" | "" => return None,
                _ => {}
            }
            if depth == 0 {
                return Some(at + 1);
            }
        }
        None
    }

    /// Number of components of the type that starts at a token, or of expressions of its zero value, in which each array element is one.
    fn parts_of_type(&mut self, at: usize, is_zero: bool) -> u64 {
        let name = self.text(at);
        if name == "array" && self.text(at + 1) == "<" {
            let Some(end) = self.end_of_type(at + 2) else { return u64::MAX };
            let element = self.parts_of_type(at + 2, is_zero);
            let count = match (self.text(end), self.end_of_type(at)) {
                (",", Some(close)) if is_zero => self.number(end + 1..close - 1).unwrap_or(u64::MAX),
                _ => 1,
            };
            return element.saturating_mul(count).saturating_add(1);
        }
        let Some(place) = self.place_of(name) else { return if is_zero { 4 } else { 1 } };
        let Some(meaning) = self.scopes[place].get_mut(name) else { return 1 };
        if let Some(known) = if is_zero { meaning.zero } else { meaning.parts } {
            return known;
        }
        if core::mem::replace(&mut meaning.is_open, true) {
            return 1;
        }
        let bodies = meaning.bodies.clone();
        let mut sum = 1u64;
        for body in bodies {
            let is_struct = body.start > 0 && self.text(body.start - 1) == "{";
            let first = if is_struct { None } else { Some(body.start).filter(|_| !body.is_empty()) };
            for at in body {
                if self.is_spent() {
                    break;
                }
                if Some(at) == first {
                    sum = sum.saturating_add(self.parts_of_type(at, is_zero));
                } else if is_struct && self.text(at) == ":" {
                    sum = sum.saturating_add(self.parts_of_type(at + 1, is_zero));
                }
            }
        }
        if let Some(meaning) = self.scopes[place].get_mut(name) {
            let known = if is_zero { &mut meaning.zero } else { &mut meaning.parts };
            *known = Some(sum);
            meaning.is_open = false;
        }
        sum
    }

    /// The integer value of a range of tokens, if it is one.
    fn number(&mut self, range: Range<usize>) -> Option<u64> {
        let (number, end) = self.sum(range.start, range.end, 0)?;
        let is_all = end == range.end || end + 1 == range.end && self.text(end) == ",";
        is_all.then_some(number)
    }

    /// Evaluates a sum, product or shift by precedence climbing: a shift has precedence 0, a sum 1, a product 2.
    fn sum(&mut self, at: usize, end: usize, strength: u8) -> Option<(u64, usize)> {
        let (mut number, mut at) = if strength < 3 { self.sum(at, end, strength + 1)? } else { self.single(at, end)? };
        while at < end && strength < 3 {
            let is_twice = self.text(at + 1) == self.text(at);
            let Some((operation, own, length)) = operation(self.text(at), is_twice) else { break };
            if own != strength {
                break;
            }
            let (other, next) = self.sum(at + length, end, strength + 1)?;
            number = operation(number, other)?;
            at = next;
        }
        Some((number, at))
    }

    fn single(&mut self, at: usize, end: usize) -> Option<(u64, usize)> {
        if at >= end {
            return None;
        }
        let token = &self.tokens[at];
        match token.kind {
            TokenKind::Number => {
                let digits = token.text.trim_end_matches(['u', 'i']);
                let hexadecimal = digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X"));
                let number = hexadecimal.map_or_else(|| digits.parse(), |digits| u64::from_str_radix(digits, 16));
                Some((number.ok()?, at + 1))
            }
            TokenKind::Word => {
                let place = self.place_of(token.text)?;
                let meaning = self.scopes[place].get_mut(token.text)?;
                if let Some(known) = meaning.number {
                    return Some((known?, at + 1));
                }
                if core::mem::replace(&mut meaning.is_open, true) {
                    return None;
                }
                let bodies = meaning.bodies.clone();
                let number = if let [body] = bodies.as_slice() { self.number(body.clone()) } else { None };
                if let Some(meaning) = self.scopes[place].get_mut(token.text) {
                    (meaning.number, meaning.is_open) = (Some(number), false);
                }
                Some((number?, at + 1))
            }
            _ if token.text == "(" => {
                let (number, next) = self.sum(at + 1, end, 0)?;
                (self.text(next) == ")").then_some((number, next + 1))
            }
            _ => None,
        }
    }
}

/// An operation on integers.
type Operation = fn(u64, u64) -> Option<u64>;

/// The operation of an operator, its precedence, and its length in tokens.
fn operation(operator: &str, is_twice: bool) -> Option<(Operation, u8, usize)> {
    Some(match operator {
        "<" if is_twice => (|a, b| a.checked_shl(u32::try_from(b).ok()?), 0, 2),
        ">" if is_twice => (|a, b| a.checked_shr(u32::try_from(b).ok()?), 0, 2),
        "+" => (|a, b| Some(a.saturating_add(b)), 1, 1),
        "-" => (u64::checked_sub, 1, 1),
        "*" => (|a, b| Some(a.saturating_mul(b)), 2, 1),
        "/" => (u64::checked_div, 2, 1),
        "%" => (u64::checked_rem, 2, 1),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::super::bounds::MAX_SOURCE_BYTES;
    use super::super::tokens::tokens;
    use super::*;

    /// Counting takes linear time in the number of tokens.
    #[test]
    fn tokens_are_looked_at_a_bounded_number_of_times() {
        for text in [
            "const ",
            "const a = ",
            "alias A = array<",
            "struct S { a: ",
            "array<",
            "{ const a = a",
            "const a = array<f32, a>()",
        ] {
            let text = text.repeat(MAX_SOURCE_BYTES / text.len());
            let tokens = tokens(&text, true);
            let mut constants = Constants::new(&tokens, Dialect::Wgsl);
            let mut at = 0;
            while at < tokens.len() && !constants.is_spent() {
                at = constants.expressions_at(at).1;
            }
            assert!(constants.steps.get() < MAX_STEPS + MAX_SOURCE_BYTES as u64, "{}", constants.steps.get());
        }
    }
}
