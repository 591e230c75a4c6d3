//! From a source to the programs of its stages.

use naga::valid::{Capabilities, ValidationFlags, Validator};
use naga::{Binding, Handle, Module, ShaderStage, Span, Type, TypeInner};
use qpu::interface as checked;
use shader_interface::tail::TailState;
use v3d_hw::control_list::Threading;
use v3d_hw::qpu::{Alu, Instruction, Signal};

use crate::diagnostic::{Error, Result, fault, mistake, refuse, refuse_with};
use crate::eliminate_dead::eliminate_dead;
use crate::encode::Line;
use crate::front_end::parse_here;
use crate::interface::{Attribute, Interface, Stage, Workgroups};
use crate::limit::Limit;
use crate::link::link;
use crate::lower::entry::{Entry, entry_span, find};
use crate::lower::{Lowering, Source, lower};
use crate::machine::Machine;
use crate::schedule::{Effort, Scheduled, schedule, schedule_fragment};
use crate::select_instructions::{Streams, select_instructions};
use crate::share_uniforms::schedule_both;
use crate::ssa::{Op, Program, Step, StreamWord};
use crate::stack::with_large_stack;
use crate::vertex_loops;

/// Components of varyings that the hardware interpolates.
const MOST_VARYINGS: u32 = 32;

/// The largest number of a location; WebGPU has 16 of them.
pub(crate) const MAX_LOCATION: u32 = 1023;

/// Parts of a type: members of structures, and of those that are members.
const MAX_TYPE_PARTS: usize = 1 << 14;

/// Computations of a program. Of the shaders that this compiler is tested with, the longest has a tenth of this.
pub(crate) const MAX_COMPUTATIONS: usize = 20_000;

/// naga lets everything pass, so that what does not compile is refused by a limit of this compiler, with its reason.
const CAPABILITIES: Capabilities = Capabilities::all();

/// What is compiled.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Only this stage is compiled; the coordinate shader belongs to the vertex stage.
    pub stage: Option<Stage>,
    /// Entry point of the vertex stage; without it the one named `vs_main`, or the only one.
    pub vertex: Option<String>,
    /// Entry point of the fragment stage; without it the one named `fs_main`, or the only one.
    pub fragment: Option<String>,
    /// Entry point of the compute stage; without it the one named `cs_main`, or the only one.
    pub compute: Option<String>,
    /// Exponentials, logarithms and powers are what the special function unit makes of them, with about 12 good bits, instead of what WGSL demands.
    /// Results in colours of 8 bits show no difference, and such a function is 3 instructions, not 20.
    pub fast_math: bool,
    /// Fragment programs have their QPU for themselves, also if they could share it with another while they wait for textures.
    pub one_thread: bool,
    /// The fragment program is for targets of four half floats: its colour is not clamped, and is left as half floats.
    pub half_color: bool,
}

/// The program of a stage.
#[derive(Clone, Debug)]
pub struct Compiled {
    /// The stage.
    pub stage: Stage,
    /// Instructions. A fragment program has no end: its colour is in r0, and a pipeline puts behind what becomes of it.
    pub words: Vec<u64>,
    /// For each instruction the bytes of the source that it is for, if it is for any.
    pub places: Vec<Option<std::ops::Range<usize>>>,
    /// What feeds it.
    pub interface: Interface,
    /// The scalar values that it was made of.
    pub ssa: Program,
    /// A fragment program has an end of its own: see [`Compiled::with_end`].
    pub ended: bool,
}

impl Compiled {
    /// The same fragment program with the end that a pipeline of this state puts behind it; other stages as they are.
    ///
    /// # Errors
    /// When the end has no encoding, or breaks a rule of the hardware.
    pub fn with_end(mut self, state: &TailState) -> std::result::Result<Self, String> {
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
        self.places.extend(tail.words.iter().map(|_| None));
        self.words.extend(tail.words);
        self.interface.stream.extend(tail.uniforms.into_iter().map(StreamWord::Constant));
        self.ended = true;
        match qpu::check::check(&self.words, &[], &self.checked_interface(0)).first() {
            None => Ok(self),
            Some(finding) => Err(format!("instruction {}: {}", finding.at, finding.message)),
        }
    }
}

/// Compiles all stages that a source has: coordinate and vertex shader, fragment shader. `path` stands in errors.
///
/// # Errors
/// What is wrong with the source, or not possible, with its place.
pub fn compile(source: &str, path: &str, options: &Options) -> std::result::Result<Vec<Compiled>, Error> {
    on_large_stack(path, || compile_here(&parse_here(source, path)?, source, path, options))
}

/// The same of a module that naga has read, to whose text the module's places refer.
///
/// # Errors
/// As [`compile`].
pub fn compile_module(
    module: &Module,
    source: &str,
    path: &str,
    options: &Options,
) -> std::result::Result<Vec<Compiled>, Error> {
    on_large_stack(path, || compile_here(module, source, path, options))
}

/// What a function returns that takes more of the stack than the caller may have.
fn on_large_stack<T: Send>(
    path: &str,
    work: impl FnOnce() -> std::result::Result<T, Error> + Send,
) -> std::result::Result<T, Error> {
    with_large_stack(work).unwrap_or_else(|fault| Err(Error::without_place(fault, path)))
}

fn compile_here(
    module: &Module,
    source: &str,
    path: &str,
    options: &Options,
) -> std::result::Result<Vec<Compiled>, Error> {
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
    let make = || {
        let vertex = entry(ShaderStage::Vertex, Stage::Vertex, &options.vertex, "vs_main")?;
        let fragment = entry(ShaderStage::Fragment, Stage::Fragment, &options.fragment, "fs_main")?;
        let compute = entry(ShaderStage::Compute, Stage::Compute, &options.compute, "cs_main")?;
        let parsed = Source {
            text: source,
            module,
            info: &info,
            fast_math: options.fast_math,
            half_color: options.half_color,
            fragment: None,
            is_frugal: false,
        };
        let is_linked = vertex.is_some() && fragment.is_some();
        let alone = |entry, stage, is_linked| {
            with_enough_registers(&parsed, |source| {
                let selected = Selected::new(source, entry, stage, is_linked, &mut Vec::new())?;
                let varyings = selected.entry.varyings.clone();
                Ok((selected.compiled(options)?, varyings))
            })
        };
        let fragment = fragment.map(|entry| alone(entry, Stage::Fragment, is_linked)).transpose()?;
        let mut programs = Vec::new();
        if let Some(vertex) = vertex {
            let parsed = Source { fragment: fragment.as_ref().map(|(_, varyings)| varyings), ..parsed };
            programs.extend(with_enough_registers(&parsed, |source| compile_vertex(source, vertex))?);
        }
        let compute = compute.map(|entry| alone(entry, Stage::Compute, false)).transpose()?;
        programs.extend(fragment.into_iter().chain(compute).map(|(program, _)| program));
        if programs.is_empty() {
            return mistake(Span::default(), "there is no entry point");
        }
        Ok(programs)
    };
    make().map_err(|refusal| refusal.render(source, path))
}

/// What a source is compiled to; if that needs more registers than there are, in the way that needs fewer and takes more instructions.
fn with_enough_registers<T>(source: &Source<'_>, make: impl Fn(&Source<'_>) -> Result<T>) -> Result<T> {
    make(source).or_else(|refusal| {
        if !refusal.is_for(&Limit::REGISTERS) {
            return Err(refusal);
        }
        make(&Source { is_frugal: true, ..*source }).map_err(|_| refusal)
    })
}

/// The coordinate and the vertex shader of a vertex entry point.
fn compile_vertex(parsed: &Source<'_>, entry: usize) -> Result<[Compiled; 2]> {
    // The coordinate shader comes first and says which attributes it reads.
    let mut attributes = Vec::new();
    let coordinate = Selected::new(parsed, entry, Stage::Coordinate, false, &mut attributes)?;
    let vertex = Selected::new(parsed, entry, Stage::Vertex, false, &mut attributes)?;
    let arrays = attribute_arrays(&attributes);
    if arrays > shader_interface::Attribute::MAX_ARRAYS {
        let span = entry_span(parsed.text, &parsed.module.entry_points[entry]);
        let count = format_args!("{arrays} arrays, at most {}", shader_interface::Attribute::MAX_ARRAYS);
        return refuse_with(span, &Limit::ATTRIBUTE_COUNT, count);
    }
    let [first, second] = schedule_both(&coordinate.machine, &vertex.machine)?;
    let mut programs = [coordinate.finish(first)?, vertex.finish(second)?];
    for program in &mut programs {
        program.interface.attributes.clone_from(&attributes);
    }
    Ok(programs)
}

/// The arrays that a pipeline makes of attributes.
fn attribute_arrays(attributes: &[Attribute]) -> usize {
    let mut arrays: Vec<shader_interface::Attribute> = attributes
        .iter()
        .map(|attribute| shader_interface::Attribute {
            name: "",
            bytes: 4 * attribute.words() as u16,
            memory_offset: 4 * attribute.offset_words,
            vertex_offset: 4 * attribute.offset_words as u8,
            coordinate_offset: attribute.coordinate_offset_words.map(|words| 4 * words as u8),
        })
        .collect();
    shader_interface::Attribute::share_arrays(&mut arrays)
}

/// naga's module of a source.
///
/// # Errors
/// What naga says, or that the source is more than the compiler takes on.
pub fn parse(source: &str, path: &str) -> std::result::Result<Module, Error> {
    on_large_stack(path, || parse_here(source, path))
}

/// Refuses types for which naga's validation would take long: it looks at each part of a type, wherever the type is a part itself.
fn check_types(module: &Module) -> Result<()> {
    let mut sizes: Vec<usize> = Vec::with_capacity(module.types.len());
    for (ty, declared) in module.types.iter() {
        // A type comes behind those that it is made of.
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

/// Refuses locations for which naga's validation would take memory: it has a bit for each number.
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

/// A program before its operations have an order.
struct Selected {
    stage: Stage,
    entry: Entry,
    /// What is known of its interface.
    interface: Interface,
    ssa: Program,
    streams: Streams,
    machine: Machine,
}

impl Selected {
    /// `is_linked` is about fragment shaders: the vertex shader is of the same source, and writes what this one uses.
    fn new(
        source: &Source<'_>,
        index: usize,
        stage: Stage,
        is_linked: bool,
        attributes: &mut Vec<Attribute>,
    ) -> Result<Self> {
        let (lowering, mut entry) = lower(source, index, stage)?;
        let Lowering { fields, textures, buffers, workgroups, program: mut ssa, .. } = lowering;
        eliminate_dead(&mut ssa);
        if matches!(stage, Stage::Coordinate | Stage::Vertex) {
            vertex_loops::check(&ssa)?;
        }
        if stage == Stage::Fragment && is_linked {
            entry.varyings.keep_used(&mut ssa);
        }
        let components = entry.varyings.components();
        if components > MOST_VARYINGS {
            return refuse_with(ssa.here, &Limit::VARYING_COUNT, format_args!("{components}, at most {MOST_VARYINGS}"));
        }
        let streams = Streams {
            attributes: attribute_words(&ssa, stage, &entry, attributes),
            own_varyings: if entry.points { checked::PrimitiveKind::Points.own_varyings() } else { 0 },
            varyings: if stage == Stage::Fragment { components } else { 0 },
            outputs: matches!(stage, Stage::Coordinate | Stage::Vertex),
            parts: workgroups.parts,
        };
        check_length(&ssa)?;
        let machine = select_instructions(&ssa, &streams, source.is_frugal);
        let interface = Interface {
            fields,
            textures,
            attributes: Vec::new(),
            varyings: components,
            flat_varyings: entry.varyings.flat(),
            stream: Vec::new(),
            writes_depth: entry.writes_depth,
            discards: entry.discards,
            points: entry.points,
            point_size: entry.point_size,
            half_color: source.half_color && stage == Stage::Fragment,
            buffers,
            workgroups,
            threading: Threading::Single,
        };
        Ok(Self { stage, entry, interface, ssa, streams, machine })
    }

    /// The program of a stage that is scheduled on its own.
    fn compiled(mut self, options: &Options) -> Result<Compiled> {
        let effort = Effort::new();
        let scheduled = if self.stage != Stage::Fragment || options.one_thread {
            schedule(&self.machine, &effort)?
        } else {
            let (scheduled, threading) = schedule_fragment(&self.machine, &effort)?;
            self.interface.threading = threading;
            scheduled
        };
        self.finish(scheduled)
    }

    /// The program.
    fn finish(self, scheduled: Scheduled) -> Result<Compiled> {
        let Self { stage, mut interface, ssa, streams, machine, .. } = self;
        let mut lines = match stage {
            Stage::Compute => {
                let Workgroups { together, parts, .. } = interface.workgroups;
                link(scheduled, &machine.routines, if together { 1 } else { parts })?
            }
            _ => scheduled.lines,
        };
        end(stage, &mut lines);
        interface.stream = lines.iter().filter_map(|line| line.reads).collect();
        let places = lines.iter().map(|line| line.span.to_range().filter(|range| !range.is_empty())).collect();
        let words: std::result::Result<_, _> = lines.iter().map(|line| line.instruction.encode()).collect();
        let words = words.or_else(|error| fault(Span::default(), error))?;
        let compiled = Compiled { stage, words, places, interface, ssa, ended: false };
        verify(&compiled, &streams)?;
        Ok(compiled)
    }
}

/// Refuses a program that would take long to schedule.
fn check_length(program: &Program) -> Result<()> {
    let computed = program.steps.iter().filter_map(|step| match *step {
        Step::Compute(value) => Some(value),
        Step::Begin(_) | Step::End(_) => None,
    });
    let count = computed.clone().count();
    if count <= MAX_COMPUTATIONS {
        return Ok(());
    }
    let spans = computed.skip(MAX_COMPUTATIONS).map(|value| program.values[value.index()].span);
    let span = spans.chain([program.here]).find(Span::is_defined).unwrap_or_default();
    refuse_with(span, &Limit::PROGRAM_SIZE, count)
}

/// The words of the VPM that a vertex or coordinate shader reads, by their number in the vertex. The coordinate shader reads those attributes of which it
/// needs anything.
fn attribute_words(program: &Program, stage: Stage, entry: &Entry, attributes: &mut Vec<Attribute>) -> Vec<u32> {
    match stage {
        Stage::Fragment | Stage::Compute => return Vec::new(),
        Stage::Vertex => return entry.attributes.iter().flat_map(numbers).collect(),
        Stage::Coordinate => {}
    }
    let read = |attribute: &Attribute| {
        program.steps.iter().any(|step| match *step {
            Step::Compute(value) => {
                matches!(program.op(value), Op::Attribute(number) if numbers(attribute).contains(&number))
            }
            _ => false,
        })
    };
    let mut words = Vec::new();
    for attribute in &entry.attributes {
        let offset = words.len() as u32;
        let is_read = read(attribute);
        if is_read {
            words.extend(numbers(attribute));
        }
        attributes.push(Attribute { coordinate_offset_words: is_read.then_some(offset), ..attribute.clone() });
    }
    words
}

fn numbers(attribute: &Attribute) -> std::ops::Range<u32> {
    attribute.offset_words..attribute.offset_words + attribute.words()
}

/// Puts the end behind a program.
fn end(stage: Stage, lines: &mut Vec<Line>) {
    let span = lines.last().map_or(Span::default(), |line| line.span);
    let line = |sig| Line { instruction: Instruction::Alu(Alu { sig, ..Alu::NOP }), span, reads: None };
    match stage {
        Stage::Fragment => {
            // The tile buffer must not be waited for in the first two instructions [AG p.37].
            while lines.len() < 2 {
                lines.push(line(Signal::None));
            }
        }
        Stage::Compute => {}
        _ => lines.extend([Signal::ProgramEnd, Signal::None, Signal::None].map(line)),
    }
}

/// Has the checker look at a program: what it finds would be this compiler's fault.
fn verify(compiled: &Compiled, streams: &Streams) -> Result<()> {
    let interface = compiled.checked_interface(streams.attributes.len() as u32);
    let findings = qpu::check::check(&compiled.words, &[], &interface);
    match findings.first() {
        None => Ok(()),
        Some(finding) => {
            let place = compiled.places.get(finding.at).cloned().flatten();
            let span = place.map_or(Span::default(), |place| Span::new(place.start as u32, place.end as u32));
            fault(span, format_args!("instruction {}: {}", finding.at, finding.message))
        }
    }
}

impl Compiled {
    /// The interface as the checker has it.
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
