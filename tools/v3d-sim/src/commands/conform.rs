//! `v3d conform`: random QPU programs and texture lookups, executed by all engines and by the reference, and compared.

mod timing;

use anyhow::{Context, Result, anyhow, ensure};
use std::io::Write;
use std::ops::Range;
use std::process::ExitCode;
use v3d_sim::qpu::EngineKind;
use v3d_sim::qpu::conformance as programs;
use v3d_sim::tmu::conformance as lookups;

/// Options of the command.
#[derive(clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Option<Command>,
    /// One suite only: add, mul, conditions, pack, rotate, immediates, branches, peripherals, threads, words, ordinary, exchanges, endings or repeats (of
    /// programs); texture-sizes, texture-filters, texture-wraps, texture-cubes, texture-children or texture-parameters (of lookups)
    #[arg(long, value_name = "NAME", value_parser = suite)]
    suite: Option<Suite>,
    /// Which cases of each suite
    #[arg(long, value_name = "LO..HI", default_value = "0..10000", value_parser = range)]
    range: Range<u64>,
    /// Compare one engine only: reference, vectors, avx2, neon or avx512; the default is all that this host has
    #[arg(long, value_name = "KIND")]
    engine: Option<EngineKind>,
}

/// Comparisons of another kind.
#[derive(clap::Subcommand)]
enum Command {
    /// Compare the timing model with what boards took for the same workloads
    Timing(timing::Arguments),
}

/// A suite of programs or of lookups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Suite {
    Programs(programs::Suite),
    Lookups(lookups::Suite),
}

impl Suite {
    fn all() -> impl Iterator<Item = (Self, &'static str)> {
        let programs = programs::Suite::ALL.into_iter().map(|(suite, name)| (Self::Programs(suite), name));
        programs.chain(lookups::Suite::ALL.into_iter().map(|(suite, name)| (Self::Lookups(suite), name)))
    }

    /// Runs cases; returns their counts as text.
    fn run(self, cases: Range<u64>, engine: Option<EngineKind>) -> Result<String> {
        Ok(match self {
            Self::Programs(suite) => {
                let programs::Summary { cases, instructions, with_faults, translated, repeated } = match engine {
                    None => programs::run(suite, cases)?,
                    Some(engine) => programs::run_engine(suite, cases, engine)?,
                };
                let repeated = if repeated == 0 { String::new() } else { format!("{repeated} runs again, ") };
                format!(
                    "{cases:>10} {instructions:>14} {with_faults:>14}   {repeated}{translated} instructions in translated code"
                )
            }
            Self::Lookups(suite) => {
                let lookups::Summary { cases, lookups, with_faults, in_vectors, .. } = lookups::run(suite, cases)?;
                format!("{cases:>10} {lookups:>14} {with_faults:>14}   {in_vectors} lookups in vectors")
            }
        })
    }
}

/// Runs the command.
pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode> {
    if let Some(Command::Timing(arguments)) = &arguments.command {
        return timing::run(arguments);
    }
    let mut out = std::io::stdout().lock();
    writeln!(out, "{:18} {:>10} {:>14} {:>14}", "suite", "cases", "instructions", "with faults")?;
    writeln!(out, "{:18} {:>10} {:>14}", "", "", "or lookups")?;
    let mut failed = false;
    for (suite, name) in Suite::all() {
        if arguments.suite.is_some_and(|only| only != suite) {
            continue;
        }
        match suite.run(arguments.range.clone(), arguments.engine) {
            Ok(figures) => writeln!(out, "{name:18} {figures}")?,
            Err(failure) => {
                writeln!(out, "{failure}")?;
                failed = true;
            }
        }
    }
    Ok(if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn suite(name: &str) -> Result<Suite> {
    Suite::all().find(|(_, own)| *own == name).map(|(suite, _)| suite).ok_or_else(|| {
        let names: Vec<&str> = Suite::all().map(|(_, name)| name).collect();
        anyhow!("there is no such suite; there are {}", names.join(", "))
    })
}

fn range(text: &str) -> Result<Range<u64>> {
    let (low, high) = text.split_once("..").context("a range is two numbers with .. between them")?;
    let range = low.trim().parse()?..high.trim().parse()?;
    ensure!(!range.is_empty(), "a range without cases compares nothing");
    Ok(range)
}
