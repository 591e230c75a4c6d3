//! Blocks of lines: conditions, repetitions, macros, functions, includes.

use alloc::borrow::ToOwned;
use alloc::boxed::Box;
use alloc::format;
use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec::Vec;

use super::budget::{STEPS_OF_INCLUDE, STEPS_OF_ROUND};
use super::scope::{Function, Macro, ScopeKind};
use super::{Assembler, Cursor, Res, line::IfState};
use crate::code::Code;
use crate::diagnostic::Diagnostic;
use crate::language::Directive;
use crate::language::suffix::Places;
use crate::lexer::{Token, TokenKind};
use crate::source::Span;
use crate::value::Value;

/// Deepest nesting of macros, repetitions and includes.
pub(super) const MAX_NESTING: u32 = 100;
/// Maximum number of iterations of all repetitions together.
const MAX_ROUNDS: u64 = 1 << 24;

impl Assembler<'_> {
    /// Directives that are executed even in skipped lines: those of conditional assembly.
    pub(super) fn conditional(&mut self, directive: Directive, token: Token) -> Res<bool> {
        let span = token.span(self.cursor.file);
        let enclosing = self.conditions.len() < 2 || self.conditions[self.conditions.len() - 2].active;
        match directive {
            Directive::If | Directive::IfSet => {
                let active = self.active();
                let mut state = IfState { active: false, open: false, span };
                if active {
                    let holds = if directive == Directive::If { self.condition() } else { self.is_set() };
                    // The matching `.endif` must be found even if the condition has an error.
                    state.active = matches!(holds, Ok(true));
                    state.open = matches!(holds, Ok(false));
                    self.conditions.push(state);
                    holds?;
                } else {
                    self.conditions.push(state);
                }
            }
            Directive::ElseIf => {
                let Some(&state) = self.conditions.last() else { return self.no_start(token, ".if") };
                let holds = if state.open && enclosing { self.condition()? } else { false };
                if let Some(state) = self.conditions.last_mut() {
                    state.active = holds;
                    state.open &= !holds;
                }
            }
            Directive::Else => {
                let Some(state) = self.conditions.last_mut() else { return self.no_start(token, ".if") };
                state.active = state.open && enclosing;
                state.open = false;
                self.expect_end()?;
            }
            Directive::EndIf => {
                if self.conditions.pop().is_none() {
                    return self.no_start(token, ".if");
                }
                self.expect_end()?;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn no_start<T>(&self, token: Token, start: &str) -> Res<T> {
        let message = format!(".{} without {start}", self.text(token));
        self.error(Code::EndWithoutStart, token, message)
    }

    pub(super) fn end_without_start(&self, token: Token, start: &str) -> Res<usize> {
        self.no_start(token, start)
    }

    fn condition(&mut self) -> Res<bool> {
        let first = self.peek();
        let value = self.expression(Places::EXPRESSION)?;
        self.expect_end()?;
        match self.as_number(value, first) {
            Value::Int(value) => Ok(value != 0),
            Value::Float(value) => Ok(value != 0.0),
            other => {
                self.error(Code::WrongOperandType, first, format!("a condition is a number, not {}", other.kind()))
            }
        }
    }

    /// Evaluates the condition of `.assert` or `.if`, from the cursor on.
    pub(super) fn assertion(&mut self, token: Token) -> Res {
        if !self.condition()? {
            let span = self.span_from(token);
            let text = self.text_of(span);
            self.report(Diagnostic::error(Code::AssertionFailed, span, format!("the assertion failed: {text}")));
        }
        Ok(())
    }

    fn text_of(&self, span: Span) -> String {
        let source = self.files.get(span.file as usize).map_or("", |file| &file.source.text);
        source.get(span.start as usize..span.end as usize).unwrap_or("").to_owned()
    }

    fn is_set(&mut self) -> Res<bool> {
        let name = self.identifier("a name")?;
        self.expect_end()?;
        Ok(self.names.constant(name.symbol).is_some() || self.names.function(name.symbol).is_some())
    }

    /// The line of the directive that closes the block that line `line` opens.
    fn block_end(&mut self, line: usize, end: usize, open: Token) -> Res<usize> {
        let ends = |directive: Directive| match directive {
            Directive::EndMacro => Some(Directive::Macro),
            Directive::EndFunc => Some(Directive::Func),
            Directive::EndRep | Directive::EndForeach => Some(Directive::Rep),
            _ => None,
        };
        let starts = |directive: Directive| match directive {
            Directive::Macro | Directive::Func | Directive::Rep => Some(directive),
            Directive::Foreach => Some(Directive::Rep),
            _ => None,
        };
        let mut open_blocks = Vec::new();
        for at in line..end {
            let Some((directive, _)) = self.directive_of(at) else { continue };
            if let Some(kind) = starts(directive) {
                open_blocks.push(kind);
            } else if let Some(kind) = ends(directive) {
                if open_blocks.last() == Some(&kind) {
                    open_blocks.pop();
                }
                if open_blocks.is_empty() {
                    self.spend((at - line) as u64);
                    return Ok(at);
                }
            }
        }
        self.spend((end - line) as u64);
        self.error(Code::UnterminatedBlock, open, format!(".{} has no end", self.text(open)))
    }

    /// `.macro` and `.func`.
    pub(super) fn macro_definition(&mut self, function: bool, line: usize, end: usize, open: Token) -> Res<usize> {
        let last = self.block_end(line, end, open)?;
        let name = self.identifier("the name of the macro")?;
        let mut arguments = Vec::new();
        let parenthesis = self.take(TokenKind::Open);
        let mut more = if parenthesis { self.peek().kind != TokenKind::Close } else { self.take(TokenKind::Comma) };
        while more {
            arguments.push(self.identifier("the name of an argument")?.symbol);
            more = self.take(TokenKind::Comma);
        }
        if parenthesis {
            self.expect(TokenKind::Close, "`)`")?;
        }
        self.expect_end()?;
        let span = name.span(self.cursor.file);
        let (file, tokens) = (self.cursor.file, Rc::clone(&self.cursor.tokens));
        let definition = Macro { arguments, file, tokens, lines: line + 1..last, span };
        let earlier = if function {
            self.names.set_body_function(name.symbol, definition)
        } else {
            self.names.set_macro(name.symbol, definition)
        };
        if let Some(earlier) = earlier.filter(|&earlier| earlier != span) {
            let message = format!("{} is defined again", self.text(name));
            let diagnostic = Diagnostic::warning(Code::MacroRedefined, span, message);
            self.report(diagnostic.related(earlier, "first defined here"));
        }
        Ok(last + 1)
    }

    /// Calls a macro. The cursor is behind its name, at the arguments.
    pub(super) fn call_macro(&mut self, code_macro: &Macro, name: Token) -> Res {
        let mut arguments = Vec::with_capacity(code_macro.arguments.len());
        if self.peek().kind != TokenKind::End {
            loop {
                arguments.push(self.expression(Places::EXPRESSION)?);
                if !self.take(TokenKind::Comma) {
                    break;
                }
            }
            self.expect_end()?;
        }
        if arguments.len() != code_macro.arguments.len() {
            let (wanted, given) = (code_macro.arguments.len(), arguments.len());
            let message = format!("macro {} takes {wanted} arguments, not {given}", self.text(name));
            let form = self.signature(self.text(name), &code_macro.arguments, false);
            let diagnostic = Diagnostic::error(Code::ArgumentCount, name.span(self.cursor.file), message);
            return Err(Box::new(diagnostic.help(format!("the form is {form}"))));
        }
        let outer = self.enter_call(name, &code_macro.arguments, &arguments)?;
        let result = self.run_body(code_macro);
        self.leave_call(outer);
        result
    }

    /// Executes the lines of a macro; each `.if` in the body must be closed in the body.
    fn run_body(&mut self, code_macro: &Macro) -> Res {
        let conditions = self.conditions.len();
        let result = self.run_lines(code_macro.file, &code_macro.tokens, code_macro.lines.clone());
        if let Some(open) = self.conditions.get(conditions) {
            let span = open.span;
            self.conditions.truncate(conditions);
            return Err(Box::new(Diagnostic::error(
                Code::UnterminatedBlock,
                span,
                "this .if has no .endif in its macro",
            )));
        }
        result
    }

    /// The value of a function of several lines.
    pub(super) fn function_body(&mut self, function: &Macro, name: Token) -> Res<Value> {
        let call = name.span(self.cursor.file);
        let tokens = Rc::clone(&function.tokens);
        let conditions = self.conditions.len();
        let mut value = None;
        let mut line = function.lines.start;
        while line < function.lines.end {
            let Some(&start) = tokens.lines.get(line) else { break };
            self.cursor = Cursor { file: function.file, tokens: Rc::clone(&tokens), at: start as usize };
            let first = self.peek();
            line += 1;
            if let Some((directive, at)) = self.directive_of(line - 1) {
                self.cursor.at = at;
                let token = self.next();
                if self.conditional(directive, token)? || !self.active() {
                    continue;
                }
                self.cursor.at = at;
                line = self.directive_line(line - 1, function.lines.end)?;
            } else if self.active() && first.kind != TokenKind::End {
                if value.is_some() {
                    return self.error(
                        Code::FunctionNotExpression,
                        first,
                        "a function has one value, this is a second",
                    );
                }
                value = Some(self.expression(Places::EXPRESSION)?);
                self.expect_end()?;
            }
        }
        self.conditions.truncate(conditions);
        value.ok_or_else(|| Box::new(Diagnostic::error(Code::FunctionNotExpression, call, "the function has no value")))
    }

    /// `.set name(arguments) expression`, after the opening parenthesis.
    pub(super) fn function_definition(&mut self, name: Token) -> Res {
        let mut arguments = Vec::new();
        if !self.take(TokenKind::Close) {
            loop {
                arguments.push(self.identifier("the name of an argument")?.symbol);
                if !self.take(TokenKind::Comma) {
                    break;
                }
            }
            self.expect(TokenKind::Close, "`)`")?;
        }
        self.take(TokenKind::Comma);
        let (file, tokens) = (self.cursor.file, Rc::clone(&self.cursor.tokens));
        let function = Function { arguments, file, tokens, start: self.cursor.at };
        self.names.set_function(name.symbol, function);
        Ok(())
    }

    /// `.rep` and `.foreach`.
    pub(super) fn repetition(&mut self, each: bool, line: usize, end: usize, open: Token) -> Res<usize> {
        let last = self.block_end(line, end, open)?;
        let name = self.identifier("the name of the loop variable")?;
        self.expect(TokenKind::Comma, "`,`")?;
        let mut values = Vec::new();
        let mut count = 0;
        if each {
            loop {
                values.push(self.expression(Places::EXPRESSION)?);
                if !self.take(TokenKind::Comma) {
                    break;
                }
            }
        } else {
            let first = self.peek();
            count = self.integer("the number of rounds")?;
            if !(0..=MAX_ROUNDS as i64).contains(&count) {
                return self.error(Code::TooMuchCode, first, format!("{count} rounds are out of range"));
            }
        }
        self.expect_end()?;
        let rounds = if each { values.len() as u64 } else { count as u64 };
        self.rounds += rounds;
        if self.rounds > MAX_ROUNDS {
            self.given_up = true;
            return self.error(Code::TooMuchCode, open, "more than 16 Mi rounds of repetition");
        }
        let outer = self.enter_call(open, &[], &[])?;
        let span = name.span(self.cursor.file);
        let (file, tokens) = (self.cursor.file, Rc::clone(&self.cursor.tokens));
        let body = Macro { arguments: Vec::new(), file, tokens, lines: line + 1..last, span };
        let mut result = Ok(());
        for round in 0..rounds {
            let value = values.get(round as usize).copied().unwrap_or(Value::Int(round as i64));
            // Not final: each iteration assigns a new value.
            let _ = self.names.set(name.symbol, value, span, true, false);
            self.spend(STEPS_OF_ROUND);
            result = self.check_steps(open).and_then(|()| self.run_body(&body));
            if result.is_err() || self.given_up {
                break;
            }
        }
        self.leave_call(outer);
        result.map(|()| last + 1)
    }

    /// `.include "file"` or `.include <file>`.
    pub(super) fn include(&mut self, open: Token) -> Res {
        let first = self.peek();
        let span = self.rest_of_line(first);
        let name = self.text_of(span).trim_end().to_owned();
        let (inner, in_dirs) = match (name.strip_prefix('"'), name.strip_prefix('<')) {
            (Some(rest), _) => (rest.strip_suffix('"'), false),
            (_, Some(rest)) => (rest.strip_suffix('>'), true),
            _ => (None, false),
        };
        let Some(inner) = inner else {
            return self.error(Code::IncludeFailed, open, "expected \"file\" or <file>");
        };
        let number = match self.included(inner, in_dirs) {
            Ok(number) => number,
            Err(error) => {
                let message = format!("{inner}: {error}");
                return Err(Box::new(Diagnostic::error(Code::IncludeFailed, span, message)));
            }
        };
        if self.depth >= MAX_NESTING {
            self.given_up = true;
            return self.error(Code::NestedTooDeep, open, Code::NestedTooDeep.title());
        }
        self.spend(STEPS_OF_INCLUDE);
        self.check_steps(open)?;
        self.depth += 1;
        let site = span;
        self.names.enter_at(ScopeKind::File, site, "included here");
        let result = self.run_file(number);
        self.names.leave();
        self.depth -= 1;
        result
    }

    /// From a token to the end of the line.
    fn rest_of_line(&self, first: Token) -> Span {
        let rest = self.cursor.tokens.tokens.get(self.cursor.at..).unwrap_or_default();
        let end = rest.iter().find(|token| token.kind == TokenKind::End).map_or(first.end, |end| end.start);
        Span { file: self.cursor.file, start: first.start, end: end.max(first.start) }
    }
}
