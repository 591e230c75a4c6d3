//! Suffixes: conditions, flags, packing, rotation [AG p.28-34], [vc4asm].

use alloc::format;
use alloc::string::String;

use super::Entry;
use crate::code::Code;
use crate::language::suffix::{self, Action};
use crate::value::{Direction, Number};

/// Suffixes of packing and unpacking: a position in the word, saturation, and the number type.
pub(super) fn family(word: &str) -> Option<(&'static Entry, Option<String>)> {
    let (_, suffix) = suffix::all().into_iter().find(|(name, _)| name == word)?;
    let Action::Pack(pack) = suffix.action else { return None };
    let place = match pack.mode & 7 {
        0 => "all 32 bits",
        1 => "the low half",
        2 => "the high half",
        3 if pack.direction == Direction::Unpack => "byte 3, to all bytes",
        3 => "all four bytes alike",
        4 => "byte 0, the lowest",
        5 => "byte 1",
        6 => "byte 2",
        _ => "byte 3, the highest",
    };
    let direction = match pack.direction {
        Direction::Pack => "packs the result",
        Direction::Unpack => "unpacks a source",
        Direction::ByPlace => "packs after a target, unpacks after a source",
    };
    let saturated = if pack.mode >= 8 { ", saturated" } else { "" };
    let number = match pack.number {
        Number::Any => "",
        Number::Int => "; for operations on integers",
        Number::Float => "; for operations on floats",
    };
    Some((&PACK, Some(format!("{direction}: {place}{saturated}{number}"))))
}

const PACK: Entry = Entry {
    names: &["16a", "8a"],
    form: "TARGET.SUFFIX (pack) or SOURCE.SUFFIX (unpack); 16a, 16b halves; 8a to 8d bytes; 8abcd all bytes; 32; a last s saturates; i or f says the number",
    meaning: "Packs a result into a part of the target, whose other parts stay, or unpacks a part of a source. Targets are registers of file A, or \
        anything for bytes of colours made of floats from 0 to 1 by the mul ALU. Sources are registers of file A and r4. File A unpacks to floats for \
        operations on floats (halves, bytes as 0 to 1) and to integers for the others (halves with sign, bytes without) [AG p.30-32].",
    example: "fmul r0.8a, r1, r2\nmov ra0.16a, r0\nnop\nfadd r1, ra0.16af, r2",
    codes: &[
        Code::SecondPack,
        Code::PackNotHere,
        Code::UnpackNotHere,
        Code::PackVersusUnpack,
        Code::PartialPeripheralWrite,
    ],
};

const CONDITION_CODES: &[Code] = &[Code::ConditionalPeripheralWrite, Code::SecondCondition, Code::ConditionNotHere];

const fn condition(names: &'static [&'static str], meaning: &'static str, example: &'static str) -> Entry {
    Entry { names, form: "MNEMONIC.SUFFIX or TARGET.SUFFIX", meaning, example, codes: CONDITION_CODES }
}

const BRANCH_CODES: &[Code] = &[Code::ConditionNotHere, Code::DelaySlots];

const fn branch(names: &'static [&'static str], meaning: &'static str, example: &'static str) -> Entry {
    Entry { names, form: "brr.SUFFIX or bra.SUFFIX", meaning, example, codes: BRANCH_CODES }
}

/// All other suffixes.
pub(super) const TABLE: &[Entry] = &[
    Entry {
        names: &["setf", "sf"],
        form: "MNEMONIC.setf",
        meaning: "Sets the flags Z, N and C of each element from the result; of the add ALU, or of the mul ALU where the add ALU has no operation. Flags stay \
            until the next instruction that sets them, and do not survive a thread switch [AG p.28].",
        example: "sub.setf -, r0, r1\nmov.ifz r2, r3",
        codes: &[Code::SecondSetFlags, Code::FlagsOfAdd],
    },
    condition(
        &["ifz", "ifzs", "z", "zs"],
        "Writes only elements whose flag Z is set: the result that set the flags was 0 [AG p.28].",
        "mov.ifz r0, r1",
    ),
    condition(
        &["ifnz", "ifzc", "nz", "zc"],
        "Writes only elements whose flag Z is clear: the result that set the flags was not 0 [AG p.28].",
        "mov.ifnz r0, r1",
    ),
    condition(
        &["ifn", "ifns", "n", "ns"],
        "Writes only elements whose flag N is set: bit 31 of the result that set the flags was set [AG p.28].",
        "mov.ifn r0, r1",
    ),
    condition(
        &["ifnn", "ifnc", "nn", "nc"],
        "Writes only elements whose flag N is clear: bit 31 of the result that set the flags was clear [AG p.28].",
        "mov.ifnn r0, r1",
    ),
    condition(
        &["ifc", "ifcs", "c", "cs"],
        "Writes only elements whose flag C is set; what sets C depends on the operation: `qpu explain sub` tells [AG p.28].",
        "mov.ifc r0, r1",
    ),
    condition(
        &["ifcc", "cc"],
        "Writes only elements whose flag C is clear; what sets C depends on the operation: `qpu explain sub` tells [AG p.28].",
        "mov.ifcc r0, r1",
    ),
    condition(&["never"], "Writes no element; the flags may still be set [AG p.28].", "add.never r0, r1, r2"),
    Entry {
        names: &["always"],
        form: "MNEMONIC.always, TARGET.always; brr.always",
        meaning: "Writes all elements, or branches unconditionally. It is the default, except for a result without a target [AG p.28, p.34].",
        example: "add.always r0, r1, r2",
        codes: CONDITION_CODES,
    },
    branch(&["allz"], "Branches if Z is set in all 16 elements [AG p.34].", "brr.allz -, 0\nnop\nnop\nnop"),
    branch(&["allnz"], "Branches if Z is clear in all 16 elements [AG p.34].", "brr.allnz -, 0\nnop\nnop\nnop"),
    branch(&["anyz"], "Branches if Z is set in any of the 16 elements [AG p.34].", "brr.anyz -, 0\nnop\nnop\nnop"),
    branch(&["anynz"], "Branches if Z is clear in any of the 16 elements [AG p.34].", "brr.anynz -, 0\nnop\nnop\nnop"),
    branch(&["alln"], "Branches if N is set in all 16 elements [AG p.34].", "brr.alln -, 0\nnop\nnop\nnop"),
    branch(&["allnn"], "Branches if N is clear in all 16 elements [AG p.34].", "brr.allnn -, 0\nnop\nnop\nnop"),
    branch(&["anyn"], "Branches if N is set in any of the 16 elements [AG p.34].", "brr.anyn -, 0\nnop\nnop\nnop"),
    branch(&["anynn"], "Branches if N is clear in any of the 16 elements [AG p.34].", "brr.anynn -, 0\nnop\nnop\nnop"),
    branch(&["allc"], "Branches if C is set in all 16 elements [AG p.34].", "brr.allc -, 0\nnop\nnop\nnop"),
    branch(&["allnc"], "Branches if C is clear in all 16 elements [AG p.34].", "brr.allnc -, 0\nnop\nnop\nnop"),
    branch(&["anyc"], "Branches if C is set in any of the 16 elements [AG p.34].", "brr.anyc -, 0\nnop\nnop\nnop"),
    branch(&["anync"], "Branches if C is clear in any of the 16 elements [AG p.34].", "brr.anync -, 0\nnop\nnop\nnop"),
    Entry {
        names: &["pm"],
        form: "MNEMONIC.pm",
        meaning: "Sets the bit pm although nothing is packed or unpacked, to reproduce a given word exactly [AG p.30].",
        example: "fmul.pm r0, r1, r2",
        codes: &[Code::PackVersusUnpack],
    },
    Entry {
        names: &["pm8"],
        form: "MNEMONIC.pm8",
        meaning: "Sets the bit pm, and bit 3 of the pack field, which the mul ALU ignores and newer vc4asm writes [AG p.30], [vc4asm].",
        example: "fmul.pm8 r0.8abcdsf, r1, r2",
        codes: &[Code::PackVersusUnpack],
    },
    Entry {
        names: &["rot"],
        form: "MNEMONIC.rot AMOUNT, TARGET, A, B",
        meaning: "Rotates the elements of the mul ALU's result upwards by a constant from 1 to 15, or by r5: element i goes to i + AMOUNT, modulo 16. The \
            source must not be \
            written by the instruction before. `mov r0, r1 << 4` is a shorter way to write it [AG p.29, p.37].",
        example: "v8min.rot 4, r0, r1, r1",
        codes: &[Code::RotationAfterWrite, Code::RotationNeedsMul, Code::RotationWithinQuads],
    },
];
