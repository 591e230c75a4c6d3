//! Directives.

use alloc::boxed::Box;
use alloc::format;

use super::scope::ScopeKind;
use super::{Assembler, Res};
use crate::code::Code;
use crate::diagnostic::Diagnostic;
use crate::language::Directive;
use crate::language::directive::Definition;
use crate::language::suffix::Places;
use crate::lexer::{Token, TokenKind};
use crate::value::Value;

impl Assembler<'_> {
    /// Executes the directive whose dot was read; returns the line at which execution continues.
    pub(super) fn directive_line(&mut self, line: usize, end: usize) -> Res<usize> {
        let token = self.next();
        let directive = (token.kind == TokenKind::Word).then(|| self.symbols.meaning(token.symbol).directive).flatten();
        let Some(directive) = directive else {
            let message = format!("{} is no directive", self.found(token));
            let diagnostic = Diagnostic::error(Code::UnknownDirective, token.span(self.cursor.file), message);
            let known = |symbol| self.symbols.meaning(symbol).directive.is_some();
            return Err(self.hinted(diagnostic, self.text(token), known));
        };
        let span = token.span(self.cursor.file);
        match directive {
            Directive::If | Directive::IfSet | Directive::ElseIf | Directive::Else | Directive::EndIf => {
                self.conditional(directive, token)?;
            }
            Directive::Macro => return self.macro_definition(false, line, end, token),
            Directive::Func => return self.macro_definition(true, line, end, token),
            Directive::Rep => return self.repetition(false, line, end, token),
            Directive::Foreach => return self.repetition(true, line, end, token),
            Directive::EndMacro => return self.end_without_start(token, ".macro"),
            Directive::EndFunc => return self.end_without_start(token, ".func"),
            Directive::EndRep => return self.end_without_start(token, ".rep"),
            Directive::EndForeach => return self.end_without_start(token, ".foreach"),
            Directive::Local => {
                self.expect_end()?;
                self.names.enter_at(ScopeKind::Block, span, "in this block");
            }
            Directive::EndLocal => {
                if self.names.inner_scope() != Some(ScopeKind::Block) {
                    return self.end_without_start(token, ".local");
                }
                self.names.leave();
                self.expect_end()?;
            }
            Directive::Set(definition) => self.set(definition)?,
            Directive::Unset { local } => {
                let name = self.identifier("a name")?;
                self.expect_end()?;
                if !self.names.unset(name.symbol, local) {
                    let message = format!("{} is not defined", self.text(name));
                    self.warn(Code::NotDefined, name, message);
                }
            }
            Directive::Assert => self.assertion(token)?,
            Directive::Include => self.include(token)?,
            Directive::Data(datum) => self.data(datum)?,
            Directive::Align => self.align_directive()?,
            Directive::Back => {
                let first = self.peek();
                let count = self.integer("the number of instructions")?;
                self.expect_end()?;
                let crosses = usize::try_from(count).ok().filter(|&count| count <= 10);
                match crosses.and_then(|count| self.code.start_back(count, span)) {
                    Some(false) => {}
                    Some(true) => {
                        self.warn(Code::BackCrossesLabel, first, "a label stands between here and the place to insert");
                    }
                    None => {
                        return self.error(Code::BackNotPossible, first, Code::BackNotPossible.title());
                    }
                }
            }
            Directive::EndBack => {
                if !self.code.end_back() {
                    return self.end_without_start(token, ".back");
                }
                self.expect_end()?;
            }
            Directive::Clone => self.clone_directive(token)?,
            Directive::Code | Directive::Rodata => self.expect_end()?,
            Directive::Global => self.global()?,
            Directive::Uniform
            | Directive::Attribute
            | Directive::Varying
            | Directive::Texture
            | Directive::Semaphore
            | Directive::Threads
            | Directive::Stage
            | Directive::Output
            | Directive::Primitive
            | Directive::PointSize => self.interface_directive(directive, token)?,
            Directive::Allow => self.allow()?,
            Directive::Slots => {
                self.expect_end()?;
                if !self.code.mark_slots() {
                    return self.error(Code::SlotsWithoutBranch, token, Code::SlotsWithoutBranch.title());
                }
            }
        }
        Ok(line + 1)
    }

    fn set(&mut self, definition: Definition) -> Res {
        let name = self.identifier("a name")?;
        if self.take(TokenKind::Open) {
            return self.function_definition(name);
        }
        self.expect(TokenKind::Comma, "`,` and a value, or `(` and arguments")?;
        let value = self.expression(Places::EXPRESSION)?;
        self.expect_end()?;
        let span = name.span(self.cursor.file);
        let Definition { local, final_value } = definition;
        self.names.set(name.symbol, value, span, local, final_value).map_err(|first| {
            let message = format!("{} is defined already", self.text(name));
            Box::new(Diagnostic::error(Code::ConstantRedefined, span, message).related(first, "defined here"))
        })
    }

    fn clone_directive(&mut self, token: Token) -> Res {
        let first = self.peek();
        let label = self.expression(Places::EXPRESSION)?;
        if !matches!(label, Value::Label { .. }) {
            return self.error(Code::CloneNotPossible, first, "the first argument of .clone is a label");
        }
        let address = self.label_value(label, first);
        self.expect(TokenKind::Comma, "`,` and the number of instructions")?;
        let number = self.peek();
        let count = self.integer("the number of instructions")?;
        self.expect_end()?;
        if !(0..=3).contains(&count) {
            return self.error(Code::CloneNotPossible, number, format!("{count} instructions cannot be cloned"));
        }
        let span = token.span(self.cursor.file);
        if self.code.bit_offset() != 0 {
            self.align(8, 0, span);
        }
        for n in 0..count {
            let at = usize::try_from(address / 8 + n).unwrap_or(usize::MAX);
            // The words of instructions further down are known in the next pass only.
            let (word, info) = match self.code.word(at) {
                Some(found) => found,
                None => match self.labels.previous_word(at) {
                    Some(word) => (word, super::WordInfo { span, ..Default::default() }),
                    None => {
                        self.labels.need_another_pass(span);
                        (0, super::WordInfo { span, ..Default::default() })
                    }
                },
            };
            if word >> 60 == 15 {
                self.warn(Code::ClonedBranch, first, "a branch is cloned; its target is relative to the original");
            }
            self.code.copy(at, word, super::WordInfo { span, ..info });
        }
        Ok(())
    }

    fn global(&mut self) -> Res {
        let mut colons = 0;
        while self.take(TokenKind::Colon) {
            colons += 1;
        }
        let name = self.identifier("the name of a symbol")?;
        let span = name.span(self.cursor.file);
        let value = if colons > 0 {
            Value::Label { id: self.labels.refer(name.symbol, false, span), addend: 0 }
        } else {
            self.expect(TokenKind::Comma, "`,` and a value")?;
            let first = self.peek();
            let value = self.expression(Places::EXPRESSION)?;
            let value = self.as_number(value, first);
            match value {
                Value::Label { .. } => value,
                Value::Int(number) if (-0x8000_0000..=0xffff_ffff).contains(&number) => value,
                Value::Int(number) => {
                    return self.error(Code::NumberOutOfRange, first, format!("{number:#x} does not fit 32 bits"));
                }
                other => {
                    let message = format!("a global symbol is a label or an integer, not {}", other.kind());
                    return self.error(Code::WrongOperandType, first, message);
                }
            }
        };
        self.expect_end()?;
        self.globals.push((name.symbol, value, span));
        Ok(())
    }

    /// `.allow E0123, …`: suppresses warnings with these codes from here on.
    fn allow(&mut self) -> Res {
        loop {
            let token = self.next();
            let code = matches!(token.kind, TokenKind::Word | TokenKind::Number)
                .then(|| Code::parse(self.text(token)))
                .flatten();
            let Some(code) = code else {
                let message = format!("{} is no code of a diagnostic", self.found(token));
                return self.error(Code::UnexpectedText, token, message);
            };
            self.allowed.push(code);
            if !self.take(TokenKind::Comma) {
                return self.expect_end();
            }
        }
    }
}
