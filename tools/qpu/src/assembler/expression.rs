//! Expressions: values from tokens.
//!
//! The grammar is C's, with words for functions before their operand (`sin x`), labels (`:name`, `r:name`), per-element constants in brackets and
//! suffixes after registers.

use alloc::borrow::ToOwned;
use alloc::boxed::Box;
use alloc::format;
use alloc::rc::Rc;
use alloc::vec::Vec;

use super::scope::ScopeKind;
use super::{Assembler, Cursor, Res};
use crate::code::Code;
use crate::diagnostic::Diagnostic;
use crate::language::suffix::{Action, Places};
use crate::language::{Binary, Unary};
use crate::lexer::{Token, TokenKind};
use crate::symbol::Symbol;
use crate::value::{Access, PerElement, Register, Rotation, Sign, Value};

/// Deepest nesting of an expression.
const MAX_DEPTH: u32 = 200;
/// Maximum number of calls of macros, functions and repetitions in an assembly.
const MAX_CALLS: u64 = 1 << 20;

impl Assembler<'_> {
    /// Parses and evaluates an expression; `places` says which register suffixes are allowed.
    #[inline]
    pub(super) fn expression(&mut self, places: u8) -> Res<Value> {
        // Fast path: most operands are a single word.
        let token = self.peek();
        if token.kind == TokenKind::Word
            && matches!(self.peek_ahead(1).kind, TokenKind::Comma | TokenKind::End | TokenKind::Semicolon)
            && let Some(value) = self.plain_word(token.symbol)
        {
            self.cursor.at += 1;
            return Ok(value);
        }
        self.binary(0, places)
    }

    /// The value of a word that is a constant or register.
    #[inline]
    fn plain_word(&self, symbol: Symbol) -> Option<Value> {
        if let Some(value) = self.names.constant(symbol) {
            return Some(value);
        }
        if self.names.is_function(symbol) {
            return None;
        }
        self.symbols.meaning(symbol).register.map(Value::Register)
    }

    /// An expression whose value must be an integer.
    pub(super) fn integer(&mut self, what: &str) -> Res<i64> {
        let first = self.peek();
        let value = self.expression(Places::EXPRESSION)?;
        match self.as_number(value, first) {
            Value::Int(value) => Ok(value),
            other => {
                self.error(Code::WrongOperandType, first, format!("{what} must be an integer, not {}", other.kind()))
            }
        }
    }

    #[inline(never)]
    fn binary(&mut self, lowest: u8, places: u8) -> Res<Value> {
        let first = self.peek();
        self.expression_depth += 1;
        if self.expression_depth > MAX_DEPTH {
            self.expression_depth -= 1;
            return self.error(Code::ExpressionTooDeep, first, Code::ExpressionTooDeep.title());
        }
        let result = self.binary_inside(lowest, places);
        self.expression_depth -= 1;
        result
    }

    fn binary_inside(&mut self, lowest: u8, places: u8) -> Res<Value> {
        let mut left = self.unary(places)?;
        while let TokenKind::Operator(operator) = self.peek().kind {
            if operator.precedence() <= lowest {
                break;
            }
            let token = self.next();
            let right = self.binary(operator.precedence(), places)?;
            left = self.apply(operator, left, right, token)?;
        }
        Ok(left)
    }

    fn unary(&mut self, places: u8) -> Res<Value> {
        let token = self.next();
        let operator = match token.kind {
            TokenKind::Operator(Binary::Add) => Unary::Plus,
            TokenKind::Operator(Binary::Subtract) => {
                // A `-` without an operand is the register that is neither read nor written.
                let next = self.peek().kind;
                if matches!(
                    next,
                    TokenKind::Comma | TokenKind::Semicolon | TokenKind::End | TokenKind::Dot | TokenKind::Close
                ) {
                    return self.suffixes(Value::Register(Register::NOP), places);
                }
                Unary::Negate
            }
            TokenKind::Tilde => Unary::Not,
            TokenKind::Not => Unary::LogicalNot,
            TokenKind::Word => match self.operator_word(token) {
                Some(operator) => operator,
                None => {
                    let value = self.word(token)?;
                    return self.suffixes(value, places);
                }
            },
            _ => {
                let value = self.primary(token)?;
                return self.suffixes(value, places);
            }
        };
        // Unary operators bind tighter than all others.
        let operand = self.binary(u8::MAX, places)?;
        self.apply_unary(operator, operand, token)
    }

    /// The function that a word denotes at this place: `exp` and `log` are registers too, unless an operand follows.
    fn operator_word(&self, token: Token) -> Option<Unary> {
        let meaning = self.symbols.meaning(token.symbol);
        let operator = meaning.operator?;
        let own = self.names.constant(token.symbol).is_some() || self.names.is_function(token.symbol);
        let next = self.peek().kind;
        let operand = matches!(
            next,
            TokenKind::Word
                | TokenKind::Number
                | TokenKind::Open
                | TokenKind::Tilde
                | TokenKind::Not
                | TokenKind::Colon
        ) || meaning.register.is_none() && matches!(next, TokenKind::Operator(_));
        (!own && operand).then_some(operator)
    }

    fn primary(&mut self, token: Token) -> Res<Value> {
        match token.kind {
            TokenKind::Number => self.number(token),
            TokenKind::Open => {
                let value = self.binary(0, Places::EXPRESSION)?;
                self.expect(TokenKind::Close, "`)`")?;
                Ok(value)
            }
            TokenKind::OpenBracket => self.per_element(token),
            TokenKind::Colon => self.label_reference(token),
            TokenKind::End | TokenKind::Comma | TokenKind::Semicolon | TokenKind::Close => {
                let found = self.found(token);
                self.error(Code::MissingValue, token, format!("expected a value, found {found}"))
            }
            TokenKind::Unknown => {
                let found = self.found(token);
                self.error(Code::UnexpectedCharacter, token, format!("{found} has no meaning here"))
            }
            _ => {
                let found = self.found(token);
                self.error(Code::UnexpectedText, token, format!("expected a value, found {found}"))
            }
        }
    }

    /// A word as a value.
    fn word(&mut self, token: Token) -> Res<Value> {
        if let Some(value) = self.names.constant(token.symbol) {
            return Ok(value);
        }
        if let Some(function) = self.names.function(token.symbol) {
            let arguments = self.arguments(token, &function.arguments)?;
            let outer = self.enter_call(token, &function.arguments, &arguments)?;
            self.cursor = Cursor { file: function.file, tokens: Rc::clone(&function.tokens), at: function.start };
            let result = self.binary(0, Places::EXPRESSION).and_then(|value| self.expect_end().map(|()| value));
            let result = result.map_err(|failure| Box::new(self.with_call_sites(*failure)));
            self.leave_call(outer);
            return result;
        }
        if let Some(function) = self.names.body_function(token.symbol) {
            let arguments = self.arguments(token, &function.arguments)?;
            let outer = self.enter_call(token, &function.arguments, &arguments)?;
            let result = self.function_body(&function, token);
            self.leave_call(outer);
            return result;
        }
        if let Some(register) = self.symbols.meaning(token.symbol).register {
            return Ok(Value::Register(register));
        }
        if self.peek().kind == TokenKind::Colon && self.text(token) == "r" {
            let colon = self.next();
            return self.label_reference(colon);
        }
        let name = self.text(token);
        let span = token.span(self.cursor.file);
        let diagnostic = Diagnostic::error(Code::UndefinedName, span, format!("`{name}` is not defined"));
        if self.labels.is_defined(token.symbol) {
            return Err(Box::new(diagnostic.help(format!("a label is written with a colon: `:{name}`"))));
        }
        Err(self.hinted(diagnostic, name, |symbol| self.is_value(symbol)))
    }

    /// Arguments in parentheses.
    fn arguments(&mut self, name: Token, wanted: &[Symbol]) -> Res<Vec<Value>> {
        let count = wanted.len();
        self.expect(TokenKind::Open, "`(` with the arguments").map_err(|failure| {
            let form = self.signature(self.text(name), wanted, true);
            Box::new(failure.help(format!("the form is {form}")))
        })?;
        let mut arguments = Vec::with_capacity(count);
        if !self.take(TokenKind::Close) {
            loop {
                arguments.push(self.binary(0, Places::EXPRESSION)?);
                let token = self.next();
                match token.kind {
                    TokenKind::Comma => {}
                    TokenKind::Close => break,
                    _ => {
                        let message = format!("expected `,` or `)`, found {}", self.found(token));
                        return self.error(Code::UnexpectedText, token, message);
                    }
                }
            }
        }
        if arguments.len() != count {
            let message = format!("`{}` takes {count} arguments, not {}", self.text(name), arguments.len());
            let form = self.signature(self.text(name), wanted, true);
            let diagnostic = Diagnostic::error(Code::ArgumentCount, name.span(self.cursor.file), message);
            return Err(Box::new(diagnostic.help(format!("the form is {form}"))));
        }
        Ok(arguments)
    }

    /// Opens a context with arguments; returns the cursor to return to.
    pub(super) fn enter_call(&mut self, at: Token, names: &[Symbol], values: &[Value]) -> Res<Cursor> {
        self.check_steps(at)?;
        self.calls += 1;
        if self.calls > MAX_CALLS {
            self.given_up = true;
            let message = format!("more than {MAX_CALLS} calls of macros and functions");
            return self.error(Code::TooManyCalls, at, message);
        }
        if self.depth >= super::block::MAX_NESTING {
            self.given_up = true;
            return self.error(Code::NestedTooDeep, at, Code::NestedTooDeep.title());
        }
        self.depth += 1;
        let span = at.span(self.cursor.file);
        self.names.enter_at(ScopeKind::Call, span, "called here");
        for (&name, &value) in names.iter().zip(values) {
            // If two parameters have the same name, the last argument counts.
            let _ = self.names.set(name, value, span, true, false);
        }
        Ok(self.cursor.clone())
    }

    pub(super) fn leave_call(&mut self, outer: Cursor) {
        while self.names.inner_scope() == Some(ScopeKind::Block) {
            self.names.leave();
        }
        self.names.leave();
        self.depth -= 1;
        self.cursor = outer;
    }

    fn label_reference(&mut self, colon: Token) -> Res<Value> {
        let token = self.next();
        let (symbol, forward) = match token.kind {
            TokenKind::OpenBracket => return self.raw_register(token),
            TokenKind::Word => (token.symbol, false),
            TokenKind::Number => {
                let text = self.text(token);
                match text.strip_suffix('f') {
                    Some(number) if !number.is_empty() => {
                        let number = number.to_owned();
                        (self.symbols.intern(&number), true)
                    }
                    _ => (token.symbol, false),
                }
            }
            _ => return self.error(Code::UnexpectedText, colon, "expected the name of a label after `:`"),
        };
        let span = token.span(self.cursor.file);
        Ok(Value::Label { id: self.labels.refer(symbol, forward, span), addend: 0 })
    }

    /// `:[address, access, rotation, pack]`: a register by its components, for macros that examine which kind of operand they were given.
    fn raw_register(&mut self, bracket: Token) -> Res<Value> {
        let mut parts = [0; 4];
        let mut count = 0;
        loop {
            let value = self.integer("a part of a register")?;
            let Some(part) = parts.get_mut(count) else {
                return self.error(Code::UnexpectedText, bracket, "a register has two to four parts");
            };
            *part = value;
            count += 1;
            if !self.take(TokenKind::Comma) {
                break;
            }
        }
        self.expect(TokenKind::CloseBracket, "`]`")?;
        if count < 2 {
            return self.error(Code::UnexpectedText, bracket, "a register has two to four parts");
        }
        let [address, access, rotation, pack] = parts;
        let mut register = Register::new(address as u8, Access(access as u8));
        register.rotation = Rotation::from_number(rotation as i8);
        register.pack.mode = pack as u8 & 15;
        Ok(Value::Register(register))
    }

    fn number(&mut self, token: Token) -> Res<Value> {
        let text = self.text(token);
        match parse_number(text) {
            Some(value) => Ok(value),
            None => {
                let message = format!("`{text}` is not a number");
                self.error(Code::BadNumber, token, message)
            }
        }
    }

    /// `[a, b, …]`: two bits for each of 16 elements.
    fn per_element(&mut self, bracket: Token) -> Res<Value> {
        let mut bits = 0;
        let mut sign = Sign::Either;
        for element in 0..16 {
            let first = self.peek();
            let value = self.integer("an element")?;
            let now = match value {
                -2 | -1 => Sign::Signed,
                0 | 1 => sign,
                2 | 3 => Sign::Unsigned,
                _ => return self.error(Code::BadPerElement, first, format!("an element is -2 to 3, not {value}")),
            };
            if sign != Sign::Either && now != sign {
                return self.error(Code::BadPerElement, first, "elements are either -2 to 1 or 0 to 3");
            }
            sign = now;
            let value = value as u32 & 3;
            bits |= (value >> 1 << 16 | value & 1) << element;
            let next = self.next();
            match (next.kind, element) {
                (TokenKind::Comma, 0..15) => {}
                (TokenKind::CloseBracket, 15) => {}
                (TokenKind::Comma | TokenKind::CloseBracket, _) => {
                    return self.error(Code::BadPerElement, bracket, "a per-element constant has 16 elements");
                }
                _ => {
                    let message = format!("expected `,` or `]`, found {}", self.found(next));
                    return self.error(Code::UnexpectedText, next, message);
                }
            }
        }
        Ok(Value::PerElement(PerElement { bits, sign }))
    }

    /// Suffixes after a value.
    pub(super) fn suffixes(&mut self, mut value: Value, places: u8) -> Res<Value> {
        while self.peek().kind == TokenKind::Dot {
            self.next();
            let token = self.next();
            let suffix = match token.kind {
                TokenKind::Word | TokenKind::Number => self.symbols.meaning(token.symbol).suffix,
                _ => None,
            };
            let Some(suffix) = suffix else {
                let message = format!("{} is no suffix", self.found(token));
                let diagnostic = Diagnostic::error(Code::UnknownSuffix, token.span(self.cursor.file), message);
                let known = |symbol| self.symbols.meaning(symbol).suffix.is_some();
                return Err(self.hinted(diagnostic, self.text(token), known));
            };
            if suffix.places.0 & places == 0 {
                let message = format!("suffix {} cannot stand here", self.found(token));
                return self.error(Code::SuffixMisplaced, token, message);
            }
            match suffix.action {
                Action::Pack(pack) if places & Places::MNEMONIC == 0 => match &mut value {
                    Value::Register(register) if register.access.semaphore() => {
                        return self.error(Code::SuffixMisplaced, token, "a semaphore cannot be packed");
                    }
                    Value::Register(register) if !register.pack.is_none() => {
                        return self.error(Code::SecondPack, token, "the register has a pack or unpack suffix already");
                    }
                    Value::Register(register) => register.pack = pack,
                    other => {
                        let message = format!("only a register can be packed, not {}", other.kind());
                        return self.error(Code::SuffixMisplaced, token, message);
                    }
                },
                action => self.slot_suffix(action, token)?,
            }
        }
        Ok(value)
    }

    /// A suffix that changes the instruction, such as a condition or a pack mode.
    fn slot_suffix(&mut self, action: Action, token: Token) -> Res {
        let outcome = match action {
            Action::Condition(condition) => self.slot.condition(condition),
            Action::Branch(condition) => self.slot.branch_condition(condition),
            Action::SetFlags => self.slot.set_flags(),
            Action::Pack(pack) => self.slot.pack_or_unpack(pack),
            Action::SelectMulPack { ignored_bit } => self.slot.select_mul_pack(ignored_bit),
            Action::Rotate => {
                let first = self.peek();
                let by = self.expression(Places::EXPRESSION)?;
                let rotation = match self.as_number(by, first) {
                    Value::Register(register) if register.is_r5() => Rotation::UpByR5,
                    Value::Int(by) => Rotation::None.plus(by).unwrap_or_default(),
                    _ => return self.error(Code::WrongOperandType, first, "rotate by an integer or r5"),
                };
                self.expect(TokenKind::Comma, "`,`")?;
                if rotation == Rotation::None { Ok(()) } else { self.slot.rotate_target(rotation) }
            }
        };
        outcome.map_err(|refusal| self.refused(*refusal, token))?;
        self.slot_warnings(token);
        Ok(())
    }
}

/// A number from its text.
fn parse_number(text: &str) -> Option<Value> {
    let bytes = text.as_bytes();
    let (digits, radix) = match bytes {
        [b'0', b'x' | b'X', ..] => (&text[2..], 16),
        [b'0', b'b' | b'B', ..] => (&text[2..], 2),
        [b'0', b'o' | b'O', ..] => (&text[2..], 8),
        [b'0', b'd' | b'D', ..] => (&text[2..], 10),
        _ if text.contains(['.', 'e', 'E']) => {
            return text.parse().ok().filter(|value: &f64| value.is_finite()).map(Value::Float);
        }
        [b'0', _, ..] => (&text[1..], 8),
        _ => (text, 10),
    };
    if digits.starts_with(['+', '-']) {
        return None;
    }
    u64::from_str_radix(digits, radix).ok().map(|value| Value::Int(value as i64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_all_their_forms() {
        assert_eq!(parse_number("42"), Some(Value::Int(42)));
        assert_eq!(parse_number("0x80000000"), Some(Value::Int(0x8000_0000)));
        assert_eq!(parse_number("0xffffffffffffffff"), Some(Value::Int(-1)));
        assert_eq!(parse_number("0b101"), Some(Value::Int(5)));
        assert_eq!(parse_number("0377"), Some(Value::Int(255)));
        assert_eq!(parse_number("0"), Some(Value::Int(0)));
        assert_eq!(parse_number("1."), Some(Value::Float(1.0)));
        assert_eq!(parse_number("1.5e-3"), Some(Value::Float(0.0015)));
        assert_eq!(parse_number("089"), None);
        assert_eq!(parse_number("0x"), None);
        assert_eq!(parse_number("1.2.3"), None);
        assert_eq!(parse_number("12ab"), None);
    }
}
