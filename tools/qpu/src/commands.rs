//! The subcommands.

use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use clap::{Args, Parser, Subcommand};
use qpu::assembler::MAX_WORDS;
use qpu::output::Format;
use qpu::source::{MAX_BYTES, read_bytes};
use qpu::{Assembly, Diagnostics, Options, Source, assemble};

mod asm;
mod check;
#[cfg(feature = "model")]
mod debug;
mod dis;
mod explain;
#[cfg(feature = "model")]
mod run;

/// Text at the end of `--help`.
const EXAMPLES: &str = "\
Examples:
  qpu asm shader.qasm -o shader.bin             words for a program; diagnostics name line and column
  qpu asm shader.qasm --format listing          addresses and words beside the text
  qpu asm shader.qasm --optimize --format c     packed instructions, as an array for C
  qpu dis shader.bin                            text again, with labels for branches
  qpu check shader.qasm                         what the hardware minds, along every path
  qpu explain E0220                             why it minds, and how to mend it
  qpu explain 0x100009e7009e7000                an instruction, field by field
  qpu explain thrsw                             a word of the language: its meaning, rules and an example
  qpu explain shader.qasm                       a program: a listing, and each instruction field by field
  qpu run program.qasm --uniforms 1.0,0x1000 --dump 0x1000+64 --trace
                                                a user program in the model, step by step
  qpu run program.qasm --memory input.bin@0x2000 --uniforms 0x2000,0x3000 --dump 0x3000+64
                                                the same with memory that holds a file
  qpu debug program.qasm --uniforms 1.0,0x1000
                                                through it by keys, instruction by instruction, forward and back
  qpu debug program.qasm --commands steps.txt
                                                the same by the commands of a file, one a line

Exit status: 0 if all is well; 1 if there is an error, if `check` finds anything, if `asm --strict` finds an error, or if a program that
`run` runs has a fault or does not end; 2 if the command line is wrong.";

/// Assembler, optimizer, disassembler, checker and runner of VideoCore IV QPU programs
#[derive(Parser)]
#[command(version, after_help = EXAMPLES)]
struct Command {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    /// Assembles sources into one program
    Asm(asm::Asm),
    /// Turns words back into text that assembles to the same words
    Dis(dis::Dis),
    /// Checks a program against the rules of the hardware
    Check(check::Check),
    /// Runs a user program in the model
    #[cfg(feature = "model")]
    Run(run::Run),
    /// Steps through a user program in the model, forward and back
    #[cfg(feature = "model")]
    Debug(debug::Debug),
    /// Explains an instruction word, each instruction of a file, or the code of a diagnostic
    Explain(explain::Explain),
}

/// The input of an assembly.
#[derive(Args)]
struct Input {
    /// Source files, assembled one after the other
    #[arg(required = true)]
    sources: Vec<PathBuf>,
    /// Directory for `.include <file>`
    #[arg(short = 'I', value_name = "DIR")]
    include: Vec<PathBuf>,
    /// Source that is included before the first one
    #[arg(short = 'i', value_name = "FILE")]
    first: Vec<PathBuf>,
    /// Sets a name to an expression, or to 1
    #[arg(short = 'D', value_name = "NAME[=VALUE]")]
    define: Vec<String>,
}

impl Input {
    fn options(&self) -> Options {
        let define = |definition: &String| match definition.split_once('=') {
            Some((name, value)) => (name.to_owned(), value.to_owned()),
            None => (definition.clone(), "1".to_owned()),
        };
        Options {
            include_dirs: self.include.clone(),
            defines: self.define.iter().map(define).collect(),
            ..Options::default()
        }
    }

    fn sources(&self) -> Result<Vec<Source>> {
        let read = |path: &PathBuf| Source::read(path).with_context(|| path.display().to_string());
        let include = |path: &PathBuf| Ok(Source::new("-i", format!(".include <{}>", path.display())));
        self.first.iter().map(include).chain(self.sources.iter().map(read)).collect()
    }

    /// Assembles; diagnostics go to standard error.
    fn assemble(&self) -> Result<Option<Assembly>> {
        Ok(match assemble(&self.sources()?, &self.options()) {
            Ok(assembly) => {
                show(&assembly.warnings);
                Some(assembly)
            }
            Err(diagnostics) => {
                show(&diagnostics);
                None
            }
        })
    }
}

/// Prints diagnostics and their number.
fn show(diagnostics: &Diagnostics) {
    eprint!("{}", diagnostics.render(std::io::stderr().is_terminal()));
    let (errors, warnings) = diagnostics.count();
    if errors + warnings > 0 {
        let plural = |count| if count == 1 { "" } else { "s" };
        eprintln!(
            "{errors} error{}, {warnings} warning{}; `qpu explain CODE` tells more",
            plural(errors),
            plural(warnings)
        );
    }
}

/// Writes to a file, or to standard output.
fn write(path: Option<&Path>, bytes: &[u8]) -> Result<()> {
    match path {
        Some(path) => whole_file::write(path, bytes).with_context(|| path.display().to_string()),
        None => match std::io::stdout().write_all(bytes) {
            Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => Err(error).context("standard output"),
            _ => Ok(()),
        },
    }
}

/// Words of a file: bytes, or text with hexadecimal numbers of 32 or 64 bits (32-bit ones in pairs, low half first).
fn read_words(path: &Path) -> Result<Vec<u64>> {
    let bytes = read_bytes(path, MAX_BYTES).with_context(|| path.display().to_string())?;
    let too_long = format!("{}: longer than {MAX_WORDS} words, the most that is read", path.display());
    match std::str::from_utf8(&bytes).ok().and_then(words_of_text) {
        Some(words) if words.len() > MAX_WORDS => bail!(too_long),
        Some(words) => Ok(words),
        None if bytes.len() > 8 * MAX_WORDS => bail!(too_long),
        None if bytes.len().is_multiple_of(8) => {
            let words = bytes.chunks_exact(8);
            Ok(words.map(|word| u64::from_le_bytes(word.try_into().unwrap_or_default())).collect())
        }
        None => bail!("{}: neither hexadecimal text nor a multiple of 8 bytes", path.display()),
    }
}

/// Parses words from text; `None` if it contains anything other than numbers and comments.
fn words_of_text(text: &str) -> Option<Vec<u64>> {
    let mut words = Vec::new();
    let mut low = None;
    for line in text.lines() {
        let code = line.split("//").next().unwrap_or("").split('#').next().unwrap_or("");
        let code = code.split("/*").next().unwrap_or("");
        for number in code.split([',', ' ', '\t']).filter(|number| !number.is_empty()) {
            let digits = number.strip_prefix("0x").or(number.strip_prefix("0X"));
            let digits = match digits {
                Some(digits) => digits,
                None if number.len() == 16 || number.len() == 8 => number,
                None => return None,
            };
            let value = u64::from_str_radix(digits, 16).ok()?;
            match (digits.len() > 8, low.take()) {
                (true, None) => words.push(value),
                (false, None) => low = Some(value),
                (false, Some(low)) => words.push(value << 32 | low),
                (true, Some(_)) => return None,
            }
        }
    }
    (low.is_none() && !words.is_empty()).then_some(words)
}

/// An output format by its name.
fn format(name: &str) -> Result<Format, String> {
    let names = || Format::NAMED.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
    let found = Format::NAMED.iter().find(|(known, _)| *known == name);
    found.map(|&(_, format)| format).ok_or_else(|| format!("one of {}", names()))
}

/// Whether a file is assembler source, by its name.
fn is_source(path: &Path) -> bool {
    path.extension().is_some_and(|extension| matches!(extension.to_str(), Some("qasm" | "qinc" | "asm" | "s")))
}

/// Runs the command line.
pub(crate) fn run() -> Result<ExitCode> {
    match Command::parse().what {
        What::Asm(asm) => asm.run(),
        What::Dis(dis) => dis.run(),
        What::Check(check) => check.run(),
        #[cfg(feature = "model")]
        What::Run(run) => run.run(),
        #[cfg(feature = "model")]
        What::Debug(debug) => debug.run(),
        What::Explain(explain) => explain.run(),
    }
}
