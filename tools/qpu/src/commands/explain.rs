//! `qpu explain`

use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result, bail, ensure};
use clap::Args;
use qpu::explain::{explain, explain_program, explain_word, list_words, nearest_word};
use qpu::{Code, Interface, Options, Source, assemble};

use super::{is_source, read_words, show, write};

/// Explains words of the language, instructions, files and codes.
#[derive(Args)]
pub(crate) struct Explain {
    /// An instruction (64 bits in hexadecimal, with 0x or without), a file of a program (source or words), a code of a diagnostic (E0123), or a word of the
    /// language: a mnemonic, signal, register, suffix, directive, function or operator (thrsw, fmul, unif, .ifz, .rep)
    #[arg(required_unless_present = "words", allow_hyphen_values = true)]
    what: Option<String>,
    /// Lists all words of the language
    #[arg(long, conflicts_with_all = ["what", "high"])]
    words: bool,
    /// With a 32-bit number before it: the high half of the instruction
    high: Option<String>,
}

/// Parses a number with the prefix 0x; without a prefix it must have exactly 8 or 16 digits.
fn hexadecimal(text: &str) -> Option<u64> {
    let text = text.trim_end_matches(',');
    let digits = match text.strip_prefix("0x").or(text.strip_prefix("0X")) {
        Some(digits) => digits,
        None if matches!(text.len(), 8 | 16) => text,
        None => return None,
    };
    u64::from_str_radix(digits, 16).ok().filter(|_| !digits.starts_with('+'))
}

impl Explain {
    pub(crate) fn run(self) -> Result<ExitCode> {
        let Some(what) = self.what.filter(|_| !self.words) else {
            write(None, list_words().as_bytes())?;
            return Ok(ExitCode::SUCCESS);
        };
        let path = Path::new(&what);
        if let Some(word) = hexadecimal(&what).filter(|_| !path.exists()) {
            let word = match &self.high {
                None => word,
                Some(high) => {
                    let high = hexadecimal(high).with_context(|| format!("{high} is no hexadecimal number"))?;
                    ensure!(
                        word >> 32 == 0 && high >> 32 == 0,
                        "two numbers are the halves of a word, of 32 bits each"
                    );
                    high << 32 | word
                }
            };
            write(None, explain(word).as_bytes())?;
        } else if path.exists() {
            let (words, interface) = if is_source(path) {
                match assemble(&[Source::read(path)?], &Options::default()) {
                    Ok(assembly) => (assembly.words, assembly.interface),
                    Err(diagnostics) => {
                        show(&diagnostics);
                        return Ok(ExitCode::FAILURE);
                    }
                }
            } else {
                (read_words(path)?, Interface::default())
            };
            write(None, explain_program(&words, &interface).as_bytes())?;
        } else if let Some(code) = Code::parse(&what) {
            write(None, format!("{code}: {}\n\n{}\n", code.title(), code.explanation()).as_bytes())?;
        } else if let Some(text) = explain_word(&what) {
            write(None, text.as_bytes())?;
        } else {
            let hint = nearest_word(&what).map_or(String::new(), |word| format!("; did you mean {word}?"));
            bail!(
                "{what} is no instruction, no file, no code of a diagnostic and no word of the language{hint} (`qpu explain --words` lists these)"
            );
        }
        Ok(ExitCode::SUCCESS)
    }
}
