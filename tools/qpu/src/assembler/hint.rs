//! Suggestions where a name or the number of operands is wrong.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::Assembler;
use super::include::{STANDARD_INCLUDE, STANDARD_INCLUDE_TEXT};
use crate::diagnostic::Diagnostic;
use crate::language::Mnemonic;
use crate::lexer::Token;
use crate::similar::nearest;
use crate::symbol::Symbol;
use v3d_hw::qpu::AddOp;

impl Assembler<'_> {
    /// Adds a suggestion: the `known` name with the smallest edit distance to an unknown one, or the include file that defines it.
    #[cold]
    pub(super) fn hinted(&self, diagnostic: Diagnostic, word: &str, known: impl Fn(Symbol) -> bool) -> Box<Diagnostic> {
        if !self.may_compare(self.symbols.count() as usize) {
            return Box::new(diagnostic);
        }
        let names = (0..self.symbols.count()).filter(|&symbol| known(symbol)).map(|symbol| self.symbols.name(symbol));
        Box::new(if in_standard_include(word) {
            diagnostic.help(format!("{word} is in {STANDARD_INCLUDE}: `.include <{STANDARD_INCLUDE}>`"))
        } else if let Some(meant) = nearest(word, names) {
            diagnostic.help(format!("did you mean `{meant}`?"))
        } else {
            diagnostic
        })
    }

    /// Whether a symbol is a mnemonic or a macro.
    pub(super) fn is_instruction(&self, symbol: Symbol) -> bool {
        self.symbols.meaning(symbol).mnemonic.is_some() || self.names.macro_of(symbol).is_some()
    }

    /// Whether a symbol can stand in an expression.
    pub(super) fn is_value(&self, symbol: Symbol) -> bool {
        let meaning = self.symbols.meaning(symbol);
        let own = self.names.constant(symbol).is_some() || self.names.is_function(symbol);
        own || meaning.register.is_some() || meaning.operator.is_some()
    }

    /// A name with its parameters in the form of its definition: `name(a, b)`, or `name a, b` for a macro.
    pub(super) fn signature(&self, name: &str, arguments: &[Symbol], function: bool) -> String {
        let arguments: Vec<&str> = arguments.iter().map(|&argument| self.symbols.name(argument)).collect();
        let arguments = arguments.join(", ");
        match function {
            true => format!("`{name}({arguments})`"),
            false if arguments.is_empty() => format!("`{name}`"),
            false => format!("`{name} {arguments}`"),
        }
    }

    /// The form of the instruction that a mnemonic begins: its operands in order.
    pub(super) fn form(&self, mnemonic: Token) -> Option<String> {
        let name = self.text(mnemonic);
        Some(match self.symbols.meaning(mnemonic.symbol).mnemonic? {
            Mnemonic::Add(AddOp::Nop, _) | Mnemonic::Mul(v3d_hw::qpu::MulOp::Nop, _) | Mnemonic::Signal(_) => {
                format!("`{name}`")
            }
            Mnemonic::Add(op, _) if op.is_unary() => format!("`{name} TARGET, SOURCE`"),
            Mnemonic::Add(..) | Mnemonic::Mul(..) => format!("`{name} TARGET, SOURCE, SOURCE`"),
            Mnemonic::Move(_) => format!("`{name} TARGET, SOURCE` or `{name} TARGET, TARGET, SOURCE`"),
            Mnemonic::Load(_) => format!("`{name} TARGET, NUMBER` or `{name} TARGET, TARGET, NUMBER`"),
            Mnemonic::Acquire | Mnemonic::Release => format!("`{name} TARGET, NUMBER`"),
            Mnemonic::Read => format!("`{name} REGISTER`"),
            Mnemonic::Branch { .. } => {
                format!(
                    "`{name} LINK, LABEL` with `-` for no link, a second LINK before and a REGISTER behind if wanted"
                )
            }
        })
    }

    /// Adds the form of the instruction, unless the diagnostic has a help text already.
    #[cold]
    pub(super) fn with_form(&self, diagnostic: Diagnostic, mnemonic: Token) -> Box<Diagnostic> {
        let form = self.form(mnemonic).filter(|_| diagnostic.help.is_none());
        Box::new(match form {
            Some(form) => diagnostic.help(format!("the form is {form}")),
            None => diagnostic,
        })
    }
}

/// Whether the include file that comes with the assembler defines a name.
fn in_standard_include(word: &str) -> bool {
    STANDARD_INCLUDE_TEXT.lines().any(|line| {
        let mut words = line.split_whitespace();
        let defines = matches!(words.next(), Some(".set" | ".const" | ".func" | ".macro"));
        let name = words.next().unwrap_or_default();
        defines && name.split(['(', ',']).next() == Some(word)
    })
}
