//! Exchange of values between the elements of a quad.

use crate::case::{Case, Vector};
use crate::float::{Rounding, operand, rounded, sum};
use crate::samples::OperandKind;
use crate::table::{Document, Row, costliest};

const FILE: &str = "quad.qinc";

/// Operations of an element in a quad.
const OPERATIONS: [&str; 4] = ["add", "sub", "subr", "mov2"];
/// Sources of SRC1.
const SOURCES: [&str; 6] = ["l0", "l1", "l2", "l3", "dox", "doy"];
/// Operations of the four elements: all the same, all different, and those that compute derivatives.
const COMBINATIONS: [[usize; 4]; 9] = [
    [0, 0, 0, 0],
    [1, 1, 1, 1],
    [2, 2, 2, 2],
    [3, 3, 3, 3],
    [0, 1, 2, 3],
    [3, 2, 1, 0],
    [1, 3, 0, 2],
    [1, 2, 1, 2],
    [1, 1, 2, 2],
];

/// The rows of this topic.
pub(crate) fn rows() -> Vec<Row> {
    let mut rows: Vec<Row> =
        (0..SOURCES.len()).map(|from| costliest(COMBINATIONS.map(|ops| quadop(ops, from)))).collect();
    rows.extend([quadon(), quadpop()]);
    rows
}

fn quadop(ops: [usize; 4], from: usize) -> Row {
    let names: Vec<String> = ops.iter().map(|&op| format!("quad_{}", OPERATIONS[op])).collect();
    let source = ["0", "1", "2", "3", "quad_x", "quad_y"][from];
    let name = format!("quadop_f32 {}, {source}", names.join(", "));
    let case = Case::new(Document::Instructions, format!("quadop f32 {}", SOURCES[from]), FILE, name);
    case.input("r0", OperandKind::NearOne).input("r1", OperandKind::NearOne).exact_vectors(move |x| {
        let result = |element: usize| {
            let lane = match from {
                4 => element ^ 1,
                5 => element ^ 2,
                lane => element & !3 | lane,
            };
            let (a, b) = (operand(x[0][lane]), operand(x[1][element]));
            let exact = match OPERATIONS[ops[element & 3]] {
                "add" => sum(a, b),
                "sub" => sum(a, -b),
                "subr" => sum(b, -a),
                _ => return x[1][element],
            };
            rounded(exact, Rounding::Zero).to_bits()
        };
        vec![std::array::from_fn(result)]
    })
}

fn quadon() -> Row {
    let case = Case::new(Document::Instructions, "quadon", FILE, "quadon").input("r0", OperandKind::Rare);
    case.exact_vectors(|x| {
        let quad = |element: usize| (element & !3..(element & !3) + 4).fold(0, |any, other| any | x[0][other]);
        let counts: Vector = std::array::from_fn(quad);
        vec![counts]
    })
}

fn quadpop() -> Row {
    let case = Case::new(Document::Instructions, "quadpop", FILE, "quadpop").input("r0", OperandKind::Rare);
    case.between("quadon; mov r0, 0", "").exact(|x| vec![x[0]])
}
