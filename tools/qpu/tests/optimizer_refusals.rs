//! Programs that the optimizer does not change, with the reason and the word that it reports.

use qpu::optimize::{Reason, optimize};
use qpu::{Options, Source, assemble};

/// The reason for which a program is refused, and the word.
fn refused(source: &str) -> Option<(Reason, Option<usize>)> {
    let assembly = assemble(&[Source::new("case", source)], &Options::default()).expect("assembles");
    let refused = optimize(&assembly).err()?;
    assert!(refused.span.is_some(), "{refused} has no place");
    Some((refused.reason, refused.word))
}

const CALL: &str = "brr ra2, r:f\nnop\nnop\nnop\nthrend\nnop\nnop\n";
const BRANCH: &str = "nop\nbra -, ra2\nnop\nnop\nnop";
const END: &str = "\n:a nop\nnop\n:b thrend\nnop\nnop";

/// Programs that branch to something else than places in the code are not changed.
#[test]
fn computed_branches_are_refused() {
    assert_eq!(refused(&format!("{CALL}:f {BRANCH}")), None);
    assert_eq!(
        refused(&format!("{CALL}:f mov rb2, ra2\nmov r0, rb2\nmov ra4, r0\nnop\nbra -, ra4\nnop\nnop\nnop")),
        None
    );
    assert_eq!(refused(&format!("{CALL}:f mov r0, unif\nadd ra2, ra2, r0\n{BRANCH}")), None);
    assert_eq!(refused(&format!("mov ra2, unif\n{BRANCH}")), Some((Reason::ComputedTarget, Some(0))));
    assert_eq!(refused(BRANCH), Some((Reason::ComputedTarget, Some(1))));
    assert_eq!(refused(&format!("{CALL}:f mul24 ra2, ra2, 2\n{BRANCH}")), Some((Reason::Addresses, Some(7))));
    assert_eq!(refused(&format!("{CALL}:f add ra2, ra2, ra2\n{BRANCH}")), Some((Reason::ComputedTarget, Some(9))));
    assert_eq!(refused(&format!("{CALL}:f add ra2, ra2, 4\n{BRANCH}")), Some((Reason::UnknownTarget, Some(9))));
    assert_eq!(refused("thrend\nnop\nnop\n.int 1, 2"), Some((Reason::Data, Some(3))));
    assert_eq!(refused("nop\nbrr -, 800\nnop\nnop\nnop"), Some((Reason::UnknownTarget, Some(1))));
}

/// A distance between labels may be moved and added to; a program in which it gets elsewhere is not changed.
#[test]
fn distances_that_leave_the_registers_are_refused() {
    assert_eq!(refused(&format!("ldi r0, :b - :a{END}")), None);
    assert_eq!(refused(&format!("ldi r0, :b - :a + 8{END}")), None);
    for source in ["mov vpm, r0", "shl r0, r0, 1", "add.setf r0, r0, 1", "fmul r1, r0, r0", "mov r2, r0 << 1"] {
        let source = format!("mov r0, :b - :a\nnop\n{source}{END}");
        assert_eq!(refused(&source), Some((Reason::Addresses, Some(2))), "{source}");
    }
    assert_eq!(refused(&format!("ldi vpm, :b - :a{END}")), Some((Reason::Addresses, Some(0))));
}

/// Where something else than a load immediate or a branch contains a distance, or depends on it, no relocation says so.
#[test]
fn distances_that_have_no_relocation_are_refused() {
    for source in
        ["ldi r0, (:b - :a) * 2", "add r0, r1, :b - :a", ".if :b - :a > 8\nnop\n.endif", ".rep i, :b - :a\nnop\n.endr"]
    {
        assert_eq!(refused(&format!("{source}{END}")), Some((Reason::Addresses, None)), "{source}");
    }
}

/// A branch in the last delay slot of another is known to be an alternative only by its condition.
#[test]
fn branches_in_delay_slots_are_refused_if_both_can_be_taken() {
    let nested = |flags: &str, first: &str, second: &str| {
        let branches = format!("brr.{first} ra2, r:f\nnop\n{flags}\nbrr.{second} ra2, r:f\nnop\nnop\nnop");
        format!("mov.setf -, unif\n{branches}\nthrend\nnop\nnop\n:f mov ra0, 1\n{BRANCH}")
    };
    assert_eq!(refused(&nested("nop", "allnn", "anyn")), None);
    assert_eq!(refused(&nested("nop", "anyz", "allnz")), None);
    assert_eq!(refused(&nested("nop", "allnn", "alln")), Some((Reason::NestedBranch, Some(4))));
    assert_eq!(refused(&nested("mov.setf -, unif", "allnn", "anyn")), Some((Reason::NestedBranch, Some(4))));
}
