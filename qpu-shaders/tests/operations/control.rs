//! Control: operations that combine all elements, and divergent control flow.

mod nesting;

use crate::case::Case;
use crate::samples::OperandKind;
use crate::table::{Document, Row, first_if_right};
use v3d_hw::qpu::LANES;

const FILE: &str = "control.qinc";

/// The rows of this topic.
pub(crate) fn rows() -> Vec<Row> {
    let mut rows = vec![vote("any"), vote("all")];
    rows.extend([
        first_if_right([branch(), branch_back()]),
        call(),
        function_return(),
        join("joinat 2", "joinat"),
        join("join 2", "join"),
    ]);
    rows.extend([leave("break", "break_if 2"), leave("breakaddr", "breakaddr 2"), leave("exit", "exit_if")]);
    rows
}

fn case(operation: &str, name: &str) -> Case {
    Case::new(Document::Instructions, operation, FILE, name)
}

fn vote(which: &str) -> Row {
    let case = case(&format!("vote {which}"), &format!("vote_{which}"));
    case.input("r0", OperandKind::Truth).input("r1", OperandKind::Truth).exact_vectors(|operands| {
        let mut active =
            (0..LANES).filter(|&element| operands[1][element] != 0).map(|element| operands[0][element] != 0);
        let answer = if which == "any" { active.any(|holds| holds) } else { active.all(|holds| holds) };
        vec![[if answer { u32::MAX } else { 0 }; LANES]]
    })
}

/// An operation on a predicate in r0, with a count of what an element does in r1.
fn counted(operation: &str, name: &str) -> Case {
    case(operation, name).input("r0", OperandKind::Truth).input("r1", OperandKind::Word).outputs(&["r1"])
}

/// Counts running elements.
const COUNT: &str = "mov.setf -, flow; add.ifz r1, r1, 1";

/// Elements branch over one count, and reconverge for two.
fn branch() -> Row {
    let after = format!("{COUNT}; join 1; {COUNT}; {COUNT}");
    let case = counted("bra", "bra_if 1").between("flow_begin", &after);
    case.exact(|x| vec![x[1].wrapping_add(if x[0] != 0 { 2 } else { 3 })])
}

/// Elements repeat a loop as often as their operand says, and at least once; the figures are those of all iterations.
fn branch_back() -> Row {
    let before = "flow_begin; mov r1, 0; :2; mov.setf -, flow; add.ifz r1, r1, 1; sub.ifz r0, r0, 1; max r0, r0, 0";
    let case = case("bra", "bra_back_if 1, r:2");
    case.input("r0", OperandKind::Byte).outputs(&["r1"]).between(before, "join 1").exact(|x| vec![x[0].max(1)])
}

/// The function resumes elements that wait for its end.
fn call() -> Row {
    let before = "flow_begin; mov.setf -, r0; mov.ifnz flow, 1; nop";
    let after = format!("{COUNT}; brr -, r:4f; nop; nop; nop; :3; function_end 1, ra20; :4");
    counted("call", "call ra20, r:3f").between(before, &after).exact(|x| vec![x[1].wrapping_add(1)])
}

/// A function from which some elements return before one count; at the second all have returned.
fn function_return() -> Row {
    let before = format!("flow_begin; call ra20, r:3f; {COUNT}; brr -, r:4f; nop; nop; nop; :3");
    let after = format!("{COUNT}; function_end 1, ra20; :4");
    let case = counted("ret", "ret_if 1").between(&before, &after);
    case.exact(|x| vec![x[1].wrapping_add(if x[0] != 0 { 1 } else { 2 })])
}

/// Elements wait at a reconvergence point, and are active again after it.
fn join(name: &str, operation: &str) -> Row {
    let before = "flow_begin; mov.setf -, r0; mov.ifnz flow, 2; nop";
    let after = if operation == "join" { COUNT.to_owned() } else { format!("join 2; {COUNT}") };
    counted(operation, name).between(before, &after).exact(|x| vec![x[1].wrapping_add(1)])
}

/// Elements leave a structure before one count; elements that exit also skip what follows it.
fn leave(operation: &'static str, name: &str) -> Row {
    let leaving = if operation == "breakaddr" { "break_if 2; " } else { "" };
    let after = format!("{leaving}{COUNT}; join 2; {COUNT}; flow_end");
    counted(operation, name).between("flow_begin", &after).exact(move |x| {
        let missed = match (x[0] != 0, operation) {
            (false, _) => 0,
            (true, "exit") => 2,
            (true, _) => 1,
        };
        vec![x[1].wrapping_add(2 - missed)]
    })
}
