//! `qpu asm`

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use clap::Args;
use qpu::output::Format;

use super::{Input, show, write};

/// Assembles sources into one program.
#[derive(Args)]
pub(crate) struct Asm {
    #[command(flatten)]
    input: Input,
    /// File to write; without it, standard output
    #[arg(short, value_name = "OUT")]
    output: Option<PathBuf>,
    /// Form of the output: bin to a file and hex to standard output, if not given
    #[arg(long, value_parser = super::format)]
    format: Option<Format>,
    /// Assembles only, without checks
    #[arg(long)]
    no_check: bool,
    /// Pairs operations, fills delay slots and drops nops
    #[arg(long)]
    optimize: bool,
    /// Writes nothing if a check fails
    #[arg(long, conflicts_with = "no_check")]
    strict: bool,
}

impl Asm {
    pub(crate) fn run(self) -> Result<ExitCode> {
        let Some(mut assembly) = self.input.assemble()? else { return Ok(ExitCode::FAILURE) };
        if self.optimize {
            match qpu::optimize::optimize(&assembly) {
                Ok((optimized, report)) => {
                    eprintln!("{} instructions before optimization, {} after", report.before, report.after);
                    assembly = optimized;
                }
                Err(refused) => show(&refused.diagnostics(&assembly)),
            }
        }
        if !self.no_check {
            let found = qpu::check::check_assembly(&assembly);
            show(&found);
            if self.strict && found.has_errors() {
                return Ok(ExitCode::FAILURE);
            }
        }
        let default = if self.output.is_some() { Format::Bin } else { Format::Hex };
        let stem = self.output.as_ref().or(self.input.sources.first()).and_then(|path| path.file_stem());
        let name = stem.map_or("program".into(), |stem| stem.to_string_lossy());
        write(self.output.as_deref(), &assembly.output(self.format.unwrap_or(default), &name))?;
        Ok(ExitCode::SUCCESS)
    }
}
