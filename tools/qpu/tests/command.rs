//! The command line interface.
#![cfg(feature = "command")]

use std::path::PathBuf;
use std::process::{Command, Output};

fn qpu(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_qpu")).args(arguments).output().expect("the command starts")
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).expect("text")
}

/// A different file for each test.
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
    // Rules on which sources disagree are applied on request.
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
fn words_of_the_language_are_explained() {
    let switch = qpu(&["explain", "thrsw"]);
    assert!(switch.status.success());
    assert!(text(&switch.stdout).starts_with("thrsw: signal\n"), "{}", text(&switch.stdout));
    assert!(text(&switch.stdout).contains("E0224"), "{}", text(&switch.stdout));
    // A sign that looks like an option is also a word of the language.
    assert!(text(&qpu(&["explain", "-"]).stdout).starts_with("-: operator\n"));
    let unknown = qpu(&["explain", "thsrw"]);
    assert!(!unknown.status.success());
    assert!(text(&unknown.stderr).contains("did you mean thrsw?"), "{}", text(&unknown.stderr));
    assert!(text(&qpu(&["explain", "--words"]).stdout).contains("point_size"));
    assert!(!qpu(&["explain"]).status.success());
}

#[test]
fn words_need_no_0x_to_be_explained() {
    let prefixed = qpu(&["explain", "0x100009e7009e7000"]);
    assert!(prefixed.status.success());
    for arguments in [&["explain", "100009e7009e7000"][..], &["explain", "009e7000", "100009e7"]] {
        assert_eq!(text(&qpu(arguments).stdout), text(&prefixed.stdout));
    }
    let wrong = qpu(&["explain", "100009e7009e7000", "100009e7"]);
    assert!(text(&wrong.stderr).contains("halves of a word"), "{}", text(&wrong.stderr));
    assert!(!qpu(&["explain", "11f0"]).status.success());
}

#[test]
fn includes_come_first() {
    let library = file("first.qinc", ".set answer, 42\n").display().to_string();
    let source = file("needs_first.qasm", "ldi r0, answer\n.byte h32(0)\n").display().to_string();
    assert!(!qpu(&["asm", "--no-check", &source]).status.success());
    let done = qpu(&["asm", "--no-check", "-i", &library, "-i", "vc4.qinc", &source]);
    assert!(done.status.success(), "{}", text(&done.stderr));
    assert!(text(&done.stdout).starts_with("0x0000002a, 0xe0020827"), "{}", text(&done.stdout));
}

/// A sparse file.
#[test]
fn files_are_refused_by_their_size() {
    let huge = file("huge.qasm", "");
    let opened = std::fs::OpenOptions::new().write(true).open(&huge).expect("the file opens");
    opened.set_len(5 << 30).expect("the file gets a size");
    let huge = huge.display().to_string();
    for command in ["asm", "check", "dis", "explain"] {
        let output = qpu(&[command, &huge]);
        assert_eq!(output.status.code(), Some(1));
        assert!(text(&output.stderr).contains("longer than 16777216 bytes"), "{}", text(&output.stderr));
    }
    opened.set_len(0).expect("the file loses its size");
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

    let source = file("fixed.qasm", "nop\nldi r0, 2 * (:end - :here)\n:here\nthrend\nnop\nnop\n:end\n");
    let refused = qpu(&["asm", "--no-check", "--optimize", &source.display().to_string()]);
    let said = text(&refused.stderr);
    assert!(
        said.contains("warning[E0099]: not optimized: this depends on where code is, other than to branch there"),
        "{said}"
    );
    assert!(said.contains("fixed.qasm:2:"), "{said}");
}

#[cfg(feature = "model")]
#[test]
fn runs() {
    let source = file("run.qasm", "mov r0, unif\nfadd r1, r0, unif\nthrend\nnop\nnop\n");
    let output = qpu(&["run", "--uniforms", "1.5,2.0", "--trace", &source.display().to_string()]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(text(&output.stdout).contains("r1     all 40600000 = 1080033280 = 3.5"), "{}", text(&output.stdout));
    assert!(text(&output.stdout).contains("5 instructions; the program ended"));
    // Each instruction takes at least 4 cycles; the rest is loading code and uniforms from memory.
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

/// The program in the examples of `--help`: it stores the word of its first uniform to the address in its second one.
#[cfg(feature = "model")]
const STORES: &str = ".include <vc4.qinc>\nldi vw_setup, vpm_setup(1, 1, h32(0))\nmov vpm, unif\n\
                      ldi vw_setup, vdw_setup_0(1, 16, dma_h32(0, 0))\nmov vw_addr, unif\nread vw_wait\nthrend\nnop\nnop\n";

/// Forward to a change, back to before it, and on with another value.
#[cfg(feature = "model")]
#[test]
fn debug_goes_forward_and_back() {
    let source = file("steps.qasm", STORES);
    let commands = "step 2\nwatch 0x8000\nrun\nx 0x8000 1\nback\nx 0x8000 1\nset vpm0 1\nset r1[2] 5\nstep\n\
                    p r1\nbreak 6 # vw_wait\nrun\nback 5\nx 0x8000 1\nvpm\nx 0xfffffffc\nfrob";
    let script = file("steps.txt", commands);
    let arguments = ["--uniforms", "1.0,0x8000", "--commands", &script.display().to_string()];
    let output = qpu(&[&["debug", &source.display().to_string()], &arguments[..]].concat());
    let shown = text(&output.stdout);
    assert_eq!(output.status.code(), Some(1), "one of them is no command\n{shown}");
    let answers: Vec<&str> = shown.split("> ").skip(1).collect();
    let answer = |command: &str, time: usize| {
        let mut found = answers.iter().filter(|answer| answer.lines().next() == Some(command));
        found.nth(time).unwrap_or_else(|| panic!("{command} has no answer in\n{shown}")).split_once('\n').unwrap().1
    };
    assert!(answer("step 2", 0).contains("vpm0   all 3f800000 = 1065353216 = 1.0\n     2  0x0010  "), "{shown}");
    assert!(answer("run", 0).starts_with("0x8000 has changed\n"), "{shown}");
    assert_eq!(answer("x 0x8000 1", 0), "00008000  3f800000\n");
    assert_eq!(answer("x 0x8000 1", 1), "00008000  00000000\n");
    assert_eq!(answer("set vpm0 1", 0), "rows of the VPM are set by programs only\n");
    assert!(answer("p r1", 0).contains("\n  [ 2]  00000005            5  7e-45\n  [ 3]  00000000 "), "{shown}");
    assert_eq!(answer("break 6", 0), "0x0020: breakpoint\n");
    assert_eq!(answer("x 0x8000 1", 2), "00008000  00000000\n");
    assert_eq!(answer("vpm", 0), "vpm0   all 3f800000 = 1065353216 = 1.0\n");
    assert_eq!(answer("x 0xfffffffc", 0), "0xfffffffc: there is no memory at this address\n");
    assert_eq!(answer("frob", 0), "there is no command \"frob\"; help lists them\n");
}

/// The examples at the end of `--help` work.
#[cfg(feature = "model")]
#[test]
fn examples_of_the_help_run() {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("examples");
    std::fs::create_dir_all(&folder).expect("a folder");
    std::fs::write(folder.join("program.qasm"), STORES).expect("a program");
    std::fs::write(folder.join("shader.qasm"), "mov r0, unif\nmov r1, r0\nthrend\nnop\nnop\n").expect("a shader");
    std::fs::write(folder.join("input.bin"), [7; 256]).expect("an input");
    std::fs::write(folder.join("steps.txt"), "step 2\nback\n").expect("commands");
    let help = qpu(&["--help"]);
    let examples: Vec<&str> = text(&help.stdout).lines().filter_map(|line| line.strip_prefix("  qpu ")).collect();
    assert!(examples.len() >= 9, "{examples:?}");
    let mut dumps = Vec::new();
    for example in examples {
        let arguments = example.split("   ").next().unwrap_or_default().split_whitespace();
        let run = Command::new(env!("CARGO_BIN_EXE_qpu")).args(arguments).current_dir(&folder).output();
        let output = run.expect("the command starts");
        assert!(output.status.success(), "{example}\n{}{}", text(&output.stdout), text(&output.stderr));
        dumps.extend(
            text(&output.stdout)
                .lines()
                .filter(|line| line.get(8..10) == Some("  ") && line.len() == 81)
                .map(str::to_owned),
        );
    }
    // 1.0 at the address in the first uniform, and the address of the input at the second one: 16 words, 8 in a line.
    let line = |address: &str, word: &str| format!("{address} {}", format!(" {word}").repeat(8));
    assert_eq!(dumps[..2], [line("00001000", "3f800000"), line("00001020", "3f800000")]);
    assert_eq!(dumps[2..], [line("00003000", "00002000"), line("00003020", "00002000")]);
}

#[cfg(feature = "model")]
#[test]
fn memory_and_program_do_not_overlap() {
    let source = file("stores.qasm", STORES).display().to_string();
    let input = file("input.bin", &"x".repeat(0x400)).display().to_string();
    let at = |address: &str| format!("{input}@{address}");
    let fails = |arguments: &[&str]| {
        let output = qpu(&[&["run", "--uniforms", "1.0,0x8000", &source], arguments].concat());
        assert_eq!(output.status.code(), Some(1), "{}", text(&output.stdout));
        text(&output.stderr).to_owned()
    };
    let error = fails(&["--memory", &at("0x1000"), "--code", "0x1200"]);
    assert!(error.contains("the program with its uniforms at 0x1200 to 0x1248 overlaps"), "{error}");
    assert!(error.contains("input.bin at 0x1000 to 0x1400"), "{error}");
    let error = fails(&["--memory", &at("0x1000"), "--memory", &at("0x13ff")]);
    assert!(error.contains("input.bin at 0x13ff to 0x17ff overlaps"), "{error}");
    let error = fails(&["--memory", &at("0"), "--memory-size", "0x400"]);
    assert!(error.contains("overlaps"), "{error}");
    let error = fails(&["--memory-size", "32"]);
    assert!(error.contains("32 bytes of memory have no room for 72"), "{error}");
    let clear = qpu(&["run", "--uniforms", "1.0,0x8000", "--memory", &at("0x1000"), &source]);
    assert!(clear.status.success(), "{}", text(&clear.stderr));
}

/// A loop of stores outside of memory: one fault with a count, at the place that the trace shows.
#[cfg(feature = "model")]
#[test]
fn faults_that_repeat_are_told_once() {
    let source = file(
        "rows.qasm",
        "
        .include <vc4.qinc>
        ldi vw_setup, vpm_setup(1, 1, h32(0))
        ldi vpm, 1.0
        mov r1, unif
        ldi r2, 64
        ldi r0, 16
        :loop
        ldi vw_setup, vdw_setup_0(1, 16, dma_h32(0, 0))
        mov vw_addr, r1                 # the seventh instruction
        read vw_wait
        sub.setf r0, r0, 1
        brr.anynz -, :loop
        add r1, r1, r2
        nop
        nop
        thrend
        nop
        nop
        ",
    );
    let output = qpu(&["run", "--trace", "--uniforms", "0x200000", &source.display().to_string()]);
    assert!(!output.status.success());
    let shown = text(&output.stdout);
    let faults: Vec<&str> = shown.lines().filter(|line| line.starts_with("fault")).collect();
    let [fault] = faults[..] else { panic!("{shown}") };
    assert!(fault.starts_with("fault at 0x00030: VPM: DMA: "), "{shown}");
    assert!(fault.ends_with(" (and 15 more like it)"), "{shown}");
    assert!(shown.lines().any(|line| line.starts_with("0x00030  mov vw_addr")), "{shown}");
}

/// Three QPUs store their numbers in turn: each waits for the previous one, and stalls are counted where they occur.
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
    // If no QPU is the first, all of them block.
    let deadlock = run(&["1,1,0"]);
    assert!(!deadlock.status.success());
    assert_eq!(text(&deadlock.stdout).matches("waits for ever at 0x00030").count(), 3, "{}", text(&deadlock.stdout));
    let wrong = run(&["1,1,0", "2,2,0"]);
    assert!(text(&wrong.stderr).contains("2 lists of uniforms for 3 QPUs"), "{}", text(&wrong.stderr));
}
