//! `v3d`: runs, explains and measures V3D jobs without a board.

#![forbid(unsafe_code)]

mod commands;

use clap::{Parser, Subcommand};
use std::io::{ErrorKind, Write};
use std::process::ExitCode;

/// The end of `--help`.
const EXAMPLES: &str = "\
A job folder has `job.json` and images of memory: `cargo xtask capture` makes one from a running kernel, and the
argument `--capture DIR` from an example of the renderer.

Examples:
  v3d replay job --out frame.png --compare      the picture, and how far it is from the folder's reference
  v3d dump job | less                           every list, record, shader and uniform, with addresses to follow
  v3d stats job --heat-map tiles.png            what each shader, unit and tile costs
  v3d debug job --pixel 120,80                  what made this pixel what it is
  v3d debug job --pixel 120,80 --step           through its program by keys, instruction by instruction, forward and back
  v3d explain-registers v3d_regs                what the registers of a board that hangs mean, from Linux' text
  v3d bench                                     frames and QPU instructions a second
  v3d conform --suite branches                  random programs, in every engine
  v3d conform timing                            modelled times beside those of boards";

/// A model of the VideoCore IV 3D engine: executes, explains and measures its jobs.
#[derive(Parser)]
#[command(version, about, after_help = EXAMPLES)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Measure how fast the model executes jobs
    Bench(commands::bench::Arguments),
    /// Compare random programs and texture lookups, executed by all engines, with the reference
    Conform(commands::conform::Arguments),
    /// Trace one pixel, down to the instructions that shade it
    Debug(commands::debug::Arguments),
    /// Explain lists, records, shaders and uniforms of a folder's jobs
    Dump(commands::dump::Arguments),
    /// Explain registers in a report of somebody's board, and what they suggest
    ExplainRegisters(commands::explain_registers::Arguments),
    /// Run the jobs of a folder
    Replay(commands::replay::Arguments),
    /// Count what the jobs of a folder cost, by program, unit and tile
    Stats(commands::stats::Arguments),
}

fn main() -> ExitCode {
    let result = match Arguments::parse().command {
        Command::Bench(arguments) => commands::bench::run(&arguments),
        Command::Conform(arguments) => commands::conform::run(&arguments),
        Command::Debug(arguments) => commands::debug::run(&arguments),
        Command::Dump(arguments) => commands::dump::run(&arguments),
        Command::ExplainRegisters(arguments) => commands::explain_registers::run(&arguments),
        Command::Replay(arguments) => commands::replay::run(&arguments),
        Command::Stats(arguments) => commands::stats::run(&arguments),
    };
    match result {
        Ok(code) => code,
        // The reader of the output has closed it.
        Err(error) if is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            // An error of this output cannot be reported.
            let _ = writeln!(std::io::stderr(), "v3d: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.downcast_ref::<std::io::Error>().is_some_and(|error| error.kind() == ErrorKind::BrokenPipe)
}
