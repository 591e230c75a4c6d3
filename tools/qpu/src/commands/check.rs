//! `qpu check`

use std::process::ExitCode;

use anyhow::Result;
use clap::Args;
use qpu::check::{Rules, check_assembly_by, check_words_by};
use qpu::{Interface, Source};

use super::{Input, is_source, read_words, show};

/// Checks programs against the rules of the hardware.
#[derive(Args)]
pub(crate) struct Check {
    #[command(flatten)]
    input: Input,
    /// Applies rules too that sources disagree about (E0260 and up)
    #[arg(long)]
    doubtful: bool,
}

impl Check {
    pub(crate) fn run(self) -> Result<ExitCode> {
        let rules = if self.doubtful { Rules::All } else { Rules::Sure };
        let mut failed = false;
        if self.input.sources.iter().all(|path| is_source(path)) {
            let Some(assembly) = self.input.assemble()? else { return Ok(ExitCode::FAILURE) };
            let found = check_assembly_by(rules, &assembly);
            show(&found);
            return Ok(if found.list.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE });
        }
        for path in &self.input.sources {
            let words = read_words(path)?;
            let mut found = check_words_by(rules, &words, &Interface::default());
            if let Some(Source { name, .. }) = found.sources.first_mut() {
                *name = format!("{} (disassembled)", path.display());
            }
            show(&found);
            failed |= !found.list.is_empty();
        }
        Ok(if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
    }
}
