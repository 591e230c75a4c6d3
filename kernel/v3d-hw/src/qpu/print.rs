//! Instructions as assembler text, one line each, in vc4asm's language.
//!
//! The text is made so that assembling it gives the same 64 bits again. Not every word has such a text: fields that an operation
//! does not use can hold anything in a word, but the language gives them their default. [`Instruction::write_text`] says whether the text is exact;
//! where it is not, a disassembler shows the word as data and the text as a comment.
//!
//! # Forms beyond the plain ones
//! - `raN` and `rbN` with N above 31 name an address of one file, where the name of the register would leave the file open.
//! - `anop` and `mnop` name an ALU that does nothing, with its target and sources where the word has any; beside an operation that only makes a constant they keep the word from becoming a load
//!   immediate. `read` fills a read address that no operand uses.
//! - `.always` is the condition of a result that goes nowhere, which would otherwise be `.never`.
//! - `.pm` is that bit set where no pack or unpack follows from it.
//! - A rotation stands at the target of the mul operation: `mov r0 << 3, r1`.
//!
//! # Sources
//! [vc4asm] for the language, [AG p.26-38] for the fields.

use core::fmt::{self, Write};

use super::{
    AddOp, Alu, Branch, BranchCondition, Condition, ImmediateKind, Instruction, LoadImmediate, MulOp, Mux, Semaphore,
    Signal,
};

impl Instruction {
    /// Writes the instruction as text. The answer is whether assembling the text gives the same word.
    pub fn write_text<W: Write>(&self, out: &mut W) -> Result<bool, fmt::Error> {
        let mut text = Text { out, exact: true };
        match self {
            Self::Alu(alu) => text.alu(alu)?,
            Self::LoadImmediate(load) => text.load_immediate(load)?,
            Self::Semaphore(semaphore) => text.semaphore(semaphore)?,
            Self::Branch(branch) => text.branch(branch)?,
        }
        Ok(text.exact)
    }

    /// Whether assembling the text gives the same word.
    pub fn has_exact_text(&self) -> bool {
        self.write_text(&mut Nowhere) == Ok(true)
    }
}

impl fmt::Display for Instruction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write_text(f).map(|_| ())
    }
}

/// Takes text and keeps nothing.
struct Nowhere;

impl Write for Nowhere {
    fn write_str(&mut self, _: &str) -> fmt::Result {
        Ok(())
    }
}

/// Address of "no register" in both files.
const NOP: u8 = 39;

/// Addresses of a file by number.
const NUMBERED: [[&str; 64]; 2] = [
    [
        "ra0", "ra1", "ra2", "ra3", "ra4", "ra5", "ra6", "ra7", "ra8", "ra9", "ra10", "ra11", "ra12", "ra13", "ra14",
        "ra15", "ra16", "ra17", "ra18", "ra19", "ra20", "ra21", "ra22", "ra23", "ra24", "ra25", "ra26", "ra27", "ra28",
        "ra29", "ra30", "ra31", "ra32", "ra33", "ra34", "ra35", "ra36", "ra37", "ra38", "ra39", "ra40", "ra41", "ra42",
        "ra43", "ra44", "ra45", "ra46", "ra47", "ra48", "ra49", "ra50", "ra51", "ra52", "ra53", "ra54", "ra55", "ra56",
        "ra57", "ra58", "ra59", "ra60", "ra61", "ra62", "ra63",
    ],
    [
        "rb0", "rb1", "rb2", "rb3", "rb4", "rb5", "rb6", "rb7", "rb8", "rb9", "rb10", "rb11", "rb12", "rb13", "rb14",
        "rb15", "rb16", "rb17", "rb18", "rb19", "rb20", "rb21", "rb22", "rb23", "rb24", "rb25", "rb26", "rb27", "rb28",
        "rb29", "rb30", "rb31", "rb32", "rb33", "rb34", "rb35", "rb36", "rb37", "rb38", "rb39", "rb40", "rb41", "rb42",
        "rb43", "rb44", "rb45", "rb46", "rb47", "rb48", "rb49", "rb50", "rb51", "rb52", "rb53", "rb54", "rb55", "rb56",
        "rb57", "rb58", "rb59", "rb60", "rb61", "rb62", "rb63",
    ],
];

/// What is read [AG p.37-38].
const READ: [[&str; 64]; 2] = [
    [
        "ra0",
        "ra1",
        "ra2",
        "ra3",
        "ra4",
        "ra5",
        "ra6",
        "ra7",
        "ra8",
        "ra9",
        "ra10",
        "ra11",
        "ra12",
        "ra13",
        "ra14",
        "ra15",
        "ra16",
        "ra17",
        "ra18",
        "ra19",
        "ra20",
        "ra21",
        "ra22",
        "ra23",
        "ra24",
        "ra25",
        "ra26",
        "ra27",
        "ra28",
        "ra29",
        "ra30",
        "ra31",
        "unif",
        "ra33",
        "ra34",
        "vary",
        "ra36",
        "ra37",
        "elem_num",
        "ra39",
        "ra40",
        "x_coord",
        "ms_mask",
        "ra43",
        "ra44",
        "ra45",
        "ra46",
        "ra47",
        "vpm",
        "vr_busy",
        "vr_wait",
        "mutex_acq",
        "ra52",
        "ra53",
        "ra54",
        "ra55",
        "ra56",
        "ra57",
        "ra58",
        "ra59",
        "ra60",
        "ra61",
        "ra62",
        "ra63",
    ],
    [
        "rb0",
        "rb1",
        "rb2",
        "rb3",
        "rb4",
        "rb5",
        "rb6",
        "rb7",
        "rb8",
        "rb9",
        "rb10",
        "rb11",
        "rb12",
        "rb13",
        "rb14",
        "rb15",
        "rb16",
        "rb17",
        "rb18",
        "rb19",
        "rb20",
        "rb21",
        "rb22",
        "rb23",
        "rb24",
        "rb25",
        "rb26",
        "rb27",
        "rb28",
        "rb29",
        "rb30",
        "rb31",
        "unif",
        "rb33",
        "rb34",
        "vary",
        "rb36",
        "rb37",
        "qpu_num",
        "rb39",
        "rb40",
        "y_coord",
        "rev_flag",
        "rb43",
        "rb44",
        "rb45",
        "rb46",
        "rb47",
        "vpm",
        "vw_busy",
        "vw_wait",
        "mutex_acq",
        "rb52",
        "rb53",
        "rb54",
        "rb55",
        "rb56",
        "rb57",
        "rb58",
        "rb59",
        "rb60",
        "rb61",
        "rb62",
        "rb63",
    ],
];

/// What is written [AG p.37-38].
const WRITE: [[&str; 64]; 2] = [
    [
        "ra0",
        "ra1",
        "ra2",
        "ra3",
        "ra4",
        "ra5",
        "ra6",
        "ra7",
        "ra8",
        "ra9",
        "ra10",
        "ra11",
        "ra12",
        "ra13",
        "ra14",
        "ra15",
        "ra16",
        "ra17",
        "ra18",
        "ra19",
        "ra20",
        "ra21",
        "ra22",
        "ra23",
        "ra24",
        "ra25",
        "ra26",
        "ra27",
        "ra28",
        "ra29",
        "ra30",
        "ra31",
        "r0",
        "r1",
        "r2",
        "r3",
        "tmurs",
        "r5quad",
        "irq",
        "-",
        "unif_addr",
        "x_coord",
        "ms_mask",
        "stencil",
        "tlbz",
        "tlbm",
        "tlbc",
        "tlbam",
        "vpm",
        "vr_setup",
        "vr_addr",
        "mutex_rel",
        "recip",
        "recipsqrt",
        "exp",
        "log",
        "t0s",
        "t0t",
        "t0r",
        "t0b",
        "t1s",
        "t1t",
        "t1r",
        "t1b",
    ],
    [
        "rb0",
        "rb1",
        "rb2",
        "rb3",
        "rb4",
        "rb5",
        "rb6",
        "rb7",
        "rb8",
        "rb9",
        "rb10",
        "rb11",
        "rb12",
        "rb13",
        "rb14",
        "rb15",
        "rb16",
        "rb17",
        "rb18",
        "rb19",
        "rb20",
        "rb21",
        "rb22",
        "rb23",
        "rb24",
        "rb25",
        "rb26",
        "rb27",
        "rb28",
        "rb29",
        "rb30",
        "rb31",
        "r0",
        "r1",
        "r2",
        "r3",
        "tmurs",
        "r5rep",
        "irq",
        "-",
        "unif_addr_rel",
        "y_coord",
        "rev_flag",
        "stencil",
        "tlbz",
        "tlbm",
        "tlbc",
        "tlbam",
        "vpm",
        "vw_setup",
        "vw_addr",
        "mutex_rel",
        "recip",
        "recipsqrt",
        "exp",
        "log",
        "t0s",
        "t0t",
        "t0r",
        "t0b",
        "t1s",
        "t1t",
        "t1r",
        "t1b",
    ],
];

/// Values of the small immediates; the rotations read as -16 to -1 [vc4asm].
const IMMEDIATE: [&str; 64] = [
    "0",
    "1",
    "2",
    "3",
    "4",
    "5",
    "6",
    "7",
    "8",
    "9",
    "10",
    "11",
    "12",
    "13",
    "14",
    "15",
    "-16",
    "-15",
    "-14",
    "-13",
    "-12",
    "-11",
    "-10",
    "-9",
    "-8",
    "-7",
    "-6",
    "-5",
    "-4",
    "-3",
    "-2",
    "-1",
    "1.0",
    "2.0",
    "4.0",
    "8.0",
    "16.0",
    "32.0",
    "64.0",
    "128.0",
    "0.00390625",
    "0.0078125",
    "0.015625",
    "0.03125",
    "0.0625",
    "0.125",
    "0.25",
    "0.5",
    "-16",
    "-15",
    "-14",
    "-13",
    "-12",
    "-11",
    "-10",
    "-9",
    "-8",
    "-7",
    "-6",
    "-5",
    "-4",
    "-3",
    "-2",
    "-1",
];

/// Names of the pack modes of register file A: of integers, and of halves from floats.
const PACK_INT: [&str; 16] = [
    "", ".16ai", ".16bi", ".8abcdi", ".8ai", ".8bi", ".8ci", ".8di", ".32s", ".16asi", ".16bsi", ".8abcdsi", ".8asi",
    ".8bsi", ".8csi", ".8dsi",
];
/// Names of the pack modes of the mul ALU; empty where the code is reserved.
const PACK_MUL: [&str; 8] = ["", "", "", ".8abcdsf", ".8asf", ".8bsf", ".8csf", ".8dsf"];
/// Names of the unpack modes to integers.
const UNPACK_INT: [&str; 8] = ["", ".16ai", ".16bi", ".8dr", ".8ai", ".8bi", ".8ci", ".8di"];
/// Names of the unpack modes to floats.
const UNPACK_FLOAT: [&str; 8] = ["", ".16af", ".16bf", ".8dr", ".8af", ".8bf", ".8cf", ".8df"];

/// Whether a write address means the same in both files.
const fn written_in_either_file(address: u8) -> bool {
    address >= 32 && !matches!(address, 37 | 40 | 41 | 42 | 49 | 50)
}

/// Whether a read address means the same in both files.
const fn read_in_either_file(address: u8) -> bool {
    matches!(address, 32 | 35 | 39 | 48 | 51)
}

const fn is_unary(op: AddOp) -> bool {
    matches!(op, AddOp::Ftoi | AddOp::Itof | AddOp::Not | AddOp::Clz)
}

const fn add_takes_floats(op: AddOp) -> bool {
    op.code() >= AddOp::Fadd.code() && op.code() <= AddOp::Ftoi.code()
}

const fn condition(condition: Condition) -> &'static str {
    match condition {
        Condition::Never => ".never",
        Condition::Always => ".always",
        Condition::ZSet => ".ifz",
        Condition::ZClear => ".ifnz",
        Condition::NSet => ".ifn",
        Condition::NClear => ".ifnn",
        Condition::CSet => ".ifc",
        Condition::CClear => ".ifcc",
    }
}

/// The targets of both ALUs, as far as all kinds of instruction have them.
#[derive(Clone, Copy)]
struct Targets {
    add: u8,
    mul: u8,
    /// Write swap.
    ws: bool,
    /// Which target must name its file, so that write swap follows.
    named: Option<Half>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Half {
    Add,
    Mul,
}

impl Targets {
    /// Targets of which the add ALU's is written out in any case, or only the mul ALU's.
    fn new(add: u8, mul: u8, ws: bool, add_written: bool) -> Self {
        let add_open = written_in_either_file(add & 63);
        let mul_open = written_in_either_file(mul & 63);
        let named = match (ws && add_open && mul_open, add_written) {
            (false, _) => None,
            (true, true) => Some(Half::Add),
            (true, false) => Some(Half::Mul),
        };
        Self { add: add & 63, mul: mul & 63, ws, named }
    }

    fn address(&self, half: Half) -> u8 {
        if half == Half::Add { self.add } else { self.mul }
    }

    /// 0 for file A, 1 for file B.
    fn file(&self, half: Half) -> usize {
        usize::from((half == Half::Mul) != self.ws)
    }
}

struct Text<'w, W> {
    out: &'w mut W,
    exact: bool,
}

impl<W: Write> Text<'_, W> {
    #[inline]
    fn put(&mut self, text: &str) -> fmt::Result {
        self.out.write_str(text)
    }

    fn inexact(&mut self) {
        self.exact = false;
    }

    /// Eight hexadecimal digits, or fewer.
    fn hexadecimal(&mut self, value: u32) -> fmt::Result {
        let digits = (32 - value.leading_zeros()).div_ceil(4).max(1);
        let mut text = [b'0'; 10];
        text[1] = b'x';
        for n in 0..digits {
            let digit = (value >> (4 * (digits - 1 - n)) & 15) as u8;
            text[2 + n as usize] = if digit < 10 { b'0' + digit } else { b'a' + digit - 10 };
        }
        self.put(core::str::from_utf8(&text[..2 + digits as usize]).unwrap_or_default())
    }

    fn target(&mut self, targets: Targets, half: Half) -> fmt::Result {
        let file = targets.file(half);
        let address = usize::from(targets.address(half));
        let names = if targets.named == Some(half) { &NUMBERED[file] } else { &WRITE[file] };
        self.put(names[address])
    }

    // ALU instructions.

    fn alu(&mut self, alu: &Alu) -> fmt::Result {
        let Alu { op_add, op_mul, sf, .. } = *alu;
        let (waddr_add, waddr_mul) = (alu.waddr_add & 63, alu.waddr_mul & 63);
        if matches!(op_add, AddOp::Reserved(_)) || matches!(alu.sig, Signal::LoadImmediate | Signal::Branch) {
            self.inexact();
        }
        let small_immediate = alu.sig == Signal::SmallImmediate;
        let rotation = if small_immediate && alu.raddr_b >= 48 { Some(alu.raddr_b - 48) } else { None };
        if rotation.is_some() && op_mul == MulOp::Nop {
            self.inexact();
        }
        let targets_open = alu.ws && written_in_either_file(waddr_add) && written_in_either_file(waddr_mul);
        let flags_from_mul = sf && op_add == AddOp::Nop;

        // An ALU that does nothing is named where something about it is not as by default.
        let add_default = if sf { Condition::Always } else { Condition::Never };
        let mul_default = if flags_from_mul { Condition::Always } else { Condition::Never };
        let add_selects = alu.add_a != Mux::R0 || alu.add_b != Mux::R0;
        let mul_selects = alu.mul_a != Mux::R0 || alu.mul_b != Mux::R0;
        let mul_packs = alu.pm && alu.pack != 0;
        let bare_pm = alu.pm && alu.pack == 0 && alu.unpack.code() == 0;
        let add_acts = op_add != AddOp::Nop || waddr_add != NOP;
        let mul_acts = op_mul != MulOp::Nop || waddr_mul != NOP;
        let add_constant = op_add != AddOp::Nop
            && !mul_acts
            && alu.add_a == alu.add_b
            && (small_immediate && alu.add_a == Mux::B || matches!(op_add, AddOp::Xor | AddOp::Sub));
        let mul_constant = op_mul != MulOp::Nop
            && !add_acts
            && alu.mul_a == alu.mul_b
            && (small_immediate && alu.mul_a == Mux::B || op_mul == MulOp::V8subs);
        let name_add = add_acts
            || alu.cond_add != add_default
            || mul_constant
            || add_selects
            || bare_pm && !mul_acts && !mul_selects
            || targets_open && !mul_acts && !mul_packs && !mul_selects
            || sf && !mul_acts && op_mul == MulOp::Nop;
        let name_mul = mul_acts || mul_selects || mul_packs || alu.cond_mul != mul_default || add_constant;
        let targets = Targets::new(waddr_add, waddr_mul, alu.ws, name_add);
        self.check_pack(alu.pm, alu.pack, targets);
        let unpack = self.unpack_of(alu);

        let mut separator = "";
        let mut reads = Reads { a: None, unpack, alu };
        if name_add {
            self.add_mnemonic(alu)?;
            if bare_pm {
                self.put(".pm")?;
            }
            if sf {
                self.put(".setf")?;
            }
            self.condition(alu.cond_add, waddr_add == NOP && !sf, op_add == AddOp::Nop && waddr_add == NOP && sf)?;
            if add_acts || add_selects || targets.named == Some(Half::Add) {
                self.put(" ")?;
                self.target(targets, Half::Add)?;
                self.pack(alu.pm, alu.pack, targets, Half::Add, add_float_result(op_add))?;
            }
            if op_add != AddOp::Nop || add_selects {
                self.sources(&mut reads, alu.add_a, alu.add_b, is_unary(op_add) || self.is_add_move(alu))?;
            }
            separator = "; ";
        }
        if name_mul {
            self.put(separator)?;
            self.mul_mnemonic(alu, name_add)?;
            if bare_pm && !name_add {
                self.put(".pm")?;
            }
            if sf && !name_add {
                self.put(".setf")?;
            }
            self.condition(alu.cond_mul, waddr_mul == NOP && !flags_from_mul, !mul_acts && flags_from_mul)?;
            if mul_acts || mul_selects || mul_packs {
                self.put(" ")?;
                // `- << 3` would be a negative number: `rb39` is the same register by its number.
                if rotation.is_some() && waddr_mul == NOP {
                    self.put(NUMBERED[targets.file(Half::Mul)][usize::from(NOP)])?;
                } else {
                    self.target(targets, Half::Mul)?;
                }
                self.pack(alu.pm, alu.pack, targets, Half::Mul, op_mul == MulOp::Fmul)?;
                if let Some(by) = rotation {
                    self.put(" << ")?;
                    self.put(if by == 0 { "r5" } else { IMMEDIATE[usize::from(by)] })?;
                }
            }
            if op_mul != MulOp::Nop || mul_selects {
                self.sources(&mut reads, alu.mul_a, alu.mul_b, self.is_mul_move(alu))?;
            }
            separator = "; ";
        }
        if !matches!(alu.sig, Signal::None | Signal::SmallImmediate) {
            self.put(separator)?;
            self.put(alu.sig.name())?;
            separator = "; ";
        }
        self.unused_reads(alu, separator)
    }

    fn is_add_move(&self, alu: &Alu) -> bool {
        alu.op_add == AddOp::Or && alu.add_a == alu.add_b && moves(alu, alu.add_a)
    }

    fn is_mul_move(&self, alu: &Alu) -> bool {
        alu.op_mul == MulOp::V8min && alu.mul_a == alu.mul_b && moves(alu, alu.mul_a)
    }

    fn add_mnemonic(&mut self, alu: &Alu) -> fmt::Result {
        self.put(match alu.op_add {
            AddOp::Nop => "anop",
            AddOp::V8adds => "av8adds",
            AddOp::V8subs => "av8subs",
            AddOp::Or if self.is_add_move(alu) => "mov",
            op => op.name(),
        })
    }

    fn mul_mnemonic(&mut self, alu: &Alu, after_add: bool) -> fmt::Result {
        self.put(match alu.op_mul {
            MulOp::Nop => "mnop",
            MulOp::V8min if self.is_mul_move(alu) && after_add && alu.op_add != AddOp::Nop => "mov",
            MulOp::V8min if self.is_mul_move(alu) => "mmov",
            op => op.name(),
        })
    }

    /// A condition as suffix. `silent`: the result goes nowhere, so that "never" is the default and no other but "always" can be said;
    /// `quiet`: nothing at all is done, so that "always" is the default.
    fn condition(&mut self, value: Condition, silent: bool, quiet: bool) -> fmt::Result {
        let default = if silent && !quiet { Condition::Never } else { Condition::Always };
        if value == default {
            return Ok(());
        }
        if silent && !matches!(value, Condition::Always | Condition::Never) {
            self.inexact();
        }
        self.put(condition(value))
    }

    /// Packs that no target can have.
    fn check_pack(&mut self, pm: bool, pack: u8, targets: Targets) {
        let possible = match (pm, pack) {
            (false, 0) => true,
            (true, 0) => true,
            (true, _) => pack < 8 && !PACK_MUL[usize::from(pack & 7)].is_empty(),
            (false, _) => targets.address(if targets.ws { Half::Mul } else { Half::Add }) < 32,
        };
        if !possible {
            self.inexact();
        }
    }

    fn pack(&mut self, pm: bool, pack: u8, targets: Targets, half: Half, float: bool) -> fmt::Result {
        match (pm, pack) {
            (_, 0) => Ok(()),
            (true, _) if half == Half::Mul => self.put(PACK_MUL[usize::from(pack & 7)]),
            (true, _) => Ok(()),
            (false, _) if (half == Half::Mul) != targets.ws => Ok(()),
            (false, 1) if float => self.put(".16af"),
            (false, 2) if float => self.put(".16bf"),
            (false, _) => self.put(PACK_INT[usize::from(pack & 15)]),
        }
    }

    /// What is unpacked, and to what.
    fn unpack_of(&mut self, alu: &Alu) -> Unpacked {
        let mode = alu.unpack.code();
        if mode == 0 {
            return Unpacked { mux: Mux::R0, mode, float: false };
        }
        let mux = if alu.pm { Mux::R4 } else { Mux::A };
        let add_reads = alu.add_a == mux || alu.add_b == mux;
        let mul_reads = alu.mul_a == mux || alu.mul_b == mux;
        let add_floats = add_takes_floats(alu.op_add);
        let mul_floats = alu.op_mul == MulOp::Fmul;
        let acts = |reads: bool, floats: bool| reads && floats;
        // File A unpacks for both ALUs alike: to floats if either takes floats.
        let mixed =
            !alu.pm && mode != 3 && (add_reads && !add_floats && mul_floats || mul_reads && !mul_floats && add_floats);
        if !(add_reads || mul_reads) || mixed || !alu.pm && alu.raddr_a >= 32 {
            self.inexact();
        }
        let float = alu.pm || acts(add_reads, add_floats) || acts(mul_reads, mul_floats);
        Unpacked { mux, mode, float }
    }

    fn sources(&mut self, reads: &mut Reads<'_>, a: Mux, b: Mux, one: bool) -> fmt::Result {
        self.put(", ")?;
        self.source(reads, a)?;
        if !one || a != b {
            self.put(", ")?;
            self.source(reads, b)?;
        }
        Ok(())
    }

    fn source(&mut self, reads: &mut Reads<'_>, mux: Mux) -> fmt::Result {
        let alu = reads.alu;
        match mux {
            Mux::A => {
                let address = usize::from(alu.raddr_a & 63);
                reads.a = Some(alu.raddr_a);
                self.put(READ[0][address])?;
            }
            Mux::B if alu.sig == Signal::SmallImmediate => self.put(IMMEDIATE[usize::from(alu.raddr_b & 63)])?,
            Mux::B => {
                let address = alu.raddr_b & 63;
                // A register of both files is read through file A, unless that is taken.
                let taken = reads.a.is_some_and(|a| a != address && !read_in_either_file(a));
                let names = if read_in_either_file(address) && !taken { &NUMBERED[1] } else { &READ[1] };
                self.put(names[usize::from(address)])?;
            }
            other => self.put(other.name())?,
        }
        let Unpacked { mux: unpacked, mode, float } = reads.unpack;
        if mode != 0 && mux == unpacked {
            let names = if float { &UNPACK_FLOAT } else { &UNPACK_INT };
            self.put(names[usize::from(mode)])?;
        }
        Ok(())
    }

    /// Read addresses that no operand uses.
    fn unused_reads(&mut self, alu: &Alu, mut separator: &'static str) -> fmt::Result {
        let uses = |mux: Mux| [alu.add_a, alu.add_b, alu.mul_a, alu.mul_b].contains(&mux);
        if alu.raddr_a != NOP && !uses(Mux::A) {
            self.put(separator)?;
            self.put("read ")?;
            self.put(NUMBERED[0][usize::from(alu.raddr_a & 63)])?;
            separator = "; ";
        }
        if alu.sig == Signal::SmallImmediate {
            if alu.raddr_b < 48 && !uses(Mux::B) {
                self.put(separator)?;
                self.put("read ")?;
                self.put(IMMEDIATE[usize::from(alu.raddr_b)])?;
                separator = "; ";
            }
        } else if alu.raddr_b != NOP && !uses(Mux::B) {
            self.put(separator)?;
            self.put("read ")?;
            self.put(NUMBERED[1][usize::from(alu.raddr_b & 63)])?;
            separator = "; ";
        }
        if separator.is_empty() { self.put("nop") } else { Ok(()) }
    }

    // Load immediates and semaphores.

    fn load_immediate(&mut self, load: &LoadImmediate) -> fmt::Result {
        let mnemonic = match load.kind {
            ImmediateKind::PerElementUnsigned => "ldipeu",
            ImmediateKind::Word | ImmediateKind::PerElementSigned => "ldi",
            ImmediateKind::Semaphore | ImmediateKind::Reserved(_) => {
                self.inexact();
                "ldi"
            }
        };
        self.load_targets(mnemonic, load)?;
        match load.kind {
            ImmediateKind::PerElementSigned | ImmediateKind::PerElementUnsigned => self.elements(load),
            _ => self.hexadecimal(load.immediate),
        }
    }

    fn elements(&mut self, load: &LoadImmediate) -> fmt::Result {
        let mut separator = "[";
        for n in 0..16 {
            let element = load.immediate >> n & 1 | load.immediate >> (n + 15) & 2;
            self.put(separator)?;
            self.put(match (element, load.kind) {
                (0, _) => "0",
                (1, _) => "1",
                (2, ImmediateKind::PerElementSigned) => "-2",
                (3, ImmediateKind::PerElementSigned) => "-1",
                (2, _) => "2",
                _ => "3",
            })?;
            separator = ",";
        }
        self.put("]")
    }

    fn semaphore(&mut self, semaphore: &Semaphore) -> fmt::Result {
        let Semaphore { sig, pm, pack, cond_add, cond_mul, sf, ws, waddr_add, waddr_mul, .. } = *semaphore;
        let immediate = semaphore.unused << 5 | u32::from(semaphore.semaphore);
        let kind = ImmediateKind::Word;
        let load = LoadImmediate { sig, kind, pm, pack, cond_add, cond_mul, sf, ws, waddr_add, waddr_mul, immediate };
        self.load_targets(if semaphore.sa { "sacq" } else { "srel" }, &load)?;
        if immediate < 16 { self.put(IMMEDIATE[immediate as usize]) } else { self.hexadecimal(immediate) }
    }

    fn load_targets(&mut self, mnemonic: &str, load: &LoadImmediate) -> fmt::Result {
        let targets = Targets::new(load.waddr_add, load.waddr_mul, load.ws, true);
        self.check_pack(load.pm, load.pack, targets);
        self.put(mnemonic)?;
        if load.pm && load.pack == 0 {
            self.put(".pm")?;
        }
        if load.sf {
            self.put(".setf")?;
        }
        self.put(" ")?;
        self.target(targets, Half::Add)?;
        self.pack(load.pm, load.pack, targets, Half::Add, false)?;
        self.condition(load.cond_add, targets.add == NOP && !load.sf, false)?;
        let mul_packs = load.pack != 0 && (load.pm || targets.ws);
        if targets.mul != NOP || load.cond_mul != Condition::Never || mul_packs {
            self.put(", ")?;
            self.target(targets, Half::Mul)?;
            self.pack(load.pm, load.pack, targets, Half::Mul, false)?;
            self.condition(load.cond_mul, targets.mul == NOP, false)?;
        }
        self.put(", ")
    }

    // Branches.

    fn branch(&mut self, branch: &Branch) -> fmt::Result {
        self.put(if branch.rel { "brr" } else { "bra" })?;
        let sets_flags = branch.raddr_a & 1 != 0;
        if branch.unused != 0
            || matches!(branch.cond_br, BranchCondition::Reserved(_))
            || !branch.reg && branch.raddr_a > 1
        {
            self.inexact();
        }
        if branch.cond_br != BranchCondition::Always {
            self.put(".")?;
            self.put(branch.cond_br.name())?;
        }
        if sets_flags {
            self.put(".setf")?;
        }
        self.put(" ")?;
        let targets = Targets::new(branch.waddr_add, branch.waddr_mul, branch.ws, true);
        self.target(targets, Half::Add)?;
        self.put(", ")?;
        let two = targets.mul != NOP;
        if two {
            self.target(targets, Half::Mul)?;
            self.put(", ")?;
        }
        if branch.reg {
            self.put(NUMBERED[0][usize::from(branch.raddr_a & 31)])?;
            if branch.immediate == 0 && !two {
                return Ok(());
            }
            self.put(", ")?;
        } else if two {
            self.put("-, ")?;
        }
        if branch.immediate < 0 {
            self.put("-")?;
        }
        self.decimal(branch.immediate.unsigned_abs())
    }

    fn decimal(&mut self, value: u32) -> fmt::Result {
        let mut text = [0; 10];
        let mut at = text.len();
        let mut rest = value;
        loop {
            at -= 1;
            text[at] = b'0' + (rest % 10) as u8;
            rest /= 10;
            if rest == 0 {
                break;
            }
        }
        self.put(core::str::from_utf8(&text[at..]).unwrap_or_default())
    }
}

/// What an instruction has read from file A so far, and what is unpacked.
struct Reads<'a> {
    a: Option<u8>,
    unpack: Unpacked,
    alu: &'a Alu,
}

#[derive(Clone, Copy)]
struct Unpacked {
    mux: Mux,
    mode: u8,
    float: bool,
}

/// Whether an operand is moved by `mov`: all but immediates that `mov` would make otherwise.
fn moves(alu: &Alu, mux: Mux) -> bool {
    mux != Mux::B || alu.sig != Signal::SmallImmediate || matches!(alu.raddr_b, 1..=15)
}

const fn add_float_result(op: AddOp) -> bool {
    matches!(op.code(), 1..=6 | 8)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Words of the guide's vendor code and of a published listing [JayStation], with what the listing says of them.
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
        ] {
            assert_eq!(Instruction::decode(word).to_string(), text);
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
            let instruction = Instruction::decode(word);
            assert_eq!(instruction.to_string(), text, "{word:016x}");
        }
    }

    #[test]
    fn what_text_cannot_say_is_not_called_exact() {
        // A reserved operation, a reserved kind of immediate, unused bits of a branch.
        for word in [0x1000_09e7_099e_7000, 0xe400_09e7_0000_0000, 0xf8f8_09e7_0000_0000] {
            assert!(!Instruction::decode(word).has_exact_text(), "{word:016x}");
        }
    }
}
