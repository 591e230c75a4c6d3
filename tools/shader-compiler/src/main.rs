//! Command `qpuc`: compiles WGSL and shows what becomes of it.
#![forbid(unsafe_code)]

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, ValueEnum};
use shader_compiler::interface::Stage;
use shader_compiler::limit::Limit;
use shader_compiler::{Compiled, Options, Parsed, compile_module, qasm, read};
use shader_interface::tail::blend::Blend;
use shader_interface::tail::{Compare, Depth, TailState};
use v3d_hw::control_list::Threading;

/// Compiles WGSL to programs for VideoCore IV's QPUs
#[derive(Parser)]
#[command(name = "qpuc")]
struct Arguments {
    /// The source
    #[arg(required_unless_present = "limits")]
    file: Option<PathBuf>,
    /// Print what of WGSL is refused, and why
    #[arg(long)]
    limits: bool,
    /// Print a line for each stage; so it is without --emit, too
    #[arg(long)]
    stats: bool,
    /// Print what the compiler has made
    #[arg(long, value_enum)]
    emit: Option<Emit>,
    /// Compile only this stage
    #[arg(long, value_enum)]
    stage: Option<OneStage>,
    /// Entry point of the vertex stage, else vs_main or the only one
    #[arg(long)]
    vertex: Option<String>,
    /// Entry point of the fragment stage, else fs_main or the only one
    #[arg(long)]
    fragment: Option<String>,
    /// Entry point of the compute stage, else cs_main or the only one
    #[arg(long)]
    compute: Option<String>,
    /// Take the special function unit's exponentials and logarithms as they are: 12 good bits
    #[arg(long)]
    fast_math: bool,
    /// Give fragment programs a QPU for themselves, also if they look textures up
    #[arg(long)]
    one_thread: bool,
    /// Put the end of a pipeline behind the fragment program: with a depth test, whose depths are kept
    #[arg(long, value_enum)]
    depth: Option<DepthTest>,
    /// The same: with blending
    #[arg(long, value_enum)]
    blend: Option<BlendMode>,
    /// The same: with so many samples a pixel
    #[arg(long, value_enum)]
    samples: Option<Samples>,
    /// The same: for targets of this format, which the colour of a fragment program is left for
    #[arg(long, value_enum)]
    format: Option<Format>,
}

impl Arguments {
    fn has_half_floats(&self) -> bool {
        self.format == Some(Format::Rgba16Float)
    }

    /// The pipeline's state whose end is asked for.
    fn end(&self) -> Option<TailState> {
        if self.depth.is_none() && self.blend.is_none() && self.samples.is_none() && self.format.is_none() {
            return None;
        }
        Some(TailState {
            is_half: self.has_half_floats(),
            samples: if self.samples == Some(Samples::Four) { 4 } else { 1 },
            depth: self.depth.map_or(Depth::NONE, DepthTest::depth),
            blend: self.blend.map_or(Blend::NONE, BlendMode::blend),
            ..TailState::PLAIN
        })
    }
}

/// A stage of a source.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum OneStage {
    /// Coordinate and vertex shader
    Vertex,
    Fragment,
    Compute,
}

/// Samples a pixel.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Samples {
    #[value(name = "1")]
    One,
    #[value(name = "4")]
    Four,
}

/// What a target's pixels are.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// Four bytes
    #[value(name = "8888")]
    Rgba8888,
    /// 16 bits: the same end as 8888, since the tile buffer has bytes, which are shortened as a tile is stored
    #[value(name = "565")]
    Rgb565,
    /// Four half floats, which are not clamped to 0 to 1
    #[value(name = "rgba16float")]
    Rgba16Float,
}

/// When a depth passes.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum DepthTest {
    None,
    Never,
    Less,
    Equal,
    LessEqual,
    Greater,
    NotEqual,
    GreaterEqual,
    Always,
}

impl DepthTest {
    fn depth(self) -> Depth {
        let test = match self {
            Self::None => return Depth::NONE,
            Self::Never => Compare::Never,
            Self::Less => Compare::Less,
            Self::Equal => Compare::Equal,
            Self::LessEqual => Compare::LessOrEqual,
            Self::Greater => Compare::Greater,
            Self::NotEqual => Compare::NotEqual,
            Self::GreaterEqual => Compare::GreaterOrEqual,
            Self::Always => Compare::Always,
        };
        Depth { test, write: true }
    }
}

/// How colours are mixed.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum BlendMode {
    /// They replace what is there
    None,
    /// By their alpha
    Alpha,
    /// By their alpha, which they are multiplied with
    Premultiplied,
    /// Their sum
    Add,
    /// Their product
    Multiply,
}

impl BlendMode {
    fn blend(self) -> Blend {
        match self {
            Self::None => Blend::NONE,
            Self::Alpha => Blend::ALPHA,
            Self::Premultiplied => Blend::PREMULTIPLIED,
            Self::Add => Blend::ADD,
            Self::Multiply => Blend::MULTIPLY,
        }
    }
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
    let Some(file) = &arguments.file else {
        for limit in Limit::ALL {
            println!("{:<20} {:<9} {}", limit.name, format!("{:?}", limit.cause).to_lowercase(), limit.message);
        }
        return ExitCode::SUCCESS;
    };
    let path = file.display().to_string();
    let source = match std::fs::read(file) {
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

fn run(arguments: &Arguments, source: &[u8], path: &str) -> Result<(), String> {
    let Parsed { module, text } = read(source, path).map_err(|error| error.to_string())?;
    if arguments.emit == Some(Emit::Naga) {
        println!("{module:#?}");
        return Ok(());
    }
    let options = Options {
        stage: arguments.stage.map(|stage| match stage {
            OneStage::Vertex => Stage::Vertex,
            OneStage::Fragment => Stage::Fragment,
            OneStage::Compute => Stage::Compute,
        }),
        vertex: arguments.vertex.clone(),
        fragment: arguments.fragment.clone(),
        compute: arguments.compute.clone(),
        fast_math: arguments.fast_math,
        one_thread: arguments.one_thread,
        half_color: arguments.has_half_floats(),
    };
    let programs = compile_module(&module, &text, path, &options).map_err(|error| error.to_string())?;
    for program in programs {
        let program = &match arguments.end() {
            Some(end) => program.with_end(&end)?,
            None => program,
        };
        if let Some(emit) = arguments.emit {
            println!("# {}", program.stage.name());
            print!("{}", emitted(emit, program, &text));
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

/// A line of counts. What a pipeline puts behind a fragment program is counted if it was asked for.
fn statistics(program: &Compiled) -> String {
    let (name, instructions, uniforms) = (program.stage.name(), program.words.len(), program.interface.stream.len());
    // A compute program has its QPU for itself.
    let threads = match program.interface.threading {
        _ if program.stage == Stage::Compute => "",
        Threading::Single => ", 1 thread",
        Threading::Dual => ", 2 threads",
    };
    format!("{name} {instructions} instructions, {uniforms} uniforms{threads}")
}
