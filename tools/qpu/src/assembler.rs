//! The assembler: sources to words.
//!
//! Lines are executed one after the other, as a program whose output is code: directives define names, choose lines and repeat them; instructions
//! append words. Names are resolved when they are used. Branches to later labels are patched at the end. If a later label's address is needed as a number,
//! the assembler iterates: it repeats the pass with the addresses of the previous pass until they no longer change (a fixed point).

use alloc::borrow::ToOwned;
use alloc::boxed::Box;
use alloc::format;
use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec::Vec;
use core::cell::Cell;
use hashbrown::HashMap;
#[cfg(feature = "std")]
use std::path::PathBuf;

use crate::code::Code;
use crate::diagnostic::{Diagnostic, Diagnostics, Severity};
use crate::interface::Interface;
use crate::lexer::{self, Token, TokenKind, Tokens};
use crate::slot::{Refusal, Slot};
use crate::source::{MAX_BYTES, Source, Span};
use crate::symbol::{Symbol, Symbols};
use crate::value::Value;

mod block;
mod budget;
mod code_stream;
mod data;
mod directive;
mod expression;
mod hint;
mod include;
mod instruction;
mod interface_directive;
mod label;
mod line;
mod operator;
mod relocation;
mod scope;

use code_stream::CodeStream;
use label::Labels;
use scope::{Macro, Names, ScopeKind};

pub use budget::MAX_WORDS;
pub use code_stream::WordInfo;
pub use relocation::Relocation;

/// Options of the assembler.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Directories for `.include <file>`.
    #[cfg(feature = "std")]
    pub include_dirs: Vec<PathBuf>,
    /// Names that are predefined, each with the expression that it stands for.
    pub defines: Vec<(String, String)>,
    /// Texts that `.include` finds by name, as if they were files; they are searched before directories.
    pub includes: Vec<Source>,
}

/// An assembled program.
#[derive(Clone, Debug, Default)]
pub struct Assembly {
    /// Instructions and data, 64 bits each.
    pub words: Vec<u64>,
    /// Where each word comes from, and what it is.
    pub info: Vec<WordInfo>,
    /// Labels with their byte offsets, in the order of definition.
    pub labels: Vec<(String, u32)>,
    /// Symbols exported by `.global` or `::`.
    pub globals: Vec<(String, i64)>,
    /// The declared interface.
    pub interface: Interface,
    /// Codes of warnings that the source suppresses (`.allow`).
    pub allowed: Vec<Code>,
    /// Words whose low half depends on where labels are, in order.
    pub relocations: Vec<Relocation>,
    /// The first place where the program depends on the address of a label in another way, if there is one: computing with it other than by adding a number
    /// to a distance between labels, or a distance in data or in a small immediate.
    pub addresses_used: Option<Span>,
    /// The optimizer has moved and merged instructions, so that a word no longer corresponds to one source line.
    pub optimized: bool,
    /// Warnings, and the sources that places refer to.
    pub warnings: Diagnostics,
}

impl Assembly {
    /// Byte offset of a label; the last definition counts.
    pub fn label(&self, name: &str) -> Option<u32> {
        self.labels.iter().rev().find(|(label, _)| label == name).map(|&(_, offset)| offset)
    }

    /// The words as 32-bit halves, low half first, as they stand in memory.
    pub fn halves(&self) -> impl Iterator<Item = u32> + '_ {
        self.words.iter().flat_map(|&word| [word as u32, (word >> 32) as u32])
    }
}

/// Assembles sources, one after the other into one program.
///
/// The error contains all diagnostics of a failed assembly; the warnings of a successful one are in [`Assembly::warnings`].
pub fn assemble(sources: &[Source], options: &Options) -> Result<Assembly, Diagnostics> {
    let mut assembler = Assembler::new(options);
    let mut pass = 0;
    loop {
        pass += 1;
        assembler.start_pass();
        for source in sources {
            assembler.main_source(source);
        }
        assembler.end_pass();
        let errors = assembler.diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error);
        if errors || !assembler.labels.another_pass() {
            break;
        }
        if pass == MAX_PASSES {
            let span = assembler.labels.unsettled_span().unwrap_or_default();
            assembler.diagnostics.push(Diagnostic::error(
                Code::LabelsDoNotConverge,
                span,
                "the addresses of labels do not converge",
            ));
            break;
        }
    }
    assembler.finish()
}

/// Maximum number of passes; after that, label addresses are reported not to converge.
const MAX_PASSES: u32 = 8;

/// Number of errors after which assembly stops.
const MAX_ERRORS: usize = 1000;
/// Number of diagnostics after which warnings are dropped.
const MAX_WARNINGS: usize = 100_000;

/// An error; boxed, because success is the common case.
type Failure = Box<Diagnostic>;
/// Success or failure.
type Res<T = ()> = Result<T, Failure>;

/// A file and its tokens.
#[derive(Debug)]
struct File {
    source: Source,
    tokens: Rc<Tokens>,
}

/// The read position: an index into the tokens of a file.
#[derive(Clone, Debug)]
struct Cursor {
    file: u32,
    tokens: Rc<Tokens>,
    at: usize,
}

/// The state of an assembly.
struct Assembler<'o> {
    options: &'o Options,
    files: Vec<File>,
    file_numbers: HashMap<String, u32>,
    symbols: Symbols,
    names: Names,
    labels: Labels,
    code: CodeStream,
    globals: Vec<(Symbol, Value, Span)>,
    interface: Interface,
    conditions: Vec<line::IfState>,
    cursor: Cursor,
    slot: Slot,
    /// Current nesting depth of macros, includes and repetitions.
    depth: u32,
    /// Current nesting depth of expressions.
    expression_depth: u32,
    /// Iterations of `.rep` and `.foreach` so far.
    rounds: u64,
    /// Calls of macros and functions so far.
    calls: u64,
    /// Steps of [`budget`] so far, in all passes.
    steps: u64,
    /// Names compared so far with misspelt ones, to suggest a correction.
    compared: Cell<usize>,
    /// Bytes of all sources so far.
    source_bytes: u64,
    /// Errors so far.
    errors: usize,
    /// A limit was exceeded: the remaining source is skipped.
    given_up: bool,
    /// Codes whose warnings are suppressed.
    allowed: Vec<Code>,
    diagnostics: Vec<Diagnostic>,
}

impl<'o> Assembler<'o> {
    fn new(options: &'o Options) -> Self {
        Self {
            options,
            files: Vec::new(),
            file_numbers: HashMap::new(),
            symbols: Symbols::new(),
            names: Names::default(),
            labels: Labels::default(),
            code: CodeStream::default(),
            globals: Vec::new(),
            interface: Interface::default(),
            conditions: Vec::new(),
            cursor: Cursor { file: 0, tokens: Rc::default(), at: 0 },
            slot: Slot::default(),
            depth: 0,
            expression_depth: 0,
            rounds: 0,
            calls: 0,
            steps: 0,
            compared: Cell::new(0),
            source_bytes: 0,
            errors: 0,
            given_up: false,
            allowed: Vec::new(),
            diagnostics: Vec::new(),
        }
    }

    fn start_pass(&mut self) {
        self.names = Names::default();
        self.labels.start_pass();
        self.code = CodeStream::default();
        self.globals.clear();
        self.interface = Interface::default();
        self.conditions.clear();
        self.depth = 0;
        self.rounds = 0;
        self.calls = 0;
        self.errors = 0;
        self.given_up = false;
        self.allowed.clear();
        self.diagnostics.clear();
        for (name, expression) in &self.options.defines {
            let definition = Source::new(format!("-D {name}"), format!(".set {name}, {expression}"));
            self.main_source(&definition);
        }
    }

    /// Number of a source, read and cut into tokens once.
    fn file_number(&mut self, source: &Source) -> u32 {
        if let Some(&number) = self.file_numbers.get(&source.name)
            && self.files[number as usize].source.text == source.text
        {
            return number;
        }
        let number = self.files.len() as u32;
        self.file_numbers.insert(source.name.clone(), number);
        self.source_bytes += source.text.len() as u64;
        let too_long = self.source_bytes > MAX_BYTES;
        let tokens = if too_long { Tokens::default() } else { lexer::lex(&source.text, &mut self.symbols) };
        self.files.push(File { source: source.clone(), tokens: Rc::new(tokens) });
        if too_long {
            let span = Span { file: number, start: 0, end: 0 };
            let message = format!("the sources are longer than {MAX_BYTES} bytes");
            self.diagnostics.push(Diagnostic::error(Code::TooMuchCode, span, message));
        }
        number
    }

    fn main_source(&mut self, source: &Source) {
        let number = self.file_number(source);
        if let Err(failure) = self.run_file(number) {
            self.report(*failure);
        }
    }

    /// Executes all lines of a file in a context of its own.
    fn run_file(&mut self, number: u32) -> Res {
        let tokens = Rc::clone(&self.files[number as usize].tokens);
        let lines = tokens.lines.len();
        self.names.enter(ScopeKind::File);
        let conditions = self.conditions.len();
        let result = self.run_lines(number, &tokens, 0..lines);
        if let Some(open) = self.conditions.get(conditions) {
            let span = open.span;
            self.report(Diagnostic::warning(Code::UnterminatedBlock, span, "this .if has no .endif in its file"));
            self.conditions.truncate(conditions);
        }
        while self.names.inner_scope() == Some(ScopeKind::Block) {
            let span = self.names.inner_span();
            self.report(Diagnostic::error(Code::UnterminatedBlock, span, "this .local has no .endloc in its file"));
            self.names.leave();
        }
        self.names.leave();
        result
    }

    fn end_pass(&mut self) {
        if let Some(span) = self.code.open_back() {
            self.report(Diagnostic::error(Code::UnterminatedBlock, span, "this .back has no .endb"));
        }
        let undefined = self.labels.undefined();
        for (label, span) in undefined {
            if self.given_up {
                break;
            }
            let name = self.symbols.name(label).to_owned();
            let diagnostic = Diagnostic::error(Code::LabelUndefined, span, format!("label {name} is not defined"));
            let diagnostic = self.hinted(diagnostic, &name, |symbol| self.labels.is_defined(symbol));
            self.report(*diagnostic);
        }
        for (span, message) in self.code.resolve_branches(&self.labels) {
            self.report(Diagnostic::error(Code::NumberOutOfRange, span, message));
        }
        if self.labels.words_needed() {
            self.labels.keep_words(self.code.words());
        }
    }

    fn finish(mut self) -> Result<Assembly, Diagnostics> {
        let globals = core::mem::take(&mut self.globals);
        let mut exported: Vec<(String, i64)> = Vec::new();
        let mut known: HashMap<Symbol, i64> = HashMap::new();
        for (symbol, value, span) in globals {
            let value = match value {
                Value::Int(value) => value,
                Value::Label { id, addend } => self.labels.final_address(id).unwrap_or(0).wrapping_add(addend),
                _ => continue,
            };
            let name = self.symbols.name(symbol).to_owned();
            match known.get(&symbol) {
                Some(&other) if other != value => {
                    let message = format!("global symbol {name} is exported as {other:#x} and as {value:#x}");
                    self.report(Diagnostic::warning(Code::GlobalRedefined, span, message));
                }
                Some(_) => {}
                None => {
                    known.insert(symbol, value);
                    exported.push((name, value));
                }
            }
        }
        let sources: Vec<Source> = core::mem::take(&mut self.files).into_iter().map(|file| file.source).collect();
        let diagnostics = Diagnostics { list: core::mem::take(&mut self.diagnostics), sources };
        if diagnostics.has_errors() {
            return Err(diagnostics);
        }
        let labels = self.labels.all().map(|(name, at)| (self.symbols.name(name).to_owned(), at)).collect();
        let relocations = self.code.relocations(&self.labels);
        let addresses_used = self.labels.addresses_used().or(relocations.as_ref().err().copied());
        let (words, info) = self.code.into_words();
        Ok(Assembly {
            words,
            info,
            labels,
            globals: exported,
            interface: self.interface,
            allowed: self.allowed,
            relocations: relocations.unwrap_or_default(),
            addresses_used,
            optimized: false,
            warnings: diagnostics,
        })
    }

    // Diagnostics.

    fn report(&mut self, diagnostic: Diagnostic) {
        match diagnostic.severity {
            Severity::Warning if self.allowed.contains(&diagnostic.code) => return,
            Severity::Warning if self.diagnostics.len() >= MAX_WARNINGS => return,
            Severity::Warning => {}
            Severity::Error => {
                self.errors += 1;
                self.given_up |= self.errors > MAX_ERRORS;
            }
        }
        let diagnostic = self.with_call_sites(diagnostic);
        self.diagnostics.push(diagnostic);
    }

    /// Adds the places of the macro calls and includes that lead here.
    fn with_call_sites(&self, mut diagnostic: Diagnostic) -> Diagnostic {
        for (span, what) in self.names.call_sites() {
            if diagnostic.related.len() < 8 && !diagnostic.related.iter().any(|(other, _)| *other == span) {
                diagnostic.related.push((span, what.to_owned()));
            }
        }
        diagnostic
    }

    #[cold]
    fn error<T>(&self, code: Code, token: Token, message: impl Into<String>) -> Res<T> {
        Err(Box::new(Diagnostic::error(code, token.span(self.cursor.file), message)))
    }

    fn warn(&mut self, code: Code, token: Token, message: impl Into<String>) {
        let span = token.span(self.cursor.file);
        self.report(Diagnostic::warning(code, span, message));
    }

    /// Turns an error of the slot into a diagnostic whose span reaches from `first` to the token before the cursor.
    #[cold]
    fn refused(&self, refusal: Refusal, first: Token) -> Failure {
        Box::new(Diagnostic::error(refusal.code, self.span_from(first), refusal.message))
    }

    fn span_from(&self, first: Token) -> Span {
        let last = self.cursor.at.checked_sub(1).and_then(|at| self.cursor.tokens.tokens.get(at));
        let first_span = first.span(self.cursor.file);
        last.map_or(first_span, |last| first_span.to(last.span(self.cursor.file)))
    }

    /// Reports the warnings that the slot has collected about the part that was just parsed.
    #[inline]
    fn slot_warnings(&mut self, first: Token) {
        if !self.slot.warnings.is_empty() {
            self.report_slot_warnings(first);
        }
    }

    #[cold]
    fn report_slot_warnings(&mut self, first: Token) {
        let span = self.span_from(first);
        for warning in core::mem::take(&mut self.slot.warnings) {
            self.report(Diagnostic::warning(warning.code, span, warning.message));
        }
    }

    // Tokens.

    #[inline]
    fn peek(&self) -> Token {
        self.peek_ahead(0)
    }

    #[inline]
    fn peek_ahead(&self, ahead: usize) -> Token {
        let end = Token { kind: TokenKind::End, symbol: 0, start: 0, end: 0 };
        self.cursor.tokens.tokens.get(self.cursor.at + ahead).copied().unwrap_or(end)
    }

    /// The next token; at the end of a line it returns the end token again and again.
    #[inline]
    fn next(&mut self) -> Token {
        let token = self.peek();
        if token.kind != TokenKind::End {
            self.cursor.at += 1;
            self.spend(1);
        }
        token
    }

    /// Takes the next token if it is of this kind.
    #[inline]
    fn take(&mut self, kind: TokenKind) -> bool {
        let found = self.peek().kind == kind;
        if found {
            self.next();
        }
        found
    }

    fn text(&self, token: Token) -> &str {
        let source = self.files.get(self.cursor.file as usize);
        source.and_then(|file| file.source.text.get(token.start as usize..token.end as usize)).unwrap_or("")
    }

    /// The token in the words of a diagnostic.
    fn found(&self, token: Token) -> String {
        match token.kind {
            TokenKind::End => "the end of the line".to_owned(),
            _ => format!("`{}`", self.text(token)),
        }
    }

    #[inline]
    fn expect(&mut self, kind: TokenKind, what: &str) -> Res<Token> {
        let token = self.next();
        if token.kind == kind { Ok(token) } else { self.unexpected(token, what) }
    }

    #[cold]
    fn unexpected(&self, token: Token, what: &str) -> Res<Token> {
        let message = format!("expected {what}, found {}", self.found(token));
        self.error(Code::UnexpectedText, token, message)
    }

    fn expect_end(&mut self) -> Res {
        let token = self.peek();
        if token.kind == TokenKind::End {
            return Ok(());
        }
        let message = format!("expected the end of the line, found {}", self.found(token));
        self.error(Code::UnexpectedText, token, message)
    }

    fn identifier(&mut self, what: &str) -> Res<Token> {
        self.expect(TokenKind::Word, what)
    }

    /// A macro by name.
    fn macro_of(&self, symbol: Symbol) -> Option<Rc<Macro>> {
        self.names.macro_of(symbol)
    }
}
