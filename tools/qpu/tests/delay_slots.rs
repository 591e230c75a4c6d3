//! Delay slots that look forgotten, and some that do not.

use expect_test::expect;
use qpu::check::check_assembly;
use qpu::{Code, Options, Severity, Source, assemble};

fn check(source: &str) -> qpu::Diagnostics {
    let assembly = assemble(&[Source::new("case.qasm", source)], &Options::default());
    check_assembly(&assembly.unwrap_or_else(|diagnostics| panic!("{source}\n{diagnostics}")))
}

/// The lines of the branches with a warning, and of the instructions that cause it; there are no other findings.
fn forgotten(source: &str) -> Vec<(usize, usize)> {
    let found = check(&format!("{source}\nthrend\nnop\nnop"));
    let line = |span| found.place(span).map_or(0, |(_, line, _)| line);
    found
        .list
        .iter()
        .map(|finding| {
            assert_eq!((finding.code, finding.severity), (Code::DelaySlots, Severity::Warning), "{source}\n{found}");
            (finding.span.map_or(0, line), finding.related.first().map_or(0, |&(span, _)| line(span)))
        })
        .collect()
}

#[test]
fn the_end_in_the_slots_of_a_loop() {
    let found = check(include_str!("cases/forgotten_delay_slots.qasm"));
    expect![[r#"
        warning[E0252]: the program ends in the delay slots of this branch, which never takes effect
         --> case.qasm:6:1
          |
        6 | brr.anynz -, :loop
          | ^^^^^^^^^^^^^^^^^^
        7 | thrend
          | ------ the program ends here
          |
          = help: Three instructions after a branch are executed before it takes effect, whether it is taken or not [AG p.34]. A program that ends in them never reaches the target of the branch; a write to a loop counter is executed in each iteration, not after the last; and a branch into its own delay slots executes the same instructions again. Put three nops after the branch, or write `.slots` between the branch and the instructions if they are intended for the delay slots.
    "#]]
    .assert_eq(&found.to_string());
}

#[test]
fn a_counter_that_is_set_in_each_turn() {
    let counts =
        |slots: &str| format!("mov r0, 4\n:loop\nsub.setf r0, r0, 1\nbrr.anynz -, :loop\n{slots}\nmov ra1, r0");
    assert_eq!(forgotten(&counts("mov r0, 7\nnop\nnop")), [(4, 5)]);
    assert_eq!(forgotten(&counts("nop\nnop\nmov r0, unif")), [(4, 7)]);
    // Modifying the counter in a delay slot, and other work there, is good practice.
    assert_eq!(forgotten(&counts("add r0, r0, 0\nmov r1, 7\nmov ra2, r1")), []);
    // The tested register does not depend on its previous value: the next value is read.
    let fetches = "mov r0, unif\n:loop\nmov.setf -, r0\nbrr.anynz -, :loop\nmov r0, unif\nnop\nnop\nmov ra1, r0";
    assert_eq!(forgotten(fetches), []);
    // The counter of an inner loop is reset in the delay slots of the outer one.
    let nested = "mov r1, 3\nmov r0, 4\n:outer\nnop\n:inner\nsub.setf r0, r0, 1\nbrr.anynz -, :inner\nnop\nnop\nnop\n\
                  sub.setf r1, r1, 1\nbrr.anynz -, :outer\nmov r0, 4\nnop\nnop\nmov ra1, r0";
    assert_eq!(forgotten(nested), []);
}

#[test]
fn results_that_are_undone() {
    // Looks like code that the branch should skip: a result is written in a delay slot, and overwritten.
    let skips =
        |first: &str| format!("mov.setf -, unif\nbrr -, :there\nmov r0, 1\nnop\nnop\n:there\n{first}\nmov ra1, r0");
    assert_eq!(forgotten(&skips("mov r0, 2")), [(2, 3)]);
    assert_eq!(forgotten(&skips("nop")), []);
    assert_eq!(forgotten(&skips("mov.ifz r0, 2")), []);
    // Overwritten on one path only.
    let either = "mov.setf -, unif\nbrr.allz -, :there\nmov r0, 1\nnop\nnop\nmov r0, 2\n:there\nmov ra1, r0";
    assert_eq!(forgotten(either), []);
}

#[test]
fn branches_into_their_own_slots() {
    assert_eq!(
        forgotten("mov.setf -, unif\nbrr.allz -, :there\nadd r0, elem_num, 1\n:there\nadd ra1, r0, 1\nnop"),
        [(2, 5)]
    );
    assert_eq!(
        forgotten("mov.setf -, unif\nbrr.allz -, :there\nadd r0, elem_num, 1\nnop\n:there\nnop\nmov ra1, r0"),
        []
    );
}

#[test]
fn the_mark_says_that_it_is_meant() {
    let counts = |mark: &str| {
        format!("mov r0, 4\n:loop\nsub.setf r0, r0, 1\nbrr.anynz -, :loop\n{mark}\nmov r0, 7\nnop\nnop\nmov ra1, r0")
    };
    assert_eq!(forgotten(&counts("")), [(4, 6)]);
    assert_eq!(forgotten(&counts(".slots")), []);
    // Exactly three instructions.
    let second = "mov r0, 4\n:loop\nbrr -, :on\n.slots\nnop\nnop\nnop\n:on\nsub.setf r0, r0, 1\nbrr.anynz -, :loop\nmov r0, 7\nnop\nnop\nmov ra1, r0";
    assert_eq!(forgotten(second), [(10, 11)]);
    let wrong = assemble(&[Source::new("case", "nop\n.slots\nnop")], &Options::default());
    assert_eq!(wrong.err().map(|diagnostics| diagnostics.list[0].code), Some(Code::SlotsWithoutBranch));
}
