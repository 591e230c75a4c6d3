//! From a source to the programs of its stages.

use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use naga::valid::{Capabilities, ValidationFlags, Validator};
use naga::{Binding, Handle, Module, ShaderStage, Span, Type, TypeInner};
use qpu::interface as checked;
use shader_interface::tail::TailState;

use crate::budget::Budget;
use crate::diagnostic::{Error, Result, fault, mistake, refuse, refuse_with};
use crate::front_end::parse_here;
use crate::interface::{Interface, Stage};
use crate::limit::Limit;
use crate::lower::SourceModule;
use crate::lower::entry::{entry_span, find};
use crate::passes::{Watch, run_passes};
use crate::ssa::{Program, StreamWord};
use crate::stack::with_large_stack;
use crate::unit::{Request, Unit};

/// Maximum number of a location; WebGPU has 16 of them.
pub(crate) const MAX_LOCATION: u32 = 1023;

/// Maximum number of components of a type: members of structures, recursively.
const MAX_TYPE_PARTS: usize = 1 << 14;

/// All capabilities are enabled in naga, so that what cannot be compiled is refused by a limit of this compiler, with a reason.
const CAPABILITIES: Capabilities = Capabilities::all();

/// Options of the compiler.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Compile only this stage; the coordinate shader belongs to the vertex stage.
    pub stage: Option<Stage>,
    /// Entry point of the vertex stage; by default the one named `vs_main`, or the only one.
    pub vertex: Option<String>,
    /// Entry point of the fragment stage; by default the one named `fs_main`, or the only one.
    pub fragment: Option<String>,
    /// Entry point of the compute stage; by default the one named `cs_main`, or the only one.
    pub compute: Option<String>,
    /// Use the results of the special function unit for exponentials, logarithms and powers, with an accuracy of about 12 bits, instead of WGSL's accuracy.
    /// In colours of 8 bits there is no visible difference, and such a function takes 3 instructions instead of 20.
    pub fast_math: bool,
    /// Compile fragment programs for one thread, even if a second thread would hide the latency of texture lookups.
    pub one_thread: bool,
    /// Compile the fragment program for targets of four half floats: its colour is not clamped, and its output is half floats.
    pub half_color: bool,
    /// Limits of time, memory and stack.
    pub budget: Budget,
}

/// The program of a stage.
#[derive(Clone, Debug)]
pub struct Compiled {
    /// The stage.
    pub stage: Stage,
    /// Instructions. A fragment program has no end: it leaves its colour in r0, and a pipeline appends the code that writes it.
    pub words: Vec<u64>,
    /// For each instruction the range of the source that it implements, if there is one.
    pub places: Vec<Option<core::ops::Range<usize>>>,
    /// Its interface.
    pub interface: Interface,
    /// Its scalar values in SSA form.
    pub ssa: Program,
    /// Lower bound of the number of instructions for the same operations, for any number of registers.
    pub lower_bound: usize,
    /// The fragment program has an end: see [`Compiled::with_end`].
    pub ended: bool,
}

impl Compiled {
    /// The fragment program with the end that a pipeline of this state appends; other stages are unchanged.
    ///
    /// # Errors
    /// When the end cannot be encoded, or breaks a rule of the hardware.
    pub fn with_end(mut self, state: &TailState) -> core::result::Result<Self, String> {
        if self.stage != Stage::Fragment {
            return Ok(self);
        }
        let colors = |is_half| if is_half { "half floats" } else { "bytes" };
        if state.is_half != self.interface.half_color {
            return Err(format!(
                "the program leaves {}, and the target has {}",
                colors(!state.is_half),
                colors(state.is_half)
            ));
        }
        if let Some(why) = state.is_half.then(|| state.refusal_of_half_color()).flatten() {
            return Err(why.to_owned());
        }
        let tail = state.build().ok_or("this state has no encoding")?;
        let joined = tail.append_to(&self.words);
        let place = |at| joined.place_in_program(at).and_then(|place: usize| self.places[place].clone());
        self.places = (0..joined.words.len()).map(place).collect();
        self.words = joined.words;
        self.interface.stream.extend(tail.uniforms.into_iter().map(StreamWord::Constant));
        self.ended = true;
        match qpu::check::check(&self.words, &all_in_slots(&self.words), &self.checked_interface(0)).first() {
            None => Ok(self),
            Some(finding) => Err(format!("instruction {}: {}", finding.at, finding.message)),
        }
    }
}

/// Compiles all stages of a source: coordinate and vertex shader, fragment shader. Errors contain `path`.
///
/// # Errors
/// When the source has an error or uses an unsupported feature, with its place.
pub fn compile(source: &str, path: &str, options: &Options) -> core::result::Result<Vec<Compiled>, Error> {
    on_large_stack(path, || {
        compile_here(&parse_here(source, path, &options.budget)?, source, path, options, &mut |_, _, _| {})
    })
}

/// The same for a module of naga; the module's spans refer to `source`.
///
/// # Errors
/// As [`compile`].
pub fn compile_module(
    module: &Module,
    source: &str,
    path: &str,
    options: &Options,
) -> core::result::Result<Vec<Compiled>, Error> {
    compile_module_watched(module, source, path, options, &mut |_, _, _| {})
}

/// The same; `watch` receives the result of each pass. A program that needs too many registers is compiled a second time by all passes.
///
/// # Errors
/// As [`compile`].
pub fn compile_module_watched(
    module: &Module,
    source: &str,
    path: &str,
    options: &Options,
    watch: &mut Watch<'_>,
) -> core::result::Result<Vec<Compiled>, Error> {
    on_large_stack(path, || compile_here(module, source, path, options, watch))
}

/// Calls a function on a stack that is large enough for its recursion.
fn on_large_stack<T: Send>(
    path: &str,
    work: impl FnOnce() -> core::result::Result<T, Error> + Send,
) -> core::result::Result<T, Error> {
    with_large_stack(work).unwrap_or_else(|fault| Err(Error::without_place(fault, path)))
}

fn compile_here(
    module: &Module,
    source: &str,
    path: &str,
    options: &Options,
    watch: &mut Watch<'_>,
) -> core::result::Result<Vec<Compiled>, Error> {
    check_types(module)
        .and_then(|()| check_locations(module, source))
        .map_err(|refusal| refusal.render(source, path))?;
    let mut validator = Validator::new(ValidationFlags::all(), CAPABILITIES);
    let info = validator.validate(module).map_err(|error| Error::validation(module, &error, source, path))?;
    let entry = |stage, wanted, name: &Option<String>, usual| {
        if options.stage.is_none_or(|only| only == wanted) {
            find(module, stage, name.as_deref(), usual)
        } else {
            Ok(None)
        }
    };
    let mut make = || {
        let vertex = entry(ShaderStage::Vertex, Stage::Vertex, &options.vertex, "vs_main")?;
        let fragment = entry(ShaderStage::Fragment, Stage::Fragment, &options.fragment, "fs_main")?;
        let compute = entry(ShaderStage::Compute, Stage::Compute, &options.compute, "cs_main")?;
        let parsed = SourceModule {
            text: source,
            module,
            info: &info,
            fast_math: options.fast_math,
            half_color: options.half_color,
            budget: options.budget,
            fragment: None,
            is_frugal: false,
        };
        let is_linked = vertex.is_some() && fragment.is_some();
        let mut units = |parsed: &SourceModule<'_>, entry: usize, stages: &[Stage]| {
            never_longer(parsed, |source| {
                with_enough_registers(source, |source| {
                    let request = |&stage| Request { source, entry, stage, is_linked, one_thread: options.one_thread };
                    run_passes(&stages.iter().map(request).collect::<Vec<_>>(), watch)
                })
            })
        };
        let fragment = fragment.map(|entry| units(&parsed, entry, &[Stage::Fragment])).transpose()?;
        let mut programs = Vec::new();
        if let Some(vertex) = vertex {
            let read = fragment.iter().flatten().next().map(Unit::varyings);
            let parsed = SourceModule { fragment: read, ..parsed };
            programs.extend(units(&parsed, vertex, &[Stage::Coordinate, Stage::Vertex])?);
        }
        let compute = compute.map(|entry| units(&parsed, entry, &[Stage::Compute])).transpose()?;
        programs.extend(fragment.into_iter().chain(compute).flatten());
        if programs.is_empty() {
            return mistake(Span::default(), "there is no entry point");
        }
        programs.into_iter().map(finish).collect()
    };
    make().map_err(|refusal| refusal.render(source, path))
}

/// The program of a stage after all passes.
fn finish(unit: Unit) -> Result<Compiled> {
    let (attribute_words, lower_bound) = (unit.attribute_words(), unit.lower_bound());
    let Unit { stage, interface, ssa, lines, .. } = unit;
    let places = lines.iter().map(|line| line.span.to_range().filter(|range| !range.is_empty())).collect();
    let words: core::result::Result<_, _> = lines.iter().map(|line| line.instruction.encode()).collect();
    let words = words.or_else(|error| fault(Span::default(), error))?;
    let compiled = Compiled { stage, words, places, interface, ssa, lower_bound, ended: false };
    verify(&compiled, attribute_words)?;
    Ok(compiled)
}

/// The programs compiled with fast functions, unless one of them is longer than with exact ones: a result of the special function unit has a latency of three
/// instructions and is always in r4, so a program without independent work, or without a register for the result, can become longer.
fn never_longer(
    source: &SourceModule<'_>,
    mut make: impl FnMut(&SourceModule<'_>) -> Result<Vec<Unit>>,
) -> Result<Vec<Unit>> {
    let own = make(source);
    if !source.fast_math {
        return own;
    }
    match (own, make(&SourceModule { fast_math: false, ..*source })) {
        (Ok(fast), Ok(exact)) => {
            let is_longer = fast.iter().zip(&exact).any(|(fast, exact)| fast.lines.len() > exact.lines.len());
            Ok(if is_longer { exact } else { fast })
        }
        (Err(_), Ok(exact)) => Ok(exact),
        (fast, Err(_)) => fast,
    }
}

/// Compiles a source; if it needs more registers than there are, in frugal mode. If only heuristics that save registers found a schedule, both modes are
/// tried, and the shorter programs are returned.
fn with_enough_registers(
    source: &SourceModule<'_>,
    mut make: impl FnMut(&SourceModule<'_>) -> Result<Vec<Unit>>,
) -> Result<Vec<Unit>> {
    let frugal = SourceModule { is_frugal: true, ..*source };
    match make(source) {
        Ok(units) if units.iter().any(Unit::is_crowded) => {
            let length = |units: &[Unit]| units.iter().map(|unit| unit.lines.len()).sum::<usize>();
            let other = make(&frugal).ok().filter(|other| length(other) < length(&units));
            Ok(other.unwrap_or(units))
        }
        Err(refusal) if refusal.is_for(&Limit::REGISTERS) => make(&frugal).map_err(|_| refusal),
        made => made,
    }
}

/// Parses a source to a module of naga.
///
/// # Errors
/// When naga reports an error, or the source exceeds a limit.
pub fn parse(source: &str, path: &str) -> core::result::Result<Module, Error> {
    on_large_stack(path, || parse_here(source, path, &Budget::LARGE))
}

/// Refuses types whose validation by naga would take long: it visits each component of a type at each use of the type.
fn check_types(module: &Module) -> Result<()> {
    let mut sizes: Vec<usize> = Vec::with_capacity(module.types.len());
    for (ty, declared) in module.types.iter() {
        // A type is after its component types.
        let part = |part: &Handle<Type>| sizes.get(part.index()).copied().unwrap_or(1);
        let size = match &declared.inner {
            TypeInner::Array { base, .. } => part(base) + 1,
            TypeInner::Struct { members, .. } => members.iter().map(|member| part(&member.ty)).sum::<usize>() + 1,
            _ => 1,
        };
        if size > MAX_TYPE_PARTS {
            return refuse(module.types.get_span(ty), &Limit::PARTS);
        }
        sizes.push(size);
    }
    Ok(())
}

/// Refuses locations for which naga's validation would use much memory: it has one bit for each number.
fn check_locations(module: &Module, source: &str) -> Result<()> {
    let check = |binding: Option<&Binding>, span: Span| match binding {
        Some(Binding::Location { location, .. }) if *location > MAX_LOCATION => {
            refuse_with(span, &Limit::LOCATION, location)
        }
        _ => Ok(()),
    };
    for (ty, declared) in module.types.iter() {
        if let TypeInner::Struct { members, .. } = &declared.inner {
            members.iter().try_for_each(|member| check(member.binding.as_ref(), module.types.get_span(ty)))?;
        }
    }
    for entry in &module.entry_points {
        let span = entry_span(source, entry);
        let arguments = entry.function.arguments.iter().map(|argument| argument.binding.as_ref());
        let result = entry.function.result.iter().map(|result| result.binding.as_ref());
        arguments.chain(result).try_for_each(|binding| check(binding, span))?;
    }
    Ok(())
}

/// Runs the checker on a program. A finding is a bug of this compiler.
fn verify(compiled: &Compiled, attribute_words: u32) -> Result<()> {
    let interface = compiled.checked_interface(attribute_words);
    let findings = qpu::check::check(&compiled.words, &all_in_slots(&compiled.words), &interface);
    match findings.first() {
        None => Ok(()),
        Some(finding) => {
            let place = compiled.places.get(finding.at).cloned().flatten();
            let span = place.map_or(Span::default(), |place| Span::new(place.start as u32, place.end as u32));
            fault(span, format_args!("instruction {}: {}", finding.at, finding.message))
        }
    }
}

/// Marks instructions in delay slots as intended, for the checker.
fn all_in_slots(words: &[u64]) -> Vec<qpu::WordInfo> {
    vec![qpu::WordInfo { in_slot: true, ..qpu::WordInfo::default() }; words.len()]
}

impl Compiled {
    /// The interface in the checker's types.
    fn checked_interface(&self, attribute_words: u32) -> qpu::Interface {
        let Self { stage, ref interface, .. } = *self;
        let span = qpu::Span::default();
        let uniforms = interface.stream.iter().enumerate().map(|(at, word)| checked::Uniform {
            name: format!("word{at}"),
            ty: if word.is_texture_parameter() { checked::UniformType::Texture } else { checked::UniformType::Uint },
            count: 1,
            offset_words: at as u32,
            span,
        });
        let components = |count: u32| match count {
            0 => Vec::new(),
            components => vec![checked::Components { name: "all".to_owned(), components, offset: 0, span }],
        };
        let attribute = checked::Attribute {
            name: "all".to_owned(),
            components: attribute_words,
            kind: checked::AttributeKind::U32,
            offset_words: 0,
            span,
        };
        let texture = checked::Texture { name: "all".to_owned(), unit: 0, words: None, span };
        checked::Interface {
            stage: match stage {
                Stage::Coordinate => checked::Stage::Coordinate,
                Stage::Vertex => checked::Stage::Vertex,
                Stage::Fragment => checked::Stage::Fragment,
                Stage::Compute => checked::Stage::User,
            },
            threads: (stage == Stage::Fragment).then(|| interface.threads()),
            output: match (stage, self.ended) {
                (Stage::Fragment, false) if interface.half_color => checked::Output::HalfColor,
                (Stage::Fragment, false) => checked::Output::Color,
                _ => checked::Output::Own,
            },
            primitive: interface.points.then_some(checked::PrimitiveKind::Points),
            point_size: interface.point_size,
            uniforms: uniforms.collect(),
            attributes: if attribute_words == 0 { Vec::new() } else { vec![attribute] },
            varyings: components(if stage == Stage::Coordinate { 0 } else { interface.varyings }),
            textures: if interface.looks_up() { vec![texture] } else { Vec::new() },
            ..checked::Interface::default()
        }
    }
}
