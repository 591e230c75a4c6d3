//! Rendered diagnostics.

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
              |
              = help: the form is `add TARGET, SOURCE, SOURCE`
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
fn names_that_may_be_meant() {
    check(
        "fmull r0, r1, r2\nmov unfi, r0\nmov r0, uinf\n.unifrom x, float\nmov.iffz r0, r1\nbrr -, :strat\n:start\n.macro twice, x\nadd x, x, x\n.endm\n\
         twcie r0\nbrr -, start",
        expect![[r#"
            error[E0018]: `fmull` is no instruction and no macro
             --> case.qasm:1:1
              |
            1 | fmull r0, r1, r2
              | ^^^^^
              |
              = help: did you mean `fmul`?
            error[E0003]: `unfi` is not defined
             --> case.qasm:2:5
              |
            2 | mov unfi, r0
              |     ^^^^
              |
              = help: did you mean `unif`?
            error[E0003]: `uinf` is not defined
             --> case.qasm:3:9
              |
            3 | mov r0, uinf
              |         ^^^^
              |
              = help: did you mean `unif`?
            error[E0019]: `unifrom` is no directive
             --> case.qasm:4:2
              |
            4 | .unifrom x, float
              |  ^^^^^^^
              |
              = help: did you mean `uniform`?
            error[E0020]: `iffz` is no suffix
             --> case.qasm:5:5
              |
            5 | mov.iffz r0, r1
              |     ^^^^
              |
              = help: did you mean `ifnz`?
            error[E0018]: `twcie` is no instruction and no macro
              --> case.qasm:11:1
               |
            11 | twcie r0
               | ^^^^^
               |
               = help: did you mean `twice`?
            error[E0003]: `start` is not defined
              --> case.qasm:12:8
               |
            12 | brr -, start
               |        ^^^^^
               |
               = help: a label is written with a colon: `:start`
            error[E0012]: label strat is not defined
             --> case.qasm:6:9
              |
            6 | brr -, :strat
              |         ^^^^^
              |
              = help: did you mean `start`?
        "#]],
    );
}

#[test]
fn names_of_the_standard_include() {
    check(
        "ldi vw_setup, vpm_setup(1, 1, h32(0))\nldi r0, M_PI",
        expect![[r#"
        error[E0003]: `vpm_setup` is not defined
         --> case.qasm:1:15
          |
        1 | ldi vw_setup, vpm_setup(1, 1, h32(0))
          |               ^^^^^^^^^
          |
          = help: vpm_setup is in vc4.qinc: `.include <vc4.qinc>`
        error[E0003]: `M_PI` is not defined
         --> case.qasm:2:9
          |
        2 | ldi r0, M_PI
          |         ^^^^
          |
          = help: M_PI is in vc4.qinc: `.include <vc4.qinc>`
    "#]],
    );
}

#[test]
fn the_right_number_of_arguments() {
    check(
        ".macro row, target, source\nmov target, source\n.endm\n.func mean(a, b)\n(a + b) / 2\n.endf\n.set twice(x) 2 * x\n\
         row r0\nldi r0, mean(1)\nldi r0, twice\nftoi r0, r1, r2, r3\nldi r0\nbrr :l\nread\nsbwait 3",
        expect![[r#"
            error[E0017]: macro row takes 2 arguments, not 1
             --> case.qasm:8:1
              |
            8 | row r0
              | ^^^
              |
              = help: the form is `row target, source`
            error[E0017]: `mean` takes 2 arguments, not 1
             --> case.qasm:9:9
              |
            9 | ldi r0, mean(1)
              |         ^^^^
              |
              = help: the form is `mean(a, b)`
            error[E0001]: expected `(` with the arguments, found the end of the line
              --> case.qasm:10:14
               |
            10 | ldi r0, twice
               |              ^
               |
               = help: the form is `twice(x)`
            error[E0001]: expected `;` or the end of the line, found `,`
              --> case.qasm:11:16
               |
            11 | ftoi r0, r1, r2, r3
               |                ^
               |
               = help: the form is `ftoi TARGET, SOURCE`
            error[E0001]: expected `,` and a source, found the end of the line
              --> case.qasm:12:7
               |
            12 | ldi r0
               |       ^
               |
               = help: the form is `ldi TARGET, NUMBER` or `ldi TARGET, TARGET, NUMBER`
            error[E0018]: `l` is no instruction and no macro
              --> case.qasm:13:6
               |
            13 | brr :l
               |      ^
            error[E0007]: expected a value, found the end of the line
              --> case.qasm:14:5
               |
            14 | read
               |     ^
               |
               = help: the form is `read REGISTER`
            error[E0001]: expected `;` or the end of the line, found `3`
              --> case.qasm:15:8
               |
            15 | sbwait 3
               |        ^
               |
               = help: the form is `sbwait`
        "#]],
    );
}

#[test]
fn a_write_to_r4() {
    check(
        "add r4, r0, r1\nmov tmurs, 1",
        expect![[r#"
        warning[E0098]: a write to r4 goes to the register that swaps TMUs, not to r4
         --> case.qasm:1:5
          |
        1 | add r4, r0, r1
          |     ^^
        warning[E0223]: r0 is read, but nothing has written it
         --> case.qasm:1:1
          |
        1 | add r4, r0, r1
          | ^^^^^^^^^^^^^^
          |
          = help: The register is not written on any path to this instruction. It contains what an earlier program left in it.
        warning[E0223]: r1 is read, but nothing has written it
         --> case.qasm:1:1
          |
        1 | add r4, r0, r1
          | ^^^^^^^^^^^^^^
          |
          = help: The register is not written on any path to this instruction. It contains what an earlier program left in it.
        error[E0216]: execution runs off the end of the program
         --> case.qasm:2:1
          |
        2 | mov tmurs, 1
          | ^^^^^^^^^^^^
          |
          = help: A program ends with thrend and two more instructions; without them, the words that follow in memory would be executed.
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
              = help: A value written to register file A or B arrives one instruction late: the next instruction must not read it [AG p.37]. Put another instruction between, or pass the value in an accumulator, which has no such delay. If the write is in the last delay slot of a branch, and the read at its target, it is a warning: the guide makes no exception for branches, but optimized versions of GPU_FFT do this on boards, with a value that is not used there.
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
