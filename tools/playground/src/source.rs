//! A source to diagnostics and programs.

use crate::compute::ComputeShader;
use crate::live;
use crate::threads::{self, Stretch};
use qpu::{Assembly, Diagnostics, Options, Severity, Source};
use qpu_text::Text;
use renderer::wgsl::Shader;
use serde::Serialize;
use shader_compiler::interface::Stage;
use shader_compiler::{Budget, Compiled, Compiler, word_name};
use shader_interface::tail::{Depth, TailState};
use v3d_hw::qpu::Instruction;

/// Covers the screen for sources without a vertex shader.
const SCREEN: &str = "
@vertex fn vs_of_the_screen(@location(0) place: vec2<f32>) -> @builtin(position) vec4<f32> { return vec4(place, 0.0, 1.0); }
";

/// The language of a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// WGSL.
    Wgsl,
    /// QPU assembly.
    Qasm,
}

impl Language {
    /// The language of this name.
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "wgsl" => Some(Self::Wgsl),
            "qasm" => Some(Self::Qasm),
            _ => None,
        }
    }
}

/// What is wrong, and where. Places count UTF-16 units, as a page's texts do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Diagnostic {
    /// First unit.
    pub from: usize,
    /// The one behind the last.
    pub to: usize,
    /// Not a warning.
    pub error: bool,
    /// The checker's code, or the name of the compiler's limit; empty if there is none.
    pub code: String,
    /// One sentence.
    pub message: String,
    /// Advice, and what the code means.
    pub help: String,
}

/// An instruction of a program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Listed {
    /// The text.
    pub text: String,
    /// The word, as hexadecimal digits.
    pub word: String,
    /// The unit that the instruction is most about, for its colour.
    pub unit: &'static str,
    /// What of the source it was made of, in UTF-16 units; none of the pipeline's own end.
    pub place: Option<[usize; 2]>,
    /// Number of the line, from 1 on.
    pub line: Option<usize>,
    /// Registers whose values are still read, before the instruction; none if that is not known.
    pub live: Option<Vec<String>>,
}

/// A program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Program {
    /// Its stage.
    pub stage: String,
    /// Threads that share a QPU.
    pub threads: u8,
    /// The instructions.
    pub code: Vec<Listed>,
    /// Instructions that a program of the same operations has at least; 0 if that is not known.
    pub at_least: usize,
    /// What the words of its uniforms are, in their order.
    pub uniforms: Vec<String>,
    /// What it does between thread switches; empty if it has the QPU from its start to its end.
    pub stretches: Vec<Stretch>,
}

/// A uniform that a person sets.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Setting {
    /// Its name.
    pub name: String,
    /// Numbers in it.
    pub numbers: usize,
    /// Whether they are floats.
    pub float: bool,
}

/// What a frame is drawn with.
#[derive(Debug)]
pub enum Drawable {
    /// A shader in WGSL.
    Shader(Shader),
    /// A fragment shader in assembly.
    Fragment {
        /// What feeds it.
        interface: Box<qpu::interface::Interface>,
        /// Its words, which live as long as the page: a pipeline keeps them by reference, and each program has some hundred bytes.
        code: &'static [u64],
    },
}

/// A source that was looked at.
#[derive(Debug, Default)]
pub struct Looked {
    /// What is wrong with it.
    pub diagnostics: Vec<Diagnostic>,
    /// Its programs, if nothing is.
    pub programs: Vec<Program>,
    /// Its uniforms.
    pub settings: Vec<Setting>,
    /// Its textures: the name, and whether it is a cube map.
    pub textures: Vec<(String, bool)>,
    /// What a frame is drawn with.
    pub drawable: Option<Drawable>,
    /// It draws bodies: its vertex shader reads places of three numbers.
    pub solid: bool,
    /// A user program, for the stepper.
    pub user_program: Option<Box<Assembly>>,
    /// A compute shader.
    pub compute: Option<ComputeShader>,
}

/// Positions in UTF-16 units of bytes of a text.
struct Units<'t>(&'t str);

impl Units<'_> {
    fn of(&self, byte: usize) -> usize {
        let mut byte = byte.min(self.0.len());
        while !self.0.is_char_boundary(byte) {
            byte -= 1;
        }
        self.0[..byte].encode_utf16().count()
    }

    fn line(&self, byte: usize) -> usize {
        self.0.as_bytes().iter().take(byte).filter(|&&letter| letter == b'\n').count() + 1
    }
}

/// Compiles or assembles a source.
pub fn look(language: Language, source: &str) -> Looked {
    match language {
        Language::Wgsl => wgsl(source),
        Language::Qasm => qasm(source),
    }
}

fn wgsl(source: &str) -> Looked {
    let options = shader_compiler::Options { budget: Budget::SMALL, ..shader_compiler::Options::default() };
    let compiler = Compiler::new(options);
    let units = Units(source);
    let shader = match compiler.compile("shader.wgsl", source) {
        Ok(shader) => shader,
        Err(error) => {
            let place = error.span().unwrap_or(0..source.len());
            let label = error.place.as_ref().map(|(_, label)| label.clone()).unwrap_or_default();
            let diagnostic = Diagnostic {
                from: units.of(place.start),
                to: units.of(place.end),
                error: true,
                code: error.limit.map(|limit| limit.name.to_owned()).unwrap_or_default(),
                message: error.message.clone(),
                help: label,
            };
            return Looked { diagnostics: vec![diagnostic], ..Looked::default() };
        }
    };
    let mut looked = Looked::default();
    let drawable = if shader.stage(Stage::Vertex).is_some() {
        Shader::of("shader.wgsl", &shader)
    } else {
        compiler
            .compile("screen.wgsl", SCREEN)
            .map_err(renderer::wgsl::Error::from)
            .and_then(|screen| Shader::of_screen("shader.wgsl", &screen, &shader))
    };
    looked.settings = shader
        .fields()
        .iter()
        .map(|field| Setting {
            name: field.name.clone(),
            numbers: field.components as usize * field.count.unwrap_or(1) as usize,
            float: field.number == shader_compiler::interface::Number::Float,
        })
        .collect();
    looked.textures = shader.textures().iter().map(|texture| (texture.name.clone(), texture.cube)).collect();
    looked.compute = shader.stage(Stage::Compute).map(ComputeShader::new);
    looked.programs = shader.stages().iter().map(|compiled| compiled_program(compiled, &units)).collect();
    match drawable {
        Ok(drawable) => {
            let mut attributes = drawable.attributes().iter();
            looked.solid = attributes.any(|it| matches!(it.name.as_str(), "place" | "position") && it.components > 2);
            looked.drawable = Some(Drawable::Shader(drawable));
        }
        Err(error) if looked.compute.is_none() => looked.diagnostics.push(whole(source, &error)),
        Err(_) => {}
    }
    looked
}

/// A diagnostic about all of a source.
fn whole(source: &str, message: &dyn std::fmt::Display) -> Diagnostic {
    let (code, help) = (String::new(), String::new());
    Diagnostic { from: 0, to: Units(source).of(source.len()), error: true, code, message: message.to_string(), help }
}

fn compiled_program(compiled: &Compiled, units: &Units<'_>) -> Program {
    let ended = compiled.clone().with_end(&TailState { depth: Depth::LESS, ..TailState::PLAIN });
    let whole = ended.as_ref().unwrap_or(compiled);
    let mut live = live_before(&whole.words);
    let code = whole.words.iter().zip(&whole.places).map(|(&word, place)| Listed {
        text: Text(word).to_string(),
        word: format!("{word:016x}"),
        unit: unit(word),
        place: place.as_ref().map(|place| [units.of(place.start), units.of(place.end)]),
        line: place.as_ref().map(|place| units.line(place.start)),
        live: live.next().flatten(),
    });
    Program {
        stage: compiled.stage.name().to_owned(),
        threads: compiled.interface.threads(),
        code: code.collect(),
        at_least: compiled.lower_bound,
        uniforms: whole.interface.stream.iter().map(|word| word_name(&whole.interface, *word)).collect(),
        stretches: threads::stretches(&whole.words),
    }
}

/// The registers that are live before each instruction, one after the other.
fn live_before(words: &[u64]) -> impl Iterator<Item = Option<Vec<String>>> + use<> {
    let known = live::live(words);
    let count = if known.is_some() { 0 } else { words.len() };
    known.into_iter().flatten().map(Some).chain(std::iter::repeat_n(None, count))
}

/// The unit that an instruction is most about.
fn unit(word: u64) -> &'static str {
    let text = Text(word).to_string();
    let has = |names: &[&str]| names.iter().any(|name| text.contains(name));
    match Instruction::decode(word) {
        Instruction::Branch(_) => "branch",
        Instruction::Semaphore(_) => "semaphore",
        _ if has(&["t0", "t1", "ldtmu"]) => "tmu",
        _ if has(&["recip", "rsqrt", "exp", "log"]) => "sfu",
        _ if has(&["tlb", "sbwait", "sbdone", "loadc", "loadv"]) => "tlb",
        _ if has(&["vpm", "vr_", "vw_"]) => "vpm",
        _ if has(&["vary", "rb35"]) => "varying",
        _ if has(&["unif"]) => "uniform",
        Instruction::LoadImmediate(_) => "immediate",
        _ if text.trim() == "nop" => "nop",
        _ => "alu",
    }
}

fn qasm(source: &str) -> Looked {
    let units = Units(source);
    let assembly = match qpu::assemble(&[Source::new("shader.qasm", source)], &Options::default()) {
        Ok(assembly) => assembly,
        Err(diagnostics) => {
            return Looked { diagnostics: of_assembler(&diagnostics, &units), ..Looked::default() };
        }
    };
    let mut diagnostics = of_assembler(&assembly.warnings, &units);
    diagnostics.extend(of_assembler(&qpu::check::check_assembly(&assembly), &units));
    let is_error = diagnostics.iter().any(|diagnostic| diagnostic.error);
    let interface = &assembly.interface;
    let settings = interface.uniforms.iter().filter(|uniform| uniform.ty != qpu::interface::UniformType::Texture);
    let settings = settings.map(|uniform| Setting {
        name: uniform.name.clone(),
        numbers: uniform.words() as usize,
        float: !matches!(uniform.ty.name(), "int" | "uint" | "color" | "address" | "setup"),
    });
    let mut live = live_before(&assembly.words);
    let code = assembly.words.iter().zip(&assembly.info).map(|(&word, info)| {
        let inside = info.span.file == 0;
        let [from, to] = [info.span.start, info.span.end].map(|byte| byte as usize);
        Listed {
            text: Text(word).to_string(),
            word: format!("{word:016x}"),
            unit: unit(word),
            place: inside.then(|| [units.of(from), units.of(to)]),
            line: inside.then(|| units.line(from)),
            live: live.next().flatten(),
        }
    });
    let stage = qpu::interface::Stage::NAMED.iter().find(|(_, stage)| *stage == interface.stage);
    let program = Program {
        stage: stage.map_or("user", |(name, _)| name).to_owned(),
        threads: interface.threads.unwrap_or(1),
        code: code.collect(),
        at_least: 0,
        uniforms: interface.uniforms.iter().map(|uniform| uniform.name.clone()).collect(),
        stretches: threads::stretches(&assembly.words),
    };
    let mut looked = Looked {
        diagnostics,
        settings: settings.collect(),
        textures: interface.textures.iter().map(|texture| (texture.name.clone(), is_cube(texture))).collect(),
        programs: vec![program],
        ..Looked::default()
    };
    match interface.stage {
        qpu::interface::Stage::Fragment if !is_error => {
            let (interface, code) = (Box::new(assembly.interface), assembly.words.leak());
            looked.drawable = Some(Drawable::Fragment { interface, code });
        }
        qpu::interface::Stage::User | qpu::interface::Stage::Unknown => looked.user_program = Some(Box::new(assembly)),
        _ => {}
    }
    looked
}

fn is_cube(texture: &qpu::interface::Texture) -> bool {
    texture.words.is_some_and(|words| words.kind == qpu::interface::TextureKind::Cube)
}

fn of_assembler(diagnostics: &Diagnostics, units: &Units<'_>) -> Vec<Diagnostic> {
    let diagnostic = |diagnostic: &qpu::Diagnostic| {
        let span = diagnostic.span.filter(|span| span.file == 0);
        let (start, end) = span.map_or((0, 0), |span| (span.start as usize, span.end as usize));
        let explanation = diagnostic.code.explanation();
        let help = match diagnostic.help.as_deref().filter(|help| *help != explanation) {
            Some(help) => format!("{help}\n\n{explanation}"),
            None => explanation.to_owned(),
        };
        Diagnostic {
            from: units.of(start),
            to: units.of(end).max(units.of(start)),
            error: diagnostic.severity == Severity::Error,
            code: diagnostic.code.to_string(),
            message: diagnostic.message.clone(),
            help,
        }
    };
    diagnostics.list.iter().take(qpu::diagnostic::MAX_SHOWN).map(diagnostic).collect()
}
