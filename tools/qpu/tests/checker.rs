//! Each rule of the checker: a program that breaks it, with the line where, and one that comes close and does not.

use qpu::check::check_assembly;
use qpu::{Code, Options, Source, assemble};

/// Codes and lines of what is found.
fn findings(source: &str) -> Vec<(Code, usize)> {
    let assembly = assemble(&[Source::new("program", source)], &Options::default());
    let assembly = assembly.unwrap_or_else(|diagnostics| panic!("{source}\n{diagnostics}"));
    let found = check_assembly(&assembly);
    let line = |span: Option<qpu::Span>| span.and_then(|span| found.place(span)).map_or(0, |(_, line, _)| line);
    found.list.iter().map(|diagnostic| (diagnostic.code, line(diagnostic.span))).collect()
}

/// The end that each program needs; it is on the line of the last instruction's successor.
const END: &str = "\nthrend\nnop\nnop";

/// `source` breaks exactly one rule, on one line.
fn breaks(code: Code, line: usize, source: &str) {
    let source = format!("{source}{END}");
    assert_eq!(findings(&source), [(code, line)], "{source}");
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
    // In elements where one writes, the other does not read.
    keeps("mov.setf r0, unif\nmov ra0, r0\nnop\nmov.ifz ra0, r0\nmov.ifnz r1, ra0");
    breaks(Code::ReadAfterWrite, 5, "mov.setf r0, unif\nmov ra0, r0\nnop\nmov.ifz ra0, r0\nmov.ifz r1, ra0");
}

#[test]
fn rules_follow_branches_through_their_delay_slots() {
    breaks(
        Code::ReadAfterWrite,
        6,
        "mov.setf r0, unif; mov ra0, 0\nbrr.anyz -, r:there\nnop\nnop\nmov ra0, r0\n:there mov r1, ra0",
    );
    keeps("mov.setf r0, unif; mov ra0, 0\nbrr.anyz -, r:there\nnop\nmov ra0, r0\nnop\n:there mov r1, ra0");
}

#[test]
fn rotations() {
    breaks(Code::RotationAfterWrite, 2, "mov r0, unif\nmov r1, r0 << 1");
    keeps("mov r0, unif\nnop\nmov r1, r0 << 1");
    breaks(Code::RotationByR5AfterWrite, 3, "mov r0, unif\nmov r5rep, unif\nmov r1, r0 >> r5");
    keeps("mov r0, unif\nmov r5rep, unif\nnop\nmov r1, r0 >> r5");
}

#[test]
fn uniforms() {
    breaks(Code::UniformAfterAddress, 2, "mov unif_addr, unif\nmov r0, unif");
    breaks(Code::UniformAfterAddress, 3, "mov unif_addr, unif\nnop\nmov r0, unif");
    keeps("mov unif_addr, unif\nnop\nnop\nmov r0, unif");
    breaks(Code::UniformCount, 7, ".uniform a, float\n.uniform b, vec2\nmov r0, unif\nread unif");
    keeps(".uniform a, float\n.uniform b, vec2\nmov r0, unif\nread unif\nread unif");
    // On the paths of a branch.
    keeps(
        ".uniform a, float\nmov.setf r0, elem_num\nbrr.anyz -, r:a\nnop\nnop\nnop\nread unif\nbrr -, r:b\nnop\nnop\nnop\n:a read unif\n:b",
    );
}

#[test]
fn tile_buffer() {
    let start = "nop\nnop\n";
    breaks(Code::MsFlagsAfterTlbZ, 5, &format!("{start}mov tlbz, rb15\nnop\nmov r0, ms_mask"));
    keeps(&format!("{start}mov tlbz, rb15\nnop\nnop\nmov r0, ms_mask"));
    breaks(Code::ScoreboardAtStart, 2, "nop\nsbwait\nmov tlbc, rb15");
    breaks(Code::ScoreboardAtStart, 2, "mov r0, rb15\nmov tlbc, r0");
    keeps("mov r0, rb15\nnop\nmov tlbc, r0");
    breaks(Code::TlbAfterUnlock, 4, &format!("{start}mov tlbc, rb15; sbdone\nmov tlbc, rb15"));
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
    let many = |n: usize| format!("mov r0, unif\n{}{}nop", "mov t0s, r0\n".repeat(n), "ldtmu0\n".repeat(n));
    keeps(&many(8));
    breaks(Code::TmuFifoFull, 10, &many(9));
    // A parameter other than s makes the lookup one of textures, which reads uniforms itself.
    breaks(Code::UniformWithTmuWrite, 2, "mov r0, unif\nmov t0t, unif\nmov t0s, r0\nldtmu0");
    keeps(".uniform a, float\n.uniform t, texture, 2\nmov r0, unif\nmov t0t, r0\nmov t0s, r0\nldtmu0");
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
fn branches() {
    breaks(Code::BranchInDelaySlots, 2, "brr -, r:a\nbrr -, r:a\nnop\nnop\n:a nop");
    breaks(Code::Unreachable, 5, "brr -, r:a\nnop\nnop\nnop\nmov r0, unif\n:a nop");
    assert_eq!(findings("nop\nnop"), [(Code::RunsOffTheEnd, 2)]);
    assert_eq!(findings("thrend\nnop"), [(Code::RunsOffTheEnd, 2)]);
    // Calls come back.
    keeps(
        "brr ra1, r:f\nnop\nnop\nnop\nbrr -, r:end\nnop\nnop\nnop\n:f bra -, ra1\nnop\nnop\nnop\n:end nop"
            .replace("ra1", "ra2")
            .as_str(),
    );
}

#[test]
fn one_instruction() {
    breaks(Code::BothAlusWriteSame, 1, "mov r0, unif; mov r0, 1");
    keeps("mov.setf r1, unif\nmov.ifz r0, r1; mov.ifnz r0, 1");
    breaks(Code::Unmapped, 1, "mov r0, ra33");
    breaks(Code::VpmConflict, 2, "mov r0, unif\nmov vr_setup, r0; mov vw_setup, r0");
    breaks(Code::TwoPeripherals, 2, "mov r0, unif\nmov recip, r0; mov t0s, r0\nnop\nnop\nldtmu0");
    breaks(Code::ConditionalPeripheralWrite, 2, "mov.setf r0, unif\nmov.ifz vpm, r0");
    keeps("mov.setf r0, unif\nmov.ifz irq, r0");
    breaks(Code::PartialPeripheralWrite, 2, "mov r0, unif\nfmul vpm.8asf, r0, r0");
}

#[test]
fn the_end() {
    let found = |source: &str| findings(source);
    assert_eq!(found("nop; thrend\nmov r0, unif\nnop"), [(Code::AccessAtEnd, 2)]);
    assert_eq!(found("nop\nthrend\nnop\nmov r0, vary"), [(Code::AccessAtEnd, 4)]);
    assert_eq!(found("mov ra0, 0; thrend\nnop\nnop"), [(Code::WriteAtEnd, 1)]);
    assert_eq!(found("thrend\nmov ra14, 0\nnop"), [(Code::Register14AtEnd, 2)]);
    assert_eq!(found("nop\nnop\nthrend\nnop\nmov tlbz, rb15"), [(Code::TlbZAtEnd, 5)]);
    assert_eq!(found("nop\nnop\nthrend\nmov tlbz, rb15\nnop"), []);
}

#[test]
fn values_that_are_not_there() {
    breaks(Code::NeverWritten, 1, "mov r0, ra3");
    breaks(Code::NeverWritten, 1, "mov ra0, r2");
    breaks(Code::NeverWritten, 1, "mov.ifz ra0, 0");
    keeps("mov r0, ra15; mov r1, rb15");
    // Written on one path only: not reported, it may be meant.
    keeps("mov.setf r0, unif\nbrr.anyz -, r:a\nnop\nnop\nnop\nmov ra3, r0\n:a nop\nmov r1, ra3");
}

#[test]
fn thread_switches() {
    let switch = "thrsw\nnop\nnop\n";
    breaks(Code::LostOverThreadSwitch, 5, &format!("mov r0, unif\n{switch}mov ra0, r0\nlthrsw\nnop\nnop"));
    keeps(&format!("mov ra1, unif\n{switch}mov ra0, ra1\nlthrsw\nnop\nnop"));
    // The two instructions after the signal still belong to the thread.
    keeps("mov r0, unif\nlthrsw\nmov ra0, r0\nmov ra1, r0");
    breaks(Code::LastSwitchMissing, 6, "thrsw\nnop\nnop");
    breaks(Code::UpperHalfOfFile, 2, ".threads 2\nmov ra16, unif");
    keeps(".threads 1\nmov ra16, unif");
}

#[test]
fn mutex() {
    breaks(Code::MutexBalance, 2, "read mutex_acq\nread mutex_acq\nmov mutex_rel, 0");
    breaks(Code::MutexBalance, 1, "mov mutex_rel, 0");
    breaks(Code::MutexBalance, 4, "read mutex_acq");
    keeps("read mutex_acq\nmov mutex_rel, 0");
}

#[test]
fn stages() {
    breaks(Code::VpmInFragment, 2, ".stage fragment\nmov vpm, ra15");
    breaks(Code::StageMismatch, 2, ".stage vertex\nmov r0, vary");
    breaks(Code::VaryingCount, 6, ".stage fragment\n.varying uv, 2\nmov r0, vary");
    keeps(".stage fragment\n.varying uv, 2\nmov r0, vary\nmov r0, vary");
    let vertex = ".stage vertex\n.attribute position, 3\nldi vr_setup, 0x301a00\nnop\nnop\nmov r0, vpm\nmov r1, vpm";
    breaks(Code::AttributeCount, 10, vertex);
    keeps(&format!("{vertex}\nmov r2, vpm"));
    let lookup = "mov r0, unif\nmov t1t, r0\nmov t1s, r0\nldtmu1";
    breaks(Code::TextureNotDeclared, 4, &format!(".texture wood, 0\n{lookup}"));
    keeps(&format!(".texture wood, 1\n{lookup}"));
    breaks(Code::VpmReadWithoutSetup, 1, "mov r0, vpm");
    keeps("ldi vr_setup, 0x101a00\nnop\nnop\nmov r0, vpm");
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
