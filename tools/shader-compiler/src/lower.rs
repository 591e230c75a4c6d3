//! From naga's functions to scalar values.
//!
//! Functions are inlined, vectors and matrices taken apart, and variables become whatever value they have at the moment, so that nothing of them is left. A
//! state says which values the variables have and for which elements that is so; where ways meet, states are merged by selects.

use std::collections::HashMap;

use naga::proc::TypeResolution;
use naga::valid::{FunctionInfo, ModuleInfo};
use naga::{
    AddressSpace, ArraySize, Expression, Function, GlobalVariable, Handle, LocalVariable, Module, ScalarKind, Span,
    Type, TypeInner,
};

use crate::diagnostic::{Result, fault, refuse, refuse_with};
use crate::interface::{Buffer, Field, Number, Texture, Workgroups};
use crate::limit::Limit;
use crate::ssa::{Memory, Program, StreamWord, Value};

mod bits;
pub(crate) mod compute;
pub(crate) mod entry;
mod exponential;
mod expression;
mod image;
mod level_of_detail;
mod math;
mod matrix;
mod memory;
mod operator;
mod reduce_strength;
mod statement;

/// Most scalars of a variable.
const MOST_SCALARS: usize = 4096;
/// Functions that call each other.
const MOST_CALLS: usize = 64;

/// What an expression is.
#[derive(Clone, Debug)]
pub(crate) enum Lowered {
    /// Scalars.
    Scalars(Vec<Value>),
    /// A place.
    Pointer(Pointer),
    /// A texture, by its number.
    Image(u32),
    /// A sampler.
    Sampler,
    /// A place in memory.
    Memory(memory::Place),
}

/// A place: scalars from a first one on, with indices that only the program knows.
#[derive(Clone, Debug)]
pub(crate) struct Pointer {
    space: Space,
    first: usize,
    dynamic: Vec<Dynamic>,
}

/// An index that only the program knows.
#[derive(Clone, Copy, Debug)]
struct Dynamic {
    index: Value,
    count: usize,
    stride: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Space {
    /// Variables of functions and of the module.
    Variables,
    Uniform(Handle<GlobalVariable>),
}

/// What variables are, and for which elements.
#[derive(Clone, Debug)]
pub(crate) struct State {
    variables: Vec<Value>,
    /// Mask of the elements that have come here.
    live: Value,
    /// None has.
    dead: bool,
}

/// Elements that have left a function, a loop or a turn of it, with their variables.
#[derive(Clone, Debug)]
struct Exit {
    live: Value,
    variables: Vec<Value>,
}

/// A loop that is being lowered.
#[derive(Clone, Debug, Default)]
struct Turn {
    breaks: Vec<Exit>,
    continues: Vec<Exit>,
}

/// A function that is being lowered.
struct Frame<'m> {
    function: &'m Function,
    info: &'m FunctionInfo,
    arguments: Vec<Lowered>,
    values: HashMap<Handle<Expression>, Lowered>,
    locals: HashMap<Handle<LocalVariable>, usize>,
    turns: Vec<Turn>,
    returns: Vec<Exit>,
    /// First variable of the returned value, if there is one.
    result: Option<usize>,
}

/// What becomes of a module's variable.
enum Global {
    Uniform(Vec<StreamWord>),
    Variable(usize),
    Texture(u32),
    Sampler,
    Memory(Memory),
}

/// A source that is compiled.
#[derive(Clone, Copy)]
pub(crate) struct Source<'m> {
    pub(crate) text: &'m str,
    pub(crate) module: &'m Module,
    pub(crate) info: &'m ModuleInfo,
    /// See [`Options::fast_math`](crate::Options).
    pub(crate) fast_math: bool,
}

/// A program in the making.
pub(crate) struct Lowering<'m> {
    /// The text of the module, for places in it.
    source: &'m str,
    module: &'m Module,
    info: &'m ModuleInfo,
    pub(crate) program: Program,
    globals: HashMap<Handle<GlobalVariable>, Global>,
    pub(crate) fields: Vec<Field>,
    pub(crate) textures: Vec<Texture>,
    pub(crate) buffers: Vec<Buffer>,
    pub(crate) workgroups: Workgroups,
    /// First bytes of the workgroup's variables.
    workgroup_places: HashMap<Handle<GlobalVariable>, u32>,
    calls: usize,
    /// The special function unit's results are taken as they are.
    fast_math: bool,
    /// The variable that says which elements have not been discarded.
    kept: usize,
    pub(crate) discards: bool,
}

impl<'m> Lowering<'m> {
    pub(crate) fn new(source: &Source<'m>) -> Result<Self> {
        let Source { text, module, info, fast_math } = *source;
        let mut lowering = Self {
            source: text,
            module,
            info,
            program: Program::default(),
            globals: HashMap::new(),
            fields: Vec::new(),
            textures: Vec::new(),
            buffers: Vec::new(),
            workgroups: Workgroups::default(),
            workgroup_places: HashMap::new(),
            calls: 0,
            fast_math,
            kept: 0,
            discards: false,
        };
        lowering.resources()?;
        Ok(lowering)
    }

    /// Uniforms and textures of the module, in the order of the source.
    fn resources(&mut self) -> Result<()> {
        for (handle, variable) in self.module.global_variables.iter() {
            let name = variable.name.clone().unwrap_or_else(|| "unnamed".to_owned());
            let inner = &self.module.types[variable.ty].inner;
            let global = match (variable.space, inner) {
                (AddressSpace::Uniform, inner) => {
                    let mut words = Vec::new();
                    let span = self.module.global_variables.get_span(handle);
                    match inner {
                        TypeInner::Struct { members, .. } => {
                            for member in members {
                                let name = member.name.clone().unwrap_or_else(|| "unnamed".to_owned());
                                // What cannot be a field is refused where it is used.
                                if self.field(name, member.ty, &mut words).is_none() {
                                    let length = self.scalars(member.ty, span)?;
                                    words.extend(std::iter::repeat_n(StreamWord::Constant(0), length));
                                }
                            }
                        }
                        _ => {
                            if self.field(name, variable.ty, &mut words).is_none() {
                                return refuse(span, &Limit::UNIFORM_TYPE);
                            }
                        }
                    }
                    Global::Uniform(words)
                }
                (AddressSpace::Handle, TypeInner::Image { dim, .. }) => {
                    self.textures.push(Texture { name, cube: *dim == naga::ImageDimension::Cube });
                    Global::Texture(self.textures.len() as u32 - 1)
                }
                (AddressSpace::Handle, TypeInner::Sampler { .. }) => Global::Sampler,
                // Variables of the module get their places when an entry point begins.
                _ => continue,
            };
            self.globals.insert(handle, global);
        }
        Ok(())
    }

    /// Adds a field and its words, in the order of the type's scalars. `None` if it is of a type that no field has.
    fn field(&mut self, name: String, ty: Handle<Type>, words: &mut Vec<StreamWord>) -> Option<()> {
        let field = self.fields.len() as u32;
        let (element, count) = match self.module.types[ty].inner {
            TypeInner::Array { base, size: ArraySize::Constant(count), .. } => (base, Some(count.get())),
            _ => (ty, None),
        };
        let number = |kind: ScalarKind| match kind {
            ScalarKind::Float => Some(Number::Float),
            ScalarKind::Sint => Some(Number::Int),
            ScalarKind::Uint => Some(Number::Uint),
            _ => None,
        };
        let (scalar, columns, rows) = match self.module.types[element].inner {
            TypeInner::Scalar(scalar) => (scalar, 1, 1),
            TypeInner::Vector { size, scalar } => (scalar, 1, size as u32),
            TypeInner::Matrix { columns, rows, scalar } => (scalar, columns as u32, rows as u32),
            _ => return None,
        };
        if scalar.width != 4 || count.is_some_and(|count| count as usize > MOST_SCALARS) {
            return None;
        }
        let components = columns * rows;
        let number = number(scalar.kind)?;
        for element in 0..count.unwrap_or(1) {
            for column in 0..columns {
                for row in 0..rows {
                    words.push(StreamWord::Field { field, index: element * components + row * columns + column });
                }
            }
        }
        self.fields.push(Field { name, number, components, count });
        Some(())
    }

    /// The scalars that a value of a type has.
    fn scalars(&self, ty: Handle<Type>, span: Span) -> Result<usize> {
        self.scalars_of(&self.module.types[ty].inner, span)
    }

    fn scalars_of(&self, inner: &TypeInner, span: Span) -> Result<usize> {
        let count = match inner {
            TypeInner::Scalar(scalar) | TypeInner::Vector { scalar, .. } | TypeInner::Matrix { scalar, .. }
                if scalar.width != 4 && scalar.kind != ScalarKind::Bool =>
            {
                return refuse(span, &Limit::NUMBER_WIDTH);
            }
            TypeInner::Scalar(_) => 1,
            TypeInner::Vector { size, .. } => *size as usize,
            TypeInner::Matrix { columns, rows, .. } => *columns as usize * *rows as usize,
            TypeInner::Array { base, size: ArraySize::Constant(count), .. } => {
                self.scalars(*base, span)?.saturating_mul(count.get() as usize)
            }
            TypeInner::Struct { members, .. } => {
                let mut sum = 0;
                for member in members {
                    sum += self.scalars(member.ty, span)?;
                }
                sum
            }
            TypeInner::Atomic(_) => {
                return refuse(span, &Limit::ATOMIC_PLACE);
            }
            _ => return refuse(span, &Limit::TYPE_IN_REGISTERS),
        };
        if count > MOST_SCALARS {
            return refuse_with(span, &Limit::VALUE_SIZE, format_args!("{count}, at most {MOST_SCALARS}"));
        }
        Ok(count)
    }

    /// The type of an expression.
    fn type_of<'f>(&'f self, frame: &'f Frame<'m>, expression: Handle<Expression>) -> &'f TypeInner {
        let resolution: &TypeResolution = &frame.info[expression].ty;
        resolution.inner_with(&self.module.types)
    }

    /// The kind of number that an expression's scalars are.
    fn kind_of(&self, frame: &Frame<'m>, expression: Handle<Expression>) -> ScalarKind {
        self.type_of(frame, expression).scalar_kind().unwrap_or(ScalarKind::Float)
    }

    fn span(&self, frame: &Frame<'m>, expression: Handle<Expression>) -> Span {
        frame.function.expressions.get_span(expression)
    }

    /// Where a part of a composite type begins, and how many scalars it has, and the type of the part.
    fn part(&self, inner: &TypeInner, index: usize, span: Span) -> Result<(usize, usize, TypeInner)> {
        match inner {
            TypeInner::Vector { scalar, .. } => Ok((index, 1, TypeInner::Scalar(*scalar))),
            TypeInner::Matrix { rows, scalar, .. } => {
                let rows_count = *rows as usize;
                Ok((index * rows_count, rows_count, TypeInner::Vector { size: *rows, scalar: *scalar }))
            }
            TypeInner::Array { base, .. } => {
                let length = self.scalars(*base, span)?;
                Ok((index.saturating_mul(length), length, self.module.types[*base].inner.clone()))
            }
            TypeInner::Struct { members, .. } => {
                let mut first = 0;
                for member in members.iter().take(index) {
                    first += self.scalars(member.ty, span)?;
                }
                let Some(member) = members.get(index) else { return fault(span, "a missing member") };
                Ok((first, self.scalars(member.ty, span)?, self.module.types[member.ty].inner.clone()))
            }
            _ => fault(span, "a part of a value that has none"),
        }
    }

    /// Elements of what an index chooses from.
    fn parts(&self, inner: &TypeInner, span: Span) -> Result<usize> {
        match inner {
            TypeInner::Vector { size, .. } => Ok(*size as usize),
            TypeInner::Matrix { columns, .. } => Ok(*columns as usize),
            TypeInner::Array { size: ArraySize::Constant(count), .. } => Ok(count.get() as usize),
            _ => fault(span, "an index into an array of unknown length"),
        }
    }

    /// The one state that several exits and a state make together; the last way is the one that is assumed where no other is said.
    fn merge(&mut self, mut ways: Vec<Exit>) -> Option<Exit> {
        let mut merged = ways.pop()?;
        while let Some(way) = ways.pop() {
            for (slot, value) in merged.variables.iter_mut().zip(&way.variables) {
                *slot = self.program.select(way.live, *value, *slot);
            }
            merged.live = self.program.or(way.live, merged.live);
        }
        Some(merged)
    }
}
