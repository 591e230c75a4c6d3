//! Lines: labels, directives, macros, instructions; and which lines are skipped.

use alloc::boxed::Box;
use alloc::format;
use alloc::rc::Rc;
use core::ops::Range;

use super::{Assembler, Cursor, Res};
use crate::code::Code;
use crate::language::Directive;
use crate::lexer::{Token, TokenKind, Tokens};
use crate::source::Span;
use crate::value::Value;

/// The state of an `.if`.
#[derive(Clone, Copy, Debug)]
pub(super) struct IfState {
    /// Lines are executed, not skipped.
    pub(super) active: bool,
    /// No branch has been taken yet, so `.elseif` and `.else` may be.
    pub(super) open: bool,
    /// The `.if`.
    pub(super) span: Span,
}

impl Assembler<'_> {
    /// Whether lines are currently executed, not skipped.
    pub(super) fn active(&self) -> bool {
        self.conditions.last().is_none_or(|state| state.active)
    }

    /// Executes a range of lines. An error is reported, and execution continues with the next line.
    pub(super) fn run_lines(&mut self, file: u32, tokens: &Rc<Tokens>, lines: Range<usize>) -> Res {
        let outer = core::mem::replace(&mut self.cursor, Cursor { file, tokens: Rc::clone(tokens), at: 0 });
        let mut line = lines.start;
        while line < lines.end && !self.given_up {
            let Some(&start) = tokens.lines.get(line) else { break };
            self.cursor.at = start as usize;
            self.spend(1);
            let next = match self.check_steps(self.peek()).and_then(|()| self.run_line(line, lines.end)) {
                Ok(next) => next,
                Err(failure) => {
                    self.report(*failure);
                    line + 1
                }
            };
            line = next.max(line + 1);
        }
        self.cursor = outer;
        Ok(())
    }

    /// Executes one line, and the block that it opens; returns the line at which execution continues.
    fn run_line(&mut self, line: usize, end: usize) -> Res<usize> {
        if !self.active() {
            if let Some((directive, at)) = self.directive_of(line) {
                self.cursor.at = at;
                let token = self.next();
                self.conditional(directive, token)?;
            }
            return Ok(line + 1);
        }
        let mut joins = false;
        loop {
            let token = self.peek();
            match token.kind {
                TokenKind::End => return Ok(line + 1),
                TokenKind::Dot if !joins => {
                    self.next();
                    return self.directive_line(line, end);
                }
                TokenKind::Colon if !joins => {
                    self.next();
                    self.label_definition()?;
                }
                TokenKind::Semicolon if !joins => {
                    self.next();
                    joins = true;
                }
                TokenKind::Word => {
                    if self.peek_ahead(1).kind == TokenKind::Colon && !joins {
                        self.next();
                        self.next();
                        self.define_label(token)?;
                        continue;
                    }
                    if let Some(code_macro) = self.macro_of(token.symbol) {
                        self.next();
                        self.call_macro(&code_macro, token)?;
                        return Ok(line + 1);
                    }
                    let span = self.line_span(token, line);
                    self.instruction_line(joins, span)?;
                    return Ok(line + 1);
                }
                _ => {
                    let message = format!("a line cannot start with {}", self.found(token));
                    return self.error(Code::UnexpectedText, token, message);
                }
            }
        }
    }

    /// From a token to the end of its line.
    fn line_span(&self, first: Token, line: usize) -> Span {
        let Tokens { tokens, lines } = &*self.cursor.tokens;
        let end = lines.get(line + 1).map_or(tokens.len(), |&next| next as usize);
        // The last token of a line is its end, which is not part of the text.
        let last = end.checked_sub(2).and_then(|last| tokens.get(last)).unwrap_or(&first);
        first.span(self.cursor.file).to(last.span(self.cursor.file))
    }

    /// The directive at the start of a line, after any labels, and the token index of its name.
    pub(super) fn directive_of(&self, line: usize) -> Option<(Directive, usize)> {
        let tokens = &self.cursor.tokens;
        let start = *tokens.lines.get(line)? as usize;
        let mut rest = tokens.tokens.get(start..)?.iter().copied();
        loop {
            let first = rest.next()?;
            match first.kind {
                TokenKind::Dot => {
                    let name = rest.next()?;
                    let directive = self.symbols.meaning(name.symbol).directive?;
                    let at = tokens.tokens.len() - rest.len() - 1;
                    return (name.kind == TokenKind::Word).then_some((directive, at));
                }
                TokenKind::Colon => {
                    // `:name`, `::name`, or a lone colon.
                    let mut ahead = rest.clone();
                    if matches!(ahead.next()?.kind, TokenKind::Word | TokenKind::Number) {
                        rest = ahead;
                    }
                }
                TokenKind::Word if rest.clone().next()?.kind == TokenKind::Colon => {
                    rest.next()?;
                }
                _ => return None,
            }
        }
    }

    /// A label definition, `:`, `:name` or `::name`; the first colon was read.
    fn label_definition(&mut self) -> Res {
        let colon_end = self.cursor.tokens.tokens.get(self.cursor.at - 1).map_or(0, |colon| colon.end);
        let token = self.peek();
        // A colon without a name is an anonymous label: it prevents instructions from being joined over it.
        if token.kind == TokenKind::End || token.start != colon_end {
            self.code.mark_target();
            return Ok(());
        }
        let global = self.take(TokenKind::Colon);
        let name = self.next();
        if !matches!(name.kind, TokenKind::Word | TokenKind::Number) {
            let message = format!("expected the name of a label, found {}", self.found(name));
            return self.error(Code::UnexpectedText, name, message);
        }
        let id = self.define_label(name)?;
        if global {
            let span = name.span(self.cursor.file);
            self.globals.push((name.symbol, Value::Label { id, addend: 0 }, span));
        }
        Ok(())
    }

    fn define_label(&mut self, name: Token) -> Res<u32> {
        let Some(address) = self.code.address() else {
            return self.error(Code::Unaligned, name, "a label cannot stand inside a byte");
        };
        let span = name.span(self.cursor.file);
        let repeatable = name.kind == TokenKind::Number;
        match self.labels.define(name.symbol, repeatable, address, span) {
            Ok(id) => {
                self.code.mark_target();
                Ok(id)
            }
            Err(first) => {
                let message = format!("label {} is defined twice", self.text(name));
                let diagnostic = crate::Diagnostic::error(Code::LabelRedefined, span, message);
                Err(Box::new(diagnostic.related(first, "first defined here")))
            }
        }
    }
}
