//! `qpu check`

use std::process::ExitCode;

use anyhow::Result;
use clap::Args;
use qpu::check::{check_assembly, check_words};
use qpu::{Interface, Source};

use super::{Input, is_source, read_words, show};

/// Checks programs against the rules of the hardware.
#[derive(Args)]
pub(crate) struct Check {
    #[command(flatten)]
    input: Input,
}

impl Check {
    pub(crate) fn run(self) -> Result<ExitCode> {
        let mut failed = false;
        if self.input.sources.iter().all(|path| is_source(path)) {
            let Some(assembly) = self.input.assemble()? else { return Ok(ExitCode::FAILURE) };
            let found = check_assembly(&assembly);
            show(&found);
            return Ok(if found.list.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE });
        }
        for path in &self.input.sources {
            let words = read_words(path)?;
            let mut found = check_words(&words, &Interface::default());
            if let Some(Source { name, .. }) = found.sources.first_mut() {
                *name = format!("{} (disassembled)", path.display());
            }
            show(&found);
            failed |= !found.list.is_empty();
        }
        Ok(if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
    }
}
