//! `qpu dis`

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use clap::Args;
use qpu::disassembler::{Style, disassemble};

use super::{read_words, write};

/// Turns words back into text.
#[derive(Args)]
pub(crate) struct Dis {
    /// File with words: bytes, or hexadecimal text
    input: PathBuf,
    /// File to write; without it, standard output
    #[arg(short, value_name = "OUT")]
    output: Option<PathBuf>,
    /// Shows offset and word behind each line
    #[arg(long)]
    offsets: bool,
}

impl Dis {
    pub(crate) fn run(self) -> Result<ExitCode> {
        let words = read_words(&self.input)?;
        let text = disassemble(&words, Style { offsets: self.offsets });
        write(self.output.as_deref(), text.as_bytes())?;
        Ok(ExitCode::SUCCESS)
    }
}
