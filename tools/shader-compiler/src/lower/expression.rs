//! Lowers expressions of naga's arena to scalars and pointers.

use alloc::vec;
use alloc::vec::Vec;

use naga::{Expression, Handle, Literal, ScalarKind, Span, TypeInner};

use super::memory::Place;
use super::{Dynamic, Frame, Global, Lowered, Lowering, Pointer, Space, State, layout};
use crate::diagnostic::{Result, fault, refuse, refuse_with};
use crate::limit::Limit;
use crate::ssa::{Relation, Value};

/// Maximum number of elements for a dynamic index by selects.
const MOST_PLACES: usize = 64;

impl<'m> Lowering<'m> {
    /// The lowered form of an expression that is in the table already, or needs no operation.
    pub(super) fn operand(
        &mut self,
        frame: &mut Frame<'m>,
        expression: Handle<Expression>,
        state: &mut State,
    ) -> Result<Lowered> {
        if let Some(lowered) = frame.values.get(&expression) {
            return Ok(lowered.clone());
        }
        self.expression(frame, expression, state)
    }

    /// The scalars of an expression.
    pub(super) fn scalars_at(
        &mut self,
        frame: &mut Frame<'m>,
        expression: Handle<Expression>,
        state: &mut State,
    ) -> Result<Vec<Value>> {
        match self.operand(frame, expression, state)? {
            Lowered::Scalars(scalars) => Ok(scalars),
            _ => fault(self.span(frame, expression), "scalars are expected here"),
        }
    }

    /// The scalar of an expression that has one.
    pub(super) fn scalar(
        &mut self,
        frame: &mut Frame<'m>,
        expression: Handle<Expression>,
        state: &mut State,
    ) -> Result<Value> {
        match self.scalars_at(frame, expression, state)?.as_slice() {
            [scalar] => Ok(*scalar),
            _ => fault(self.span(frame, expression), "one scalar is expected here"),
        }
    }

    pub(super) fn expression(
        &mut self,
        frame: &mut Frame<'m>,
        handle: Handle<Expression>,
        state: &mut State,
    ) -> Result<Lowered> {
        let lowered = self.expression_anew(frame, handle, state)?;
        let copied = if let Lowered::Scalars(scalars) = &lowered { scalars.len() } else { 0 };
        self.charge(copied, self.span(frame, handle))?;
        Ok(lowered)
    }

    fn expression_anew(
        &mut self,
        frame: &mut Frame<'m>,
        handle: Handle<Expression>,
        state: &mut State,
    ) -> Result<Lowered> {
        let span = self.span(frame, handle);
        let function = frame.function;
        Ok(match &function.expressions[handle] {
            Expression::Literal(_) | Expression::Constant(_) | Expression::ZeroValue(_) | Expression::Override(_) => {
                Lowered::Scalars(self.constant(&function.expressions, handle, span)?)
            }
            Expression::Compose { ty, components } => {
                self.scalars(*ty, span)?;
                let mut scalars = Vec::new();
                for component in components {
                    scalars.extend(self.scalars_at(frame, *component, state)?);
                }
                Lowered::Scalars(scalars)
            }
            Expression::Splat { size, value } => {
                Lowered::Scalars(vec![self.scalar(frame, *value, state)?; *size as usize])
            }
            Expression::Swizzle { size, vector, pattern } => {
                let scalars = self.scalars_at(frame, *vector, state)?;
                let chosen =
                    pattern[..*size as usize].iter().map(|component| scalars.get(*component as usize).copied());
                match chosen.collect() {
                    Some(chosen) => Lowered::Scalars(chosen),
                    None => return fault(span, "a missing component"),
                }
            }
            Expression::AccessIndex { base, index } => self.access_index(frame, *base, *index as usize, state, span)?,
            Expression::Access { base, index } => {
                let index = self.scalar(frame, *index, state)?;
                self.access(frame, *base, index, state, span)?
            }
            Expression::FunctionArgument(number) => match frame.arguments.get(*number as usize) {
                Some(argument) => argument.clone(),
                None => return fault(span, "a missing argument"),
            },
            Expression::GlobalVariable(variable) => match self.globals.get(variable) {
                Some(Global::Uniform(_)) => {
                    Lowered::Pointer(Pointer { space: Space::Uniform(*variable), first: 0, dynamic: Vec::new() })
                }
                Some(Global::Variable(first)) => {
                    Lowered::Pointer(Pointer { space: Space::Variables, first: *first, dynamic: Vec::new() })
                }
                Some(Global::Texture(number)) => Lowered::Image(*number),
                Some(Global::Sampler) => Lowered::Sampler,
                Some(Global::Memory(memory)) => {
                    let first = self.workgroup_places.get(variable).copied().unwrap_or(0);
                    Lowered::Memory(Place::start(*memory).further(first))
                }
                None => return refuse(span, self.why_not(*variable)),
            },
            Expression::LocalVariable(local) => match frame.locals.get(local) {
                Some(first) => {
                    Lowered::Pointer(Pointer { space: Space::Variables, first: *first, dynamic: Vec::new() })
                }
                None => return fault(span, "a missing variable"),
            },
            Expression::Load { pointer } => {
                let length = self.scalars_of(self.type_of(frame, handle), span)?;
                match self.operand(frame, *pointer, state)? {
                    Lowered::Pointer(pointer) => Lowered::Scalars(self.load(&pointer, length, state, span)?),
                    Lowered::Memory(place) => {
                        let inner = self.pointed(frame, *pointer);
                        Lowered::Scalars(self.load_memory(&place, &inner, state, span)?)
                    }
                    _ => return fault(span, "a load from something that is not in memory"),
                }
            }
            Expression::Unary { op, expr } => {
                let kind = self.kind_of(frame, *expr);
                let scalars = self.scalars_at(frame, *expr, state)?;
                Lowered::Scalars(scalars.into_iter().map(|scalar| self.unary(*op, kind, scalar)).collect())
            }
            Expression::Binary { op, left, right } => self.binary_expression(frame, *op, *left, *right, state, span)?,
            Expression::Select { condition, accept, reject } => {
                let condition = self.scalars_at(frame, *condition, state)?;
                let accept = self.scalars_at(frame, *accept, state)?;
                let reject = self.scalars_at(frame, *reject, state)?;
                let pairs = accept.into_iter().zip(reject).enumerate();
                let selected = pairs.map(|(at, (accept, reject))| {
                    self.program.select(condition[at.min(condition.len() - 1)], accept, reject)
                });
                Lowered::Scalars(selected.collect())
            }
            Expression::Relational { fun, argument } => {
                let scalars = self.scalars_at(frame, *argument, state)?;
                Lowered::Scalars(self.relational(*fun, &scalars))
            }
            Expression::Math { fun, arg, arg1, arg2, arg3 } => {
                let mut arguments = vec![self.scalars_at(frame, *arg, state)?];
                for argument in [arg1, arg2, arg3].into_iter().flatten() {
                    arguments.push(self.scalars_at(frame, *argument, state)?);
                }
                let kind = self.kind_of(frame, *arg);
                let rows = match self.type_of(frame, *arg) {
                    TypeInner::Matrix { rows, .. } => Some(*rows as usize),
                    _ => None,
                };
                Lowered::Scalars(self.math(*fun, kind, rows, &arguments, span)?)
            }
            Expression::As { expr, kind, convert } => {
                let from = self.kind_of(frame, *expr);
                let scalars = self.scalars_at(frame, *expr, state)?;
                let is_half = |inner: &TypeInner| inner.scalar().is_some_and(layout::is_half);
                let to_half = *convert == Some(2) && *kind == ScalarKind::Float;
                if convert.is_some_and(|width| width != 4 && *kind != ScalarKind::Bool) && !to_half {
                    return refuse(span, &Limit::NUMBER_WIDTH);
                }
                if convert.is_none() && is_half(self.type_of(frame, *expr)) {
                    return refuse(span, &Limit::HALF_BITCAST);
                }
                let cast = scalars.into_iter().map(|scalar| match convert {
                    None => scalar,
                    Some(_) if to_half => {
                        let float = self.convert(from, *kind, scalar);
                        self.as_half(float)
                    }
                    Some(_) => self.convert(from, *kind, scalar),
                });
                Lowered::Scalars(cast.collect())
            }
            Expression::Derivative { axis, expr, .. } => {
                let scalars = self.scalars_at(frame, *expr, state)?;
                Lowered::Scalars(scalars.into_iter().map(|scalar| self.derivative(*axis, scalar)).collect())
            }
            Expression::ImageSample { .. } | Expression::ImageLoad { .. } | Expression::ImageQuery { .. } => {
                Lowered::Scalars(self.image(frame, handle, state, span)?)
            }
            Expression::ArrayLength(array) => match self.operand(frame, *array, state)? {
                Lowered::Memory(place) => Lowered::Scalars(vec![self.length_of(&place)]),
                _ => return refuse(span, &Limit::STORAGE_IN_STAGE),
            },
            Expression::CallResult(_) => return fault(span, "the result of a call before the call"),
            _ => return refuse(span, &Limit::SUBGROUPS),
        })
    }

    /// The reason that a module variable of this address space cannot be used here.
    fn why_not(&self, variable: Handle<naga::GlobalVariable>) -> &'static Limit {
        match self.module.global_variables[variable].space {
            naga::AddressSpace::Storage { .. } => &Limit::STORAGE_IN_STAGE,
            _ => &Limit::ADDRESS_SPACE,
        }
    }

    /// The scalars of a constant expression of a function or of the module.
    pub(super) fn constant(
        &mut self,
        arena: &naga::Arena<Expression>,
        handle: Handle<Expression>,
        span: Span,
    ) -> Result<Vec<Value>> {
        match &arena[handle] {
            Expression::Literal(literal) => {
                let bits = match *literal {
                    Literal::F32(value) => value.to_bits(),
                    Literal::F16(value) => value.to_f32().to_bits(),
                    Literal::U32(value) => value,
                    Literal::I32(value) => value as u32,
                    Literal::Bool(value) => {
                        if value {
                            u32::MAX
                        } else {
                            0
                        }
                    }
                    Literal::AbstractInt(value) => value as u32,
                    Literal::AbstractFloat(value) => (value as f32).to_bits(),
                    _ => return refuse(span, &Limit::NUMBER_WIDTH),
                };
                Ok(vec![self.program.bits(bits)])
            }
            Expression::ZeroValue(ty) => {
                let length = self.scalars(*ty, span)?;
                let zero = self.program.bits(0);
                Ok(vec![zero; length])
            }
            Expression::Constant(constant) => {
                let module = self.module;
                self.constant(&module.global_expressions, module.constants[*constant].init, span)
            }
            Expression::Override(number) => {
                let module = self.module;
                match module.overrides[*number].init {
                    Some(init) => self.constant(&module.global_expressions, init, span),
                    None => refuse(span, &Limit::OVERRIDE),
                }
            }
            Expression::Compose { ty, components } => {
                let count = self.scalars(*ty, span)?;
                self.charge(count, span)?;
                let mut scalars = Vec::new();
                for component in components {
                    scalars.extend(self.constant(arena, *component, span)?);
                }
                Ok(scalars)
            }
            Expression::Splat { size, value } => {
                let scalars = self.constant(arena, *value, span)?;
                Ok(scalars.iter().copied().cycle().take(*size as usize).collect())
            }
            _ => refuse(span, &Limit::OVERRIDE),
        }
    }

    /// A component of a value or pointer, by a constant index.
    fn access_index(
        &mut self,
        frame: &mut Frame<'m>,
        base: Handle<Expression>,
        index: usize,
        state: &mut State,
        span: Span,
    ) -> Result<Lowered> {
        let lowered = self.operand(frame, base, state)?;
        let inner = self.pointed(frame, base);
        if let Lowered::Memory(place) = lowered {
            return self.part_of_memory(&place, &inner, index, span);
        }
        let (first, length, _) = self.part(&inner, index, span)?;
        Ok(match lowered {
            Lowered::Scalars(scalars) => match scalars.get(first..first + length) {
                Some(part) => Lowered::Scalars(part.to_vec()),
                None => return fault(span, "a missing part of a value"),
            },
            Lowered::Pointer(pointer) => Lowered::Pointer(Pointer { first: pointer.first + first, ..pointer }),
            _ => return refuse(span, &Limit::TEXTURE_ARRAY),
        })
    }

    /// The type of a value, or the pointee type of a pointer.
    pub(super) fn pointed(&self, frame: &Frame<'m>, expression: Handle<Expression>) -> TypeInner {
        match self.type_of(frame, expression) {
            TypeInner::Pointer { base, .. } => self.module.types[*base].inner.clone(),
            TypeInner::ValuePointer { size: Some(size), scalar, .. } => {
                TypeInner::Vector { size: *size, scalar: *scalar }
            }
            TypeInner::ValuePointer { size: None, scalar, .. } => TypeInner::Scalar(*scalar),
            other => other.clone(),
        }
    }

    /// A component of a value or pointer, by a dynamic index.
    fn access(
        &mut self,
        frame: &mut Frame<'m>,
        base: Handle<Expression>,
        index: Value,
        state: &mut State,
        span: Span,
    ) -> Result<Lowered> {
        let inner = self.pointed(frame, base);
        if let Lowered::Memory(place) = self.operand(frame, base, state)? {
            return self.element_of_memory(&place, &inner, index, span);
        }
        let count = self.parts(&inner, span)?;
        if let Some(index) = self.program.constant(index) {
            // Out-of-bounds indices are clamped to the last element, as WGSL allows.
            return self.access_index(frame, base, (index as usize).min(count.saturating_sub(1)), state, span);
        }
        if let Lowered::Pointer(pointer) = self.operand(frame, base, state)? {
            if let Some(place) = self.uniform_place(&pointer) {
                return self.element_of_memory(&place, &inner, index, span);
            }
            if self.move_to_memory(&pointer, count, span)? {
                return self.access_index(frame, base, 0, state, span);
            }
        }
        let (stride, length, _) = self.part(&inner, 1, span)?;
        if count > MOST_PLACES {
            return refuse_with(span, &Limit::DYNAMIC_INDEX, format_args!("{count}, at most {MOST_PLACES}"));
        }
        match self.operand(frame, base, state)? {
            Lowered::Scalars(scalars) => {
                let mut chosen = scalars[..length.min(scalars.len())].to_vec();
                for at in 1..count {
                    let number = self.program.bits(at as u32);
                    let here = self.program.compare(Relation::Equal, index, number);
                    for (offset, value) in chosen.iter_mut().enumerate() {
                        if let Some(scalar) = scalars.get(at * stride + offset) {
                            *value = self.program.select(here, *scalar, *value);
                        }
                    }
                }
                Ok(Lowered::Scalars(chosen))
            }
            Lowered::Pointer(mut pointer) => {
                pointer.dynamic.push(Dynamic { index, count, stride });
                Ok(Lowered::Pointer(pointer))
            }
            _ => refuse(span, &Limit::TEXTURE_ARRAY),
        }
    }

    fn load(&mut self, from: &Pointer, length: usize, state: &mut State, span: Span) -> Result<Vec<Value>> {
        let mut scalars: Vec<Value> = Vec::new();
        for (place, mask) in self.places(from) {
            for offset in 0..length {
                let value = match from.space {
                    Space::Variables => state.variables.get(place + offset).copied(),
                    Space::Uniform(variable) => match self.globals.get(&variable) {
                        Some(Global::Uniform(scalars)) => {
                            let scalar = scalars.get(place + offset).copied();
                            scalar.map(|scalar| self.uniform_scalar(scalar))
                        }
                        _ => None,
                    },
                };
                let Some(value) = value else { return fault(span, "a load behind the end of a variable") };
                match (scalars.get_mut(offset), mask) {
                    (Some(slot), Some(mask)) => *slot = self.program.select(mask, value, *slot),
                    _ => scalars.push(value),
                }
            }
        }
        Ok(scalars)
    }
}
