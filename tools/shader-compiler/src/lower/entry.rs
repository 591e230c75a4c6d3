//! Entry points: what the hardware gives to a stage, and what it wants of it.
//!
//! A coordinate shader is the vertex shader with other outputs; what they do not need is dropped as dead code.
//!
//! # Sources
//! [AG p.51] for fragments, [AG p.60-61] for shaded vertices.

use naga::{
    AddressSpace, Binding, BuiltIn, EntryPoint, Handle, Interpolation, ScalarKind, ShaderStage, Span, Type, TypeInner,
};
use v3d_hw::qpu::AddOp;

use super::{Global, Lowered, Lowering, State};
use crate::diagnostic::{Result, refuse};
use crate::interface::{Attribute, Number, Stage};
use crate::ssa::{Given, Op, Relation, StreamWord, Value, Viewport};

/// Attributes that a vertex can have.
const MOST_ATTRIBUTES: usize = 8;
/// Components of varyings that the hardware interpolates.
const MOST_VARYINGS: u32 = 32;

/// A part of an entry point's arguments or result.
struct Part {
    name: String,
    binding: Binding,
    ty: Handle<Type>,
    /// First scalar.
    first: usize,
    length: usize,
    span: Span,
}

/// What an entry point is made of beside its values.
pub(crate) struct Entry {
    pub(crate) attributes: Vec<Attribute>,
    /// Components of each location that is handed on or taken, in the order of locations.
    pub(crate) varyings: Vec<(u32, u32)>,
}

impl<'m> Lowering<'m> {
    /// Lowers an entry point to the program of a stage.
    pub(crate) fn entry(&mut self, index: usize, stage: Stage) -> Result<Entry> {
        let module = self.module;
        let entry = &module.entry_points[index];
        let function = &entry.function;
        let span = self.entry_span(entry);
        let mut state = State { variables: Vec::new(), live: self.program.bits(u32::MAX), dead: false };
        state.variables.push(state.live);
        self.kept = 0;
        self.private_variables(&mut state)?;

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
        order.sort_by_key(|&at| match inputs[at].binding {
            Binding::Location { location, .. } => location,
            Binding::BuiltIn(_) => u32::MAX,
        });
        let (mut words, mut components) = (0, 0);
        for at in order {
            let part = &inputs[at];
            values[at] = match part.binding {
                Binding::BuiltIn(built_in) => self.given(built_in, stage, part.span)?,
                Binding::Location { location, interpolation, .. } if stage == Stage::Fragment => {
                    self.smooth(part, interpolation)?;
                    varyings.push((location, part.length as u32));
                    let numbers = components..components + part.length as u32;
                    components = numbers.end;
                    numbers.map(|number| self.program.value(Op::Varying(number))).collect()
                }
                Binding::Location { .. } => {
                    attributes.push(self.attribute(part, words)?);
                    let numbers = words..words + part.length as u32;
                    words = numbers.end;
                    numbers.map(|number| self.program.value(Op::Attribute(number))).collect()
                }
            };
        }
        if components > MOST_VARYINGS {
            return refuse(span, format!("{components} components of varyings; {MOST_VARYINGS} are the most"));
        }
        if attributes.len() > MOST_ATTRIBUTES {
            return refuse(span, format!("{} attributes; {MOST_ATTRIBUTES} are the most", attributes.len()));
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
        match stage {
            Stage::Fragment => self.fragment_end(&outputs, &result, &state, span)?,
            _ => varyings = self.vertex_end(stage, &outputs, &result, span)?,
        }
        Ok(Entry { attributes, varyings })
    }

    /// Where an entry point is: naga keeps no span of its own for it.
    fn entry_span(&self, entry: &EntryPoint) -> Span {
        entry.function.body.span_iter().map(|(_, span)| *span).find(Span::is_defined).unwrap_or_default()
    }

    fn private_variables(&mut self, state: &mut State) -> Result<()> {
        let module = self.module;
        for (handle, variable) in module.global_variables.iter() {
            if variable.space != AddressSpace::Private {
                continue;
            }
            let span = module.global_variables.get_span(handle);
            let values = match variable.init {
                Some(init) => self.constant(&module.global_expressions, init, span)?,
                None => vec![self.program.bits(0); self.scalars(variable.ty, span)?],
            };
            self.globals.insert(handle, Global::Variable(state.variables.len()));
            state.variables.extend(values);
        }
        Ok(())
    }

    /// The bound parts of an argument or result: itself, or the members of a structure.
    fn parts_of(
        &self,
        name: String,
        binding: Option<&Binding>,
        ty: Handle<Type>,
        parts: &mut Vec<Part>,
        span: Span,
    ) -> Result<()> {
        let module = self.module;
        if let Some(binding) = binding {
            let length = self.scalars(ty, span)?;
            parts.push(Part { name, binding: binding.clone(), ty, first: 0, length, span });
            return Ok(());
        }
        let TypeInner::Struct { members, .. } = &module.types[ty].inner else {
            return refuse(span, "an argument that is bound to nothing");
        };
        let mut first = 0;
        for member in members {
            let length = self.scalars(member.ty, span)?;
            let Some(binding) = &member.binding else { return refuse(span, "a member that is bound to nothing") };
            let name = member.name.clone().unwrap_or_default();
            parts.push(Part { name, binding: binding.clone(), ty: member.ty, first, length, span });
            first += length;
        }
        Ok(())
    }

    /// Refuses what the hardware does not interpolate.
    fn smooth(&self, part: &Part, interpolation: Option<Interpolation>) -> Result<()> {
        let kind = self.module.types[part.ty].inner.scalar_kind();
        match interpolation {
            None | Some(Interpolation::Perspective) if kind == Some(ScalarKind::Float) => Ok(()),
            Some(Interpolation::Linear) => {
                refuse(part.span, "varyings without perspective: the hardware divides all of them by W")
            }
            _ => refuse(
                part.span,
                "flat varyings: which varyings are flat is state of the renderer, which has none of it",
            ),
        }
    }

    fn attribute(&self, part: &Part, offset_words: u32) -> Result<Attribute> {
        let number = match self.module.types[part.ty].inner.scalar_kind() {
            Some(ScalarKind::Float) => Number::Float,
            Some(ScalarKind::Sint) => Number::Int,
            Some(ScalarKind::Uint) => Number::Uint,
            _ => return refuse(part.span, "an attribute of this type"),
        };
        let components = part.length as u32;
        Ok(Attribute { name: part.name.clone(), components, number, offset_words, coordinate_offset_words: None })
    }

    /// What a built-in input is made of.
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
            (BuiltIn::VertexIndex | BuiltIn::InstanceIndex, _) => {
                return refuse(span, "vertices do not know their number: give it as an attribute");
            }
            (BuiltIn::SampleIndex, _) => return refuse(span, "fragments are shaded once for all samples"),
            _ => return refuse(span, "a built-in input that this stage does not have"),
        })
    }

    fn fragment_end(&mut self, outputs: &[Part], result: &[Value], state: &State, span: Span) -> Result<()> {
        let mut color = None;
        for part in outputs {
            match part.binding {
                Binding::Location { location: 0, .. } if part.length == 4 => {
                    if self.module.types[part.ty].inner.scalar_kind() != Some(ScalarKind::Float) {
                        return refuse(
                            part.span,
                            "a colour of integers: the tile buffer has 8 bits for each channel from 0 to 1",
                        );
                    }
                    color = Some(&result[part.first..part.first + 4]);
                }
                Binding::Location { location: 0, .. } => {
                    return refuse(part.span, "a colour has four components: vec4<f32>");
                }
                Binding::Location { .. } => return refuse(part.span, "a second colour: the tile buffer has one"),
                Binding::BuiltIn(BuiltIn::FragDepth) => {
                    return refuse(
                        part.span,
                        "frag_depth: what the pipeline puts behind the program writes the depth that the hardware gave",
                    );
                }
                Binding::BuiltIn(_) => return refuse(part.span, "a built-in output that fragments do not have"),
            }
        }
        let Some(color) = color else { return refuse(span, "a fragment shader without a colour at @location(0)") };
        let color = color.to_vec();
        let word = self.packed_color(&color);
        if self.discards {
            let kept = state.variables[self.kept];
            self.program.value(Op::Keep(kept));
        }
        self.program.value(Op::Color(word));
        Ok(())
    }

    fn vertex_end(&mut self, stage: Stage, outputs: &[Part], result: &[Value], span: Span) -> Result<Vec<(u32, u32)>> {
        let mut position = None;
        let mut located = Vec::new();
        for part in outputs {
            let scalars = &result[part.first..part.first + part.length];
            match part.binding {
                Binding::BuiltIn(BuiltIn::Position { .. }) => position = Some(scalars),
                Binding::Location { location, interpolation, .. } => {
                    self.smooth(part, interpolation)?;
                    located.push((location, scalars));
                }
                Binding::BuiltIn(_) => return refuse(part.span, "a built-in output that vertices do not have"),
            }
        }
        let Some(&[x, y, z, w]) = position else { return refuse(span, "a vertex shader without @builtin(position)") };
        let viewport = |lowering: &mut Self, what| lowering.program.uniform(StreamWord::Viewport(what));
        let inverse = self.program.recip(w);
        let mut screen = None;
        for (half, clip, size) in [(0, x, Viewport::HalfWidth), (1, y, Viewport::HalfHeight)] {
            let place = self.program.fmul(clip, inverse);
            let size = viewport(self, size);
            let place = self.program.fmul(place, size);
            screen = Some(self.program.value(Op::PackInteger(half, screen, place)));
        }
        let depth = self.program.fmul(z, inverse);
        let scale = viewport(self, Viewport::ZScale);
        let depth = self.program.fmul(depth, scale);
        let offset = viewport(self, Viewport::ZOffset);
        let depth = self.program.fadd(depth, offset);

        let mut words = if stage == Stage::Coordinate { vec![x, y, z, w] } else { Vec::new() };
        words.extend(screen);
        words.extend([depth, inverse]);
        located.sort_by_key(|(location, _)| *location);
        if stage == Stage::Vertex {
            words.extend(located.iter().flat_map(|(_, scalars)| scalars.iter().copied()));
        }
        let varyings: Vec<(u32, u32)> =
            located.iter().map(|(location, scalars)| (*location, scalars.len() as u32)).collect();
        let components: u32 = varyings.iter().map(|(_, length)| length).sum();
        if components > MOST_VARYINGS {
            return refuse(span, format!("{components} components of varyings; {MOST_VARYINGS} are the most"));
        }
        for word in words {
            self.program.value(Op::Output(word));
        }
        Ok(varyings)
    }
}

/// The number of an entry point of a stage: the one of that name, or the only one.
pub(crate) fn find(module: &naga::Module, stage: ShaderStage, name: &str, named: bool) -> Option<usize> {
    let of_stage = |entry: &&EntryPoint| entry.stage == stage;
    let by_name = module.entry_points.iter().position(|entry| entry.stage == stage && entry.name == name);
    if by_name.is_some() || named {
        return by_name;
    }
    let only = module.entry_points.iter().filter(of_stage).count() == 1;
    module.entry_points.iter().position(|entry| entry.stage == stage).filter(|_| only)
}
