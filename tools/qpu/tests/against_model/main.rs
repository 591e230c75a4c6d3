//! Compares the rules of the checker with those of the model, on random programs.
//!
//! What the checker finds in a program, the model must report when it executes that instruction, and what the model reports, the checker must have found.
//! Both were written independently: where they disagree, one of them is wrong, or the [table](table) has the reason.
//!
//! `cargo test -p qpu --test against_model -- --suite tile --range 0..100000` runs other cases than `cargo xtask test` does; with `--suite` it also prints
//! how often each rule was broken.

mod case;
mod execution;
mod table;

use case::{Case, Suite};
use execution::{Executed, Report};
use qpu::check::{Finding, Rules, check_by};
use qpu::disassemble;
use qpu::disassembler::Style;
use std::collections::BTreeMap;
use std::ops::Range;
use std::process::ExitCode;
use table::{ANY_ROW, EXCEPTIONS, Exception, ROWS, Row, Scope, Side, Site};

/// Default range of cases of each suite.
const USUAL: Range<u64> = 0..4000;

/// How often a rule was broken.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    /// Both sides reported it at the same instruction.
    agreed: u64,
    /// Only one side reported it, for a known reason.
    excepted: u64,
}

/// The results of a suite.
#[derive(Debug, Default)]
struct Summary {
    cases: u64,
    without_fault: u64,
    rules: BTreeMap<&'static str, Counts>,
    exceptions: BTreeMap<&'static str, u64>,
}

/// A place that only one side reports.
struct Disagreement {
    row: &'static Row,
    at: usize,
    side: Side,
    message: String,
}

impl Summary {
    fn count(&mut self, case: &Case) -> Vec<Disagreement> {
        let findings = check_by(Rules::All, &case.words, &[], &case.interface());
        let executed = Executed::of(case);
        self.cases += 1;
        self.without_fault += u64::from(executed.reports.is_empty());
        let mut open = Vec::new();
        for row in ROWS.iter().filter(|row| row.scope != Scope::Units || case.suite.is_regular()) {
            let by_checker: Vec<&Finding> =
                findings.iter().filter(|finding| row.codes.contains(&finding.code)).collect();
            let by_model: Vec<&Report> = executed.reports.iter().filter(|report| row.is(&report.what)).collect();
            let counts = self.rules.entry(row.name).or_default();
            let mut differs = |side, at, message: String| {
                let site = Site { words: &case.words, executed: &executed, at, case };
                let is_about = |e: &&Exception| e.side == side && (e.row == row.name || e.row == ANY_ROW);
                let exception = EXCEPTIONS.iter().filter(is_about).find(|e| (e.holds)(&site));
                match exception {
                    Some(exception) => {
                        counts.excepted += 1;
                        *self.exceptions.entry(exception.why).or_default() += 1;
                    }
                    None => open.push(Disagreement { row, at, side, message }),
                }
            };
            for finding in &by_checker {
                let on_path = match (finding.related, row.scope.steps()) {
                    (Some((first, _)), Some(steps)) => executed.was_executed_after(first, finding.at, steps),
                    _ => executed.was_executed(finding.at),
                };
                if !on_path {
                    continue;
                }
                let is_reported = match row.scope {
                    Scope::Once => by_model.iter().any(|report| report.at <= finding.at),
                    _ => by_model.iter().any(|report| report.at == finding.at),
                };
                if !is_reported {
                    differs(Side::Checker, finding.at, finding.message.clone());
                }
            }
            let mut agreed = 0;
            for report in &by_model {
                if by_checker.iter().any(|finding| finding.at == report.at) {
                    agreed += 1;
                } else if row.scope.steps().is_some() || !case.has_conditional_branches() {
                    differs(Side::Model, report.at, report.message.clone());
                }
            }
            counts.agreed += agreed;
        }
        open
    }
}

fn complain(suite: Suite, number: u64, case: &Case, open: &[Disagreement]) {
    println!("suite {}, case {number}, threads: {}", suite.name(), case.threads);
    for Disagreement { row, at, side, message } in open {
        println!("  {}: only {side:?}, instruction {at}: {message}", row.name);
    }
    for (at, line) in
        disassemble(&case.words, Style { offsets: false }).lines().filter(|line| !line.starts_with(':')).enumerate()
    {
        println!("  {at:3} {:016x} {line}", case.words.get(at).copied().unwrap_or_default());
    }
}

/// Runs a suite, and prints the first case in which only one side reports a rule without a known reason; returns how often each side did so.
fn run(suite: Suite, range: Range<u64>) -> (Summary, BTreeMap<(&'static str, Side), u64>) {
    let (mut summary, mut failures) = (Summary::default(), BTreeMap::new());
    for number in range {
        let case = Case::new(suite, number);
        let mut open = summary.count(&case);
        open.retain(|Disagreement { row, side, .. }| {
            let count: &mut u64 = failures.entry((row.name, *side)).or_default();
            *count += 1;
            *count == 1
        });
        if !open.is_empty() {
            complain(suite, number, &case, &open);
        }
    }
    (summary, failures)
}

/// What the command line asks for.
struct Arguments {
    suite: Option<Suite>,
    range: Range<u64>,
}

/// Parses the command line. Options of the standard test harness are ignored.
fn arguments() -> Result<Arguments, String> {
    let (mut suite, mut range) = (None, USUAL);
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().ok_or(format!("{argument} needs a value"));
        match argument.as_str() {
            "--suite" => {
                let name = value()?;
                let found = Suite::ALL.into_iter().find(|suite| suite.name() == name);
                let names = Suite::ALL.map(Suite::name).join(", ");
                suite = Some(found.ok_or(format!("there is no suite \"{name}\"; there are {names}"))?);
            }
            "--range" => {
                let text = value()?;
                let bounds =
                    text.split_once("..").and_then(|(low, high)| Some((low.parse().ok()?, high.parse().ok()?)));
                let (low, high) = bounds.ok_or(format!("\"{text}\" is no range: LO..HI"))?;
                range = low..high;
            }
            _ => {}
        }
    }
    Ok(Arguments { suite, range })
}

fn main() -> ExitCode {
    let Arguments { suite: chosen, range } = match arguments() {
        Ok(arguments) => arguments,
        Err(error) => {
            eprintln!("error: {error}");
            return ExitCode::FAILURE;
        }
    };
    let mut problems = table::gaps();
    let mut rules: BTreeMap<&'static str, Counts> = BTreeMap::new();
    let mut exceptions: BTreeMap<&'static str, u64> = BTreeMap::new();
    let mut cases = 0;
    println!("{:12} {:>8} {:>14} {:>8} {:>9}", "suite", "cases", "without fault", "agreed", "excepted");
    for suite in Suite::ALL.into_iter().filter(|suite| chosen.is_none_or(|chosen| chosen == *suite)) {
        let (summary, failures) = run(suite, range.clone());
        let sum = |of: fn(&Counts) -> u64| summary.rules.values().map(of).sum::<u64>();
        let (agreed, excepted) = (sum(|counts| counts.agreed), sum(|counts| counts.excepted));
        println!("{:12} {:>8} {:>14} {agreed:>8} {excepted:>9}", suite.name(), summary.cases, summary.without_fault);
        cases += summary.cases;
        for ((name, side), count) in failures {
            problems.push(format!("suite {}: {name}: {side:?} alone, {count} times", suite.name()));
        }
        for (name, counts) in summary.rules {
            let all = rules.entry(name).or_default();
            all.agreed += counts.agreed;
            all.excepted += counts.excepted;
        }
        for (why, count) in summary.exceptions {
            *exceptions.entry(why).or_default() += count;
        }
    }
    println!("\n{:40} {:>8} {:>9}", "rule", "agreed", "excepted");
    for (name, Counts { agreed, excepted }) in &rules {
        println!("{name:40} {agreed:>8} {excepted:>9}");
        // A rule that no case breaks is not compared.
        if chosen.is_none() && range == USUAL && *agreed == 0 {
            problems.push(format!("{name}: no case in which both sides name it"));
        }
    }
    for exception in EXCEPTIONS {
        let count = exceptions.get(exception.why).copied().unwrap_or_default();
        println!("{:40} {count:>8} {:?} alone: {}", exception.row, exception.side, exception.why);
        if chosen.is_none() && range == USUAL && count == 0 {
            problems.push(format!("{}: the exception is never met: {}", exception.row, exception.why));
        }
    }
    for problem in &problems {
        println!("{problem}");
    }
    let agreed: u64 = rules.values().map(|counts| counts.agreed).sum();
    println!("comparison: checker and model on {cases} random programs, {agreed} findings of both");
    if problems.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
