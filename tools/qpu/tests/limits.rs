//! Sources that would never come to an end, or that nobody could read the diagnostics of.

use qpu::check::check_assembly;
use qpu::{Assembly, Code, Diagnostics, Options, Source, assemble};

fn assembled(source: String) -> Result<Assembly, Diagnostics> {
    assemble(&[Source::new("case.qasm", source)], &Options::default())
}

/// The codes of the errors.
fn codes(source: String) -> Vec<Code> {
    let diagnostics = assembled(source).expect_err("there is a limit");
    diagnostics.list.iter().map(|diagnostic| diagnostic.code).collect()
}

/// Definitions 0 to 39, each with the one before it twice.
fn doubling(first: &str, next: impl Fn(u32, u32) -> String) -> String {
    (1..40).fold(first.to_owned(), |text, n| text + &next(n, n - 1))
}

#[test]
fn definitions_that_double() {
    let macros = doubling(".macro m0\n.endm\n", |n, before| format!(".macro m{n}\nm{before}\nm{before}\n.endm\n"));
    assert_eq!(codes(macros.clone() + "m39"), [Code::TooManyCalls]);
    assert!(assembled(macros + "m16").is_ok());
    let with_code =
        doubling(".macro m0\nnop\n.endm\n", |n, before| format!(".macro m{n}\nm{before}\nm{before}\n.endm\n"));
    assert_eq!(codes(with_code + "m39"), [Code::TooManyCalls]);
    let functions = doubling(".set f0(x) x\n", |n, before| format!(".set f{n}(x) f{before}(x) + f{before}(x)\n"));
    assert_eq!(codes(functions.clone() + ".int f39(1)"), [Code::TooManyCalls]);
    assert_eq!(assembled(functions + ".int f10(1)").map(|assembly| assembly.words).ok(), Some(vec![1024]));
    let bodies =
        doubling(".func f0(x)\nx\n.endf\n", |n, before| format!(".func f{n}(x)\nf{before}(x) + f{before}(x)\n.endf\n"));
    assert_eq!(codes(bodies + ".int f39(1)"), [Code::TooManyCalls]);
}

#[test]
fn definitions_that_contain_themselves() {
    assert_eq!(codes(".macro m\nm\nm\n.endm\nm".to_owned()), [Code::NestedTooDeep]);
    assert_eq!(codes(".set f(x) f(x) + f(x)\n.int f(1)".to_owned()), [Code::NestedTooDeep]);
}

#[test]
fn code_that_never_ends() {
    // Four times what fits, by repetitions in repetitions; the error comes once.
    let source = ".rep i, 16384\n.rep j, 1024\nnop\n.endr\n.endr";
    let found = codes(source.to_owned());
    assert!(matches!(found[..], [Code::TooMuchCode]), "{found:?}");
}

#[test]
fn errors_without_number() {
    let found = codes("bogus\n".repeat(5000));
    assert_eq!(found.len(), 1001);
}

/// As many warnings as lines: the text has the first of them, and what is shown of the source does not grow with it.
#[test]
fn warnings_without_number() {
    let lines = 25_000;
    let assembly = assembled("mov r0, ra3\n".repeat(lines) + "thrend\nnop\nnop").expect("assembles");
    let found = check_assembly(&assembly);
    assert_eq!(found.count(), (0, lines));
    let text = found.to_string();
    assert_eq!(text.matches("warning[E0223]").count(), 100);
    assert!(text.ends_with("... and 24900 more warnings\n"), "{}", &text[text.len() - 100..]);
    // An error behind them is shown.
    let assembly =
        assembled("mov r0, ra3\n".repeat(lines) + "mov ra1, 0\nmov r0, ra1\nthrend\nnop\nnop").expect("assembles");
    let text = check_assembly(&assembly).to_string();
    assert_eq!((text.matches("warning[").count(), text.matches("error[E0200]").count()), (99, 1));
    assert!(text.contains("--> case.qasm:25002:1") && text.ends_with("... and 24901 more warnings\n"));
}
