//! Optimized programs compute the same as the originals, in the model, from random states.
//!
//! Suite `straight` is random straight-line code, suite `loops` has a loop around some of it, suite `lookups` has TMU lookups with other work around them, and
//! suite `branches` skips parts on conditions that random values decide, suite `calls` calls a subroutine, suite `links` computes where branches go from return
//! addresses and distances between labels. `QPU_CASES=LO..HI` chooses the cases.
#![cfg(feature = "model")]

use std::collections::BTreeSet;
use std::fmt::Write;
use std::ops::Range;

use expect_test::{Expect, expect};
use qpu::check::facts::Facts;
use qpu::optimize::optimize;
use qpu::{Assembly, Options, Relocation, Source, assemble};
use v3d_hw::BusAddr;
use v3d_sim::memory::OwnedMemory;
use v3d_sim::qpu::lanes::Lanes;
use v3d_sim::qpu::qps::user_io::{Setup, Shared, UserIo};
use v3d_sim::qpu::{CodeCache, Exit, Launch, Qpu};

struct Random(v3d_sim::random::Random);

impl Random {
    fn new(seed: u64) -> Self {
        Self(v3d_sim::random::Random::new(0, seed))
    }

    fn next(&mut self) -> u64 {
        self.0.next_u64()
    }

    fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }

    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.below(from.len() as u64) as usize]
    }
}

/// The results of a program.
#[derive(Debug, PartialEq)]
struct Outcome {
    registers: Vec<Lanes>,
    flags: (u16, u16, u16),
    vpm: Vec<Lanes>,
    memory: Vec<u8>,
    faults: Vec<String>,
}

const CODE: u32 = 0x1000;
const UNIFORMS: u32 = 0x8000;
const DATA: u32 = 0xa000;
const SIZE: usize = 0xc000;
/// The register of file A that calls write.
const LINK: usize = 30;
/// Registers of file A that hold addresses or distances, which differ because code has moved.
const ADDRESSES: [usize; 3] = [26, 28, LINK];

fn run(assembly: &Assembly, seed: u64) -> Outcome {
    let owned = OwnedMemory::new(SIZE);
    let memory = owned.view();
    let code: Vec<u8> = assembly.words.iter().flat_map(|word| word.to_le_bytes()).collect();
    memory.write(BusAddr(CODE), &code).expect("the code fits");
    let mut random = Random::new(seed);
    for n in 0..256 {
        // Floats of moderate size, and random bits.
        let value =
            if n % 3 == 0 { random.next() as u32 } else { ((random.below(2000) as f32) / 64.0 - 15.0).to_bits() };
        memory.set_word(BusAddr(UNIFORMS + 4 * n), value).expect("inside");
        memory.set_word(BusAddr(DATA + 4 * n), random.next() as u32).expect("inside");
    }
    let mut shared = Shared::new(12);
    shared.vpm.set_window(64);
    let mut setup = Setup::default();
    let mut qpu = Qpu::new();
    qpu.start(&Launch {
        pc: BusAddr(CODE),
        uniforms: BusAddr(UNIFORMS),
        uniforms_limit: Some(256),
        ..Launch::default()
    });
    let mut budget = 100_000;
    let mut io = UserIo { qpu: 0, shared: &mut shared, setup: &mut setup };
    let exit = qpu.run(&mut io, memory, &CodeCache::new(), &mut budget);
    assert_eq!(exit, Exit::Ended, "the program does not end");
    let mut registers = qpu.registers().visible().to_vec();
    // r4 may contain an unused result, whose time of arrival does not matter.
    registers.truncate(64 + 4);
    for at in ADDRESSES {
        registers[at] = Lanes::default();
    }
    let flags = (qpu.flags().zero, qpu.flags().negative, qpu.flags().carry);
    let faults = qpu.take_faults().faults().iter().map(ToString::to_string).collect();
    // The code itself is different.
    let memory = owned.to_bytes()[UNIFORMS as usize..].to_vec();
    Outcome { registers, flags, vpm: shared.vpm.rows().to_vec(), memory, faults }
}

const TARGETS: &[&str] =
    &["ra0", "ra1", "ra2", "ra3", "rb0", "rb1", "rb2", "rb3", "r0", "r1", "r2", "r3", "r0", "r1", "r2", "r3"];
const FILE_A: &[&str] = &["ra0", "ra1", "ra2", "ra3", "ra0.16ai", "ra1.8bi"];
const OTHERS: &[&str] = &["rb0", "rb1", "rb2", "rb3", "3", "-7", "15"];
const ACCUMULATORS: &[&str] = &["r0", "r1", "r2", "r3", "r4"];

/// A line with one or two operations; the assembler may refuse it.
fn operation(random: &mut Random) -> String {
    let source = |random: &mut Random| match random.below(5) {
        0 => random.pick(FILE_A),
        1 => random.pick(OTHERS),
        _ => random.pick(ACCUMULATORS),
    };
    let condition =
        |random: &mut Random| if random.below(5) == 0 { random.pick(&[".ifz", ".ifnz", ".ifn", ".ifcc"]) } else { "" };
    let flags = |random: &mut Random| if random.below(8) == 0 { ".setf" } else { "" };
    match random.below(10) {
        0..4 => {
            let op = random
                .pick(&["add", "sub", "and", "or", "xor", "shr", "asr", "ror", "shl", "min", "max", "fadd", "fsub"]);
            let (flags, condition) = (flags(random), condition(random));
            format!("{op}{flags}{condition} {}, {}, {}", random.pick(TARGETS), source(random), source(random))
        }
        4..7 => {
            let op = random.pick(&["fmul", "mul24", "v8min", "v8max", "v8muld"]);
            let (flags, condition) = (flags(random), condition(random));
            format!("{op}{flags}{condition} {}, {}, {}", random.pick(TARGETS), source(random), source(random))
        }
        7 => format!("mov{} {}, {}", condition(random), random.pick(TARGETS), source(random)),
        8 => random
            .pick(&[
                "mov ra0.16bi, r1",
                "mov ra2.8ai, r3",
                "ldi r2, 0x12345678",
                "ldi ra3, [0,1,2,3,0,1,2,3,0,1,2,3,0,1,2,3]",
            ])
            .to_owned(),
        _ => random
            .pick(&["mov r1, r2 << 3", "fmul r0, r1 << 5, r1 << 5", "mov rb1, unif", "mov vpm, r0", "not r3, r3"])
            .to_owned(),
    }
}

/// Code with one operation per line, and nops after each.
fn body(random: &mut Random, lines: u64) -> String {
    let mut text = String::new();
    for _ in 0..lines {
        let line = loop {
            let line = operation(random);
            if assemble(&[Source::new("line", line.clone())], &Options::default()).is_ok() {
                break line;
            }
        };
        let _ = writeln!(text, "{line}\nnop\nnop");
        if random.below(12) == 0 {
            let target = random.pick(&["recip", "recipsqrt", "exp", "log"]);
            let _ = writeln!(
                text,
                "mov {target}, {}\nnop\nnop\nmov {}, r4",
                random.pick(&["r0", "r1"]),
                random.pick(TARGETS)
            );
            text.push_str("nop\nnop\n");
        }
    }
    text
}

/// The contents of a random program besides straight-line code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Suite {
    Straight,
    Loops,
    Lookups,
    Branches,
    Calls,
    Links,
}

impl Suite {
    fn name(self) -> &'static str {
        match self {
            Self::Straight => "straight",
            Self::Loops => "loops",
            Self::Lookups => "lookups",
            Self::Branches => "branches",
            Self::Calls => "calls",
            Self::Links => "links",
        }
    }
}

/// Requests to one or both TMUs, other work, then loads of the results in order. Addresses are within the data.
fn lookups(random: &mut Random) -> String {
    let mut text = String::new();
    let units: Vec<u64> = (0..1 + random.below(3)).map(|_| random.below(2)).collect();
    for unit in &units {
        let source = random.pick(&["r0", "r1", "ra0", "rb1"]);
        let _ = writeln!(text, "mov r3, 0xff\nand r3, r3, {source}\nnop\nadd t{unit}s, r3, ra8\nnop");
    }
    for unit in units {
        let lines = random.below(4);
        text.push_str(&body(random, lines));
        let _ = writeln!(text, "ldtmu{unit}\nmov {}, r4\nnop\nnop", random.pick(TARGETS));
    }
    text
}

/// Where subroutines and parts of code take over accumulators that hold addresses.
const FORGET: &str = "mov r0, 3\nmov r1, 5\nnop\n";

/// A part of a program whose branches go to computed addresses, as in GPU_FFT. Labels are made unique by `n`.
fn links(random: &mut Random, n: u64) -> String {
    let mut part = |most| {
        let lines = random.below(most);
        body(random, lines)
    };
    let (one, two) = (part(5), part(4));
    let load = random.pick(&["mov", "ldi"]);
    let condition = random.pick(&["", ".ifz", ".ifnz", ".ifn", ".ifcc"]);
    let relative = random.pick(&["", "r"]);
    // Bytes behind a label, over two instructions that do nothing.
    let skipped = random.pick(&["", " + 16"]);
    match random.below(5) {
        // The return address of a call is changed in its delay slots, perhaps.
        0 => format!(
            "brr r0, ra{LINK}, -, r:subroutine\n{load} r1, {relative}:there{n} - {relative}:here{n}{skipped}\n\
             add{condition} ra{LINK}, r0, r1\nnop\n:here{n}\n{FORGET}\
             {one}:there{n}\nnop\nnop\n{FORGET}{two}"
        ),
        // A register with a distance, or 0, is added to a label.
        1 => format!(
            "ldi ra28, 0\n{load}{condition} r1, :second{n} - :first{n}\nmov{condition} ra28, r1\nnop\nnop\nbrr -, r:first{n}, ra28\nmov r1, 5\nnop\nnop\n\
             :first{n}\n{one}brr -, r:both{n}\nnop\nnop\nnop\n:second{n}\n{two}:both{n}\n"
        ),
        // An index selects an entry of a table.
        2 => format!(
            "ldi r1, 3\nand r0, ra0, r1\nshl r0, r0, 6\n{load} r1, :table - :subroutine + 64\nldi ra28, 0\nnop\nadd{condition} ra28, r0, r1\nnop\nnop\n\
             brr ra{LINK}, r:subroutine, ra28\nmov r1, 5\nnop\nnop\n{one}"
        ),
        // One of two subroutines is called by branches in each other's delay slots.
        3 => format!(
            "{one}mov.setf -, {}\nbrr.allnn ra{LINK}, r:subroutine\nnop\nnop\nbrr.anyn ra{LINK}, r:other\nnop\nnop\nnop\n{two}",
            random.pick(&["r0", "r1", "r2", "r3"])
        ),
        // A distance is added to a return address in the branch.
        _ => format!(
            "brr ra26, r:behind{n}\nnop\nnop\nnop\n:return{n}\n{one}brr -, r:end{n}\nnop\nnop\nnop\n:behind{n}\n{two}nop\nbra -, ra26, :end{n} - :return{n}\n\
             nop\nnop\nnop\nmov r2, 1\n:end{n}\n"
        ),
    }
}

fn program(random: &mut Random, suite: Suite) -> String {
    let mut text = ".set vpm_words, 0x00001a00\nmov vw_setup, vpm_words\n".to_owned();
    for register in ["ra0", "ra1", "ra2", "ra3", "rb0", "rb1", "rb2", "rb3", "r0", "r1", "r2", "r3"] {
        let _ = writeln!(text, "add {register}, unif, elem_num");
    }
    let _ = writeln!(text, "ldi ra8, {DATA:#x}");
    text.push_str("mov recip, r0\nnop\nnop\nmov.setf r0, r4\nnop\n");
    match suite {
        Suite::Straight => {}
        Suite::Loops => {
            text.push_str("ldi ra7, 3\nnop\n:loop\n");
            let lines = 2 + random.below(6);
            text.push_str(&body(random, lines));
            text.push_str("sub.setf ra7, ra7, 1\nbrr.anynz -, r:loop\nnop\nnop\nnop\n");
        }
        Suite::Lookups => {
            for _ in 0..1 + random.below(3) {
                text.push_str(&lookups(random));
            }
        }
        Suite::Calls => {
            for _ in 0..2 {
                let lines = 1 + random.below(5);
                text.push_str(&body(random, lines));
                let _ = writeln!(text, "brr ra{LINK}, r:subroutine\nnop\nnop\nnop");
            }
        }
        Suite::Links => {
            for n in 0..2 + random.below(4) {
                let lines = 1 + random.below(5);
                text.push_str(&body(random, lines));
                text.push_str(&links(random, n));
            }
        }
        Suite::Branches => {
            for skip in 0..1 + random.below(3) {
                let lines = 1 + random.below(5);
                text.push_str(&body(random, lines));
                let condition = random.pick(&["allz", "anyz", "anynn", "alln", "anyc", ""]);
                let dot = if condition.is_empty() { "" } else { "." };
                let _ = writeln!(text, "brr{dot}{condition} -, r:skip{skip}\nnop\nnop\nnop");
                let lines = 1 + random.below(5);
                text.push_str(&body(random, lines));
                let _ = writeln!(text, ":skip{skip}");
            }
        }
    }
    let lines = 4 + random.below(20);
    text.push_str(&body(random, lines));
    text.push_str("ldi vw_setup, 0x83010000\nldi vw_addr, 0xb000\nread vw_wait\nnop; thrend\nnop\nnop\n");
    if suite == Suite::Links {
        for name in ["subroutine", "other"] {
            let lines = 1 + random.below(6);
            let _ = writeln!(text, ":{name}\n{FORGET}{}bra -, ra{LINK}\nnop\nnop\nnop", body(random, lines));
        }
        // The first entry is not used: an index of 0 selects the second.
        text.push_str(":table\n");
        for entry in 0..5 {
            let _ = writeln!(text, "mov ra1, {entry}\nnop\nnop\nadd rb1, r2, {entry}\nbra -, ra{LINK}\nnop\nnop\nnop");
        }
    }
    if suite == Suite::Calls {
        let lines = 1 + random.below(6);
        let _ = writeln!(text, ":subroutine\n{}bra -, ra{LINK}\nnop\nnop\nnop", body(random, lines));
    }
    text
}

fn cases() -> Range<u64> {
    let range = std::env::var("QPU_CASES").ok();
    let parsed = range.as_deref().and_then(|range| {
        let (low, high) = range.split_once("..")?;
        Some(low.parse().ok()?..high.parse().ok()?)
    });
    parsed.unwrap_or(0..150)
}

fn run_suite(suite: Suite) {
    let name = suite.name();
    let (mut before, mut after, mut faulty, mut stored, mut slots, mut moved) = (0, 0, 0, 0, 0, 0);
    for case in cases() {
        let mut random = Random::new(case.wrapping_mul(5) + suite as u64);
        let text = program(&mut random, suite);
        let original = assemble(&[Source::new("case", text.clone())], &Options::default());
        let original = original.unwrap_or_else(|diagnostics| panic!("suite {name}, case {case}: {diagnostics}"));
        let (optimized, report) = optimize(&original)
            .unwrap_or_else(|refused| panic!("suite {name}, case {case}: {refused} (word {:?})\n{text}", refused.word));
        let (expected, found) = (run(&original, case), run(&optimized, case));
        stored += u32::from(expected.vpm.iter().any(|row| row.0.iter().any(|&word| word != 0)));
        assert!(expected.registers.iter().any(|lanes| lanes.0.iter().any(|&word| word != 0)), "nothing was computed");
        faulty += u32::from(!expected.faults.is_empty());
        let faults_match = found.faults.len() <= expected.faults.len();
        assert!(
            faults_match
                && (&expected.registers, expected.flags, &expected.vpm, &expected.memory)
                    == (&found.registers, found.flags, &found.vpm, &found.memory),
            "suite {name}, case {case} differs: faults {:?} and {:?}\n{text}\n--- optimized\n{}",
            expected.faults,
            found.faults,
            qpu::disassemble(&optimized.words, Default::default()),
        );
        before += report.before;
        after += report.after;
        slots += filled_branch_slots(&optimized.words);
        // A word may be copied into the delay slots of a branch, with its relocation.
        assert!(original.relocations.len() <= optimized.relocations.len(), "suite {name}, case {case}");
        let values = |assembly: &Assembly| assembly.relocations.iter().map(Relocation::value).collect::<BTreeSet<_>>();
        moved += u32::from(values(&original) != values(&optimized));
    }
    assert!(moved > 0 || suite != Suite::Links, "suite {name}: no distance has changed");
    assert!(after * 4 < before * 3, "suite {name}: only from {before} to {after} instructions");
    assert!(stored > 0, "suite {name}: nothing was ever written to the VPM");
    assert!(faulty == 0, "suite {name}: {faulty} programs break rules themselves");
    assert!(slots > 0 || matches!(suite, Suite::Straight | Suite::Lookups), "suite {name}: no branch slot was filled");
    println!("suite {name}: {before} instructions before, {after} after, {slots} slots of branches filled");
}

#[test]
fn calls() {
    run_suite(Suite::Calls);
}

#[test]
fn links_and_distances() {
    run_suite(Suite::Links);
}

/// A table of code after a call, as in GPU_FFT: an offset selects an entry, and another one an instruction of it. The table is unchanged, the rest gets
/// shorter, and each entry is still found.
#[test]
fn tables_stay() {
    let entry = |value: u32| format!("bra -, ra4\nmov r3, {value}\nnop\nadd r3, r3, 1\n");
    let inner: String = (0..4).map(|n| format!("brr -, r:2f\nmov r2, {n}\nnop\nnop\n")).collect();
    let program = |entry_number: u32| {
        format!(
            "brr ra2, r:1f\nnop\nnop\nnop\n{}shl ra8, r1, 5\nnop\nbrr -, ra8\nnop\nnop\nnop\n{inner}:2\nbra -, ra4\nnop\nnop\nmov r3, 14\n:1\n\
             mov r1, unif\nand r1, r1, 3\nnop\nldi r0, {}\nnop\nadd ra6, ra2, r0\nnop\nmov rb1, 7\nnop\nbra ra4, ra6\nnop\nnop\nnop\n\
             mov ra10, r3\nnop\nmov ra11, r2\nnop\nthrend\nnop\nnop",
            (0..4).map(|n| entry(10 + n)).collect::<String>(),
            entry_number * 32
        )
    };
    for number in 0..5 {
        let source = program(number);
        let assembly = assemble(&[Source::new("case", source.as_str())], &Options::default()).expect("assembles");
        let (optimized, report) = optimize(&assembly).unwrap_or_else(|refused| panic!("{refused} {:?}", refused.word));
        assert!(report.after + 4 <= report.before, "{report:?}");
        for seed in 0..8 {
            let (before, after) = (run(&assembly, seed), run(&optimized, seed));
            assert_eq!(before.registers[10], Lanes::splat([11, 12, 13, 14, 14][number as usize]));
            // Addresses differ, because code has moved.
            for at in [10, 11, 32 + 1] {
                assert_eq!(before.registers[at], after.registers[at], "{source}");
            }
        }
    }
}

/// A link is redirected to a label, and the distance follows the code that was moved. Code that is never reached stays: it may be there for its place.
#[test]
fn distances_follow_the_code() {
    check(
        "brr ra4, r:f\nldi r1, r:2f - r:1f\nnop\nadd ra4, ra4, r1\n:1\nnop\nnop\nnop\n:2\nmov r1, unif\nnop\nmov ra0, r1\nnop; thrend\nnop\nnop\n\
        :f\nmov r0, unif\nnop\nnop\nmov rb0, r0\nbra -, ra4\nnop\nnop\nnop",
        expect![[r#"
            brr ra4, r:L0
            ldi r1, 0x18
            nop
            add ra4, ra4, r1
            nop
            nop
            nop
            mov r1, unif
            thrend
            mov ra0, r1
            nop
            :L0
            mov r0, unif
            bra -, ra4
            mov rb0, r0
            nop
            nop
            21 -> 16
        "#]],
    );
}

/// A label before which `.back` inserts an instruction is that instruction's, also for the optimizer.
#[test]
fn tables_start_at_their_labels() {
    let entries: String = (0..3).map(|n| format!("mov r2, {n}\n.back 1\nbrr -, r:end\n.endb\nnop\nnop\n")).collect();
    let source = format!(
        "mov r0, unif\nand r0, r0, 1\nnop\nadd r0, r0, 1\nshl ra2, r0, 5\nnop\nnop\nbrr -, ra2, r:table - 4*8\nnop\nnop\nnop\n:table\n{entries}:end\n\
         mov ra10, r2\nthrend\nnop\nnop"
    );
    let assembly = assemble(&[Source::new("case", source.as_str())], &Options::default()).expect("assembles");
    assert!(assembly.info[11].target && !assembly.info[12].target);
    let (optimized, report) = optimize(&assembly).unwrap_or_else(|refused| panic!("{refused} {:?}", refused.word));
    assert!(report.after < report.before, "{report:?}");
    let found: Vec<u32> = (0..8)
        .map(|seed| {
            let (before, after) = (run(&assembly, seed), run(&optimized, seed));
            assert_eq!(before.registers[10], after.registers[10], "{source}");
            before.registers[10].0[0]
        })
        .collect();
    assert!(found.contains(&0) && found.contains(&1), "{found:?}");
}

#[test]
fn straight() {
    run_suite(Suite::Straight);
}

#[test]
fn loops() {
    run_suite(Suite::Loops);
}

#[test]
fn lookups_by_tmus() {
    run_suite(Suite::Lookups);
}

#[test]
fn branches() {
    run_suite(Suite::Branches);
}

const NOP: u64 = 0x1000_09e7_009e_7000;

/// Number of instructions other than nop in the delay slots of branches.
fn filled_branch_slots(words: &[u64]) -> usize {
    let branches = words.iter().enumerate().filter(|(_, word)| **word >> 60 == 15);
    branches.map(|(at, _)| words[at + 1..].iter().take(3).filter(|word| **word != NOP).count()).sum()
}

/// A program, and the expected result of optimizing it.
fn check(source: &str, expected: Expect) {
    let assembly = assemble(&[Source::new("case", source)], &Options::default()).expect("assembles");
    let (optimized, report) = optimize(&assembly).expect("can be optimized");
    assert_eq!((report.before, report.after), (assembly.words.len(), optimized.words.len()));
    let text = qpu::disassemble(&optimized.words, Default::default());
    expected.assert_eq(&format!("{text}{} -> {}\n", report.before, report.after));
}

#[test]
fn add_and_mul_operations_are_paired() {
    check(
        "fadd r0, r1, r2\nfmul r3, r1, r2\nmov ra0, r1\nmov rb0, r2\nnop; thrend\nnop\nnop",
        expect![[r#"
        thrend
        fadd r0, r1, r2; fmul r3, r1, r2
        mov ra0, r1; mov rb0, r2
        7 -> 3
    "#]],
    );
}

#[test]
fn nops_that_nothing_needs_are_dropped() {
    check(
        "mov r0, unif\nnop\nnop\nmov ra0, r0\nnop\nnop\nadd r1, ra0, r0\nnop; thrend\nnop\nnop",
        expect![[r#"
        mov r0, unif
        mov ra0, r0
        thrend
        add r1, ra0, r0
        nop
        10 -> 5
    "#]],
    );
}

#[test]
fn work_goes_where_the_sfu_is_waited_for() {
    check(
        "mov r0, unif\nmov recip, r0\nnop\nnop\nmov r1, r4\nshl r2, r0, 3\nasr r3, r0, 2\nfmul r0, r1, r1\nnop; thrend\nnop\nnop",
        expect![[r#"
            mov r0, unif
            shl r2, r0, 3; mov recip, r0
            asr r3, r0, 2
            thrend
            mov r1, r4
            fmul r0, r1, r1
            11 -> 6
        "#]],
    );
}

#[test]
fn work_goes_where_a_tmu_is_waited_for() {
    check(
        "mov r0, unif\nmov r1, unif\nmov t0s, r0\nldtmu0\nmov r3, r4\nadd r0, r0, r1\nsub r2, r0, r1\n\
        xor r1, r2, r0\nadd r3, r3, r1\nmov ra0, r3\nmov ra1, r2\nthrend\nnop\nnop",
        expect![[r#"
            mov r0, unif
            mov r1, unif
            add r0, r0, r1; mov t0s, r0
            sub r2, r0, r1
            xor r1, r2, r0; mov ra1, r2
            ldtmu0
            mov r3, r4
            thrend
            add r3, r3, r1
            mov ra0, r3
            14 -> 10
        "#]],
    );
}

/// With enough other work the result is loaded nine instructions after the request, when it has arrived.
#[test]
fn results_of_tmus_are_loaded_when_they_are_there() {
    let work = "add r1, r1, r0\n".repeat(12);
    let source =
        format!("mov r0, unif\nmov r1, unif\nmov t0s, r0\nldtmu0\nmov r3, r4\n{work}add r3, r3, r1\nthrend\nnop\nnop");
    let assembly = assemble(&[Source::new("case", source)], &Options::default()).expect("assembles");
    let (optimized, _) = optimize(&assembly).expect("can be optimized");
    let requested = optimized.words.iter().position(|&word| Facts::of(word).starts_lookup(0)).expect("a request");
    let loaded = optimized.words.iter().position(|&word| Facts::of(word).signal().loads_r4()).expect("a load");
    assert_eq!(loaded - requested, 9, "{}", qpu::disassemble(&optimized.words, Default::default()));
}

#[test]
fn work_goes_into_the_slots_of_branches() {
    check(
        ":loop\nmov r0, unif\nadd r1, r0, 1\nsub r2, r0, 2\nsub.setf r3, r0, 3\nmov ra0, r1\nmov rb0, r2\n\
        brr.anynz -, r:loop\nnop\nnop\nnop\nnop; thrend\nnop\nnop",
        expect![[r#"
            :L0
            mov r0, unif
            sub.setf r3, r0, 3
            brr.anynz -, r:L0
            add r1, r0, 1
            sub r2, r0, 2; mov ra0, r1
            mov rb0, r2
            thrend
            nop
            nop
            13 -> 9
        "#]],
    );
}

#[test]
fn work_goes_into_the_slots_of_the_end() {
    check(
        "mov r0, unif\nldi vw_setup, 0x1a00\nmov vpm, r0\nmov r1, 1\nmov r2, 2\nshl r3, r0, 1\nthrend\nnop\nnop",
        expect![[r#"
            mov r0, unif
            ldi vw_setup, 0x1a00
            shl r3, r0, 1; mov vpm, r0
            thrend
            ldi r1, 0x1
            ldi r2, 0x2
            9 -> 6
        "#]],
    );
}

/// Instructions that the branch depends on stay before it, and instructions after the branch keep their distance.
#[test]
fn slots_are_not_filled_with_what_the_branch_needs() {
    check(
        "mov r0, unif\nnop\nsub.setf r1, r0, 1\nbrr.anynz -, r:end\nnop\nnop\nnop\nmov r2, 1\n:end\nthrend\nnop\nnop",
        expect![[r#"
            mov r0, unif
            sub.setf r1, r0, 1
            brr.anynz -, r:L0
            nop
            nop
            nop
            ldi r2, 0x1
            :L0
            thrend
            nop
            nop
            11 -> 10
        "#]],
    );
    check(
        "mov r0, unif\nmov.setf r1, r0\nmov ra0, r0\nbrr.anynz -, r:end\nnop\nnop\nnop\n:end\nmov r2, ra0\nthrend\nnop\nnop",
        expect![[r#"
            mov r0, unif
            mov.setf r1, r0; mov ra0, r0
            brr.anynz -, r:L0
            nop
            nop
            nop
            :L0
            thrend
            mov r2, ra0
            nop
            11 -> 9
        "#]],
    );
}

/// The loop begins with the first instructions of its body in the slots of the branch.
#[test]
fn slots_are_filled_from_the_target() {
    check(
        ":loop\nmov vpm, unif\nmov vpm, 1\nmov vpm, 2\nmov vpm, 3\nbrr -, r:loop\nnop\nnop\nnop\nthrend\nnop\nnop",
        expect![[r#"
            :L0
            mov vpm, unif
            brr -, r:L0
            ldi vpm, 0x1
            ldi vpm, 0x2
            ldi vpm, 0x3
            thrend
            nop
            nop
            11 -> 8
        "#]],
    );
    // A copied instruction is executed once more after the last iteration: r0 is replaced there, and the uniform is not.
    check(
        ":loop\nmov r0, 5\nmov vpm, r0\nmov vpm, unif\nsub.setf ra0, r0, 3\nbrr.anynz -, r:loop\nnop\nnop\nnop\nmov r0, unif\nmov vpm, r0\n\
        mov vpm, 3\nthrend\nnop\nnop",
        expect![[r#"
            ldi r0, 0x5
            :L0
            sub.setf ra0, r0, 3; mov vpm, r0
            brr.anynz -, r:L0
            mov vpm, unif
            ldi r0, 0x5
            nop
            mov r0, unif
            mov vpm, r0
            ldi vpm, 0x3
            thrend
            nop
            nop
            14 -> 12
        "#]],
    );
}

/// What only the path past the branch computes moves up, unless the target needs the register's old value.
#[test]
fn slots_are_filled_from_the_path_that_is_not_taken() {
    check(
        "mov.setf -, unif\nbrr.allz -, r:end\nnop\nnop\nnop\nmov r1, 7\nmov r2, 9\nmov vpm, r1\nmov vpm, r2\n\
        :end\nmov r1, unif\nmov vpm, r1\nthrend\nnop\nnop",
        expect![[r#"
            mov.setf -, unif
            brr.allz -, r:L0
            ldi r1, 0x7
            nop
            nop
            ldi r2, 0x9
            mov vpm, r1
            mov vpm, r2
            :L0
            mov r1, unif
            mov vpm, r1
            thrend
            nop
            nop
            14 -> 13
        "#]],
    );
}

/// The first instruction that a subroutine returns to must not read what is written in the return's last slot.
#[test]
fn distances_are_kept_where_subroutines_return_to() {
    check(
        "mov r0, unif\nbrr ra2, r:f\nnop\nnop\nnop\nadd r1, ra5, 1\nshl r1, r1, 1\nshl r1, r1, 2\nshl r1, r1, 3\nshl r1, r1, 4\n\
        nop; thrend\nnop\nnop\n:f\nadd r3, r0, 1\nmov ra6, r0\nmov ra7, r3\nmov ra5, r3\nbra -, ra2\nnop\nnop\nnop",
        expect![[r#"
            brr ra2, r:L0
            mov r0, unif
            add r3, r0, 1; mov ra6, r0
            nop
            add r1, ra5, 1
            shl r1, r1, 1
            shl r1, r1, 2
            thrend
            shl r1, r1, 3
            shl r1, r1, 4
            add r3, r0, 1; mov ra6, r0
            :L0
            bra -, ra2
            mov ra7, r3
            mov ra5, r3
            nop
            21 -> 15
        "#]],
    );
}
