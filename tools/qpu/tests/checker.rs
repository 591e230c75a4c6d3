//! Each rule of the checker: a program that breaks it, with the line, and one that barely keeps it.

use qpu::check::{Rules, check_assembly_by};
use qpu::{Code, Diagnostics, Options, Severity, Source, assemble};

fn check(rules: Rules, source: &str) -> Diagnostics {
    let assembly = assemble(&[Source::new("program", source)], &Options::default());
    let assembly = assembly.unwrap_or_else(|diagnostics| panic!("{source}\n{diagnostics}"));
    check_assembly_by(rules, &assembly)
}

/// Codes and lines of the findings.
fn findings(source: &str) -> Vec<(Code, usize)> {
    places(&check(Rules::Sure, source))
}

fn places(found: &Diagnostics) -> Vec<(Code, usize)> {
    let line = |span: Option<qpu::Span>| span.and_then(|span| found.place(span)).map_or(0, |(_, line, _)| line);
    found.list.iter().map(|diagnostic| (diagnostic.code, line(diagnostic.span))).collect()
}

/// The end that each program needs; findings there are on the line after the last instruction.
const END: &str = "\nthrend\nnop\nnop";

/// `source` breaks exactly one rule, on one line.
fn breaks(code: Code, line: usize, source: &str) {
    let source = format!("{source}{END}");
    assert_eq!(findings(&source), [(code, line)], "{source}");
}

/// `source` breaks no rule except for one on which sources disagree, on one line: it is reported only on request.
fn doubts(code: Code, line: usize, source: &str) {
    let source = format!("{source}{END}");
    assert_eq!(findings(&source), [], "{source}");
    let found = check(Rules::All, &source);
    assert_eq!(places(&found), [(code, line)], "{source}");
    assert!(found.list.iter().all(|diagnostic| diagnostic.severity == Severity::Warning), "{found}");
}

/// `source` breaks no rule.
fn keeps(source: &str) {
    let source = format!("{source}{END}");
    assert_eq!(findings(&source), [], "{source}");
}

#[test]
fn read_after_write() {
    breaks(Code::ReadAfterWrite, 2, "mov ra0, unif\nmov r0, ra0");
    breaks(Code::ReadAfterWrite, 2, "mov rb7, unif\nadd r0, rb7, rb7");
    breaks(Code::ReadAfterWrite, 2, "ldi ra2, 8\nbra -, ra2\nnop\nnop\nnop");
    keeps("mov ra0, unif\nnop\nmov r0, ra0");
    keeps("mov r0, unif\nmov r1, r0");
    keeps("mov ra0, unif\nmov rb0, unif\nmov r0, ra0; mov r1, unif");
    // The two conditions are complementary: no element is both written and read.
    keeps("mov.setf r0, unif\nmov ra0, r0\nnop\nmov.ifz ra0, r0\nmov.ifnz r1, ra0");
    breaks(Code::ReadAfterWrite, 5, "mov.setf r0, unif\nmov ra0, r0\nnop\nmov.ifz ra0, r0\nmov.ifz r1, ra0");
    // The flags have changed in between; they are unchanged only where the condition is false, and those elements are not used.
    breaks(Code::ReadAfterWrite, 5, "mov.setf r0, unif\nmov ra0, r0\nnop\nmov.setf.ifz ra0, r0\nmov.ifnz r1, ra0");
    keeps("mov.setf r0, unif\nmov ra0, r0\nnop\nmov.ifz ra0, r0\nmov.setf.ifnz -, ra0");
}

#[test]
fn rules_follow_branches_through_their_delay_slots() {
    breaks(
        Code::ReadAfterWrite,
        6,
        "mov.setf r0, unif; mov ra0, 0\nbrr.anyz -, r:there\nnop\nnop\nmov ra0, r0\n:there mov r1, ra0",
    );
    keeps("mov.setf r0, unif; mov ra0, 0\nbrr.anyz -, r:there\nnop\nmov ra0, r0\nnop\n:there mov r1, ra0");
    let severity =
        |source: &str| check(Rules::Sure, &format!("{source}{END}")).list.first().map(|found| found.severity);
    // With a branch in between it is a warning; if the branch is not taken, the two instructions are adjacent.
    let over = "mov ra0, unif\nmov.setf r0, unif\n:loop mov r1, ra0\nbrr.anyz -, r:loop\nnop\nnop\nmov ra0, r1";
    assert_eq!(severity(over), Some(Severity::Warning));
    assert_eq!(severity(&format!("{over}\nmov r2, ra0")), Some(Severity::Warning));
    let next = "mov ra0, unif\nmov.setf r0, unif\nbrr.anyz -, r:end\nnop\nnop\nmov ra0, r0\nmov r2, ra0\n:end";
    assert_eq!(severity(next), Some(Severity::Error));
    let warned = check(Rules::Sure, &format!(".allow E0200\n{over}{END}"));
    assert!(warned.list.is_empty(), "{warned}");
}

#[test]
fn rotations() {
    breaks(Code::RotationAfterWrite, 2, "mov r0, unif\nmov r1, r0 << 1");
    keeps("mov r0, unif\nnop\nmov r1, r0 << 1");
    // The result of a nop with a write address, as py-videocore writes it, is not used.
    keeps("mov r0, unif\nanop r0\nmov r1, r0 << 1");
    keeps("mov ra0, unif\nanop ra0\nmov r0, ra0");
    breaks(Code::RotationByR5AfterWrite, 3, "mov r0, unif\nmov r5rep, unif\nmov r1, r0 >> r5");
    keeps("mov r0, unif\nmov r5rep, unif\nnop\nmov r1, r0 >> r5");
    // Reading a varying writes its coefficient C to r5.
    breaks(Code::RotationByR5AfterWrite, 3, "mov r0, unif\nread vary\nmov r1, r0 >> r5");
    doubts(Code::RotatedResultSoon, 5, "mov r0, unif\nnop\nmov ra1, r0 >> 1\nnop\nmov r1, ra1");
    let later = "mov r0, unif\nnop\nmov ra1, r0 >> 1\nnop\nnop\nmov r1, ra1; mov r2, rb15";
    assert_eq!(places(&check(Rules::All, &format!("{later}{END}"))), []);
}

#[test]
fn uniforms() {
    breaks(Code::UniformAfterAddress, 2, "mov unif_addr, unif\nmov r0, unif");
    breaks(Code::UniformAfterAddress, 3, "mov unif_addr, unif\nnop\nmov r0, unif");
    keeps("mov unif_addr, unif\nnop\nnop\nmov r0, unif");
    // A write of t consumes a uniform.
    breaks(Code::UniformAfterAddress, 3, "mov r0, unif\nmov unif_addr, r0\nmov t0t, r0\nnop\nmov t0s, r0\nldtmu0");
    keeps("mov r0, unif\nmov unif_addr, r0\nmov t0s, r0\nldtmu0");
    breaks(Code::UniformCount, 7, ".uniform a, float\n.uniform b, vec2\nmov r0, unif\nread unif");
    keeps(".uniform a, float\n.uniform b, vec2\nmov r0, unif\nread unif\nread unif");
    // On both paths of a branch.
    keeps(
        ".uniform a, float\nmov.setf r0, elem_num\nbrr.anyz -, r:a\nnop\nnop\nnop\nread unif\nbrr -, r:b\nnop\nnop\nnop\n:a read unif\n:b",
    );
}

#[test]
fn tile_buffer() {
    let start = "nop\nnop\n";
    breaks(Code::MsFlagsAfterTlbZ, 5, &format!("{start}mov tlbz, rb15; sbdone\nnop\nmov r0, ms_mask"));
    keeps(&format!("{start}mov tlbz, rb15; sbdone\nnop\nnop\nmov r0, ms_mask"));
    breaks(Code::ScoreboardAtStart, 1, "sbwait\nnop\nmov tlbc, rb15; sbdone");
    doubts(Code::ScoreboardWaitSecond, 2, "nop\nsbwait\nmov tlbc, rb15; sbdone");
    breaks(Code::ScoreboardAtStart, 2, "mov r0, rb15\nmov tlbc, r0; sbdone");
    keeps("mov r0, rb15\nnop\nmov tlbc, r0; sbdone");
    // The stencil set-up does not wait for the scoreboard.
    keeps("mov stencil, unif\nnop\nmov tlbz, rb15; sbdone");
    breaks(Code::TlbAfterUnlock, 4, &format!("{start}mov tlbc, rb15; sbdone\nmov tlbc, rb15"));
    breaks(Code::ScoreboardNotUnlocked, 6, &format!("{start}mov tlbc, rb15"));
    // Not reported if the scoreboard is unlocked on one of the paths.
    keeps(&format!("mov.setf r0, unif\nnop\nmov tlbc, r0\nbrr.anyz -, r:a\n{start}nop\nsbdone\n:a nop"));
    let z = |after: usize| format!("{start}mov tlbz, rb15; sbdone{}", "\nnop".repeat(after));
    doubts(Code::TlbZNearEnd, 3, &z(1));
    assert_eq!(places(&check(Rules::All, &format!("{}{END}", z(2)))), []);
}

#[test]
fn tmus() {
    breaks(Code::TmuSoonAfterNoSwap, 3, "mov r0, unif\nmov tmurs, r0\nmov t0s, r0\nldtmu0");
    keeps("mov r0, unif\nmov tmurs, r0\nnop\nnop\nmov t0s, r0\nldtmu0");
    breaks(Code::NoSwapAfterTmu, 3, "mov t0s, unif\nldtmu0\nmov tmurs, 1");
    breaks(Code::TmuWithoutRequest, 1, "ldtmu0");
    breaks(Code::TmuWithoutRequest, 3, "mov t0s, unif\nldtmu0\nldtmu0");
    breaks(Code::TmuWithoutRequest, 2, "mov t1s, unif\nldtmu0\nldtmu1");
    breaks(Code::TmuResultLeft, 4, "mov t0s, unif");
    // Each parameter takes one of the eight slots.
    let many = |n: usize, request: &str| format!("mov r0, unif\nnop\n{}{}nop", request.repeat(n), "ldtmu0\n".repeat(n));
    let (s, st, strb) =
        ("mov t0s, r0\n", "mov t0t, r0\nmov t0s, r0\n", "mov t0t, r0\nmov t0r, r0\nmov t0b, r0\nmov t0s, r0\n");
    keeps(&many(8, s));
    breaks(Code::TmuFifoFull, 11, &many(9, s));
    keeps(&many(4, st));
    breaks(Code::TmuFifoFull, 12, &many(5, st));
    keeps(&many(2, strb));
    breaks(Code::TmuFifoFull, 14, &many(3, strb));
    keeps(&format!("mov r0, unif\n{st}{st}{st}{st}ldtmu0\n{st}ldtmu0\nldtmu0\nldtmu0\nldtmu0"));
    breaks(
        Code::TmuFifoFull,
        9,
        &format!(".threads 2\nmov r0, unif\nnop\n{}lthrsw\nnop\nnop\n{}nop", st.repeat(3), "ldtmu0\n".repeat(3)),
    );
    assert_eq!(places(&check(Rules::All, &format!("{}{END}", many(4, s)))), []);
    doubts(Code::ManyDirectLookups, 7, &many(5, s));
    doubts(Code::TmuAtStart, 1, "mov t0s, unif\nldtmu0");
    // In a loop, only requests that are outstanding on every path are counted.
    keeps("mov ra1, 3\nmov r0, unif\n:l mov t0s, r0\nsub.setf ra1, ra1, 1\nldtmu0\nbrr.anynz -, r:l\nnop\nnop\nnop");
    // A parameter other than s makes it a texture lookup, which consumes uniforms itself.
    breaks(Code::UniformWithTmuWrite, 2, "mov r0, unif\nmov t0t, unif\nmov t0s, r0\nldtmu0");
    keeps(".uniform a, float\n.uniform t, texture, 2\nmov r0, unif\nmov t0t, r0\nmov t0s, r0\nldtmu0");
}

#[test]
fn s_is_written_last() {
    breaks(Code::TmuParameterWithoutS, 3, "mov r0, unif\nmov t0s, r0\nmov t0t, r0\nldtmu0");
    breaks(Code::TmuParameterWithoutS, 2, "mov r0, unif\nmov t1t, r0");
    breaks(Code::TmuParameterWithoutS, 4, "mov r0, unif\nmov t0t, r0\nmov t0s, r0\nmov t0b, r0\nldtmu0");
    // The next parameters may be written before the result is loaded, and s on any path.
    keeps("mov r0, unif\nmov t0s, r0\nmov t0t, r0\nldtmu0\nmov t0s, r0\nldtmu0");
    keeps("mov.setf r0, unif\nmov t0t, r0\nbrr.anyz -, r:a\nnop\nnop\nnop\nmov t0s, r0\nldtmu0\n:a nop");
}

/// Two threads share the FIFO of lookups: a request is made between two switches, and its result is loaded between the next two [AG p.39-40].
#[test]
fn lookups_of_two_threads() {
    let lookup = "mov t0t, ra0\nmov t0s, ra0\n";
    let (switch, last) = ("thrsw\nnop\nnop\n", "lthrsw\nnop\nnop\n");
    let start = "mov ra0, unif\nnop\n";
    keeps(&format!("{start}{lookup}{switch}ldtmu0\n{lookup}{last}ldtmu0"));
    keeps(&format!("{start}{lookup}{lookup}{last}ldtmu0\nldtmu0"));
    // The two instructions after the signal are executed before the switch.
    keeps(&format!("{start}lthrsw\n{lookup}ldtmu0"));
    // Without a switch, before the requested switch takes effect, and after the last one.
    breaks(Code::TmuResultWithoutSwitch, 5, &format!("{start}{lookup}ldtmu0\n{last}"));
    breaks(Code::TmuResultWithoutSwitch, 6, &format!("{start}{lookup}lthrsw\nldtmu0\nnop"));
    breaks(Code::TmuResultWithoutSwitch, 8, &format!("{start}{last}{lookup}ldtmu0"));
    breaks(Code::TmuResultWithoutSwitch, 10, &format!("{start}{lookup}{last}ldtmu0\nmov t0s, ra0\nldtmu0"));
    breaks(Code::TmuResultOverSwitch, 10, &format!("{start}{lookup}{switch}{last}ldtmu0"));
    breaks(Code::TmuResultOverSwitch, 13, &format!("{start}{lookup}{lookup}{switch}ldtmu0\n{last}ldtmu0"));
    breaks(Code::TmuParametersOverSwitch, 6, &format!("{start}mov t0t, ra0\n{switch}mov t0s, ra0\n{last}ldtmu0"));
    // On one of two paths, and in a loop.
    let branch = "mov.setf -, elem_num\nbrr.anyz -, r:a\nnop\nnop\nnop\n";
    keeps(&format!("{start}{lookup}{branch}{switch}:a {last}ldtmu0"));
    keeps(&format!(
        "{start}mov ra1, 3\n:l {lookup}{switch}ldtmu0\nsub.setf ra1, ra1, 1\nnop\nbrr.anynz -, r:l\nnop\nnop\nnop\n{last}"
    ));
    // A single thread need not keep this rule.
    keeps(&format!(".threads 1\n{start}{lookup}ldtmu0"));
}

#[test]
fn sfu() {
    breaks(Code::R4BeforeSfu, 2, "mov recip, unif\nmov r0, r4");
    breaks(Code::R4BeforeSfu, 3, "mov recip, unif\nnop\nmov r0, r4");
    keeps("mov recip, unif\nnop\nnop\nmov r0, r4");
    breaks(Code::SfuBusy, 2, "mov recip, unif\nmov exp, unif");
    breaks(Code::SfuBusy, 3, "mov t0s, unif\nmov recip, unif\nldtmu0");
    keeps("mov recip, unif\nnop\nnop\nmov exp, unif");
}

#[test]
fn results_that_are_not_in_r4_yet() {
    breaks(Code::R4BeforeLoad, 2, "mov t0s, unif\nmov r0, r4\nldtmu0");
    breaks(Code::R4BeforeLoad, 2, "mov t0s, unif\nmov r0, r4; ldtmu0");
    breaks(Code::R4BeforeLoad, 3, "nop\nnop\nmov tlbc, r4; loadc\nsbdone");
    keeps("mov t0s, unif\nldtmu0\nmov r0, r4");
    // The previous result is in r4 until the next one is loaded.
    keeps("mov t0s, unif\nldtmu0\nmov t0s, r4\nmov r0, r4; ldtmu0");
    breaks(Code::R4BeforeLoad, 5, "mov t0s, unif\nlthrsw\nnop\nnop\nmov r0, r4\nldtmu0");
}

#[test]
fn branches() {
    breaks(Code::BranchInDelaySlots, 2, "brr -, r:a\nbrr -, r:a\nnop\nnop\n:a nop");
    // Code after a branch in the last delay slot of another branch is checked, if the first branch falls through to it.
    breaks(
        Code::ReadAfterWrite,
        7,
        "mov.setf -, unif\nbrr.allz -, r:a\nnop\nnop\nbrr.allz -, r:a\nmov ra0, unif\nmov r0, ra0\nnop\n:a nop",
    );
    breaks(Code::Unreachable, 5, "brr -, r:a\nnop\nnop\nnop\nmov r0, unif\n:a nop");
    assert_eq!(findings("nop\nnop"), [(Code::RunsOffTheEnd, 2)]);
    assert_eq!(findings("thrend\nnop"), [(Code::RunsOffTheEnd, 2)]);
    doubts(
        Code::OddBranchTarget,
        9,
        "brr ra3, r:f\nnop\nnop\nnop\nbrr -, r:end\nnop\nnop\nnop\n:f bra.setf -, ra3\nnop\nnop\nnop\n:end nop",
    );
    // Calls return.
    keeps(
        "brr ra1, r:f\nnop\nnop\nnop\nbrr -, r:end\nnop\nnop\nnop\n:f bra -, ra1\nnop\nnop\nnop\n:end nop"
            .replace("ra1", "ra2")
            .as_str(),
    );
}

#[test]
fn one_instruction() {
    breaks(Code::BothAlusWriteSame, 1, "mov r0, unif; mov r0, 1");
    // The same value from both ALUs, as py-videocore writes it at the end of its programs.
    keeps("mov r0, unif\nmov r0, r0; v8min r0, r0, r0");
    breaks(Code::BothAlusWriteSame, 2, "mov r0, unif\nmov r0, r0; fmul r0, r0, r0");
    breaks(Code::BothAlusWriteSame, 3, "mov r0, unif\nnop\nmov r1, r0; mov r1, r0 << 1");
    keeps("ldi r0, r0, 5");
    breaks(Code::BothAlusWriteSame, 2, "mov r0, unif\nmov r5quad, r0; fmul r5rep, r0, r0");
    breaks(Code::BothAlusWriteSame, 2, "ldi vw_setup, 0x1a00\nmov vpm, ra15; v8min vpm, ra15, ra15");
    // A nop has no result.
    keeps("mov r0, unif; mnop r0");
    doubts(Code::BothAlusWriteParts, 3, "mov.setf r1, unif\nldi vw_setup, 0x1a00\nmov.ifz vpm, r1; mov.ifnz vpm, 1");
    keeps("mov.setf r1, unif\nmov.ifz r0, r1; mov.ifnz r0, 1");
    breaks(Code::Unmapped, 1, "mov r0, ra33");
    breaks(Code::VpmConflict, 2, "mov r0, unif\nmov vr_setup, r0; mov vw_setup, r0");
    breaks(Code::TwoPeripherals, 2, "mov r0, unif\nmov recip, r0; mov t0s, r0\nnop\nnop\nldtmu0");
    // Mesa's programs do this.
    keeps("mov t0s, unif\nmov tlb_stencil, unif; ldtmu0");
    keeps("nop\nnop\nmov tlb_stencil, unif; loadc\nsbdone");
    breaks(Code::TwoPeripherals, 2, "mov r0, unif\nmov tlb_stencil, r0; mov recip, r0");
    breaks(Code::TwoPeripherals, 3, "mov r0, unif\nnop\nmov tlbz, r0; loadc\nsbdone");
    // Pack codes 11 and 13, which the mul ALU treats as 3 and 5.
    keeps("mov r0, unif\nfmul.pm8 r1.8abcdsf, r0, r0\nfmul.pm8 r1.8bsf, r0, r0");
    breaks(Code::ConditionalPeripheralWrite, 3, "mov.setf r0, unif\nldi vw_setup, 0x1a00\nmov.ifz vpm, r0");
    keeps("mov.setf r0, unif\nmov.ifz irq, r0");
    keeps("mov.setf r0, unif\nmov.ifz ms_mask, r0");
    // Working programs on boards interrupt the host from fragment shaders.
    keeps(".stage fragment\nmov irq, 1");
    // No result is both zero and negative.
    keeps("mov.setf r0, unif\nmov r3, r0\nmov.ifn r1, r0; mov.ifz r1, r3");
    breaks(Code::BothAlusWriteSame, 3, "mov.setf r0, unif\nmov r3, r0\nmov.ifn r1, r0; mov.ifnz r1, r3");
    breaks(Code::PartialPeripheralWrite, 3, "mov r0, unif\nldi vw_setup, 0x1a00\nfmul vpm.8asf, r0, r0");
    breaks(Code::PartialPeripheralWrite, 3, "mov r0, unif\nldi vw_setup, 0x1a00\nfmul.pm8 vpm.8asf, r0, r0");
}

#[test]
fn the_end() {
    let found = |source: &str| findings(source);
    assert_eq!(found("nop; thrend\nmov r0, unif\nnop"), [(Code::AccessAtEnd, 2)]);
    assert_eq!(found("nop\nthrend\nnop\nmov r0, vary"), [(Code::AccessAtEnd, 4)]);
    // Parameters of a TMU consume uniforms, a lone s does not.
    assert_eq!(
        found("mov r0, 0\nnop\nthrend\nmov t0t, r0\nnop"),
        [(Code::AccessAtEnd, 4), (Code::TmuParameterWithoutS, 4)]
    );
    assert_eq!(
        found("mov r0, 0\nmov t0t, r0\nthrend\nmov t0s, r0\nnop"),
        [(Code::AccessAtEnd, 4), (Code::TmuResultLeft, 5)]
    );
    assert_eq!(found("mov r0, 0\nnop\nthrend\nmov t0s, r0\nnop"), [(Code::TmuResultLeft, 5)]);
    assert_eq!(found("mov ra0, 0; thrend\nnop\nnop"), [(Code::WriteAtEnd, 1)]);
    assert_eq!(found("brr -, 0\nmov ra0, 0; thrend\nnop\nnop"), [(Code::DelaySlots, 1), (Code::WriteAtEnd, 2)]);
    assert_eq!(found("thrend\nmov ra14, 0\nnop"), [(Code::Register14AtEnd, 2)]);
    assert_eq!(found("nop\nnop\nthrend\nnop\nmov tlbz, rb15; sbdone"), [(Code::TlbZAtEnd, 5)]);
    assert_eq!(found("nop\nnop\nthrend\nmov tlbz, rb15\nnop; sbdone"), []);
    assert_eq!(found("thrend\nnop\nnop\nmov r0, 1\nnop\nthrend\nnop\nnop"), [(Code::Unreachable, 4)]);
}

#[test]
fn values_that_are_not_there() {
    breaks(Code::NeverWritten, 1, "mov r0, ra3");
    breaks(Code::NeverWritten, 1, "mov ra0, r2");
    breaks(Code::NeverWritten, 1, "mov.ifz ra0, 0");
    keeps("mov r0, ra15; mov r1, rb15");
    // Some operations on two equal operands are always zero, whatever the operand is; the operand of the other ALU does count.
    keeps("v8subs r0, r0, r0; mov r1, unif\nmov ra0, r1");
    keeps("mov r1, unif\nxor r0, ra3, ra3; mov r2, r1");
    keeps("sub r0, r3, r3; v8subs r1, r3, r3");
    breaks(Code::NeverWritten, 1, "v8subs r0, r0, r0; mov r1, r2");
    breaks(Code::NeverWritten, 1, "v8subs r0, r2, r2; mov r1, r2");
    breaks(Code::NeverWritten, 1, "xor r0, ra3, ra3; mov r1, rb3");
    // Written on one path only: this is not reported, since it may be intended.
    keeps("mov.setf r0, unif\nbrr.anyz -, r:a\nnop\nnop\nnop\nmov ra3, r0\n:a nop\nmov r1, ra3");
}

#[test]
fn thread_switches() {
    let switch = "thrsw\nnop\nnop\n";
    breaks(Code::LostOverThreadSwitch, 5, &format!("mov r0, unif\n{switch}mov ra0, r0\nlthrsw\nnop\nnop"));
    keeps(&format!("mov ra1, unif\n{switch}mov ra0, ra1\nlthrsw\nnop\nnop"));
    // The two instructions after the signal still belong to the old thread.
    keeps("mov r0, unif\nlthrsw\nmov ra0, r0\nmov ra1, r0");
    breaks(Code::LastSwitchMissing, 6, "thrsw\nnop\nnop");
    breaks(Code::TlbBeforeLastSwitch, 3, "nop\nnop\nmov tlbz, rb15\nlthrsw\nnop\nnop\nsbdone");
    // If no switch is marked as the last, as in Broadcom's shaders of OpenVG, it is a warning.
    let severities = |source: &str| -> Vec<_> {
        let found = check(Rules::Sure, &format!("{source}{END}"));
        found.list.iter().map(|finding| (finding.code, finding.severity)).collect()
    };
    assert_eq!(
        severities("thrsw\nnop\nnop\nmov tlbz, rb15; sbdone"),
        [(Code::TlbBeforeLastSwitch, Severity::Warning), (Code::LastSwitchMissing, Severity::Warning)]
    );
    assert_eq!(
        severities("nop\nnop\nmov tlbz, rb15\nlthrsw\nnop\nnop\nsbdone"),
        [(Code::TlbBeforeLastSwitch, Severity::Error)]
    );
    keeps("lthrsw\nnop\nnop\nmov tlbz, rb15; sbdone");
    breaks(Code::SwitchAfterLast, 4, "lthrsw\nnop\nnop\nlthrsw\nnop\nnop");
    let after_last = findings(&format!("{0}thrsw\nnop\nnop\n{0}thrend\nnop\nnop", "lthrsw\nnop\nnop\n"));
    assert_eq!(after_last, [(Code::SwitchAfterLast, 4), (Code::SwitchAfterLast, 7)]);
    // The value is still lost after another switch.
    breaks(Code::LostOverThreadSwitch, 8, &format!("mov r0, unif\n{switch}{switch}mov ra0, r0\nlthrsw\nnop\nnop"));
    breaks(Code::SwitchUnthreaded, 2, ".threads 1\nlthrsw\nnop\nnop");
    breaks(Code::NeverSwitches, 5, ".threads 2\nmov r0, unif");
    keeps(".threads 2\nmov r0, unif\nlthrsw\nnop\nnop");
    keeps(".threads 1\nmov r0, unif");
    breaks(Code::UpperHalfOfFile, 2, ".threads 2\nmov ra16, unif\nlthrsw\nnop\nnop");
    keeps(".threads 1\nmov ra16, unif");
}

#[test]
fn mutex() {
    breaks(Code::MutexBalance, 2, "read mutex_acq\nread mutex_acq\nmov mutex_rel, 0");
    breaks(Code::MutexBalance, 1, "mov mutex_rel, 0");
    breaks(Code::MutexBalance, 4, "read mutex_acq");
    keeps("read mutex_acq\nmov mutex_rel, 0");
    let skip = "mov.setf r0, elem_num\nbrr.anyz -, r:a\nnop\nnop\nnop\n";
    breaks(Code::MutexUnsure, 7, &format!("{skip}read mutex_acq\n:a mov mutex_rel, 0"));
    breaks(Code::MutexUnsure, 7, &format!("{skip}read mutex_acq\n:a read mutex_acq\nmov mutex_rel, 0"));
    breaks(Code::MutexUnsure, 11, &format!("read mutex_acq\n{skip}mov mutex_rel, 0\n:a"));
    // Taken and released in a loop; and by a subroutine, whose state is unknown.
    keeps(
        "mov ra1, 3\nnop\n:l read mutex_acq\nmov mutex_rel, 0\nsub.setf ra1, ra1, 1\nbrr.anynz -, r:l\nnop\nnop\nnop",
    );
    let call = "brr ra2, r:f\nnop\nnop\nnop\nmov mutex_rel, 0\nbrr -, r:end\nnop\nnop\nnop\n";
    keeps(&format!("{call}:f read mutex_acq\nbra -, ra2\nnop\nnop\nnop\n:end nop"));
}

#[test]
fn semaphores() {
    keeps(".semaphore 3, 1, 2\nsrel -, 3\nsacq -, 3\nsrel -, 3");
    breaks(Code::SemaphoreBalance, 6, ".semaphore 3, 1, 2\nsrel -, 3\nsacq -, 3");
    breaks(Code::SemaphoreBalance, 7, ".semaphore 3, 1, 1\nsrel -, 3\nsacq -, 3\nsacq -, 3");
    breaks(Code::SemaphoreBalance, 2, ".semaphore 3, 0, 0\nsrel -, 4");
    // Without a declaration it is not reported: another program may release it.
    keeps("sacq -, 3");
    // On both paths of a branch, and in a loop whose number of iterations is unknown.
    let branch = |other: &str| {
        format!(
            ".semaphore 1, 1, 0\nmov.setf r0, elem_num\nbrr.anyz -, r:a\nnop\nnop\nnop\nsacq -, 1\nbrr -, r:b\nnop\nnop\nnop\n:a {other}\n:b"
        )
    };
    keeps(&branch("sacq -, 1"));
    keeps(&branch("nop"));
    breaks(Code::SemaphoreBalance, 17, &branch("sacq -, 1\nsacq -, 1").replace("1, 1, 0", "1, 0, 0"));
    keeps(".semaphore 1, 3, 0\nmov ra1, 3\nnop\n:l sacq -, 1\nsub.setf ra1, ra1, 1\nbrr.anynz -, r:l\nnop\nnop\nnop");
}

#[test]
fn stages() {
    breaks(Code::VpmInFragment, 2, ".stage fragment\nmov vpm, ra15");
    breaks(Code::StageMismatch, 2, ".stage vertex\nmov r0, vary");
    breaks(Code::VaryingCount, 6, ".stage fragment\n.varying uv, 2\nmov r0, vary");
    keeps(".stage fragment\n.varying uv, 2\nmov r0, vary\nmov r0, vary");
    keeps(".stage fragment\n.primitive lines\n.varying shade\nmov r0, vary\nmov r0, vary");
    breaks(Code::VaryingCount, 8, ".stage fragment\n.primitive points\n.varying shade\nmov r0, vary\nmov r0, vary");
    let vertex = |vectors: u32| {
        let setup = format!(".stage vertex\n.attribute position, 3\nldi vr_setup, 0x{vectors}01a00\nnop\nnop\n");
        setup + &"mov r0, vpm\n".repeat(vectors as usize)
    };
    breaks(Code::AttributeCount, 11, &vertex(2));
    keeps(&vertex(3));
    // Three bytes take one word, three 16-bit components two.
    let packed = |vectors| vertex(vectors).replace("position, 3", "position, 3, u8\n.attribute normal, 3, f16");
    breaks(Code::AttributeCount, 12, &packed(2));
    keeps(&packed(3));
    let lookup = "mov r0, unif\nmov t1t, r0\nmov t1s, r0\nldtmu1";
    breaks(Code::TextureNotDeclared, 4, &format!(".texture wood, 0\n{lookup}"));
    keeps(&format!(".texture wood, 1\n{lookup}"));
    // Its parameter words are counted as uniforms.
    keeps(&format!(".uniform at, float\n.texture wood, 1, 2d\n{lookup}"));
    breaks(Code::UniformCount, 9, &format!(".uniform at, float\n.texture wood, 1, cube\n{lookup}"));
}

#[test]
fn vpm() {
    breaks(Code::VpmReadWithoutSetup, 1, "mov r0, vpm");
    let setup = |vectors: u32| format!("ldi vr_setup, {:#x}\n", vectors << 20 | 0x1a00);
    let rest = "nop\nnop\n";
    let reads = |n: usize| "mov r0, vpm\n".repeat(n);
    keeps(&format!("{}{rest}{}", setup(1), reads(1)));
    breaks(Code::VpmReadBeyondSetup, 5, &format!("{}{rest}{}", setup(1), reads(2)));
    breaks(Code::VpmReadLeft, 9, &format!("{}{rest}{}", setup(3), reads(2)));
    // 0 stands for 16.
    keeps(&format!("{}{rest}{}", setup(0), reads(16)));
    breaks(Code::VpmReadBeyondSetup, 20, &format!("{}{rest}{}", setup(0), reads(17)));
    // Two set-ups can be queued, a third cannot.
    keeps(&format!("{}{}{rest}{}", setup(1), setup(1), reads(2)));
    breaks(Code::VpmQueueFull, 3, &format!("{0}{0}{0}{rest}{1}", setup(1), reads(2)));
    // The third set-up is ignored.
    let third = findings(&format!("{0}{0}{0}{rest}{1}{END}", setup(1), reads(3)));
    assert_eq!(third, [(Code::VpmQueueFull, 3), (Code::VpmReadBeyondSetup, 8)]);
    keeps(&format!("{0}{0}{rest}{1}{0}{rest}{1}{1}", setup(1), reads(1)));
    // A set-up word that is not a constant may be for any number of vectors; one of a DMA load is for none.
    keeps(&format!("mov r1, unif\nmov vr_setup, r1\n{rest}{}", reads(5)));
    breaks(Code::VpmReadWithoutSetup, 4, &format!("ldi vr_setup, 0x80000000\n{rest}{}", reads(1)));
    // In a loop that reads one vector per iteration the number is unknown.
    keeps(&format!(
        "mov ra1, 3\n{}nop\n:l mov r0, vpm\nsub.setf ra1, ra1, 1\nbrr.anynz -, r:l\nnop\nnop\nnop",
        setup(3)
    ));
    breaks(Code::VpmWriteWithoutSetup, 1, "mov vpm, 1");
    keeps("ldi vw_setup, 0x1a00\nmov vpm, 1");
    doubts(Code::VpmReadSoon, 3, &format!("{}nop\n{}", setup(1), reads(1)));
    doubts(Code::VpmSetupSoon, 2, &format!("{}{}{rest}{}", setup(2), setup(1), reads(3)));
    assert_eq!(places(&check(Rules::All, &format!("{0}{0}{rest}{1}{END}", setup(1), reads(2)))), []);
    doubts(Code::MutexWithVpmReads, 4, &format!("{}{rest}read mutex_acq\nmov mutex_rel, 0\n{}", setup(1), reads(1)));
}

#[test]
fn warnings_can_be_allowed() {
    keeps(".allow E0223\nmov r0, ra3");
}

#[test]
fn every_code_has_an_explanation() {
    let mut numbers = Vec::new();
    for code in Code::ALL {
        assert!(code.explanation().len() > 30, "{code}");
        assert!(!code.title().ends_with('.'), "{code}");
        assert_eq!(Code::parse(&code.to_string()), Some(*code));
        numbers.push(code.number());
    }
    assert!(numbers.is_sorted_by(|a, b| a < b));
}

/// A program that leaves its colour in r0 is checked with an appended end: it needs none itself, and rules apply across the boundary.
#[test]
fn a_program_that_leaves_its_colour_needs_no_end() {
    let program =
        |output: &str, last: &str| format!(".stage fragment\n.threads 1\n{output}\nmov r0, 0\nmov r1, 0\n{last}");
    assert_eq!(findings(&program(".output color", "mov r2, 0")), []);
    assert_eq!(findings(&program(".output half_color", "mov r2, 0")), []);
    assert_eq!(findings(&program("", "mov r2, 0")), [(Code::RunsOffTheEnd, 6)]);
    // The appended end is in the branch's delay slots.
    assert_eq!(findings(&program(".output color", "bra -, 0")), [(Code::DelaySlots, 6)]);
}

#[test]
fn what_a_program_leaves_is_said_once_and_is_a_colour() {
    let refused = |source: &str| {
        let Err(diagnostics) = assemble(&[Source::new("case.qasm", source)], &Options::default()) else {
            panic!("{source} is accepted");
        };
        diagnostics.list.iter().map(|finding| finding.message.clone()).collect::<Vec<_>>()
    };
    assert_eq!(refused(".output color\n.output half_color\nnop"), ["the output is declared twice"]);
    assert_eq!(
        refused(".output depth\nnop"),
        ["`depth` is nothing that a program can leave behind: color or half_color"]
    );
}
