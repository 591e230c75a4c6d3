//! Mnemonics of instructions [AG p.26-36], [vc4asm].

use alloc::format;
use alloc::string::String;

use v3d_hw::qpu::operation::{Carry, Number, Operation};
use v3d_hw::qpu::{AddOp, MulOp};

use super::Entry;
use crate::code::Code;
use crate::language::Mnemonic;

/// What the table of operations contains about a mnemonic: ALU, operands, result and flags.
pub(super) fn facts(word: &str) -> Option<String> {
    let (_, mnemonic) = Mnemonic::named().find(|(name, _)| *name == word)?;
    match mnemonic {
        Mnemonic::Add(op, _) if op.acts() => Some(match MulOp::ALL.iter().find(|mul| mul.name() == op.name()) {
            Some(mul) => format!("{}; or of the mul ALU, code {}", row("add", op.code(), op.row()), mul.code()),
            None => row("add", op.code(), op.row()),
        }),
        Mnemonic::Mul(op, _) if op.acts() => Some(match AddOp::ALL.iter().find(|add| add.name() == op.name()) {
            Some(add) => format!("{}; or of the add ALU, code {}", row("mul", op.code(), op.row()), add.code()),
            None => row("mul", op.code(), op.row()),
        }),
        _ => None,
    }
}

fn row(alu: &str, code: u8, row: Operation) -> String {
    let number = |number, count| match (number, count) {
        (Number::Float, 1) => "float",
        (Number::Float, _) => "floats",
        (Number::Integer, 1) => "integer",
        (Number::Integer, _) => "integers",
        (Number::Bytes, _) => "vectors of four bytes",
    };
    let carry = match row.carry {
        Carry::Clear => "clear",
        Carry::Positive => "the result is greater than 0",
        Carry::FirstGreater => "the first operand is the greater one",
        Carry::Carry => "the carry out of bit 31",
        Carry::Borrow => "the first operand is the smaller one, both unsigned",
        Carry::LastBit => "the last bit that was shifted out",
    };
    let (operands, takes) = (row.operands, number(row.takes, row.operands));
    let gives = if row.gives == Number::Bytes { "four bytes" } else { number(row.gives, 1) };
    format!("{alu} ALU, code {code}: {operands} {takes} to {gives}; flags: Z and N of the result, C {carry}")
}

/// The instructions.
pub(super) const TABLE: &[Entry] = &[
    Entry {
        names: &["fadd"],
        form: "fadd TARGET, A, B",
        meaning: "Sum of two floats, rounded toward zero. Denormals and -0 count as 0 and are never produced; there are no NaN results, only infinities.",
        example: "fadd r0, r1, r2",
        codes: &[],
    },
    Entry {
        names: &["fsub"],
        form: "fsub TARGET, A, B",
        meaning: "A - B of floats, rounded toward zero, with the limits of fadd. Its C flag tells whether A is greater than B.",
        example: "fsub.setf -, r0, r1\nmov.ifc r0, r1      # r0 = the smaller one",
        codes: &[],
    },
    Entry {
        names: &["fmin"],
        form: "fmin TARGET, A, B",
        meaning: "The smaller of two floats, compared as sign and magnitude: bits are kept as they are, and NaN sorts beyond infinity.",
        example: "fmin r0, r0, 1.0",
        codes: &[],
    },
    Entry {
        names: &["fmax"],
        form: "fmax TARGET, A, B",
        meaning: "The greater of two floats, compared as sign and magnitude; `fmax r0, r0, 0` clamps below.",
        example: "fmax r0, r0, 0",
        codes: &[],
    },
    Entry {
        names: &["fminabs"],
        form: "fminabs TARGET, A, B",
        meaning: "The smaller of the absolute values of two floats; the result is positive.",
        example: "fminabs r0, r1, r2",
        codes: &[],
    },
    Entry {
        names: &["fmaxabs"],
        form: "fmaxabs TARGET, A, B",
        meaning: "The greater of the absolute values of two floats; the result is positive. `fmaxabs r0, r1, r1` is the absolute value of r1.",
        example: "fmaxabs r0, r1, r1",
        codes: &[],
    },
    Entry {
        names: &["ftoi"],
        form: "ftoi TARGET, A",
        meaning: "Float to signed integer, toward zero. Values beyond 32 bits give the low 32 bits of their integer part; infinities and NaN give 0.",
        example: "ftoi r0, r1",
        codes: &[],
    },
    Entry {
        names: &["itof"],
        form: "itof TARGET, A",
        meaning: "Signed integer to float, rounded toward zero.",
        example: "itof r0, r1",
        codes: &[],
    },
    Entry {
        names: &["add"],
        form: "add TARGET, A, B",
        meaning: "Integer sum, modulo 2^32.",
        example: "add r0, r0, 4",
        codes: &[Code::AddAluTaken],
    },
    Entry {
        names: &["sub"],
        form: "sub TARGET, A, B",
        meaning: "Integer difference A - B, modulo 2^32. `sub.setf -, A, B` compares: Z if equal, C if A is smaller without sign.",
        example: "sub.setf ra1, ra1, 1\nbrr.anynz -, -8\nnop\nnop\nnop",
        codes: &[Code::AddAluTaken],
    },
    Entry {
        names: &["shr"],
        form: "shr TARGET, A, COUNT",
        meaning: "Shifts right and fills with zeros. The count is taken modulo 32.",
        example: "shr r0, r0, 8",
        codes: &[],
    },
    Entry {
        names: &["asr"],
        form: "asr TARGET, A, COUNT",
        meaning: "Shifts right and fills with the sign. The count is taken modulo 32.",
        example: "asr r0, r0, 8",
        codes: &[],
    },
    Entry {
        names: &["ror"],
        form: "ror TARGET, A, COUNT",
        meaning: "Rotates the 32 bits to the right. The count is taken modulo 32. Elements are rotated by another means: see `.rot` and `<<`.",
        example: "ror r0, r0, 8",
        codes: &[],
    },
    Entry {
        names: &["shl"],
        form: "shl TARGET, A, COUNT",
        meaning: "Shifts left. The count is taken modulo 32.",
        example: "shl r0, r0, 2",
        codes: &[],
    },
    Entry {
        names: &["min"],
        form: "min TARGET, A, B",
        meaning: "The smaller of two signed integers.",
        example: "min r0, r1, r2",
        codes: &[],
    },
    Entry {
        names: &["max"],
        form: "max TARGET, A, B",
        meaning: "The greater of two signed integers.",
        example: "max r0, r1, r2",
        codes: &[],
    },
    Entry {
        names: &["and"],
        form: "and TARGET, A, B",
        meaning: "Bits that are set in both.",
        example: "and r0, r0, 15",
        codes: &[],
    },
    Entry {
        names: &["or"],
        form: "or TARGET, A, B",
        meaning: "Bits that are set in either. `or TARGET, A, A` is how the add ALU moves a value.",
        example: "or r0, r1, r2",
        codes: &[],
    },
    Entry {
        names: &["xor"],
        form: "xor TARGET, A, B",
        meaning: "Bits that differ.",
        example: "xor r0, r1, r2",
        codes: &[],
    },
    Entry { names: &["not"], form: "not TARGET, A", meaning: "All bits inverted.", example: "not r0, r1", codes: &[] },
    Entry {
        names: &["clz"],
        form: "clz TARGET, A",
        meaning: "Number of zero bits above the highest set bit; 32 for 0.",
        example: "clz r0, r1",
        codes: &[],
    },
    Entry {
        names: &["v8adds", "av8adds", "mv8adds"],
        form: "v8adds TARGET, A, B",
        meaning: "Sums of four pairs of bytes, at most 255 each. Both ALUs have it: `av8adds` and `mv8adds` say which one is meant.",
        example: "v8adds r0, r0, r4",
        codes: &[],
    },
    Entry {
        names: &["v8subs", "av8subs", "mv8subs"],
        form: "v8subs TARGET, A, B",
        meaning: "Differences of four pairs of bytes, at least 0 each. Both ALUs have it: `av8subs` and `mv8subs` say which one is meant.",
        example: "v8subs r0, r0, r4",
        codes: &[],
    },
    Entry {
        names: &["fmul"],
        form: "fmul TARGET, A, B",
        meaning: "Product of two floats, rounded toward zero, with the limits of fadd.",
        example: "fmul r0, r1, r2",
        codes: &[Code::MulAluTaken],
    },
    Entry {
        names: &["mul24"],
        form: "mul24 TARGET, A, B",
        meaning: "Product of the low 24 bits of two integers, without sign; the low 32 bits of it.",
        example: "mul24 r0, r1, r2",
        codes: &[Code::MulAluTaken],
    },
    Entry {
        names: &["v8muld"],
        form: "v8muld TARGET, A, B",
        meaning: "Products of four pairs of bytes, where 255 means 1: (a * b + 127) / 255. It multiplies colours.",
        example: "v8muld r0, r0, r4",
        codes: &[Code::MulAluTaken],
    },
    Entry {
        names: &["v8min"],
        form: "v8min TARGET, A, B",
        meaning: "The smaller of each of four pairs of bytes.",
        example: "v8min r0, r1, r2",
        codes: &[Code::MulAluTaken],
    },
    Entry {
        names: &["v8max"],
        form: "v8max TARGET, A, B",
        meaning: "The greater of each of four pairs of bytes.",
        example: "v8max r0, r1, r2",
        codes: &[Code::MulAluTaken],
    },
    Entry {
        names: &["mov", "amov", "mmov"],
        form: "mov TARGET [, TARGET], SOURCE",
        meaning: "Moves a register or a constant. The assembler takes what costs least: a free ALU (`or` or `v8min` of equal operands), a small immediate, \
            or a load \
            immediate, which takes the whole word. With two targets both ALUs are used. `amov` and `mmov` say which ALU is meant.",
        example: "mov r0, ra1\nmov r1, 0x12345678",
        codes: &[Code::NoSmallImmediate, Code::BothAlusTaken, Code::TwoTargets],
    },
    Entry {
        names: &["nop", "anop", "mnop"],
        form: "nop",
        meaning: "No operation. An ALU without an operation writes nothing and sets no flags. As a register, `nop` is the address that holds nothing.",
        example: "nop",
        codes: &[],
    },
    Entry {
        names: &["ldi"],
        form: "ldi TARGET [, TARGET], CONSTANT",
        meaning: "Loads a constant of 32 bits to all elements. It takes the whole word: no operation and no signal fits beside it [AG p.33].",
        example: "ldi r0, 0x12345678",
        codes: &[Code::NotWithLoadOrBranch],
    },
    Entry {
        names: &["ldipes"],
        form: "ldipes TARGET, [V0, …, V15]",
        meaning: "Loads a constant for each element: sixteen integers from -2 to 1, in brackets [AG p.33].",
        example: "ldipes r0, [0,1,0,1,0,1,0,1,-2,-1,-2,-1,-2,-1,-2,-1]",
        codes: &[Code::BadPerElement, Code::PerElementMismatch],
    },
    Entry {
        names: &["ldipeu"],
        form: "ldipeu TARGET, [V0, …, V15]",
        meaning: "Loads a constant for each element: sixteen integers from 0 to 3, in brackets [AG p.33].",
        example: "ldipeu r0, [0,1,2,3,0,1,2,3,0,1,2,3,0,1,2,3]",
        codes: &[Code::BadPerElement, Code::PerElementMismatch],
    },
    Entry {
        names: &["sacq"],
        form: "sacq -, NUMBER",
        meaning: "Acquires one of 16 semaphores, which all QPUs share: waits while it is 0, then decrements it. A counter goes to 15 at most. It is a word \
            of its own \
            with no operation beside it [AG p.22, p.33].",
        example: "sacq -, 3",
        codes: &[Code::SemaphoreBalance, Code::SemaphoreMismatch],
    },
    Entry {
        names: &["srel"],
        form: "srel -, NUMBER",
        meaning: "Releases one of 16 semaphores: increments it, and waits while it is 15 [AG p.22, p.33].",
        example: "srel -, 3",
        codes: &[Code::SemaphoreBalance, Code::SemaphoreMismatch],
    },
    Entry {
        names: &["read"],
        form: "read REGISTER",
        meaning: "Reads a register of a file without an operation, for the effect of the read: a uniform or varying is taken from its queue, a wait is \
            waited [vc4asm].",
        example: "read vw_wait",
        codes: &[Code::ReadNotHere],
    },
    Entry {
        names: &["bra"],
        form: "bra[.CONDITION] LINK, TARGET",
        meaning: "Branches to a bus address: a number, a register ra0 to ra31, or their sum. Three more instructions are executed before the branch takes \
            effect, \
            taken or not. LINK gets the address behind them, or `-` [AG p.34].",
        example: "bra -, ra1\nnop\nnop\nnop",
        codes: &[Code::AbsoluteLabel, Code::BranchInDelaySlots, Code::DelaySlots, Code::OddBranchRegister],
    },
    Entry {
        names: &["brr"],
        form: "brr[.CONDITION] LINK, TARGET",
        meaning: "Branches to a label or by a distance, relative to the instruction four behind this one. Three more instructions are executed before it takes \
            effect, taken or not. The condition is one over all elements (.allz, .anync, …); LINK gets the address behind the delay slots, or `-` [AG p.34].",
        example: ":loop\nsub.setf r0, r0, 1\nbrr.anynz -, :loop\nnop\nnop\nnop",
        codes: &[Code::BranchInDelaySlots, Code::DelaySlots, Code::BranchNotAlone],
    },
];
