//! Moves, bit operations and shifts.

use crate::case::Case;
use crate::integer::{C, O, sign_and_zero};
use crate::samples::OperandKind;
use crate::table::{Document, Row, costliest};
use v3d_hw::qpu::LANES;

const FILE: &str = "bits.qinc";

fn case(operation: impl Into<String>, name: impl Into<String>) -> Case {
    Case::new(Document::Instructions, operation, FILE, name)
}

/// The rows of this topic.
pub(crate) fn rows() -> Vec<Row> {
    let mut rows = moves();
    for op in ["and", "or", "xor", "mov2"] {
        for bits in [32, 16] {
            for (not1, not2) in [(false, false), (true, false), (false, true), (true, true)] {
                rows.extend(bit_operation(op, bits, not1, not2));
            }
        }
    }
    for shift in SHIFTS {
        rows.extend([
            shift.by_register(false),
            shift.by_register(true),
            shift.by_constant(false),
            shift.by_constant(true),
        ]);
    }
    rows
}

fn moves() -> Vec<Row> {
    let mut rows = Vec::new();
    for (bits, kind) in [(32, OperandKind::Word), (16, OperandKind::Half)] {
        let row = case(format!("mov b{bits}"), format!("mov_b{bits}")).input("r1", kind).exact(|x| vec![x[0]]);
        rows.push(row);
        rows.push(costliest((0..16_usize).map(|mask| {
            let case =
                case(format!("mov b{bits} lanemask"), format!("mov_lanes {mask}")).input("r0", kind).input("r1", kind);
            case.exact_vectors(|x| {
                let lane = |element: usize| x[mask >> (element & 3) & 1][element];
                vec![std::array::from_fn::<u32, LANES, _>(lane)]
            })
        })));
    }
    rows.push(case("mov DST COND", "mov_from_c").input("r3", OperandKind::Flags).exact(|x| vec![x[0]]));
    rows.push(
        case("mov CDST SRC", "mov_to_c").input("r0", OperandKind::Word).outputs(&["r3"]).exact(|x| vec![x[0] & 15]),
    );
    rows.push(case("mov DST AREG", "mov_from_a ra20").input("ra20", OperandKind::Word).exact(|x| vec![x[0]]));
    rows.push(costliest([0, 3, 15, 31, 32].map(|count: u32| {
        let case = case("shl ADST SRC SHCNT", format!("shl_to_a ra20, {count}"))
            .input("r0", OperandKind::Word)
            .outputs(&["ra20"]);
        case.exact(|x| vec![x[0].checked_shl(count).unwrap_or(0)])
    })));
    rows.push(costliest([0, 4, 15, 16, 1000].map(|offset: u32| {
        let name = format!("add_to_a ra20, ra21, {offset}");
        let case = case("add ADST AREG OFFS", name).input("ra21", OperandKind::Word).outputs(&["ra20"]);
        case.exact(|x| vec![x[0].wrapping_add(offset)])
    })));
    rows
}

fn bit_operation(op: &str, bits: u32, not1: bool, not2: bool) -> [Row; 2] {
    let inverted = match (not1, not2) {
        (false, false) => "",
        (true, false) => " not SRC1",
        (false, true) => " not SRC2",
        (true, true) => " not SRC1 not SRC2",
    };
    let operation = format!("{op} b{bits}{inverted}");
    let name = format!("{op}_b{bits} {}, {}", u8::from(not1), u8::from(not2));
    let mask = u32::MAX >> (32 - bits);
    let oracle = move |x: &[u32]| {
        let s1 = if not1 { !x[0] } else { x[0] };
        let s2 = if not2 { !x[1] } else { x[1] };
        let result = match op {
            "and" => s1 & s2,
            "or" => s1 | s2,
            "xor" => s1 ^ s2,
            _ => s2,
        };
        result & mask
    };
    let kind = if bits == 32 { OperandKind::Word } else { OperandKind::Half };
    let with = |case: Case| case.input("r0", kind).input("r1", kind);
    let flags = if bits == 32 { "cdst_sz" } else { "cdst_sz_b16" };
    let with_flags = with(case(format!("{operation} CDST"), format!("{name}; {flags}"))).outputs(&["r0", "r3"]);
    [
        with(case(operation, name)).exact(|x| vec![oracle(x)]),
        with_flags.exact(|x| {
            let result = oracle(x);
            vec![result, sign_and_zero(result, bits)]
        }),
    ]
}

/// A shift of the document.
#[derive(Clone, Copy)]
struct Shift {
    left: bool,
    signed: bool,
    bits: u32,
    name: &'static str,
}

const SHIFTS: [Shift; 6] = [
    Shift { left: true, signed: false, bits: 16, name: "shl b16" },
    Shift { left: true, signed: false, bits: 32, name: "shl b32" },
    Shift { left: false, signed: false, bits: 16, name: "shr u16" },
    Shift { left: false, signed: false, bits: 32, name: "shr u32" },
    Shift { left: false, signed: true, bits: 16, name: "shr s16" },
    Shift { left: false, signed: true, bits: 32, name: "shr s32" },
];

impl Shift {
    fn kind(self) -> OperandKind {
        if self.bits == 32 { OperandKind::Word } else { OperandKind::Half }
    }

    fn macro_name(self) -> String {
        self.name.replace(' ', "_")
    }

    /// With the count in r1.
    fn by_register(self, flags: bool) -> Row {
        let operation = format!("{} SRC2{}", self.name, if flags { " CDST" } else { "" });
        let case = case(operation, format!("{}{}", self.macro_name(), if flags { "_c" } else { "" }));
        let case = case.input("r0", self.kind()).input("r1", OperandKind::Count);
        let case = if flags { case.outputs(&["r0", "r3"]) } else { case };
        case.exact(|x| self.result(x[0], x[1], flags))
    }

    /// With constants as counts, each in a program of its own.
    fn by_constant(self, flags: bool) -> Row {
        let operation = format!("{} SHCNT{}", self.name, if flags { " CDST" } else { "" });
        costliest([0, 1, 2, 15, 16, 17, 31, 32, 127].map(|count| {
            let name = format!("{}_by{} {count}", self.macro_name(), if flags { "_c" } else { "" });
            let case = case(operation.clone(), name).input("r0", self.kind());
            let case = if flags { case.outputs(&["r0", "r3"]) } else { case };
            case.exact(|x| self.result(x[0], count, flags))
        }))
    }

    /// DST, and CDST if `flags`, by the document's pseudo-code.
    fn result(self, source: u32, count: u32, flags: bool) -> Vec<u32> {
        let Self { left, signed, bits, .. } = self;
        let mask = u32::MAX >> (32 - bits);
        let sign = |x: u32| x >> (bits - 1) & 1;
        let mut cdst = 0;
        let result = if left {
            // A shift by 64 or more leaves nothing of a word, and the carry is not tested then.
            let shifted = if count < 64 { u128::from(source) << count } else { 0 };
            if count < bits && shifted >> bits & 1 == 1 {
                cdst |= C;
            }
            shifted as u32 & mask
        } else {
            let mut shifted = u64::from(source.checked_shr(count).unwrap_or(0));
            if signed && sign(source) == 1 {
                let kept = if count < bits { 1_u64 << (bits - count) } else { 1 };
                shifted |= (1_u64 << bits) - kept;
            }
            if count < bits && count > 0 && source >> (count - 1) & 1 == 1 {
                cdst |= C;
            }
            shifted as u32 & mask
        };
        if count == 1 && sign(source) != sign(result) {
            cdst |= O;
        }
        if flags { vec![result, cdst | sign_and_zero(result, bits)] } else { vec![result] }
    }
}
