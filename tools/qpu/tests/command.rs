//! The command, as it is typed.
#![cfg(feature = "command")]

use std::path::PathBuf;
use std::process::{Command, Output};

fn qpu(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_qpu")).args(arguments).output().expect("the command starts")
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).expect("text")
}

/// A file of its own for each test.
fn file(name: &str, content: &str) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&path, content).expect("the file is written");
    path
}

#[test]
fn assembles_and_disassembles() {
    let source = file("round.qasm", ".if N == 3\nadd r0, r1, r2; fmul r3, r0, r1\n.endif\nthrend\nnop\nnop\n");
    let words = file("round.hex", "");
    let (source, words) = (source.display().to_string(), words.display().to_string());
    let assembled = qpu(&["asm", "-D", "N=3", "--format", "hex", "-o", &words, &source]);
    assert!(assembled.status.success(), "{}", text(&assembled.stderr));
    let shown = qpu(&["dis", &words]);
    let rust = qpu(&["dis", "--format", "rust", &words]);
    assert!(text(&rust.stdout).contains("// 0008: thrend"), "{}", text(&rust.stdout));
    assert_eq!(text(&shown.stdout), "add r0, r1, r2; fmul r3, r0, r1\nthrend\nnop\nnop\n");
}

#[test]
fn formats() {
    let source = file("formats.qasm", ":start nop\n");
    let source = source.display().to_string();
    let output = |format: &str| text(&qpu(&["asm", "--no-check", "--format", format, &source]).stdout).to_owned();
    assert_eq!(output("hex"), "0x009e7000, 0x100009e7,\n");
    assert!(output("c").contains("const uint32_t formats[2] = {\n    0x009e7000, 0x100009e7, /* 0000: nop */\n};"));
    assert!(output("rust").contains("pub const FORMATS: [u64; 1] = [\n    0x100009e7009e7000, // 0000: nop\n];"));
    assert!(output("listing").contains("100009e7009e7000  nop"));
    let binary = qpu(&["asm", "--no-check", "--format", "bin", &source]).stdout;
    assert_eq!(binary, 0x1000_09e7_009e_7000u64.to_le_bytes());
}

#[test]
fn errors_have_a_status_and_a_place() {
    let source = file("wrong.qasm", "nop\nmov r0 ra1\n");
    let failed = qpu(&["asm", &source.display().to_string()]);
    assert!(!failed.status.success());
    assert!(text(&failed.stderr).contains("wrong.qasm:2:"), "{}", text(&failed.stderr));
    assert!(!qpu(&["asm", "no such file"]).status.success());
    let source = file("hazard.qasm", "mov ra0, unif\nmov r0, ra0\nthrend\nnop\nnop\n");
    let checked = qpu(&["check", &source.display().to_string()]);
    assert!(!checked.status.success());
    assert!(text(&checked.stderr).contains("E0200"), "{}", text(&checked.stderr));
    // What sources disagree about is said on request.
    let source = file("doubtful.qasm", "ldi vr_setup, 0x101a00\nmov r0, vpm\nthrend\nnop\nnop\n").display().to_string();
    assert!(qpu(&["check", &source]).status.success());
    let doubtful = qpu(&["check", "--doubtful", &source]);
    assert!(!doubtful.status.success());
    assert!(text(&doubtful.stderr).contains("warning[E0260]"), "{}", text(&doubtful.stderr));
}

#[test]
fn explains() {
    let word = qpu(&["explain", "0x009e7000", "0x100009e7"]);
    assert!(text(&word.stdout).contains("op_add"), "{}", text(&word.stdout));
    let code = qpu(&["explain", "E0200"]);
    assert!(text(&code.stdout).starts_with("E0200: a register is read right after it is written"));
    assert!(!qpu(&["explain", "E9999"]).status.success());
}

#[test]
fn optimizes() {
    let source = file(
        "slow.qasm",
        "mov r0, unif\nnop\nfadd r1, r0, r0\nnop\nfmul r2, r0, r0\nmov ra0, r1\nmov rb0, r2\nnop; thrend\nnop\nnop\n",
    );
    let output = qpu(&["asm", "--optimize", &source.display().to_string()]);
    assert!(output.status.success());
    assert!(text(&output.stderr).contains("10 instructions before optimization"), "{}", text(&output.stderr));
    assert!(text(&output.stdout).lines().count() <= 6, "{}", text(&output.stdout));

    let listing = qpu(&["asm", "--optimize", "--format", "listing", &source.display().to_string()]);
    let shown: Vec<&str> = text(&listing.stdout).lines().filter_map(|line| line.get(25..97)).map(str::trim).collect();
    let shown = file("shown.qasm", &shown.join("\n"));
    let again = qpu(&["asm", "--no-check", &shown.display().to_string()]);
    assert_eq!(text(&again.stdout), text(&output.stdout), "the text beside the words is not what they say");
}

#[cfg(feature = "model")]
#[test]
fn runs() {
    let source = file("run.qasm", "mov r0, unif\nfadd r1, r0, unif\nthrend\nnop\nnop\n");
    let output = qpu(&["run", "--uniforms", "1.5,2.0", "--trace", &source.display().to_string()]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(text(&output.stdout).contains("r1     all 40600000 = 1080033280 = 3.5"), "{}", text(&output.stdout));
    assert!(text(&output.stdout).contains("5 instructions; the program ended"));
    // Each instruction takes 4 cycles; beyond that, code and uniforms have to come from memory.
    let cycles = text(&output.stdout)
        .lines()
        .find_map(|line| line.strip_suffix(" cycles until the last one ended, as estimated"));
    let cycles: u32 = cycles.and_then(|cycles| cycles.parse().ok()).expect("the number of cycles");
    let waited =
        text(&output.stdout).lines().find_map(|line| line.split_once(" cycles of waiting, all QPUs together: "));
    let (waited, what) = waited.expect("the cycles of waiting");
    assert_eq!(waited.parse(), Ok(cycles - 4 * 5), "{}", text(&output.stdout));
    assert!(what.contains("uniforms") && what.contains("instructions"), "{what}");
}

/// Three QPUs store their numbers one after the other: each waits for the one before, which is held up longest where it counts.
#[cfg(feature = "model")]
#[test]
fn runs_on_several_qpus() {
    let source = file(
        "several.qasm",
        "
        mov r0, unif                    # how many turns to waste
        mov.setf ra0, unif              # 0 in the first
        brr.allz -, r:first
        nop; nop
        nop
        nop
        sacq -, 5
        :first
        sub.setf r0, r0, 1
        brr.anynn -, r:first
        nop
        nop
        nop
        read mutex_acq
        mov r1, unif
        ldi vw_setup, 0x1a00
        add r1, r1, ra0
        mov vpm, r1
        mov mutex_rel, 0
        srel -, 5
        thrend
        nop
        nop
        ",
    );
    let source = source.display().to_string();
    let run = |uniforms: &[&str]| {
        let mut arguments = vec!["run", "--qpus", "3"];
        uniforms.iter().for_each(|list| arguments.extend(["--uniforms", list]));
        arguments.push(&source);
        qpu(&arguments)
    };
    let output = run(&["9,0,10", "0,1,20", "3,1,20"]);
    assert!(output.status.success(), "{}", text(&output.stdout));
    assert!(text(&output.stdout).contains("vpm 0  all 00000015 = 21"), "{}", text(&output.stdout));
    assert!(text(&output.stdout).contains("QPU 2: "), "{}", text(&output.stdout));
    assert!(text(&output.stdout).contains("mutex, semaphores "), "{}", text(&output.stdout));
    // If nobody is the first, all wait for ever.
    let deadlock = run(&["1,1,0"]);
    assert!(!deadlock.status.success());
    assert_eq!(text(&deadlock.stdout).matches("waits for ever at 0x00030").count(), 3, "{}", text(&deadlock.stdout));
    let wrong = run(&["1,1,0", "2,2,0"]);
    assert!(text(&wrong.stderr).contains("2 lists of uniforms for 3 QPUs"), "{}", text(&wrong.stderr));
}
