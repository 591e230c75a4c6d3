//! Sources whose assembly would never end, or with too many diagnostics to read.

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

/// Definitions 0 to 39, each of which uses the previous one twice.
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
    // Four times the limit, by nested repetitions; the error is reported once.
    let source = ".rep i, 16384\n.rep j, 1024\nnop\n.endr\n.endr";
    let found = codes(source.to_owned());
    assert!(matches!(found[..], [Code::TooMuchCode]), "{found:?}");
}

#[test]
fn errors_without_number() {
    let found = codes("bogus\n".repeat(5000));
    assert_eq!(found.len(), 1001);
}

/// As many warnings as lines: the first of them are rendered, and the excerpt of the source is limited.
#[test]
fn warnings_without_number() {
    let lines = 25_000;
    let assembly = assembled("mov r0, ra3\n".repeat(lines) + "thrend\nnop\nnop").expect("assembles");
    let found = check_assembly(&assembly);
    assert_eq!(found.count(), (0, lines));
    let text = found.to_string();
    assert_eq!(text.matches("warning[E0223]").count(), 100);
    assert!(text.ends_with("... and 24900 more warnings\n"), "{}", &text[text.len() - 100..]);
    // An error after them is rendered.
    let assembly =
        assembled("mov r0, ra3\n".repeat(lines) + "mov ra1, 0\nmov r0, ra1\nthrend\nnop\nnop").expect("assembles");
    let text = check_assembly(&assembly).to_string();
    assert_eq!((text.matches("warning[").count(), text.matches("error[E0200]").count()), (99, 1));
    assert!(text.contains("--> case.qasm:25002:1") && text.ends_with("... and 24901 more warnings\n"));
}

/// Skipped blocks, long lines, functions and includes count each time they are processed.
#[test]
fn work_without_end() {
    let check = |source: String| {
        // A warning about the open block at the end may follow.
        assert_eq!(codes(source).first(), Some(&Code::TooManySteps));
    };
    let nested = |body: &str| format!(".rep i, 4096\n.rep j, 4000\n{body}.endr\n.endr");
    check(nested(&".set x, i + j\n".repeat(20)));
    check(nested(":1\n"));
    check(format!(".rep i, 1000000\n.rep j, 0\n{}.endr\n.endr", "nop\n".repeat(60_000)));
    check(format!(".rep i, 1000000\n.if 0\n{}.endif\n.endr", "nop\n".repeat(60_000)));
    check(format!(".rep i, 1000000\n.set q, 1{}\n.endr", " + 1".repeat(100_000)));
    check(format!(".set f(x) x{}\n.rep i, 100000\n.set q, f(i)\n.endr", " + x".repeat(50_000)));
    let chain = |n: u32| Source::new(format!("{n}"), format!(".include \"{}\"\n", n + 1).repeat(2));
    let includes = (0..40).map(chain).chain([Source::new("40", "nop\n")]).collect();
    let options = Options { includes, ..Options::default() };
    let found = assemble(&[Source::new("case.qasm", ".include \"0\"")], &options).expect_err("there is a limit");
    assert!(
        found.list.iter().any(|diagnostic| diagnostic.code == Code::TooManySteps && diagnostic.span.is_some()),
        "{found}"
    );
}

#[test]
fn sources_that_are_too_long() {
    let long = "#".repeat(9 << 20);
    assert!(assembled(long.clone()).is_ok());
    let twice = [Source::new("a.qasm", long.clone()), Source::new("b.qasm", long + "\nnop")];
    let found = assemble(&twice, &Options::default()).expect_err("there is a limit");
    assert_eq!(found.list.iter().map(|diagnostic| diagnostic.code).collect::<Vec<_>>(), [Code::TooMuchCode]);
}

/// The command with as much processor time and memory as the documentation says: it ends without being stopped.
#[cfg(unix)]
#[test]
fn hostile_sources_end_in_15_seconds_and_1_gib() {
    use v3d_sim::random::Random;
    let folder = std::env::temp_dir().join(format!("qpu-hostile-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let mut random = Random::new(25, 1);
    let nonsense: String =
        (0..1 << 20).map(|_| if random.one_in(50) { '\n' } else { char::from(32 + random.below(95) as u8) }).collect();
    let chain = |n: u32| format!(".include \"chain{}.qasm\"\n", n + 1).repeat(2);
    for n in 0..40 {
        std::fs::write(folder.join(format!("chain{n}.qasm")), chain(n)).unwrap();
    }
    std::fs::write(folder.join("chain40.qasm"), "nop\n").unwrap();
    let lines = |count: u32, line: fn(u32) -> String| (0..count).map(line).collect::<String>();
    for (name, source, code) in [
        ("nonsense", nonsense, "error[E0001]"),
        ("rep", ".rep i, 4096\n.rep j, 4096\nmov ra1, r0\nmov r0, ra1\n.endr\n.endr\n".to_owned(), "error[E0027]"),
        ("twice", ".include \"twice.qasm\"\n.include \"twice.qasm\"\n".to_owned(), "error[E0026]"),
        ("chain", ".include \"chain0.qasm\"\n".to_owned(), "error[E0040]"),
        ("labels", lines(50_000, |n| format!("brr -, r:label{n}\n")), "error[E0012]"),
        ("globals", lines(60_000, |n| format!(".global g{n}, {n}\n")) + "nop", "error[E0216]"),
        // As many words as are allowed, with a finding at each.
        ("long", ".rep i, 1024\n.rep j, 500\nmov ra1, r0\nmov r0, ra1\n.endr\n.endr\n".to_owned(), "error[E0200]"),
        ("line", format!(".int 1{}", " + x".repeat(400_000)), "error[E00"),
    ] {
        let path = folder.join(format!("{name}.qasm"));
        std::fs::write(&path, source).unwrap();
        let command = "ulimit -v 1048576; ulimit -t 15; exec \"$0\" check \"$1\"";
        let output = std::process::Command::new("sh")
            .args(["-c", command, env!("CARGO_BIN_EXE_qpu")])
            .arg(&path)
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{name}: {}", &text[..text.len().min(400)]);
        assert!(text.contains(code), "{name}: {}", &text[..text.len().min(400)]);
    }
    std::fs::remove_dir_all(&folder).unwrap();
}
