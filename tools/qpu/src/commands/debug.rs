//! `qpu debug`

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::Args;
use qpu::Assembly;
use v3d_hw::qpu::INSTRUCTION_BYTES;
use v3d_sim::qpu::Launch;
use v3d_sim::stepper::session::{Line, Session};
use v3d_sim::stepper::{Stepper, UserProgram, terminal};

use super::Input;
use super::run::placement::{Placement, program};

/// Steps through a user program.
#[derive(Args)]
#[command(after_help = v3d_sim::stepper::session::HELP)]
pub(crate) struct Debug {
    #[command(flatten)]
    input: Input,
    #[command(flatten)]
    placement: Placement,
    /// Takes commands from a file, one a line, instead of keys; - is standard input
    #[arg(long, value_name = "FILE")]
    commands: Option<PathBuf>,
}

impl Debug {
    pub(crate) fn run(self) -> Result<ExitCode> {
        let Some(assembly) = program(&self.input)? else { return Ok(ExitCode::FAILURE) };
        let (memory, launches) = self.placement.load(&assembly, 1)?;
        let launch = launches.first().copied().context("there is no program")?;
        // The stepper knows every instruction, so that no trace is needed.
        let launch = Launch { record: None, ..launch };
        let stepper = Stepper::of_program(UserProgram::new(launch, memory.to_bytes()));
        let session = Session::new(stepper, listing(&assembly, launch.pc.0));
        let is_well = terminal::run(session, self.commands.as_deref())?;
        Ok(if is_well { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }
}

/// The instructions by their addresses, with the lines that made them.
fn listing(assembly: &Assembly, code: u32) -> BTreeMap<u32, Line> {
    let addresses = (code..).step_by(INSTRUCTION_BYTES as usize);
    let line = |(at, &word): (usize, &u64)| {
        let place = assembly.info.get(at).and_then(|info| {
            let (file, number, _) = assembly.warnings.place(info.span)?;
            let source = assembly.warnings.sources.get(info.span.file as usize)?;
            let text = source.text.lines().nth(number - 1)?;
            // The name without its folders: lines of a terminal are short.
            let file = Path::new(file).file_name().map_or(file.into(), |name| name.to_string_lossy());
            Some(Line { word, number, file: file.into_owned(), text: text.to_owned() })
        });
        place.unwrap_or(Line { word, ..Line::default() })
    };
    addresses.zip(assembly.words.iter().enumerate().map(line)).collect()
}
