//! Instructions as assembler text, one line each, in vc4asm's language.
//!
//! Assembling the text gives the same 64 bits again, if that is possible. Some words have no such text: fields that an operation does not use can have any
//! value in a word, but the language gives them a default. [`write_text`] says whether the text is exact; if not, a disassembler writes the word as data and
//! the text as a comment.
//!
//! # Special forms
//! - `raN` and `rbN` with N above 31 are an address of one file, where the register's name could mean either file.
//! - `anop` and `mnop` are an ALU without an operation, with its target and sources if the word has any; beside an operation that only makes a
//!   constant they keep the word from becoming a load immediate. `read` sets a read address that no operand uses.
//! - `.always` is the condition of a result without a target, whose default is `.never`.
//! - `.pm` sets that bit where no pack or unpack does; `.pm8` sets it together with [`PackMul::IGNORED`] in the pack field, for any pack.
//! - A rotation is written at the target of the mul operation: `mov r0 << 3, r1`.
//!
//! # Implementation
//! A line is composed of [`Piece`]s from tables, each a name with the space or comma before it. Appending one is a copy of fixed size; that, and few tests of
//! the word's bits, makes listings of millions of instructions fast.
//!
//! # Sources
//! [vc4asm] for the language, [AG p.26-38] for the fields.

#![cfg_attr(not(test), no_std)]
#![forbid(unsafe_code)]

use core::fmt;

use v3d_hw::layout::Layout;
use v3d_hw::qpu::address_map::{NOP, REGISTERS, is_read_in_either_file, is_written_in_either_file};
use v3d_hw::qpu::{
    AddOp, Alu, Branch, BranchCondition, Condition, ImmediateKind, Instruction, LoadImmediate, MulOp, Mux, PackMul,
    Semaphore, Signal, SmallImmediate,
};

mod names;
mod piece;

use piece::Piece;

/// Buffer size for the text of any instruction, in bytes.
pub const LINE_BYTES: usize = 256;

/// Properties of the text of an instruction that was written to a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line {
    /// Length in bytes.
    pub length: usize,
    /// Assembling the text gives the same word.
    pub exact: bool,
}

/// Writes the text of a word to the start of `line`; the rest of the buffer is undefined afterwards.
pub fn write_text(word: u64, line: &mut [u8; LINE_BYTES]) -> Line {
    match Instruction::decode(word) {
        Instruction::Alu(_) if word & (UNPACK.mask | PM.mask | PACK.mask | SF.mask) == 0 => {
            alu::<true>(word, Builder::new(line))
        }
        Instruction::Alu(_) => alu::<false>(word, Builder::new(line)),
        Instruction::LoadImmediate(load) => load_immediate(&load, Builder::new(line)),
        Instruction::Semaphore(semaphore) => self::semaphore(&semaphore, Builder::new(line)),
        Instruction::Branch(branch) => self::branch(&branch, Builder::new(line)),
    }
}

/// Whether a word has a text that assembles to the same word.
pub fn has_exact_text(word: u64) -> bool {
    write_text(word, &mut [0; LINE_BYTES]).exact
}

/// A word that is printed as its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Text(pub u64);

impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut line = [0; LINE_BYTES];
        let length = write_text(self.0, &mut line).length;
        f.pad(core::str::from_utf8(&line[..length]).unwrap_or_default())
    }
}

/// Position and size of a field of an ALU instruction.
#[derive(Clone, Copy)]
struct Field {
    lo: u32,
    mask: u64,
}

impl Field {
    /// The field of this name in the guide's table.
    const fn named(name: &str) -> Self {
        let mut at = 0;
        loop {
            let field = &Alu::FIELDS[at];
            if field.name.eq_ignore_ascii_case(name) {
                return Self { lo: field.lo, mask: ((1 << field.width()) - 1) << field.lo };
            }
            at += 1;
        }
    }

    #[inline]
    const fn of(self, word: u64) -> usize {
        // Constants for half a word are shorter.
        if self.lo >= 32 {
            ((word >> 32) as u32 >> (self.lo - 32) & (self.mask >> self.lo) as u32) as usize
        } else {
            (word as u32 >> self.lo & (self.mask >> self.lo) as u32) as usize
        }
    }
}

const SIG: Field = Field::named("sig");
const UNPACK: Field = Field::named("unpack");
const PM: Field = Field::named("pm");
const PACK: Field = Field::named("pack");
const COND_ADD: Field = Field::named("cond_add");
const COND_MUL: Field = Field::named("cond_mul");
const SF: Field = Field::named("sf");
const WS: Field = Field::named("ws");
const WADDR_ADD: Field = Field::named("waddr_add");
const WADDR_MUL: Field = Field::named("waddr_mul");
const OP_MUL: Field = Field::named("op_mul");
const OP_ADD: Field = Field::named("op_add");
const RADDR_A: Field = Field::named("raddr_a");
const RADDR_B: Field = Field::named("raddr_b");
const ADD_A: Field = Field::named("add_a");
const ADD_B: Field = Field::named("add_b");
const MUL_A: Field = Field::named("mul_a");
const MUL_B: Field = Field::named("mul_b");

/// A set of codes of a field, as bits.
#[derive(Clone, Copy)]
struct Codes(u64);

impl Codes {
    /// Adds a code, if `belongs`.
    const fn with(self, code: u8, belongs: bool) -> Self {
        Self(self.0 | (belongs as u64) << code)
    }

    #[inline]
    const fn has(self, code: usize) -> bool {
        self.0 >> (code & 63) & 1 != 0
    }
}

/// Write addresses with the same meaning in both files.
const WRITTEN_IN_EITHER_FILE: Codes = {
    let (mut codes, mut address) = (Codes(0), 0);
    while address < 64 {
        codes = codes.with(address, is_written_in_either_file(address));
        address += 1;
    }
    codes
};
/// Read addresses with the same meaning in both files.
const READ_IN_EITHER_FILE: Codes = {
    let (mut codes, mut address) = (Codes(0), 0);
    while address < 64 {
        codes = codes.with(address, is_read_in_either_file(address));
        address += 1;
    }
    codes
};
/// Operations of the add ALU with one source.
const UNARY: Codes = {
    let (mut codes, mut code) = (Codes(0), 0);
    while code < 32 {
        codes = codes.with(code, AddOp::from_code(code).is_unary());
        code += 1;
    }
    codes
};
/// Operations of the add ALU on floats.
const TAKES_FLOATS: Codes = {
    let (mut codes, mut code) = (Codes(0), 0);
    while code < 32 {
        codes = codes.with(code, AddOp::from_code(code).takes_floats());
        code += 1;
    }
    codes
};
/// Operations of the add ALU whose result is a float.
const MAKES_FLOATS: Codes = {
    let (mut codes, mut code) = (Codes(0), 0);
    while code < 32 {
        codes = codes.with(code, AddOp::from_code(code).gives_floats());
        code += 1;
    }
    codes
};
/// Codes of the add ALU without an operation.
const RESERVED_ADD: Codes = {
    let (mut codes, mut code) = (Codes(0), 0);
    while code < 32 {
        codes = codes.with(code, matches!(AddOp::from_code(code), AddOp::Reserved(_)));
        code += 1;
    }
    codes
};

/// The code of the mul ALU's pack in a pack field.
const fn mul_pack(pack: usize) -> usize {
    PackMul::of_field(pack as u8).code() as usize
}

/// The suffix for `pm`, if packs and unpacks do not determine it.
const fn stated_pm(pm: bool, pack: usize, unpack: usize) -> Option<&'static Piece> {
    if pm && pack & PackMul::IGNORED as usize != 0 {
        Some(&names::PM_8)
    } else if pm && pack == 0 && unpack == 0 {
        Some(&names::PM)
    } else {
        None
    }
}

/// The line under construction.
struct Builder<'l> {
    line: &'l mut [u8; LINE_BYTES],
    length: usize,
    exact: bool,
}

impl<'l> Builder<'l> {
    fn new(line: &'l mut [u8; LINE_BYTES]) -> Self {
        Self { line, length: 0, exact: true }
    }

    fn end(self) -> Line {
        Line { length: self.length.min(LINE_BYTES), exact: self.exact }
    }

    #[inline(always)]
    fn put(&mut self, piece: &Piece) {
        // The buffer is large enough: the longest lines have about 210 bytes.
        if self.length <= LINE_BYTES - Piece::BLOCK {
            self.line[self.length..self.length + Piece::BLOCK].copy_from_slice(piece.block());
            self.length += piece.len();
        }
    }

    fn text(&mut self, text: &str) {
        self.put(&Piece::new(text));
    }

    #[inline(always)]
    fn target(&mut self, targets: &Targets, half: Half) {
        let file = targets.file(half);
        let names = if targets.numbered == Some(half) { &names::NUMBERED } else { &names::WRITE };
        self.put(&names[file][targets.address(half)]);
    }

    /// A condition as suffix. `silent`: the result has no target, so that "never" is the default and only "always" is written.
    #[inline(always)]
    fn condition(&mut self, code: usize, silent: bool) {
        let default = if silent { Condition::Never } else { Condition::Always };
        if code != usize::from(default.code()) {
            self.exact &= !silent || code == usize::from(Condition::Always.code());
            self.put(&names::CONDITIONS[code & 7]);
        }
    }

    /// The pack of an ALU's target; `float`: the result is a float.
    #[inline(always)]
    fn pack(&mut self, pm: bool, pack: usize, targets: &Targets, half: Half, float: bool) {
        let here = (half == Half::Mul) == (pm || targets.ws);
        if pack != 0 && here {
            self.put(match (pm, pack) {
                (true, _) => &names::PACK_MUL[mul_pack(pack) & 7],
                (false, 1 | 2) if float => &names::PACK_HALF_FLOAT[pack],
                (false, _) => &names::PACK_INT[pack & 15],
            });
        }
    }
}

/// One of the ALUs.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Half {
    Add,
    Mul,
}

/// The targets of both ALUs, in the form that all kinds of instructions have.
struct Targets {
    add: usize,
    mul: usize,
    /// Write swap.
    ws: bool,
    /// The target that must name its file to determine write swap.
    numbered: Option<Half>,
}

impl Targets {
    /// Which targets are written in any case: the add ALU's, or only the mul ALU's.
    #[inline(always)]
    fn new(add: usize, mul: usize, ws: bool, add_written: bool) -> Self {
        let open = ws && WRITTEN_IN_EITHER_FILE.has(add) && WRITTEN_IN_EITHER_FILE.has(mul);
        let numbered = if add_written { Half::Add } else { Half::Mul };
        Self { add: add & 63, mul: mul & 63, ws, numbered: open.then_some(numbered) }
    }

    #[inline(always)]
    fn address(&self, half: Half) -> usize {
        if half == Half::Add { self.add } else { self.mul }
    }

    /// 0 for file A, 1 for file B.
    #[inline(always)]
    fn file(&self, half: Half) -> usize {
        usize::from((half == Half::Mul) != self.ws)
    }

    /// Whether a target supports the pack.
    #[inline(always)]
    fn can_pack(&self, pm: bool, pack: usize) -> bool {
        pack == 0
            || if pm {
                !matches!(PackMul::of_field(pack as u8), PackMul::Reserved(_))
            } else {
                self.address(if self.ws { Half::Mul } else { Half::Add }) < usize::from(REGISTERS)
            }
    }
}

// ALU instructions.

/// An ALU instruction; `PLAIN` if it neither packs nor unpacks nor sets flags, as most do.
fn alu<const PLAIN: bool>(word: u64, mut text: Builder<'_>) -> Line {
    let fields = Fields::of::<PLAIN>(word);
    text.exact = !(RESERVED_ADD.has(fields.op_add) || fields.rotated && fields.op_mul == 0);
    // An ALU without an operation is named if any of its fields differs from the default.
    let name_add = fields.add_acts || fields.names_idle_add();
    let name_mul = fields.mul_acts || fields.names_idle_mul();
    let targets = Targets::new(fields.waddr_add, fields.waddr_mul, word & WS.mask != 0, name_add);
    text.exact &= targets.can_pack(fields.pm, fields.pack);
    let mut inputs = Inputs::of(word, fields.unpack, &mut text.exact);
    if name_add {
        fields.put_add(&mut text, &targets, &mut inputs);
    }
    if name_mul {
        if name_add {
            text.put(&names::NEXT);
        }
        fields.put_mul(&mut text, &targets, &mut inputs, name_add);
    }
    fields.put_signal_and_reads(&mut text, !name_add && !name_mul);
    text.end()
}

/// The fields of an ALU instruction, and derived properties.
struct Fields {
    word: u64,
    op_add: usize,
    op_mul: usize,
    waddr_add: usize,
    waddr_mul: usize,
    add_a: usize,
    add_b: usize,
    mul_a: usize,
    mul_b: usize,
    raddr_b: usize,
    pm: bool,
    pack: usize,
    unpack: usize,
    sf: bool,
    small_immediate: bool,
    /// The result of the mul ALU is rotated.
    rotated: bool,
    /// The add ALU has an operation or a target.
    add_acts: bool,
    mul_acts: bool,
    /// The add ALU selects an operand other than r0.
    add_selects: bool,
    mul_selects: bool,
}

impl Fields {
    #[inline(always)]
    fn of<const PLAIN: bool>(word: u64) -> Self {
        let has = |bits: u64| word & bits != 0;
        let (op_add, op_mul) = (OP_ADD.of(word), OP_MUL.of(word));
        let (waddr_add, waddr_mul) = (WADDR_ADD.of(word), WADDR_MUL.of(word));
        let raddr_b = RADDR_B.of(word);
        let (pm, pack, unpack, sf) =
            if PLAIN { (false, 0, 0, false) } else { (has(PM.mask), PACK.of(word), UNPACK.of(word), has(SF.mask)) };
        let small_immediate = SIG.of(word) == usize::from(Signal::SmallImmediate.code());
        Self {
            word,
            op_add,
            op_mul,
            waddr_add,
            waddr_mul,
            add_a: ADD_A.of(word),
            add_b: ADD_B.of(word),
            mul_a: MUL_A.of(word),
            mul_b: MUL_B.of(word),
            raddr_b,
            pm,
            pack,
            unpack,
            sf,
            small_immediate,
            rotated: small_immediate && raddr_b >= usize::from(SmallImmediate::FIRST_ROTATION),
            add_acts: op_add != 0 || waddr_add != usize::from(NOP),
            mul_acts: op_mul != 0 || waddr_mul != usize::from(NOP),
            add_selects: has(ADD_A.mask | ADD_B.mask),
            mul_selects: has(MUL_A.mask | MUL_B.mask),
        }
    }

    #[inline(always)]
    fn mul_packs(&self) -> bool {
        self.pm && mul_pack(self.pack) != 0
    }

    #[inline(always)]
    fn stated_pm(&self) -> Option<&'static Piece> {
        stated_pm(self.pm, self.pack, self.unpack)
    }

    #[inline(always)]
    fn flags_from_mul(&self) -> bool {
        self.sf && self.op_add == 0
    }

    /// Whether the add ALU has to be named although it has neither operation nor target.
    #[inline(always)]
    fn names_idle_add(&self) -> bool {
        let default = if self.sf { Condition::Always } else { Condition::Never };
        let targets_open = self.word & WS.mask != 0 && WRITTEN_IN_EITHER_FILE.has(self.waddr_mul);
        let mul_constant = self.op_mul != 0
            && self.mul_a == self.mul_b
            && (self.small_immediate && self.mul_a == INPUT_B || self.op_mul == usize::from(MulOp::V8subs.code()));
        let alone = (self.stated_pm().is_some() || targets_open) && !self.mul_packs() && !self.mul_selects || self.sf;
        COND_ADD.of(self.word) != usize::from(default.code())
            || mul_constant
            || self.add_selects
            || !self.mul_acts && alone
    }

    /// Whether the mul ALU has to be named although it has neither operation nor target.
    #[inline(always)]
    fn names_idle_mul(&self) -> bool {
        let default = if self.flags_from_mul() { Condition::Always } else { Condition::Never };
        let same = matches!(self.op_add, XOR | SUB);
        let add_constant =
            self.op_add != 0 && self.add_a == self.add_b && (self.small_immediate && self.add_a == INPUT_B || same);
        self.mul_selects || self.mul_packs() || COND_MUL.of(self.word) != usize::from(default.code()) || add_constant
    }

    /// Operations that a `mov` of an immediate is never assembled to.
    #[inline(always)]
    fn moves(&self, input: usize) -> bool {
        input != INPUT_B || !self.small_immediate || matches!(self.raddr_b, 1..=15)
    }

    #[inline(always)]
    fn put_add(&self, text: &mut Builder<'_>, targets: &Targets, inputs: &mut Inputs) {
        let moves = self.op_add == OR && self.add_a == self.add_b && self.moves(self.add_a);
        text.put(if moves { &names::MOVE } else { &names::ADD[self.op_add] });
        if let Some(pm) = self.stated_pm() {
            text.put(pm);
        }
        if self.sf {
            text.put(&names::SET_FLAGS);
        }
        text.condition(COND_ADD.of(self.word), self.waddr_add == usize::from(NOP) && !self.sf);
        if self.add_acts || self.add_selects || targets.numbered == Some(Half::Add) {
            text.target(targets, Half::Add);
            text.pack(self.pm, self.pack, targets, Half::Add, MAKES_FLOATS.has(self.op_add));
        }
        if self.op_add != 0 || self.add_selects {
            inputs.put(text, self.add_a);
            if self.add_a != self.add_b || !(moves || UNARY.has(self.op_add)) {
                inputs.put(text, self.add_b);
            }
        }
    }

    /// The mul ALU's operation; `after_add`: the add ALU's precedes it.
    #[inline(always)]
    fn put_mul(&self, text: &mut Builder<'_>, targets: &Targets, inputs: &mut Inputs, after_add: bool) {
        let moves = self.op_mul == V8MIN && self.mul_a == self.mul_b && self.moves(self.mul_a);
        text.put(match moves {
            true if after_add && self.op_add != 0 => &names::MOVE,
            true => &names::MUL_MOVE,
            false => &names::MUL[self.op_mul],
        });
        if let Some(pm) = self.stated_pm().filter(|_| !after_add) {
            text.put(pm);
        }
        if self.sf && !after_add {
            text.put(&names::SET_FLAGS);
        }
        text.condition(COND_MUL.of(self.word), self.waddr_mul == usize::from(NOP) && !self.flags_from_mul());
        if self.mul_acts || self.mul_selects || self.mul_packs() {
            // `- << 3` would be parsed as a negative number: `rb39` is the same register.
            if self.rotated && self.waddr_mul == usize::from(NOP) {
                text.put(&names::NUMBERED[targets.file(Half::Mul)][usize::from(NOP)]);
            } else {
                text.target(targets, Half::Mul);
            }
            text.pack(self.pm, self.pack, targets, Half::Mul, self.op_mul == usize::from(MulOp::Fmul.code()));
            if self.rotated {
                text.put(&names::ROTATIONS[self.raddr_b & 15]);
            }
        }
        if self.op_mul != 0 || self.mul_selects {
            inputs.put(text, self.mul_a);
            if self.mul_a != self.mul_b || !moves {
                inputs.put(text, self.mul_b);
            }
        }
    }

    /// The signal, and read addresses that no operand uses; `first`: nothing precedes them.
    #[inline(always)]
    fn put_signal_and_reads(&self, text: &mut Builder<'_>, mut first: bool) {
        let mut next = |text: &mut Builder<'_>| {
            if !core::mem::take(&mut first) {
                text.put(&names::NEXT);
            }
        };
        let sig = SIG.of(self.word);
        if sig != usize::from(Signal::None.code()) && !self.small_immediate {
            next(text);
            text.put(&names::SIGNALS[sig]);
        }
        let used = |input: usize| [self.add_a, self.add_b, self.mul_a, self.mul_b].contains(&input);
        let raddr_a = RADDR_A.of(self.word);
        if raddr_a != usize::from(NOP) && !used(INPUT_A) {
            next(text);
            text.put(&names::READ_ALONE);
            text.put(&names::NUMBERED[0][raddr_a]);
        }
        let b_is_default = if self.small_immediate { self.rotated } else { self.raddr_b == usize::from(NOP) };
        if !b_is_default && !used(INPUT_B) {
            next(text);
            text.put(&names::READ_ALONE);
            text.put(&(if self.small_immediate { &names::IMMEDIATES } else { &names::NUMBERED[1] })[self.raddr_b]);
        }
        if first {
            text.put(&names::DO_NOTHING);
        }
    }
}

const OR: usize = AddOp::Or.code() as usize;
const XOR: usize = AddOp::Xor.code() as usize;
const SUB: usize = AddOp::Sub.code() as usize;
const V8MIN: usize = MulOp::V8min.code() as usize;
const INPUT_R4: usize = Mux::R4.code() as usize;
const INPUT_A: usize = Mux::A.code() as usize;
const INPUT_B: usize = Mux::B.code() as usize;

/// The inputs of an instruction's operand multiplexers.
struct Inputs {
    /// By the multiplexer code.
    names: [&'static Piece; 8],
    /// The name of input B if input A has been written already.
    b_after_a: &'static Piece,
    /// The unpacked input, and its suffix.
    unpacked: Option<(usize, &'static Piece)>,
}

impl Inputs {
    #[inline(always)]
    fn of(word: u64, unpack: usize, exact: &mut bool) -> Self {
        let [r0, r1, r2, r3, r4, r5] = &names::ACCUMULATORS;
        let (raddr_a, raddr_b) = (RADDR_A.of(word), RADDR_B.of(word));
        let small_immediate = SIG.of(word) == usize::from(Signal::SmallImmediate.code());
        // A register that is in both files is read through file A, unless that port is in use.
        let either = READ_IN_EITHER_FILE.has(raddr_b);
        let taken = raddr_a != raddr_b && !READ_IN_EITHER_FILE.has(raddr_a);
        let kind_of_b = |either: bool| if small_immediate { 2 } else { usize::from(either) };
        let a = &names::READ_A[raddr_a];
        let b = &names::READ_B[kind_of_b(either)][raddr_b];
        let b_after_a = &names::READ_B[kind_of_b(either && !taken)][raddr_b];
        let unpacker = if word & PM.mask != 0 { INPUT_R4 } else { INPUT_A };
        let unpacked = (unpack != 0).then(|| (unpacker, Self::unpack(word, unpacker, exact)));
        Self { names: [r0, r1, r2, r3, r4, r5, a, b], b_after_a, unpacked }
    }

    /// The unpack suffix of an input.
    #[inline(always)]
    fn unpack(word: u64, unpacked: usize, exact: &mut bool) -> &'static Piece {
        let mode = UNPACK.of(word);
        let pm = word & PM.mask != 0;
        let add_reads = ADD_A.of(word) == unpacked || ADD_B.of(word) == unpacked;
        let mul_reads = MUL_A.of(word) == unpacked || MUL_B.of(word) == unpacked;
        let add_floats = TAKES_FLOATS.has(OP_ADD.of(word));
        let mul_floats = OP_MUL.of(word) == usize::from(MulOp::Fmul.code());
        // File A is unpacked in the same way for both ALUs: to floats if either operation is on floats.
        let mixed =
            !pm && mode != 3 && (add_reads && !add_floats && mul_floats || mul_reads && !mul_floats && add_floats);
        *exact &= (add_reads || mul_reads) && !mixed && (pm || RADDR_A.of(word) < usize::from(REGISTERS));
        let float = pm || add_reads && add_floats || mul_reads && mul_floats;
        &(if float { &names::UNPACK_FLOAT } else { &names::UNPACK_INT })[mode]
    }

    /// Adds an operand to the text.
    #[inline(always)]
    fn put(&mut self, text: &mut Builder<'_>, input: usize) {
        text.put(self.names[input]);
        if input == INPUT_A {
            self.names[INPUT_B] = self.b_after_a;
        }
        if let Some((unpacked, unpack)) = self.unpacked
            && input == unpacked
        {
            text.put(unpack);
        }
    }
}

// Load immediates and semaphores.

fn load_immediate(load: &LoadImmediate, mut text: Builder<'_>) -> Line {
    text.exact = !matches!(load.kind, ImmediateKind::Semaphore | ImmediateKind::Reserved(_));
    text.text(if load.kind == ImmediateKind::PerElementUnsigned { "ldipeu" } else { "ldi" });
    load_targets(load, &mut text);
    match load.kind {
        ImmediateKind::PerElementSigned => elements(load.immediate, &["0", "1", "-2", "-1"], &mut text),
        ImmediateKind::PerElementUnsigned => elements(load.immediate, &["0", "1", "2", "3"], &mut text),
        _ => text.put(&Piece::new(", ").followed_by_hexadecimal(load.immediate)),
    }
    text.end()
}

fn elements(immediate: u32, names: &[&str; 4], text: &mut Builder<'_>) {
    text.text(", [");
    for n in 0..16 {
        let element = immediate >> n & 1 | immediate >> (n + 15) & 2;
        text.text(names[element as usize]);
        text.text(if n < 15 { "," } else { "]" });
    }
}

fn semaphore(semaphore: &Semaphore, mut text: Builder<'_>) -> Line {
    let Semaphore { sig, pm, pack, cond_add, cond_mul, sf, ws, waddr_add, waddr_mul, .. } = *semaphore;
    let immediate = semaphore.unused << 5 | u32::from(semaphore.semaphore);
    let kind = ImmediateKind::Word;
    let load = LoadImmediate { sig, kind, pm, pack, cond_add, cond_mul, sf, ws, waddr_add, waddr_mul, immediate };
    text.text(if semaphore.sa { "sacq" } else { "srel" });
    load_targets(&load, &mut text);
    let comma = Piece::new(", ");
    text.put(&match immediate {
        0..16 => comma.followed_by_decimal(immediate),
        _ => comma.followed_by_hexadecimal(immediate),
    });
    text.end()
}

fn load_targets(load: &LoadImmediate, text: &mut Builder<'_>) {
    let targets = Targets::new(usize::from(load.waddr_add), usize::from(load.waddr_mul), load.ws, true);
    let pack = usize::from(load.pack);
    text.exact &= targets.can_pack(load.pm, pack);
    if let Some(pm) = stated_pm(load.pm, pack, 0) {
        text.put(pm);
    }
    if load.sf {
        text.put(&names::SET_FLAGS);
    }
    text.target(&targets, Half::Add);
    text.pack(load.pm, pack, &targets, Half::Add, false);
    text.condition(usize::from(load.cond_add.code()), targets.add == usize::from(NOP) && !load.sf);
    let mul_packs = if load.pm { mul_pack(pack) != 0 } else { pack != 0 && targets.ws };
    if targets.mul != usize::from(NOP) || load.cond_mul != Condition::Never || mul_packs {
        text.text(",");
        text.target(&targets, Half::Mul);
        text.pack(load.pm, pack, &targets, Half::Mul, false);
        text.condition(usize::from(load.cond_mul.code()), targets.mul == usize::from(NOP));
    }
}

// Branches.

fn branch(branch: &Branch, mut text: Builder<'_>) -> Line {
    let reserved = matches!(branch.cond_br, BranchCondition::Reserved(_));
    text.exact = branch.unused == 0 && !reserved && (branch.reg || branch.raddr_a <= 1);
    text.text(if branch.rel { "brr" } else { "bra" });
    if branch.cond_br != BranchCondition::Always {
        text.put(&Piece::new(".").followed_by(branch.cond_br.name()));
    }
    if branch.raddr_a & 1 != 0 {
        text.put(&names::SET_FLAGS);
    }
    let targets = Targets::new(usize::from(branch.waddr_add), usize::from(branch.waddr_mul), branch.ws, true);
    text.target(&targets, Half::Add);
    let two = targets.mul != usize::from(NOP);
    if two {
        text.text(",");
        text.target(&targets, Half::Mul);
    }
    if branch.reg {
        text.text(",");
        text.put(&names::NUMBERED[0][usize::from(branch.raddr_a & 31)]);
    } else if two {
        text.text(", -");
    }
    if !branch.reg || branch.immediate != 0 || two {
        let sign = Piece::new(if branch.immediate < 0 { ", -" } else { ", " });
        text.put(&sign.followed_by_decimal(branch.immediate.unsigned_abs()));
    }
    text.end()
}

/// Has the example of the README tested.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}

#[cfg(test)]
mod tests {
    use super::*;

    /// Words of the guide's vendor code and of a published listing [JayStation], with the text of the listing.
    #[test]
    fn words_read_as_their_listings_say() {
        for (word, text) in [
            (0x1000_09e7_009e_7000, "nop"),
            (0x3000_09e7_009e_7000, "thrend"),
            (0x5000_09e7_009e_7000, "sbdone"),
            (0xa000_09e7_009e_7000, "ldtmu0"),
            (0xe002_1c67_8390_4000, "ldi vw_setup, 0x83904000"),
            (0xd202_0827_0e00_4dc0, "shr r0, ra0.16ai, 4"),
            (0xd002_0827_0202_01c0, "fsub r0, r0, 1.0; read ra0"),
            (0x1002_0e27_159e_7000, "mov t0s, r0"),
            // From a newer vc4asm, executed on a board [kumaashi fs_normal_z.h]: pack codes 12 and 13.
            (0x11c2_48a3_819e_7540, "fadd.pm8 r2, r2, r5; mov r3.8asf, r0"),
            (0x11d0_49e3_809e_7009, "mmov.pm8 r3.8bsf, r1"),
        ] {
            assert_eq!(Text(word).to_string(), text);
        }
    }

    #[test]
    fn every_kind_has_its_form() {
        for (word, text) in [
            (0xf0f8_09e7_ffff_ffe0, "brr -, -32"),
            (0xf0f4_c9e7_0000_0000, "bra -, ra6"),
            (0xe802_0827_0000_0013, "sacq r0, 3"),
            (0xe202_0827_0003_0001, "ldi r0, [-1,-2,0,0,0,0,0,0,0,0,0,0,0,0,0,0]"),
            (0xd000_49e1_809f_3009, "mmov r1 << 3, r1"),
        ] {
            assert_eq!(Text(word).to_string(), text, "{word:016x}");
        }
    }

    #[test]
    fn the_longest_lines_fit() {
        // Lines with all possible parts and the longest names; and two targets with a per-element constant.
        let operations = Alu {
            sig: Signal::ScoreboardWait,
            unpack: v3d_hw::qpu::Unpack::Half0,
            pm: false,
            pack: 11,
            cond_add: Condition::CClear,
            cond_mul: Condition::CClear,
            sf: true,
            ws: false,
            waddr_add: 31,
            waddr_mul: 40,
            op_mul: MulOp::V8muld,
            op_add: AddOp::Fminabs,
            raddr_a: 31,
            raddr_b: 41,
            add_a: Mux::A,
            add_b: Mux::A,
            mul_a: Mux::A,
            mul_b: Mux::A,
        };
        let load = LoadImmediate {
            sig: Signal::LoadImmediate,
            kind: ImmediateKind::PerElementSigned,
            pm: true,
            pack: 3,
            cond_add: Condition::CClear,
            cond_mul: Condition::CClear,
            sf: true,
            ws: true,
            waddr_add: 40,
            waddr_mul: 53,
            immediate: 0xffff_0000,
        };
        for (instruction, text) in [
            (
                Instruction::Alu(operations),
                "fminabs.setf.ifcc ra31.8abcdsi, ra31.16af, ra31.16af; v8muld.ifcc unif_addr_rel, ra31.16af, ra31.16af; sbwait; read rb41",
            ),
            (
                Instruction::LoadImmediate(load),
                "ldi.setf unif_addr_rel.ifcc, recipsqrt.8abcdsf.ifcc, [-2,-2,-2,-2,-2,-2,-2,-2,-2,-2,-2,-2,-2,-2,-2,-2]",
            ),
        ] {
            let word = instruction.encode().unwrap();
            assert_eq!(Text(word).to_string(), text);
            assert!(text.len() < LINE_BYTES - Piece::BLOCK);
        }
    }

    #[test]
    fn what_text_cannot_say_is_not_called_exact() {
        // A reserved operation, a reserved kind of immediate, unused bits of a branch.
        for word in [0x1000_09e7_099e_7000, 0xe400_09e7_0000_0000, 0xf8f8_09e7_0000_0000] {
            assert!(!has_exact_text(word), "{word:016x}");
        }
    }
}
