//! Command `qpuc`: compiles WGSL and shows what becomes of it.
#![forbid(unsafe_code)]

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, ValueEnum};
use shader_compiler::interface::Stage;
use shader_compiler::{Compiled, Options, compile, parse, qasm};

/// Compiles WGSL to programs for VideoCore IV's QPUs
#[derive(Parser)]
#[command(name = "qpuc")]
struct Arguments {
    /// The source
    file: PathBuf,
    /// Print a line for each stage; so it is without --emit, too
    #[arg(long)]
    stats: bool,
    /// Print what the compiler has made
    #[arg(long, value_enum)]
    emit: Option<Emit>,
    /// Entry point of the vertex stage, else vs_main or the only one
    #[arg(long)]
    vertex: Option<String>,
    /// Entry point of the fragment stage, else fs_main or the only one
    #[arg(long)]
    fragment: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Emit {
    /// What naga reads
    Naga,
    /// Scalar values
    Ssa,
    /// Instructions in their order
    Scheduled,
    /// Assembly with its interface and the lines of the source
    Qasm,
    /// The words, in hexadecimal digits
    Words,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let path = arguments.file.display().to_string();
    let source = match std::fs::read_to_string(&arguments.file) {
        Ok(source) => source,
        Err(error) => {
            eprintln!("{path}: {error}");
            return ExitCode::FAILURE;
        }
    };
    match run(&arguments, &source, &path) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &Arguments, source: &str, path: &str) -> Result<(), shader_compiler::Error> {
    if arguments.emit == Some(Emit::Naga) {
        println!("{:#?}", parse(source, path)?);
        return Ok(());
    }
    let options = Options { vertex: arguments.vertex.clone(), fragment: arguments.fragment.clone() };
    let programs = compile(source, path, &options)?;
    for program in &programs {
        if let Some(emit) = arguments.emit {
            println!("# {}", program.stage.name());
            print!("{}", emitted(emit, program, source));
        }
        if arguments.stats || arguments.emit.is_none() {
            println!("{}", statistics(program));
        }
    }
    Ok(())
}

fn emitted(emit: Emit, program: &Compiled, source: &str) -> String {
    match emit {
        Emit::Naga => String::new(),
        Emit::Ssa => program.ssa.to_string(),
        Emit::Scheduled => qpu::disassemble(&program.words, qpu::disassembler::Style { offsets: true }),
        Emit::Qasm => qasm(program, source),
        Emit::Words => program.words.iter().map(|word| format!("{word:016x}\n")).collect(),
    }
}

/// A line of counts. What a pipeline puts behind a fragment program is not counted.
fn statistics(program: &Compiled) -> String {
    let (name, instructions, uniforms) = (program.stage.name(), program.words.len(), program.interface.stream.len());
    let threads = if program.stage == Stage::Fragment { ", 1 thread" } else { "" };
    format!("{name} {instructions} instructions, {uniforms} uniforms{threads}")
}
