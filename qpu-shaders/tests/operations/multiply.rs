//! Products of integers, with and without an addend, and quotients.

use crate::case::Case;
use crate::integer::{FAMILY, add_family, sign_and_zero};
use crate::samples::OperandKind;
use crate::table::{Document, Row};

const FILE: &str = "multiply.qinc";

/// A product in the document: its types, whether the result is the higher bits, and its macro.
#[derive(Clone, Copy)]
struct Product {
    operation: &'static str,
    name: &'static str,
    types: [&'static str; 2],
    high: bool,
}

const fn product(operation: &'static str, name: &'static str, types: [&'static str; 2]) -> Product {
    Product { operation, name, types, high: false }
}

const PRODUCTS: [Product; 8] = [
    product("u16 u16", "mul_u16_u16", ["u16", "u16"]),
    product("u16 s16", "mul_u16_s16", ["u16", "s16"]),
    product("s16 u16", "mul_s16_u16", ["s16", "u16"]),
    product("s16 s16", "mul_s16_s16", ["s16", "s16"]),
    product("u24", "mul_u24", ["u24", "u24"]),
    product("s24", "mul_s24", ["s24", "s24"]),
    Product { high: true, ..product("high u24", "mul_high_u24", ["u24", "u24"]) },
    Product { high: true, ..product("high s24", "mul_high_s24", ["s24", "s24"]) },
];

/// The products that can have an addend, by the document's names, and whether the sum can saturate.
const WITH_SUMMAND: [(&str, usize, bool); 6] = [
    ("u16", 0, false),
    ("s16", 3, true),
    ("u24", 4, false),
    ("s24", 5, true),
    ("high u24", 6, false),
    ("high s24", 7, true),
];

impl Product {
    fn of(self, a: u32, b: u32) -> u32 {
        let product = extended(self.types[0], a) * extended(self.types[1], b);
        (if self.high { product >> 16 } else { product }) as u32
    }

    fn case(self, operation: String, name: String) -> Case {
        let kind = if self.types[0].ends_with("16") { OperandKind::Half } else { OperandKind::Word };
        Case::new(Document::Instructions, operation, FILE, name).input("r0", kind).input("r1", kind)
    }
}

/// The significant bits of an operand, sign-extended for signed types.
fn extended(ty: &str, x: u32) -> i64 {
    match ty {
        "u16" => i64::from(x as u16),
        "s16" => i64::from(x as i16),
        "u24" => i64::from(x & 0xff_ffff),
        _ => i64::from((x << 8) as i32 >> 8),
    }
}

/// The rows of this topic.
pub(crate) fn rows() -> Vec<Row> {
    let mut rows = Vec::new();
    for product in PRODUCTS {
        let Product { operation, name, .. } = product;
        rows.push(product.case(format!("mul {operation}"), name.to_owned()).exact(|x| vec![product.of(x[0], x[1])]));
        let with_flags = product.case(format!("mul {operation} CDST"), format!("{name}; cdst_sz"));
        rows.push(with_flags.outputs(&["r0", "r3"]).exact(|x| {
            let result = product.of(x[0], x[1]);
            vec![result, sign_and_zero(result, 32)]
        }));
    }
    for (types, product, saturates) in WITH_SUMMAND {
        for op in FAMILY {
            for saturate in [false, true].into_iter().filter(|&saturate| saturates || !saturate) {
                for flags in [false, true] {
                    rows.push(with_summand(op, types, PRODUCTS[product], saturate, flags));
                }
            }
        }
    }
    rows.extend(beside());
    rows
}

fn with_summand(op: &str, types: &str, product: Product, saturate: bool, flags: bool) -> Row {
    let (spaced, joined) = if saturate { (" sat", "_sat") } else { ("", "") };
    let (spaced_flags, joined_flags) = if flags { (" CDST", "_c") } else { ("", "") };
    let operation = format!("{op}{spaced} mul {types}{spaced_flags}");
    let case = product
        .case(operation, format!("{}; mad_{op}{joined}{joined_flags}", product.name))
        .input("r2", OperandKind::Word);
    let case = if op == "addc" { case.input("r3", OperandKind::Flags) } else { case };
    let case = if flags { case.outputs(&["r0", "r3"]) } else { case };
    case.exact(|x| {
        let condition = x.get(3).copied().unwrap_or(0);
        let (result, cdst) = add_family(op, saturate, 32, product.of(x[0], x[1]), x[2], condition);
        if flags { vec![result, cdst] } else { vec![result] }
    })
}

/// Products with more bits than the document's, and division.
fn beside() -> [Row; 5] {
    let case = |operation: &str, name: &str| {
        Case::new(Document::Beside, operation, FILE, name).input("r0", OperandKind::Word).input("r1", OperandKind::Word)
    };
    let wide = |product: u64| vec![product as u32, (product >> 32) as u32];
    let divide = |x: &[u32]| match x[1] {
        0 => vec![u32::MAX, u32::MAX],
        by => vec![x[0] / by, x[0] % by],
    };
    let divide_signed = |x: &[u32]| match x[1] as i32 {
        0 => vec![u32::MAX, u32::MAX],
        by => vec![(x[0] as i32).wrapping_div(by) as u32, (x[0] as i32).wrapping_rem(by) as u32],
    };
    [
        case("mul b32", "mul_b32").exact(|x| vec![x[0].wrapping_mul(x[1])]),
        case("mul wide u32", "mul_wide_u32").outputs(&["r0", "r1"]).exact(|x| wide(u64::from(x[0]) * u64::from(x[1]))),
        case("mul wide s32", "mul_wide_s32")
            .outputs(&["r0", "r1"])
            .exact(|x| wide((i64::from(x[0] as i32) * i64::from(x[1] as i32)) as u64)),
        case("div u32", "div_u32").outputs(&["r0", "r1"]).exact(divide),
        case("div s32", "div_s32").outputs(&["r0", "r1"]).exact(divide_signed),
    ]
}
