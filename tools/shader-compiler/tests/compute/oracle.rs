//! Compiled programs in the model, compared with recorded results of another implementation.
//!
//! `oracle/` beside this crate records the results of wgpu for the same sources. Results of expressions must have the accuracy that WGSL requires; exceptions
//! are listed, with the reason. `ORACLE_PROGRAMS` may name another table of programs, with other ranges than the tree's.

use std::path::Path;

use shader_compiler::{Options, compile};

use crate::machine::{program, run};

#[path = "../oracle/expressions.rs"]
mod expressions;
#[path = "../oracle/programs.rs"]
mod programs;
#[path = "../oracle/random.rs"]
mod random;

use expressions::{ALL, COUNT, Judge, many_operands, operands, source};
use programs::{INVOCATIONS, Suite, digest, given, results};
use random::Random;

/// The rows of a table, without its first line.
fn rows(name: &str) -> Vec<Vec<String>> {
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/oracle").join(name);
    let other = std::env::var_os("ORACLE_PROGRAMS").filter(|_| name == "programs.tsv");
    let path = other.map_or(own, Into::into);
    let text = std::fs::read_to_string(path).unwrap();
    let rows = text.lines().filter(|row| !row.starts_with('#'));
    rows.map(|row| row.split('\t').map(str::to_owned).collect()).collect()
}

/// The error of a result, relative to the allowed one; 0 if it is exact.
fn excess(judge: Judge, float: bool, [a, b]: [u32; 2], found: u32, recorded: u32) -> f64 {
    let (a, b) = (f64::from(f32::from_bits(a)), f64::from(f32::from_bits(b)));
    match judge {
        Judge::Same if found == recorded => 0.0,
        Judge::Same if float && f32::from_bits(found) == f32::from_bits(recorded) => 0.0,
        Judge::Same => f64::INFINITY,
        Judge::Near(exact, bound) => {
            let exact = exact(a, b);
            let off = (f64::from(f32::from_bits(found)) - exact).abs() / bound(a, b, exact);
            if off.is_nan() { f64::INFINITY } else { off }
        }
    }
}

/// Prints the table of exceptions: `cargo test -p shader-compiler --test compute expressions -- --nocapture`.
#[test]
fn expressions_are_as_exact_as_wgsl_wants_them() {
    let recorded = rows("expressions.tsv");
    let misses = rows("misses.tsv");
    assert_eq!(recorded.len(), ALL.len());
    let mut complaints = Vec::new();
    for (number, (expression, row)) in ALL.iter().zip(&recorded).enumerate() {
        let name = format!("{}\t{:?}", expression.text, expression.domain);
        assert_eq!(format!("{}\t{}", row[0], row[1]), name);
        let recorded: Vec<u32> = row[2].split(' ').map(|word| u32::from_str_radix(word, 16).unwrap()).collect();
        let [first, second] = operands(number, expression);
        let program = program(&source(expression));
        let buffers = [vec![0; COUNT], first.clone(), second.clone()];
        let found = run(&program, [COUNT as u32 / 16, 1, 1], &[], &buffers).buffers.swap_remove(0);
        let float = expression.operands == "f32";
        let (mut worst, mut theirs, mut place) = (0.0, 0.0f64, 0);
        for at in 0..COUNT {
            let operands = [first[at], second[at]];
            theirs = theirs.max(excess(expression.judge, float, operands, recorded[at], recorded[at]));
            let off = excess(expression.judge, float, operands, found[at], recorded[at]);
            if off > worst {
                (worst, place) = (off, at);
            }
        }
        assert!(theirs <= 1.0, "{name}: what is recorded is off by {theirs} of what is allowed");
        let allowed = misses.iter().find(|miss| format!("{}\t{}", miss[0], miss[1]) == name);
        let allowed = allowed.map_or(1.0, |miss| miss[2].parse::<f64>().unwrap());
        let [a, b] = [first[place], second[place]];
        let shown = match float {
            true => format!("a {}, b {}", f32::from_bits(a), f32::from_bits(b)),
            false => format!("a {a:#x}, b {b:#x}"),
        };
        if worst > allowed {
            let (found, recorded) = (found[place], recorded[place]);
            complaints.push(format!(
                "{name}\t{worst:.2} of what is allowed, {shown}: {found:#x} ({}) for {recorded:#x} ({})",
                f32::from_bits(found),
                f32::from_bits(recorded)
            ));
        } else if allowed > 1.0 && worst <= 1.0 {
            complaints.push(format!("{name}\tis listed as a miss, and is none"));
        }
        println!("{name}\t{worst:.2}");
    }
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

/// Number of operands for each expression, from this seed on; `BOUNDS` sets another number.
const MANY: usize = 2048;
const MANY_SEED: u64 = 0x0b0d_0000;

/// WGSL's error bounds are checked for many more operands than are recorded.
#[test]
fn floats_are_as_exact_as_wgsl_wants_them_over_many_operands() {
    let count = std::env::var("BOUNDS").map_or(MANY, |text| text.parse().unwrap());
    let mut complaints = Vec::new();
    for (number, expression) in ALL.iter().enumerate() {
        let Judge::Near(..) = expression.judge else { continue };
        let mut random = Random::new(MANY_SEED + number as u64);
        let [first, second] = [(), ()].map(|()| many_operands(&mut random, expression, count));
        let program = program(&source(expression));
        let buffers = [vec![0; count], first.clone(), second.clone()];
        let found = run(&program, [count as u32 / 16, 1, 1], &[], &buffers).buffers.swap_remove(0);
        let excesses = (0..count).map(|at| excess(expression.judge, true, [first[at], second[at]], found[at], 0));
        let (place, worst) = excesses.enumerate().max_by(|(_, a), (_, b)| a.total_cmp(b)).unwrap();
        let [a, b, found] = [first[place], second[place], found[place]].map(f32::from_bits);
        println!("{}\t{worst:.2}, a {a}, b {b}", expression.text);
        if worst > 1.0 {
            complaints.push(format!("{}\t{worst:.2} of what is allowed, a {a}, b {b}: {found}", expression.text));
        }
    }
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

/// Quotients and remainders of many integers, including those next to a multiple.
#[test]
fn integer_divisions_are_exact() {
    let mut random = v3d_sim::random::Random::named("integer divisions");
    let word = |random: &mut v3d_sim::random::Random| match random.below(4) {
        0 => random.below(40),
        1 => (1u32 << random.below(32)).wrapping_add(random.below(5)).wrapping_sub(2),
        2 => u32::MAX - random.below(300),
        _ => random.next_u64() as u32 >> random.below(32),
    };
    let divisors: Vec<u32> = (0..MANY).map(|_| word(&mut random)).collect();
    let dividends: Vec<u32> = divisors
        .iter()
        .map(|&divisor| match random.below(2) {
            0 => word(&mut random),
            _ => divisor.wrapping_mul(word(&mut random)).wrapping_add(random.below(3)).wrapping_sub(1),
        })
        .collect();
    type Exact = fn(u32, u32) -> u32;
    let cases: [(&str, &str, Exact); 4] = [
        ("u32", "a / b", |a, b| a.checked_div(b).unwrap_or(a)),
        ("u32", "a % b", |a, b| a.checked_rem(b).unwrap_or(0)),
        ("i32", "a / b", |a, b| if b == 0 { a } else { (a as i32).wrapping_div(b as i32) as u32 }),
        ("i32", "a % b", |a, b| if b == 0 { 0 } else { (a as i32).wrapping_rem(b as i32) as u32 }),
    ];
    for (operands, text, expected) in cases {
        let expression = ALL.iter().find(|other| (other.operands, other.text) == (operands, text)).unwrap();
        let buffers = [vec![0; MANY], dividends.clone(), divisors.clone()];
        let found = run(&program(&source(expression)), [MANY as u32 / 16, 1, 1], &[], &buffers).buffers.swap_remove(0);
        for ((&a, &b), found) in dividends.iter().zip(&divisors).zip(found) {
            assert_eq!(found, expected(a, b), "{text} of {a:#x} and {b:#x}, {operands}");
        }
    }
}

/// Runs the recorded programs of a suite; at most `max_refused` may be refused: those that the other implementation refuses too.
fn check(name: &str, max_refused: usize) {
    let (_, suite): (&str, Suite) = Suite::ALL.into_iter().find(|(other, _)| *other == name).unwrap();
    let (mut count, mut refused, mut distinct) = (0, 0, std::collections::HashSet::new());
    let mut complaints = Vec::new();
    for row in rows("programs.tsv").iter().filter(|row| row[0] == name) {
        let number: u64 = row[1].parse().unwrap();
        let source = programs::source(suite, number);
        count += 1;
        match compile(&source, "test.wgsl", &Options::default()) {
            Err(_) if row[2] == "refused" => refused += 1,
            Err(error) => complaints.push(format!("{name} {number}: {error}")),
            Ok(programs) => {
                let found = run(&programs[0], [INVOCATIONS / 32, 1, 1], &[], &[results(), given()]);
                let sum = format!("{:016x}", digest(&found.buffers[0]));
                if sum != row[2] {
                    complaints.push(format!("{name} {number} leaves {:x?}", &found.buffers[0][..16]));
                }
                distinct.insert(sum);
            }
        }
    }
    assert!(complaints.is_empty(), "{} of {count}:\n{}", complaints.len(), complaints.join("\n"));
    let own_table = std::env::var_os("ORACLE_PROGRAMS").is_none();
    assert!(!own_table || refused <= max_refused, "{refused} of {count} are refused");
    assert!(distinct.len() > count / 2, "most programs leave something of their own: {} of {count}", distinct.len());
}

#[test]
fn straight_programs_leave_what_is_recorded() {
    check("straight", 0);
}

#[test]
fn branches_leave_what_is_recorded() {
    check("branches", 2);
}

#[test]
fn loops_leave_what_is_recorded() {
    check("loops", 1);
}

#[test]
fn functions_leave_what_is_recorded() {
    check("functions", 3);
}

#[test]
fn memory_holds_what_is_recorded() {
    check("memory", 0);
}

#[test]
fn workgroups_leave_what_is_recorded() {
    check("workgroup", 0);
}
