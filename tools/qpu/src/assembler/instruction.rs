//! Lines with instructions.

use alloc::format;
use alloc::string::ToString;

use v3d_hw::qpu::access::{AccessRow, Peripheral};
use v3d_hw::qpu::{File, ImmediateKind, ReadSource, Signal, WriteTarget};

use super::{Assembler, Res};
use crate::code::Code;
use crate::diagnostic::Diagnostic;
use crate::language::Mnemonic;
use crate::language::mnemonic::Choice;
use crate::language::suffix::Places;
use crate::lexer::{Token, TokenKind};
use crate::slot::{Op, Outcome, Place, Slot};
use crate::source::Span;
use crate::value::{Register, Value};

/// The kinds of peripheral access of which vc4asm never puts two into one instruction when it joins lines: accesses to closely coupled peripherals, and to
/// values of pixels. Reading and writing colours counts as one kind.
fn accesses_to_join(slot: &Slot) -> u32 {
    let counts = |row: AccessRow| row.is_coupled || row.peripheral == Some(Peripheral::Pixels);
    let target = |address| WriteTarget::of(File::A, address);
    let writes = [target(slot.waddr_add), target(slot.waddr_mul)];
    let color = slot.sig.loads_color() || writes.iter().any(|target| target.writes_color());
    let written = writes.iter().filter(|target| counts(target.row().access) && !target.writes_color()).count();
    let b = (slot.sig != Signal::SmallImmediate).then(|| ReadSource::of(File::B, slot.raddr_b));
    let sources = [Some(ReadSource::of(File::A, slot.raddr_a)), b];
    let read = sources.into_iter().flatten().filter(|source| counts(source.row())).count();
    let load = slot.sig.loads_r4() && !slot.sig.loads_color();
    (written + read) as u32 + u32::from(load) + u32::from(color)
}

impl Assembler<'_> {
    /// Parses the instructions of a line, from the cursor on; `joins`: the line began with a semicolon, which joins it to the line before.
    pub(super) fn instruction_line(&mut self, joins: bool, span: Span) -> Res {
        if self.code.bit_offset() != 0 {
            let token = self.peek();
            self.warn(Code::Unaligned, token, "an instruction starts in the middle of a word: padded");
            self.align(8, 0, span);
        }
        if joins && self.join(span) {
            return Ok(());
        }
        self.slot = Slot::default();
        let open = self.instructions()?;
        self.emit(open, span)
    }

    fn emit(&mut self, open: bool, span: Span) -> Res {
        let unfinished = open.then(|| self.slot.clone());
        let word = self.encoded()?;
        if self.code.is_full() {
            self.given_up = true;
            let token = self.peek();
            return self.error(Code::TooMuchCode, token, Code::TooMuchCode.title());
        }
        let back = self.code.open_back().is_some();
        let at = self.code.push(word, span, &self.slot);
        self.note_hidden_distance(span);
        if back {
            self.labels.shift(at as u32 * 8, 8);
        }
        if let Some(slot) = unfinished {
            self.code.keep_open(at, slot);
        }
        Ok(())
    }

    fn encoded(&mut self) -> Res<u64> {
        self.slot.finish().or_else(|error| self.error(Code::NumberOutOfRange, self.peek(), error.to_string()))
    }

    /// Notes that the program depends on its layout, if the word contains a distance between labels that no relocation can describe.
    fn note_hidden_distance(&mut self, span: Span) {
        if self.slot.hides_distance() {
            self.labels.note_use_of_address(span);
        }
    }

    /// Tries to merge the line into the previous instruction; returns whether it fits.
    fn join(&mut self, span: Span) -> bool {
        let Some((at, slot)) = self.code.open() else { return false };
        self.slot = slot.clone();
        let start = self.cursor.at;
        let diagnostics = self.diagnostics.len();
        if let Ok(open) = self.instructions()
            && accesses_to_join(&self.slot) <= 1
        {
            let unfinished = open.then(|| self.slot.clone());
            if let Ok(word) = self.encoded() {
                self.code.replace(at, word, span, &self.slot);
                self.note_hidden_distance(span);
                if let Some(slot) = unfinished {
                    self.code.keep_open(at, slot);
                }
                return true;
            }
        }
        self.cursor.at = start;
        self.diagnostics.truncate(diagnostics);
        false
    }

    /// Parses instructions up to the end of the line; returns whether the line ends with a semicolon.
    fn instructions(&mut self) -> Res<bool> {
        loop {
            let first = self.peek();
            self.instruction().map_err(|failure| match failure.code {
                Code::UnexpectedText | Code::MissingValue => self.with_form(*failure, first),
                _ => failure,
            })?;
            let token = self.next();
            match token.kind {
                TokenKind::End => return Ok(false),
                TokenKind::Semicolon => {
                    if self.peek().kind == TokenKind::End {
                        return Ok(true);
                    }
                }
                _ => {
                    let message = format!("expected `;` or the end of the line, found {}", self.found(token));
                    let diagnostic = Diagnostic::error(Code::UnexpectedText, token.span(self.cursor.file), message);
                    return Err(self.with_form(diagnostic, first));
                }
            }
        }
    }

    fn instruction(&mut self) -> Res {
        let first = self.next();
        let mnemonic = (first.kind == TokenKind::Word).then(|| self.symbols.meaning(first.symbol).mnemonic).flatten();
        let Some(mnemonic) = mnemonic else {
            let message = format!("{} is no instruction and no macro", self.found(first));
            let diagnostic = Diagnostic::error(Code::UnknownMnemonic, first.span(self.cursor.file), message);
            return Err(self.hinted(diagnostic, self.text(first), |symbol| self.is_instruction(symbol)));
        };
        self.slot.warnings.clear();
        match mnemonic {
            Mnemonic::Add(op, choice) => self.operation(Op::Add(op), choice, first)?,
            Mnemonic::Mul(op, choice) => self.operation(Op::Mul(op), choice, first)?,
            Mnemonic::Move(choice) => self.mov(choice, None, first)?,
            Mnemonic::Load(kind) => {
                let load = match kind {
                    ImmediateKind::PerElementSigned => crate::slot::Load::Signed,
                    ImmediateKind::PerElementUnsigned => crate::slot::Load::Unsigned,
                    _ => crate::slot::Load::Any,
                };
                self.mov(Choice::Free, Some(load), first)?;
            }
            Mnemonic::Acquire => self.mov(Choice::Free, Some(crate::slot::Load::Acquire), first)?,
            Mnemonic::Release => self.mov(Choice::Free, Some(crate::slot::Load::Release), first)?,
            Mnemonic::Read => {
                self.slot_do(first, Slot::read_operation)?;
                let operand = self.peek();
                let value = self.expression(Places::SOURCE)?;
                self.slot_do(operand, |slot| slot.read_source(value))?;
            }
            Mnemonic::Branch { relative } => self.branch(relative, first)?,
            Mnemonic::Signal(signal) => self.slot_do(first, |slot| slot.signal(signal))?,
        }
        self.slot_do(first, Slot::end_operation)
    }

    /// Applies an action to the slot; its error or warnings are reported at the text from `first` on.
    fn slot_do<T>(&mut self, first: Token, action: impl FnOnce(&mut Slot) -> Outcome<T>) -> Res<T> {
        let outcome = action(&mut self.slot);
        self.slot_warnings(first);
        outcome.map_err(|refusal| self.refused(*refusal, first))
    }

    fn mnemonic_suffixes(&mut self) -> Res {
        if self.peek().kind == TokenKind::Dot {
            self.suffixes(Value::Int(0), Places::MNEMONIC)?;
        }
        Ok(())
    }

    fn operation(&mut self, op: Op, choice: Choice, first: Token) -> Res {
        let forced = choice != Choice::Free;
        let sources = self.slot_do(first, |slot| slot.operation(op, forced))?;
        self.mnemonic_suffixes()?;
        if sources == 0 {
            self.slot.note_nop(forced);
            if !matches!(self.peek().kind, TokenKind::Semicolon | TokenKind::End) {
                self.target()?;
            }
            // A nop may name the sources that its multiplexers select, so that existing words can be reproduced bit for bit.
            if self.take(TokenKind::Comma) {
                self.enter_place(Place::SOURCE_A);
                self.source()?;
                self.expect(TokenKind::Comma, "`,` and a source")?;
                self.enter_place(Place::SOURCE_B);
                self.source()?;
            }
            return Ok(());
        }
        self.target()?;
        for place in [Place::SOURCE_A, Place::SOURCE_B].into_iter().take(sources) {
            self.expect(TokenKind::Comma, "`,` and a source")?;
            self.enter_place(place);
            self.source()?;
        }
        // Operations with one source may name the unused second multiplexer too.
        if sources == 1 && self.take(TokenKind::Comma) {
            self.enter_place(Place::SOURCE_B);
            self.slot.note_second_source();
            self.source()?;
        }
        Ok(())
    }

    fn enter_place(&mut self, place: Place) {
        self.slot.place = self.slot.place.common(Place::BOTH).or(place);
    }

    fn source(&mut self) -> Res {
        let first = self.peek();
        let value = self.expression(Places::SOURCE)?;
        self.slot_do(first, |slot| slot.source(value))
    }

    fn target(&mut self) -> Res {
        self.enter_place(Place::TARGET);
        let first = self.peek();
        let register = self.register(Places::TARGET, "a target")?;
        if register.address == WriteTarget::TmuNoSwap.address() && self.text(first) == "r4" {
            self.warn(Code::TargetR4, first, "a write to r4 goes to the register that swaps TMUs, not to r4");
        }
        self.slot_do(first, |slot| slot.target(register))
    }

    #[inline]
    fn register(&mut self, places: u8, what: &str) -> Res<Register> {
        let first = self.peek();
        match self.expression(places)? {
            Value::Register(register) => Ok(register),
            other => {
                let message = format!("{what} must be a register or `-`, not {}", other.kind());
                self.error(Code::TargetNotRegister, first, message)
            }
        }
    }

    /// A move, or with `load` a load immediate.
    fn mov(&mut self, choice: Choice, load: Option<crate::slot::Load>, first: Token) -> Res {
        let two_targets = self.operands_left() == 3;
        self.slot_do(first, |slot| slot.move_operation(choice, two_targets))?;
        self.mnemonic_suffixes()?;
        self.target()?;
        self.expect(TokenKind::Comma, "`,` and a source")?;
        if two_targets {
            self.slot.place = self.slot.place.other_alu();
            self.target()?;
            self.expect(TokenKind::Comma, "`,` and a source")?;
            self.slot.place = Place::BOTH.or(Place::TARGET);
        }
        self.enter_place(Place::SOURCES);
        let operand = self.peek();
        let value = self.expression(Places::SOURCE)?;
        if load.is_none() && self.slot_do(operand, |slot| slot.move_source(value))? {
            return Ok(());
        }
        let load = load.unwrap_or(crate::slot::Load::Any);
        self.slot_do(operand, |slot| slot.load_source(value, load))
    }

    fn branch(&mut self, relative: bool, first: Token) -> Res {
        self.slot_do(first, |slot| slot.branch_operation(relative))?;
        self.mnemonic_suffixes()?;
        let operands = self.operands_left();
        self.target()?;
        self.expect(TokenKind::Comma, "`,` and a branch target")?;
        if operands >= 4 {
            self.slot.place = self.slot.place.other_alu();
            self.target()?;
            self.expect(TokenKind::Comma, "`,` and a branch target")?;
        }
        if operands >= 3 {
            self.branch_target()?;
            self.expect(TokenKind::Comma, "`,` and a second branch target")?;
        }
        self.branch_target()?;
        let token = self.peek();
        if token.kind != TokenKind::End {
            return self.error(Code::BranchNotAlone, token, Code::BranchNotAlone.title());
        }
        Ok(())
    }

    fn branch_target(&mut self) -> Res {
        self.slot.place = Place::ADD.or(Place::SOURCES);
        let first = self.peek();
        let value = self.expression(Places::SOURCE)?;
        self.slot_do(first, |slot| slot.branch_target(value))
    }

    /// Number of operands from the cursor to the next semicolon.
    fn operands_left(&self) -> usize {
        let mut nesting = 0i32;
        let mut operands = 1;
        for token in self.cursor.tokens.tokens.get(self.cursor.at..).unwrap_or_default() {
            match token.kind {
                TokenKind::End | TokenKind::Semicolon => break,
                TokenKind::Open | TokenKind::OpenBracket => nesting += 1,
                TokenKind::Close | TokenKind::CloseBracket => nesting -= 1,
                TokenKind::Comma if nesting == 0 => operands += 1,
                _ => {}
            }
        }
        operands
    }
}
