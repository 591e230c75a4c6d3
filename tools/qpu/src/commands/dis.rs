//! `qpu dis`

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use clap::Args;
use qpu::disassembler::{Style, disassemble};
use qpu::output::Format;
use qpu::{Options, Source, assemble};

use super::{read_words, write};

/// Turns words back into text.
#[derive(Args)]
pub(crate) struct Dis {
    /// File with words: bytes, or hexadecimal text
    input: PathBuf,
    /// File to write; without it, standard output
    #[arg(short, value_name = "OUT")]
    output: Option<PathBuf>,
    /// Appends offset and word to each line as a comment; formats with text beside the words always show both
    #[arg(long, conflicts_with = "format")]
    offsets: bool,
    /// Other forms than assembler text: the words, in c, rust and listing with the text beside them
    #[arg(long, value_parser = super::format)]
    format: Option<Format>,
}

impl Dis {
    pub(crate) fn run(self) -> Result<ExitCode> {
        let words = read_words(&self.input)?;
        let text = disassemble(&words, Style { offsets: self.offsets });
        let Some(format) = self.format else {
            write(self.output.as_deref(), text.as_bytes())?;
            return Ok(ExitCode::SUCCESS);
        };
        let name = self.input.file_stem().map_or("program".into(), |stem| stem.to_string_lossy()).into_owned();
        let assembly = assemble(&[Source::new(name.as_str(), text)], &Options::default())?;
        write(self.output.as_deref(), &assembly.output(format, &name))?;
        Ok(ExitCode::SUCCESS)
    }
}
