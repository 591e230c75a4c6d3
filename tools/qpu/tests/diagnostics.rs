//! Diagnostics as they are shown.

use expect_test::{Expect, expect};
use qpu::check::check_assembly;
use qpu::{Options, Source, assemble};

fn check(source: &str, expected: Expect) {
    let shown = match assemble(&[Source::new("case.qasm", source)], &Options::default()) {
        Err(diagnostics) => diagnostics.to_string(),
        Ok(assembly) => format!("{}{}", assembly.warnings, check_assembly(&assembly)),
    };
    expected.assert_eq(&shown);
}

#[test]
fn a_name_that_is_not_defined() {
    check(
        "    add r0, r1, foo + 1",
        expect![[r#"
        error[E0003]: `foo` is not defined
         --> case.qasm:1:17
          |
        1 |     add r0, r1, foo + 1
          |                 ^^^
    "#]],
    );
}

#[test]
fn both_reads_from_one_file() {
    check(
        "nop\nadd r0, ra1, ra2 # no",
        expect![[r#"
        error[E0054]: two different reads from one register file
         --> case.qasm:2:14
          |
        2 | add r0, ra1, ra2 # no
          |              ^^^
    "#]],
    );
}

#[test]
fn a_macro_shows_where_it_is_called() {
    check(
        ".macro bad, x\n    mov r0, ra1; fmul r1, ra2, x\n.endm\n\n    bad r2",
        expect![[r#"
        error[E0054]: two different reads from one register file
         --> case.qasm:2:27
          |
        2 |     mov r0, ra1; fmul r1, ra2, x
          |                           ^^^
        ...
        5 |     bad r2
          |     --- called here
    "#]],
    );
}

#[test]
fn a_label_that_is_missing() {
    check(
        "brr -, r:nowhere\nnop\nnop\nnop",
        expect![[r#"
        error[E0012]: label nowhere is not defined
         --> case.qasm:1:10
          |
        1 | brr -, r:nowhere
          |          ^^^^^^^
    "#]],
    );
}

#[test]
fn an_assertion_in_a_function() {
    check(
        ".func f(x)\n  .assert x < 4\n  x\n.endf\nldi r0, f(5)",
        expect![[r#"
        error[E0024]: the assertion failed: assert x < 4
         --> case.qasm:2:4
          |
        2 |   .assert x < 4
          |    ^^^^^^^^^^^^
        ...
        5 | ldi r0, f(5)
          |         - called here
    "#]],
    );
}

#[test]
fn several_errors_at_once() {
    check(
        "mov r5, 1\nadd r0, r1\nfrobnicate r0\n.bogus\nldi r0, 0x1ffffffff",
        expect![[r#"
        error[E0063]: the register cannot be written
         --> case.qasm:1:5
          |
        1 | mov r5, 1
          |     ^^
        error[E0001]: expected `,` and a source, found the end of the line
         --> case.qasm:2:11
          |
        2 | add r0, r1
          |           ^
        error[E0018]: `frobnicate` is no instruction and no macro
         --> case.qasm:3:1
          |
        3 | frobnicate r0
          | ^^^^^^^^^^
        error[E0019]: `bogus` is no directive
         --> case.qasm:4:2
          |
        4 | .bogus
          |  ^^^^^
        error[E0008]: 0x1ffffffff does not fit 32 bits
         --> case.qasm:5:9
          |
        5 | ldi r0, 0x1ffffffff
          |         ^^^^^^^^^^^
    "#]],
    );
}

#[test]
fn characters_beyond_ascii() {
    check(
        "# größer\nmov größe, ½",
        expect![[r#"
        error[E0003]: `größe` is not defined
         --> case.qasm:2:5
          |
        2 | mov größe, ½
          |     ^^^^^
    "#]],
    );
}

#[test]
fn a_hazard_along_a_branch() {
    check(
        "mov.setf r0, unif; mov ra0, 0\nbrr.anyz -, r:there\nnop\nnop\nmov ra0, r0\nnop\n:there\nmov r1, ra0\nthrend\nnop\nnop",
        expect![[r#"
            warning[E0200]: ra0 is read right after it is written, over a branch
             --> case.qasm:8:1
              |
            5 | mov ra0, r0
              | ----------- written here
            ...
            8 | mov r1, ra0
              | ^^^^^^^^^^^
              |
              = help: A value written to register file A or B arrives one instruction late: the next instruction must not read it [AG p.37]. Put another instruction between, or pass the value in an accumulator, which has no such delay. Where a branch lies between the two, in whose last delay slot the write stands, it is a warning: the guide makes no exception for branches, but tuned versions of GPU_FFT that run on boards have it, with a value that does not matter there.
        "#]],
    );
}

#[test]
fn a_block_without_an_end() {
    check(
        ".rep i, 3\nnop",
        expect![[r#"
        error[E0022]: .rep has no end
         --> case.qasm:1:2
          |
        1 | .rep i, 3
          |  ^^^
    "#]],
    );
}
