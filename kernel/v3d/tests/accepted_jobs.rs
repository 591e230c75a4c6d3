//! Suites of jobs for the validator: accepted jobs access only memory to which they have a right, and break no rule.
//!
//! `cargo test -p v3d --test accepted_jobs -- --suite captures --range 0..100000` tests other cases than `cargo xtask test`; `--seconds 3600` continues for
//! this time.

#[path = "../fuzz/src/lib.rs"]
#[expect(unreachable_pub, reason = "the cases are a crate of their own when they are fuzzed")]
mod cases;

use arbitrary::Unstructured;
use cases::{Suite, Suites, Verdict};
use oorandom::Rand64;
use std::ops::Range;
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// Default range of each suite.
const USUAL: Range<u64> = 0..250;
/// Number of bytes from which a case is made.
const CASE_BYTES: usize = 1024;
/// Cases between two checks of the time.
const CHUNK_CASES: u64 = 50;
/// Minimum percentage of accepted cases in a suite: a suite whose cases are all rejected proves nothing.
const MIN_ACCEPTED_PERCENT: u64 = 15;

/// Results of a suite.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    cases: u64,
    accepted: u64,
    refused: u64,
    unclear: u64,
    escaped: u64,
}

/// The bytes of a case: random numbers seeded by suite and case.
fn bytes(suite: Suite, case: u64) -> Vec<u8> {
    let number = Suite::ALL.iter().position(|other| *other == suite).unwrap_or(0) as u128 + 1;
    let mut random = Rand64::new(number << 64 | u128::from(case));
    std::iter::repeat_with(|| random.rand_u64().to_le_bytes()).flatten().take(CASE_BYTES).collect()
}

fn run(suites: &mut Suites, suite: Suite, range: Range<u64>, until: Option<Instant>) -> Counts {
    let mut counts = Counts::default();
    for case in range {
        if counts.cases.is_multiple_of(CHUNK_CASES) && until.is_some_and(|until| Instant::now() > until) {
            break;
        }
        counts.cases += 1;
        match suites.case(suite, &mut Unstructured::new(&bytes(suite, case))) {
            Ok(Verdict::Accepted) => counts.accepted += 1,
            Ok(Verdict::Unclear) => counts.unclear += 1,
            Ok(Verdict::Escaped(what)) => {
                counts.escaped += 1;
                println!("suite {}, case {case}: accepted, but {what}", suite.name());
            }
            // Too few bytes make no case.
            Ok(Verdict::Refused) | Err(_) => counts.refused += 1,
        }
    }
    counts
}

/// Command-line arguments.
struct Arguments {
    suites: Vec<Suite>,
    range: Range<u64>,
    /// Time limit.
    seconds: Option<Duration>,
}

/// Parses the command line. Arguments for the usual test harness are ignored.
fn arguments() -> Result<Arguments, String> {
    let (mut suites, mut range, mut seconds) = (Suite::ALL.to_vec(), USUAL, None);
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().ok_or(format!("{argument} needs a value"));
        match argument.as_str() {
            "--suite" => {
                let name = value()?;
                suites.retain(|suite| suite.name() == name);
                if suites.is_empty() {
                    let names = Suite::ALL.map(Suite::name).join(", ");
                    return Err(format!("there is no suite \"{name}\"; there are {names}"));
                }
            }
            "--range" => {
                let text = value()?;
                let bounds =
                    text.split_once("..").and_then(|(low, high)| Some((low.parse().ok()?, high.parse().ok()?)));
                let (low, high) = bounds.ok_or(format!("\"{text}\" is no range: LO..HI"))?;
                range = low..high;
            }
            "--seconds" => {
                let text = value()?;
                let number: u64 = text.parse().map_err(|_| format!("\"{text}\" is no number of seconds"))?;
                (seconds, range) = (Some(Duration::from_secs(number)), 0..u64::MAX);
            }
            _ => {}
        }
    }
    Ok(Arguments { suites, range, seconds })
}

fn main() -> ExitCode {
    let Arguments { suites: chosen, range, seconds } = match arguments() {
        Ok(arguments) => arguments,
        Err(error) => {
            eprintln!("error: {error}");
            return ExitCode::FAILURE;
        }
    };
    let mut suites = Suites::load();
    let mut failed = false;
    for (name, verdict) in suites.unchanged() {
        if verdict != Verdict::Accepted {
            println!("{name} as it was captured: {verdict:?}");
            failed = true;
        }
    }
    println!("{:10} {:>10} {:>10} {:>10} {:>10} {:>10}", "suite", "cases", "accepted", "refused", "unclear", "escaped");
    let mut all = (0, 0);
    for suite in &chosen {
        let until = seconds.map(|seconds| Instant::now() + seconds / chosen.len() as u32);
        let Counts { cases, accepted, refused, unclear, escaped } = run(&mut suites, *suite, range.clone(), until);
        println!("{:10} {cases:>10} {accepted:>10} {refused:>10} {unclear:>10} {escaped:>10}", suite.name());
        if 100 * accepted < MIN_ACCEPTED_PERCENT * cases {
            println!("suite {}: too few cases are accepted to prove anything", suite.name());
            failed = true;
        }
        failed |= escaped > 0;
        all = (all.0 + cases, all.1 + accepted);
    }
    let (cases, accepted) = all;
    println!("comparison: validator and model on {cases} jobs, {accepted} accepted");
    if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}
