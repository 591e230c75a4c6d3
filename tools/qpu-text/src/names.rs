//! Names of registers, operations, conditions and values, each with the preceding separator.

use super::piece::Piece;
use v3d_hw::qpu::{AddOp, MulOp, Signal};

/// The I/O addresses 32 to 63 of both register files [AG p.37-38]; an address without a name is written as a number.
const IO: [[&str; 4]; 32] = [
    // Read through file A and B, written to file A and B.
    ["unif", "unif", "r0", "r0"],
    ["", "", "r1", "r1"],
    ["", "", "r2", "r2"],
    ["vary", "vary", "r3", "r3"],
    ["", "", "tmurs", "tmurs"],
    ["", "", "r5quad", "r5rep"],
    ["elem_num", "qpu_num", "irq", "irq"],
    ["", "", "-", "-"],
    ["", "", "unif_addr", "unif_addr_rel"],
    ["x_coord", "y_coord", "x_coord", "y_coord"],
    ["ms_mask", "rev_flag", "ms_mask", "rev_flag"],
    ["", "", "stencil", "stencil"],
    ["", "", "tlbz", "tlbz"],
    ["", "", "tlbm", "tlbm"],
    ["", "", "tlbc", "tlbc"],
    ["", "", "tlbam", "tlbam"],
    ["vpm", "vpm", "vpm", "vpm"],
    ["vr_busy", "vw_busy", "vr_setup", "vw_setup"],
    ["vr_wait", "vw_wait", "vr_addr", "vw_addr"],
    ["mutex_acq", "mutex_acq", "mutex_rel", "mutex_rel"],
    ["", "", "recip", "recip"],
    ["", "", "recipsqrt", "recipsqrt"],
    ["", "", "exp", "exp"],
    ["", "", "log", "log"],
    ["", "", "t0s", "t0s"],
    ["", "", "t0t", "t0t"],
    ["", "", "t0r", "t0r"],
    ["", "", "t0b", "t0b"],
    ["", "", "t1s", "t1s"],
    ["", "", "t1t", "t1t"],
    ["", "", "t1r", "t1r"],
    ["", "", "t1b", "t1b"],
];

/// The 64 addresses of a file, those above 31 with the names in a column of [`IO`].
const fn addresses(before: &str, file: usize, column: Option<usize>) -> [Piece; 64] {
    let before = Piece::new(before);
    let mut pieces = [Piece::EMPTY; 64];
    let mut address = 0;
    while address < 64 {
        let name = match column {
            Some(column) if address >= 32 => IO[address - 32][column],
            _ => "",
        };
        pieces[address] = if name.is_empty() {
            before.followed_by(["ra", "rb"][file]).followed_by_decimal(address as u32)
        } else {
            before.followed_by(name)
        };
        address += 1;
    }
    pieces
}

/// Pieces for names, all with the same separator.
const fn pieces<const N: usize>(before: &str, names: &[&str; N]) -> [Piece; N] {
    let mut pieces = [Piece::new(before); N];
    let mut at = 0;
    while at < N {
        pieces[at] = pieces[at].followed_by(names[at]);
        at += 1;
    }
    pieces
}

/// Small immediates that are floats: codes 32 to 47 [AG p.30].
const FLOATS: [&str; 16] = [
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
];

/// The small immediates by their code; the rotations read as -16 to -1 [vc4asm].
const fn immediates(before: &str) -> [Piece; 64] {
    let before = Piece::new(before);
    let mut pieces = [Piece::EMPTY; 64];
    let mut code = 0;
    while code < pieces.len() {
        pieces[code] = match code {
            0..16 => before.followed_by_decimal(code as u32),
            16..32 => before.followed_by("-").followed_by_decimal(32 - code as u32),
            32..48 => before.followed_by(FLOATS[code - 32]),
            _ => before.followed_by("-").followed_by_decimal(64 - code as u32),
        };
        code += 1;
    }
    pieces
}

/// Reads of file A, as operands.
pub(super) static READ_A: [Piece; 64] = addresses(", ", 0, Some(0));
/// Reads of file B, as operands: by name; by number, where the name would not determine the file; small immediates.
pub(super) static READ_B: [[Piece; 64]; 3] = [addresses(", ", 1, Some(1)), addresses(", ", 1, None), immediates(", ")];
/// Accumulators as sources.
pub(super) static ACCUMULATORS: [Piece; 6] = pieces(", ", &["r0", "r1", "r2", "r3", "r4", "r5"]);
/// Targets, by file and address.
pub(super) static WRITE: [[Piece; 64]; 2] = [addresses(" ", 0, Some(2)), addresses(" ", 1, Some(3))];
/// Addresses by their numbers: targets where the name would leave the file open, and what `read` reads.
pub(super) static NUMBERED: [[Piece; 64]; 2] = [addresses(" ", 0, None), addresses(" ", 1, None)];

/// Small immediates that `read` reads.
pub(super) static IMMEDIATES: [Piece; 64] = immediates(" ");

/// Rotations of a target, by the low four bits of their code.
pub(super) static ROTATIONS: [Piece; 16] =
    pieces(" << ", &["r5", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12", "13", "14", "15"]);

/// What separates the instructions of a word.
pub(super) static NEXT: Piece = Piece::new("; ");
/// `pm` where no pack or unpack needs it.
pub(super) static PM: Piece = Piece::new(".pm");
/// `pm` with the bit of the pack field that the mul ALU ignores.
pub(super) static PM_8: Piece = Piece::new(".pm8");
/// The flags are set.
pub(super) static SET_FLAGS: Piece = Piece::new(".setf");
/// A move by either ALU.
pub(super) static MOVE: Piece = Piece::new("mov");
/// A move by the mul ALU, where the add ALU would be the first choice.
pub(super) static MUL_MOVE: Piece = Piece::new("mmov");
/// A read without an operation.
pub(super) static READ_ALONE: Piece = Piece::new("read");
/// Nothing at all.
pub(super) static DO_NOTHING: Piece = Piece::new("nop");

/// Operations of the add ALU, by their code.
pub(super) static ADD: [Piece; 32] = {
    let mut names = [Piece::EMPTY; 32];
    let mut code = 0;
    while code < names.len() {
        names[code] = Piece::new(match AddOp::from_code(code as u8) {
            AddOp::Nop => "anop",
            AddOp::V8adds => "av8adds",
            AddOp::V8subs => "av8subs",
            op => op.name(),
        });
        code += 1;
    }
    names
};

/// Operations of the mul ALU, by their code.
pub(super) static MUL: [Piece; 8] = {
    let mut names = [Piece::EMPTY; 8];
    let mut code = 0;
    while code < names.len() {
        names[code] = Piece::new(match MulOp::from_code(code as u8) {
            MulOp::Nop => "mnop",
            op => op.name(),
        });
        code += 1;
    }
    names
};

/// Signals, by their code.
pub(super) static SIGNALS: [Piece; 16] = {
    let mut names = [Piece::EMPTY; 16];
    let mut code = 0;
    while code < names.len() {
        names[code] = Piece::new(Signal::from_code(code as u8).name());
        code += 1;
    }
    names
};

/// Write conditions, by their code.
pub(super) static CONDITIONS: [Piece; 8] =
    pieces(".", &["never", "always", "ifz", "ifnz", "ifn", "ifnn", "ifc", "ifcc"]);

/// Pack modes of register file A: of integers, and of halves from floats.
pub(super) static PACK_INT: [Piece; 16] = pieces(
    "",
    &[
        "", ".16ai", ".16bi", ".8abcdi", ".8ai", ".8bi", ".8ci", ".8di", ".32s", ".16asi", ".16bsi", ".8abcdsi",
        ".8asi", ".8bsi", ".8csi", ".8dsi",
    ],
);
/// Pack modes of register file A that make halves of floats, and none.
pub(super) static PACK_HALF_FLOAT: [Piece; 3] = pieces("", &["", ".16af", ".16bf"]);
/// Pack modes of the mul ALU; empty where the code is reserved.
pub(super) static PACK_MUL: [Piece; 8] = pieces("", &["", "", "", ".8abcdsf", ".8asf", ".8bsf", ".8csf", ".8dsf"]);
/// Unpack modes to integers.
pub(super) static UNPACK_INT: [Piece; 8] = pieces("", &["", ".16ai", ".16bi", ".8dr", ".8ai", ".8bi", ".8ci", ".8di"]);
/// Unpack modes to floats.
pub(super) static UNPACK_FLOAT: [Piece; 8] =
    pieces("", &["", ".16af", ".16bf", ".8dr", ".8af", ".8bf", ".8cf", ".8df"]);
