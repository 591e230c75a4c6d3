//! Command `qpuc`: compiles WGSL, GLSL or SPIR-V, and prints statistics or code.
#![forbid(unsafe_code)]

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Parser, ValueEnum};
use shader_compiler::interface::Stage;
use shader_compiler::limit::Limit;
use shader_compiler::{Compiled, MAX_SOURCE_BYTES, Options, PASSES, Parsed, Pass, compile_module_watched, qasm, read};
use shader_interface::tail::blend::Blend;
use shader_interface::tail::{Compare, Depth, TailState};
use v3d_hw::control_list::Threading;

const EXAMPLES: &str = "Examples:
  qpuc lit.wgsl                                    instructions, uniforms and threads of each stage
  qpuc lit.wgsl --emit qasm                        assembly, each instruction with its source line
  qpuc lit.wgsl --emit after=schedule              what the pass `schedule` makes of each stage
  qpuc --passes                                    the passes of the compiler, and what each does
  qpuc lit.wgsl --depth less --blend alpha         with the code that a pipeline of this state appends
  qpuc lit.wgsl --stage fragment --fragment glow   one entry point only
  qpuc --limits                                    the parts of WGSL that are refused, and why; bounds of time and memory";

/// Compiles shaders in WGSL to programs for VideoCore IV's QPUs
#[derive(Parser)]
#[command(name = "qpuc", after_help = EXAMPLES)]
struct Arguments {
    /// The source: WGSL; or GLSL for Vulkan (.vert, .frag, .comp), or SPIR-V (.spv)
    #[arg(required_unless_present_any = ["limits", "passes"])]
    file: Option<PathBuf>,
    /// Print the parts of WGSL that are refused, and why, and the bounds of time and memory
    #[arg(long, conflicts_with = "file")]
    limits: bool,
    /// Print the passes of the compiler
    #[arg(long, conflicts_with = "file")]
    passes: bool,
    /// Print a line of counts for each stage; this is the default without --emit
    #[arg(long)]
    stats: bool,
    /// Print an intermediate form or the result: naga, ssa, scheduled, qasm, words; after=PASS, or all for each pass
    #[arg(long, value_name = "FORM", value_parser = Emit::parse)]
    emit: Option<Emit>,
    /// Compile only this stage
    #[arg(long, value_enum)]
    stage: Option<OneStage>,
    /// Entry point of the vertex stage [default: vs_main, or the only one]
    #[arg(long)]
    vertex: Option<String>,
    /// Entry point of the fragment stage [default: fs_main, or the only one]
    #[arg(long)]
    fragment: Option<String>,
    /// Entry point of the compute stage [default: cs_main, or the only one]
    #[arg(long)]
    compute: Option<String>,
    /// Use the special function unit's exponentials and logarithms, which are exact to about 12 bits
    #[arg(long)]
    fast_math: bool,
    /// Compile fragment programs for one thread per QPU, even if they look textures up
    #[arg(long)]
    one_thread: bool,
    /// Append the code of a pipeline to the fragment program, with a depth test that also writes depths
    #[arg(long, value_enum)]
    depth: Option<DepthTest>,
    /// Append the code of a pipeline, with blending
    #[arg(long, value_enum)]
    blend: Option<BlendMode>,
    /// Append the code of a pipeline, with this number of samples per pixel
    #[arg(long, value_enum)]
    samples: Option<Samples>,
    /// Append the code of a pipeline, for a target of this format
    #[arg(long, value_enum)]
    format: Option<Format>,
}

impl Arguments {
    fn has_half_floats(&self) -> bool {
        self.format == Some(Format::Rgba16Float)
    }

    /// The state of the pipeline whose code is appended, if any.
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

/// Samples per pixel.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Samples {
    #[value(name = "1")]
    One,
    #[value(name = "4")]
    Four,
}

/// The format of a target's pixels.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// 8 bits per channel
    #[value(name = "8888")]
    Rgba8888,
    /// 16 bits: the same code as for 8888, because the tile buffer has 8 bits per channel until a tile is stored
    #[value(name = "565")]
    Rgb565,
    /// Four half floats, which are not clamped
    #[value(name = "rgba16float")]
    Rgba16Float,
}

/// The comparison of the depth test.
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

/// How the colours of a fragment and of the target are combined.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum BlendMode {
    /// The fragment replaces the target
    None,
    /// By the fragment's alpha
    Alpha,
    /// By the fragment's alpha, with which its colour is already multiplied
    Premultiplied,
    /// The sum of both
    Add,
    /// The product of both
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

/// An output format.
#[derive(Clone, Copy)]
enum Emit {
    /// naga's intermediate representation.
    Naga,
    /// The compiler's scalar values in SSA form.
    Ssa,
    /// The scheduled instructions with their offsets.
    Scheduled,
    /// Assembly with its interface and source lines.
    Qasm,
    /// Instruction words in hexadecimal.
    Words,
    /// The result of one pass.
    After(&'static Pass),
    /// The result of each pass.
    All,
}

impl Emit {
    fn parse(text: &str) -> Result<Self, String> {
        if let Some(name) = text.strip_prefix("after=") {
            let names = PASSES.iter().map(|pass| pass.name).collect::<Vec<_>>().join(", ");
            let pass = PASSES.iter().find(|pass| pass.name == name);
            return pass.map(Self::After).ok_or(format!("there is no pass {name}; there are {names}"));
        }
        Ok(match text {
            "naga" => Self::Naga,
            "ssa" => Self::Ssa,
            "scheduled" => Self::Scheduled,
            "qasm" => Self::Qasm,
            "words" => Self::Words,
            "all" => Self::All,
            _ => return Err("one of naga, ssa, scheduled, qasm, words, all, after=PASS".to_owned()),
        })
    }

    fn shows(self, pass: &Pass) -> bool {
        match self {
            Self::After(only) => only.name == pass.name,
            Self::All => true,
            _ => false,
        }
    }
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let Some(file) = &arguments.file else {
        if arguments.passes {
            for pass in PASSES {
                println!("{:<20} {}", pass.name, pass.purpose);
            }
            return ExitCode::SUCCESS;
        }
        for limit in Limit::ALL {
            println!("{:<20} {:<9} {}", limit.name, limit.cause.name(), limit.message);
        }
        return ExitCode::SUCCESS;
    };
    let path = file.display().to_string();
    let source = match read_file(file) {
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

/// The bytes of a file, or just enough of them to find that it is too long.
fn read_file(path: &Path) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(MAX_SOURCE_BYTES as u64 + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn run(arguments: &Arguments, source: &[u8], path: &str) -> Result<(), String> {
    let Parsed { module, text } = read(source, path).map_err(|error| error.to_string())?;
    if matches!(arguments.emit, Some(Emit::Naga)) {
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
        ..Options::default()
    };
    let mut print_pass = |pass: &'static Pass, stage: &'static str, text: &dyn Fn() -> String| {
        if arguments.emit.is_some_and(|emit| emit.shows(pass)) {
            println!("# {stage}, after {}\n{}", pass.name, text().trim_end());
        }
    };
    let programs =
        compile_module_watched(&module, &text, path, &options, &mut print_pass).map_err(|error| error.to_string())?;
    for program in programs {
        let program = &match arguments.end() {
            Some(end) => program.with_end(&end)?,
            None => program,
        };
        if let Some(emit) = arguments.emit
            && !matches!(emit, Emit::After(_) | Emit::All)
        {
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
        Emit::Naga | Emit::After(_) | Emit::All => String::new(),
        Emit::Ssa => program.ssa.to_string(),
        Emit::Scheduled => qpu::disassemble(&program.words, qpu::disassembler::Style { offsets: true }),
        Emit::Qasm => qasm(program, source),
        Emit::Words => program.words.iter().map(|word| format!("{word:016x}\n")).collect(),
    }
}

/// A line of counts. The code that a pipeline appends to a fragment program is counted if an option asks for it.
fn statistics(program: &Compiled) -> String {
    let (name, instructions, uniforms) = (program.stage.name(), program.words.len(), program.interface.stream.len());
    // Compute programs are always single threads.
    let threads = match program.interface.threading {
        _ if program.stage == Stage::Compute => "",
        Threading::Single => ", 1 thread",
        Threading::Dual => ", 2 threads",
    };
    let plural = |count: usize| if count == 1 { "" } else { "s" };
    let (more_instructions, more_uniforms) = (plural(instructions), plural(uniforms));
    format!("{name} {instructions} instruction{more_instructions}, {uniforms} uniform{more_uniforms}{threads}")
}
