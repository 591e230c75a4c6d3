//! Control: what concerns all elements at a time, and what they do not do together.

use crate::case::Case;
use crate::samples::Kind;
use crate::table::{Document, Row};
use v3d_hw::qpu::LANES;

const FILE: &str = "control.qinc";

/// The rows of this topic.
pub(crate) fn rows() -> Vec<Row> {
    vec![vote("any"), vote("all")]
}

fn vote(which: &str) -> Row {
    let case = Case::new(Document::Instructions, format!("vote {which}"), FILE, format!("vote_{which}"));
    case.input("r0", Kind::Truth).input("r1", Kind::Truth).exact_vectors(|operands| {
        let mut active =
            (0..LANES).filter(|&element| operands[1][element] != 0).map(|element| operands[0][element] != 0);
        let answer = if which == "any" { active.any(|holds| holds) } else { active.all(|holds| holds) };
        vec![[if answer { u32::MAX } else { 0 }; LANES]]
    })
}
