//! `v3d conform`: random QPU programs, on the fast engines and on the reference engine, and what they leave behind.

use anyhow::{Context, Result, anyhow, ensure};
use std::io::Write;
use std::ops::Range;
use std::process::ExitCode;
use v3d_sim::qpu::conformance::{self, Suite, Summary};

/// What to compare.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// One suite only: add, mul, conditions, pack, rotate, immediates, branches, peripherals, threads or words
    #[arg(long, value_name = "NAME", value_parser = suite)]
    suite: Option<Suite>,
    /// Which cases of each suite
    #[arg(long, value_name = "LO..HI", default_value = "0..10000", value_parser = range)]
    range: Range<u64>,
}

/// Runs the command.
pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{:12} {:>10} {:>14} {:>14}", "suite", "cases", "instructions", "with faults")?;
    let mut failed = false;
    for (suite, name) in Suite::ALL {
        if arguments.suite.is_some_and(|only| only != suite) {
            continue;
        }
        match conformance::run(suite, arguments.range.clone()) {
            Ok(summary) => {
                let Summary { cases, instructions, with_faults } = summary;
                writeln!(out, "{name:12} {cases:>10} {instructions:>14} {with_faults:>14}")?;
            }
            Err(failure) => {
                writeln!(out, "{failure}")?;
                failed = true;
            }
        }
    }
    Ok(if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn suite(name: &str) -> Result<Suite> {
    Suite::by_name(name).ok_or_else(|| {
        let names: Vec<&str> = Suite::ALL.iter().map(|&(_, name)| name).collect();
        anyhow!("there is no such suite; there are {}", names.join(", "))
    })
}

fn range(text: &str) -> Result<Range<u64>> {
    let (low, high) = text.split_once("..").context("a range is two numbers with .. between them")?;
    let range = low.trim().parse()?..high.trim().parse()?;
    ensure!(!range.is_empty(), "a range without cases compares nothing");
    Ok(range)
}
