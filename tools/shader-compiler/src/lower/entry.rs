//! Entry points: the inputs and outputs that the hardware defines for a stage.
//!
//! A coordinate shader is the vertex shader with other outputs; the rest is eliminated as dead code.
//!
//! # Sources
//! [AG p.51] for fragments, [AG p.60-61] for shaded vertices.

use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use core::ops::Range;

use naga::{
    AddressSpace, Binding, BuiltIn, EntryPoint, Handle, Interpolation, MathFunction, Sampling, Scalar, ScalarKind,
    ShaderStage, Span, Type, TypeInner,
};
use v3d_hw::qpu::AddOp;

use super::{Global, Lowered, Lowering, State};
use crate::diagnostic::{Result, fault, mistake, refuse, refuse_with};
use crate::interface::{Attribute, Number, Stage};
use crate::limit::Limit;
use crate::link_varyings::{Varying, Varyings};
use crate::ssa::{self, Given, Op, Relation, StreamWord, Value, Viewport};

/// Maximum number of words of a vertex: its size in the VPM in bytes has 8 bits [AG p.79].
const MOST_WORDS: u32 = 63;

/// An input or output of an entry point: an argument, a result, or a member of one.
pub(super) struct InterfaceVariable {
    name: String,
    pub(super) binding: Binding,
    ty: Handle<Type>,
    /// Index of its first scalar.
    first: usize,
    length: usize,
}

impl InterfaceVariable {
    /// The position in a point: GLSL's `gl_PointCoord`; in WGSL, which has no such built-in, an input of that name.
    fn is_point_coordinate(&self) -> bool {
        let is_named = self.name == "point_coord" && matches!(self.binding, Binding::Location { .. });
        (is_named || self.is_built_in_point_coordinate()) && self.length == 2
    }

    fn is_built_in_point_coordinate(&self) -> bool {
        self.binding == Binding::BuiltIn(BuiltIn::PointCoord)
    }

    /// The size of a point: GLSL's `gl_PointSize`; in WGSL an output of that name.
    fn is_point_size(&self) -> bool {
        let is_named = self.name == "point_size" && matches!(self.binding, Binding::Location { .. });
        (is_named || self.binding == Binding::BuiltIn(BuiltIn::PointSize)) && self.length == 1
    }
}

/// The properties of an entry point that are not values.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) attributes: Vec<Attribute>,
    pub(crate) varyings: Varyings,
    pub(crate) writes_depth: bool,
    pub(crate) discards: bool,
    /// A fragment shader that reads the position in a point.
    pub(crate) points: bool,
    /// A vertex shader that writes the size of a point.
    pub(crate) point_size: bool,
}

impl<'m> Lowering<'m> {
    /// Lowers an entry point to the program of a stage.
    pub(super) fn entry(&mut self, index: usize, stage: Stage) -> Result<Entry> {
        let module = self.module;
        let entry = &module.entry_points[index];
        let function = &entry.function;
        let span = entry_span(self.source, entry);
        let mut state = State { variables: Vec::new(), live: self.program.bits(u32::MAX), dead: false };
        state.variables.push(state.live);
        self.kept = 0;
        self.private_variables(&mut state)?;
        self.memory_variables(index, stage)?;

        let mut inputs = Vec::new();
        let mut arguments = Vec::new();
        for argument in &function.arguments {
            let first = inputs.len();
            let name = argument.name.clone().unwrap_or_default();
            self.parts_of(name, argument.binding.as_ref(), argument.ty, &mut inputs, span)?;
            arguments.push(first..inputs.len());
        }
        let mut attributes = Vec::new();
        let mut varyings = Vec::new();
        let mut values: Vec<Vec<Value>> = vec![Vec::new(); inputs.len()];
        let mut order: Vec<usize> = (0..inputs.len()).collect();
        // The position in a point precedes the varyings.
        let points = stage == Stage::Fragment && inputs.iter().any(InterfaceVariable::is_point_coordinate);
        order.sort_by_key(|&at| match inputs[at].binding {
            _ if points && inputs[at].is_point_coordinate() => 0,
            Binding::Location { location, .. } => location.saturating_add(1),
            Binding::BuiltIn(_) => u32::MAX,
        });
        let (mut words, mut components) = (0, 0);
        for at in order {
            let part = &inputs[at];
            values[at] = match part.binding {
                _ if points && part.is_point_coordinate() => {
                    let [across, up] = [0, 1].map(|axis| self.program.value(Op::PointCoordinate(axis)));
                    let along = if part.is_built_in_point_coordinate() {
                        // The hardware's y goes up, GLSL's goes down from the upper edge [OpenGL ES 3 reference: gl_PointCoord].
                        let one = self.program.float(1.0);
                        self.program.fsub(one, up)
                    } else {
                        up
                    };
                    vec![across, along]
                }
                Binding::BuiltIn(BuiltIn::VertexIndex) => {
                    let attribute = self.attribute(part, words, span)?;
                    attributes.push(Attribute { is_vertex_index: true, ..attribute });
                    words += 1;
                    vec![self.program.value(Op::Attribute(words - 1))]
                }
                Binding::BuiltIn(built_in) => self.given(built_in, stage, span)?,
                Binding::Location { location, interpolation, sampling, .. } if stage == Stage::Fragment => {
                    let flat = self.is_flat(part, interpolation, sampling, span)?;
                    varyings.push(Varying { location, components: part.length as u32, flat });
                    let numbers = components..components + part.length as u32;
                    components = numbers.end;
                    let kind = self.module.types[part.ty].inner.scalar_kind();
                    numbers.map(|number| self.varying(number, flat, kind)).collect()
                }
                Binding::Location { .. } => {
                    let attribute = self.attribute(part, words, span)?;
                    let (first, number) = (words, attribute.number);
                    words += attribute.words();
                    attributes.push(attribute);
                    (0..part.length as u32).map(|at| self.component(first, number, at)).collect()
                }
            };
        }
        if words > MOST_WORDS {
            return refuse_with(span, &Limit::ATTRIBUTE_COUNT, format_args!("{words} words, at most {MOST_WORDS}"));
        }
        let arguments = arguments.into_iter().map(|range| Lowered::Scalars(values[range].concat())).collect();

        let info = self.info.get_entry_point(index);
        let (first, length) = self.function(function, info, arguments, &mut state, span)?;
        let result: Vec<Value> = first.map_or_else(Vec::new, |first| state.variables[first..first + length].to_vec());
        self.program.here = span;
        let mut outputs = Vec::new();
        if let Some(result) = &function.result {
            self.parts_of("result".to_owned(), result.binding.as_ref(), result.ty, &mut outputs, span)?;
        }
        let (varyings, writes_depth) = match stage {
            Stage::Fragment => (Varyings::all(varyings), self.fragment_end(&outputs, &result, &state, span)?),
            _ => (self.vertex_end(stage, &outputs, &result, span)?, false),
        };
        let point_size = stage != Stage::Fragment && outputs.iter().any(InterfaceVariable::is_point_size);
        Ok(Entry { attributes, varyings, writes_depth, discards: self.discards, points, point_size })
    }

    /// A component of an attribute.
    fn component(&mut self, first: u32, number: Number, at: u32) -> Value {
        if number != Number::Half {
            return self.program.value(Op::Attribute(first + at));
        }
        let word = self.program.value(Op::Attribute(first + at / 2));
        self.program.value(Op::Unpack(ssa::PackedComponent::Half((at % 2) as u8), word))
    }

    /// A component of the varyings. Flat integers are passed as the bits of floats, which the hardware does not change.
    fn varying(&mut self, number: u32, flat: bool, kind: Option<ScalarKind>) -> Value {
        if !flat {
            return self.program.value(Op::Varying(number));
        }
        let value = self.program.value(Op::FlatVarying(number));
        if kind == Some(ScalarKind::Float) { value } else { self.program.alu(AddOp::Ftoi, value, value) }
    }

    pub(super) fn private_variables(&mut self, state: &mut State) -> Result<()> {
        let module = self.module;
        for (handle, variable) in module.global_variables.iter() {
            if variable.space != AddressSpace::Private {
                continue;
            }
            let span = module.global_variables.get_span(handle);
            let count = self.scalars(variable.ty, span)?;
            self.check_variables(state, count, span)?;
            let values = match variable.init {
                Some(init) => self.constant(&module.global_expressions, init, span)?,
                None => vec![self.program.bits(0); count],
            };
            self.globals.insert(handle, Global::Variable(state.variables.len()));
            state.variables.extend(values);
        }
        Ok(())
    }

    /// The inputs or outputs of an argument or result: itself, or the members of a structure.
    pub(super) fn parts_of(
        &self,
        name: String,
        binding: Option<&Binding>,
        ty: Handle<Type>,
        parts: &mut Vec<InterfaceVariable>,
        span: Span,
    ) -> Result<()> {
        let module = self.module;
        if let Some(binding) = binding {
            let length = self.scalars(ty, span)?;
            parts.push(InterfaceVariable { name, binding: binding.clone(), ty, first: 0, length });
            return Ok(());
        }
        let TypeInner::Struct { members, .. } = &module.types[ty].inner else {
            return fault(span, "an argument without a binding");
        };
        let mut first = 0;
        for member in members {
            let length = self.scalars(member.ty, span)?;
            let Some(binding) = &member.binding else { return fault(span, "a member without a binding") };
            let name = member.name.clone().unwrap_or_default();
            parts.push(InterfaceVariable { name, binding: binding.clone(), ty: member.ty, first, length });
            first += length;
        }
        Ok(())
    }

    /// Whether a varying is flat; fails for interpolation modes that the hardware does not have.
    fn is_flat(
        &self,
        part: &InterfaceVariable,
        interpolation: Option<Interpolation>,
        sampling: Option<Sampling>,
        span: Span,
    ) -> Result<bool> {
        let kind = self.module.types[part.ty].inner.scalar_kind();
        match (interpolation, sampling) {
            (None | Some(Interpolation::Perspective), Some(Sampling::Sample)) => {
                refuse(span, &Limit::VARYING_PER_SAMPLE)
            }
            (None | Some(Interpolation::Perspective), _) if kind == Some(ScalarKind::Float) => Ok(false),
            (Some(Interpolation::Flat), Some(Sampling::First)) => refuse(span, &Limit::VARYING_FLAT_FIRST),
            (Some(Interpolation::Flat), _) => Ok(true),
            (Some(Interpolation::Linear), _) => refuse(span, &Limit::VARYING_LINEAR),
            _ => refuse(span, &Limit::VARYING_TYPE),
        }
    }

    fn attribute(&self, part: &InterfaceVariable, offset_words: u32, span: Span) -> Result<Attribute> {
        let number = match self.module.types[part.ty].inner.scalar() {
            Some(Scalar::F32) => Number::Float,
            Some(Scalar::I32) => Number::Int,
            Some(Scalar::U32) => Number::Uint,
            Some(Scalar::F16) => Number::Half,
            _ => return refuse(span, &Limit::ATTRIBUTE_TYPE),
        };
        let components = part.length as u32;
        Ok(Attribute {
            name: part.name.clone(),
            components,
            number,
            is_vertex_index: false,
            offset_words,
            coordinate_offset_words: None,
        })
    }

    /// The value of a built-in input.
    fn given(&mut self, built_in: BuiltIn, stage: Stage, span: Span) -> Result<Vec<Value>> {
        let program = &mut self.program;
        let zero = program.bits(0);
        Ok(match (built_in, stage) {
            (BuiltIn::Position { .. }, Stage::Fragment) => {
                let half = program.float(0.5);
                let mut place = Vec::new();
                for given in [Given::PixelX, Given::PixelY] {
                    let number = program.value(Op::Given(given));
                    let number = program.alu(AddOp::Itof, number, number);
                    place.push(program.fadd(number, half));
                }
                let depth = program.value(Op::Given(Given::FragmentZ));
                let depth = program.alu(AddOp::Itof, depth, depth);
                let scale = program.float(1.0 / 16_777_215.0);
                place.push(program.fmul(depth, scale));
                let w = program.value(Op::Given(Given::FragmentW));
                place.push(program.recip(w));
                place
            }
            (BuiltIn::FrontFacing, Stage::Fragment) => {
                let back = program.value(Op::Given(Given::BackFacing));
                vec![program.compare(Relation::Equal, back, zero)]
            }
            (BuiltIn::SampleMask, Stage::Fragment) => vec![program.value(Op::Given(Given::Samples))],
            (BuiltIn::InstanceIndex, Stage::Coordinate | Stage::Vertex) => vec![program.uniform(StreamWord::Instance)],
            (BuiltIn::SampleIndex, _) => return refuse(span, &Limit::SAMPLE_INDEX),
            _ => return refuse(span, &Limit::BUILT_IN_INPUT),
        })
    }

    /// Writes colour and depth; returns whether there is a depth.
    fn fragment_end(
        &mut self,
        outputs: &[InterfaceVariable],
        result: &[Value],
        state: &State,
        span: Span,
    ) -> Result<bool> {
        let (mut color, mut depth) = (None, None);
        for part in outputs {
            match part.binding {
                Binding::Location { location: 0, .. } if part.length == 4 => {
                    if self.module.types[part.ty].inner.scalar_kind() != Some(ScalarKind::Float) {
                        return refuse(span, &Limit::COLOR_TYPE);
                    }
                    color = Some(&result[part.first..part.first + 4]);
                }
                Binding::Location { location: 0, .. } => {
                    return refuse(span, &Limit::COLOR_TYPE);
                }
                Binding::Location { .. } => return refuse(span, &Limit::COLOR_COUNT),
                Binding::BuiltIn(BuiltIn::FragDepth) => depth = Some(result[part.first]),
                Binding::BuiltIn(_) => return refuse(span, &Limit::BUILT_IN_OUTPUT),
            }
        }
        let Some(color) = color else { return refuse(span, &Limit::COLOR_MISSING) };
        let color = color.to_vec();
        let (word, blue_alpha) = if self.half_color {
            let halves = MathFunction::Pack2x16float;
            (self.packed(halves, &color[..2]), Some(self.packed(halves, &color[2..])))
        } else {
            (self.packed_color(&color), None)
        };
        if let Some(depth) = depth {
            let depth = self.clamped(depth, 0.0, 1.0);
            let scale = self.program.float(16_777_215.0);
            let depth = self.program.fmul(depth, scale);
            let depth = self.program.alu(AddOp::Ftoi, depth, depth);
            self.program.value(Op::Depth(depth));
        }
        if self.discards {
            let kept = state.variables[self.kept];
            self.program.value(Op::Keep(kept));
        }
        if let Some(word) = blue_alpha {
            self.program.value(Op::BlueAlpha(word));
        }
        self.program.value(Op::Color(word));
        Ok(depth.is_some())
    }

    /// Writes the vertex's position in the formats that the hardware expects, and the varyings that the fragment shader uses.
    fn vertex_end(
        &mut self,
        stage: Stage,
        outputs: &[InterfaceVariable],
        result: &[Value],
        span: Span,
    ) -> Result<Varyings> {
        let (mut position, mut point_size) = (None, None);
        let mut located = Vec::new();
        for part in outputs {
            let scalars = &result[part.first..part.first + part.length];
            match part.binding {
                _ if part.is_point_size() => point_size = scalars.first().copied(),
                Binding::BuiltIn(BuiltIn::Position { .. }) => position = Some(scalars),
                Binding::Location { location, interpolation, sampling, .. } => {
                    let flat = self.is_flat(part, interpolation, sampling, span)?;
                    let is_float = self.module.types[part.ty].inner.scalar_kind() == Some(ScalarKind::Float);
                    let scalars: Vec<Value> =
                        scalars.iter().map(|&scalar| if is_float { scalar } else { self.float_of(scalar) }).collect();
                    located.push((location, scalars, flat));
                }
                Binding::BuiltIn(_) => return refuse(span, &Limit::BUILT_IN_OUTPUT),
            }
        }
        let Some(&[x, y, z, w]) = position else { return fault(span, "a vertex shader without a position") };
        let viewport = |lowering: &mut Self, what| lowering.program.uniform(StreamWord::Viewport(what));
        // The reciprocal of w has a latency, so its other factors are scaled before, while the special function unit works.
        let inverse = self.program.recip(w);
        let mut screen = None;
        for (half, clip, size) in [(0, x, Viewport::HalfWidth), (1, y, Viewport::HalfHeight)] {
            let size = viewport(self, size);
            let place = self.program.fmul(clip, size);
            let place = self.program.fmul(place, inverse);
            screen = Some(self.program.value(Op::PackInteger(half, screen, place)));
        }
        let scale = viewport(self, Viewport::ZScale);
        let depth = self.program.fmul(z, scale);
        let depth = self.program.fmul(depth, inverse);
        let offset = viewport(self, Viewport::ZOffset);
        let depth = self.program.fadd(depth, offset);

        let mut words = if stage == Stage::Coordinate { vec![x, y, z, w] } else { Vec::new() };
        words.extend(screen);
        words.extend([depth, inverse]);
        // The binner cannot handle points smaller than 1/8 [AG p.108, HW-2726].
        let least = self.program.float(0.125);
        words.extend(point_size.map(|size| self.program.alu(AddOp::Fmax, size, least)));
        located.sort_by_key(|(location, ..)| *location);
        let declared = located.iter().map(|&(location, ref scalars, flat)| {
            let components = scalars.len() as u32;
            Varying { location, components, flat }
        });
        let mut varyings = Varyings::all(declared.collect());
        if let Some(fragment) = self.fragment {
            varyings.keep_read_by(fragment, span)?;
        }
        if stage == Stage::Vertex {
            let components: Vec<Value> = located.iter().flat_map(|(_, scalars, _)| scalars).copied().collect();
            words.extend(varyings.kept().iter().filter_map(|&number| components.get(number as usize)));
        }
        for word in words {
            self.program.value(Op::Output(word));
        }
        Ok(varyings)
    }
}

/// The span of an entry point's name and arguments. naga does not keep it, so it is searched in the source; if it is not found, the span of the first
/// statement.
pub(crate) fn entry_span(source: &str, entry: &EntryPoint) -> Span {
    let body = || entry.function.body.span_iter().map(|(_, span)| *span).find(Span::is_defined).unwrap_or_default();
    signature(source, &entry.name).map_or_else(body, |range| Span::new(range.start as u32, range.end as u32))
}

/// The byte range of `NAME(ARGUMENTS)` after the keyword `fn`.
fn signature(source: &str, name: &str) -> Option<Range<usize>> {
    let starts = source.match_indices("fn").filter_map(|(at, keyword)| {
        let start = at + keyword.len() + source[at + keyword.len()..].find(|c: char| !c.is_whitespace())?;
        let rest = source[start..].strip_prefix(name)?.trim_start();
        rest.starts_with('(').then_some(start)
    });
    let start = starts.last()?;
    let mut depth = 0;
    for (at, character) in source[start..].char_indices() {
        match character {
            '(' => depth += 1,
            ')' if depth == 1 => return Some(start..start + at + 1),
            ')' => depth -= 1,
            _ => {}
        }
    }
    None
}

/// The index of a stage's entry point: the one with the given name, or else with the default name, or the only one.
pub(crate) fn find(
    module: &naga::Module,
    stage: ShaderStage,
    name: Option<&str>,
    usual: &str,
) -> Result<Option<usize>> {
    let named = |name: &str| module.entry_points.iter().position(|entry| entry.stage == stage && entry.name == name);
    if let Some(name) = name {
        let message = || format!("there is no {stage:?} entry point of the name {name}");
        return named(name).map_or_else(|| mistake(Span::default(), message()), |at| Ok(Some(at)));
    }
    let all: Vec<usize> =
        (0..).zip(&module.entry_points).filter(|(_, entry)| entry.stage == stage).map(|(at, _)| at).collect();
    match (named(usual), all.as_slice()) {
        (Some(at), _) => Ok(Some(at)),
        (None, []) => Ok(None),
        (None, [only]) => Ok(Some(*only)),
        (None, several) => {
            let names: Vec<&str> = several.iter().map(|&at| module.entry_points[at].name.as_str()).collect();
            mistake(
                Span::default(),
                format!("several {stage:?} entry points, and none is {usual}: say which of {}", names.join(", ")),
            )
        }
    }
}
