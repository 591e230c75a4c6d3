//! From naga's functions to scalar values.
//!
//! Functions are inlined, vectors and matrices taken apart, and variables become whatever value they have at the moment, so that nothing of them is left. A
//! state says which values the variables have and for which elements that is so; where ways meet, states are merged by selects.

use alloc::borrow::ToOwned;
use alloc::vec::Vec;
use hashbrown::HashMap;

use naga::proc::TypeResolution;
use naga::valid::{FunctionInfo, ModuleInfo};
use naga::{
    AddressSpace, ArraySize, Expression, Function, GlobalVariable, Handle, LocalVariable, Module, ScalarKind, Span,
    Type, TypeInner,
};

use crate::budget::Budget;
use crate::diagnostic::{Result, fault, refuse, refuse_beyond, refuse_with};
use crate::interface::{Buffer, Field, Stage, Texture, Workgroups};
use crate::limit::Limit;
use crate::link_varyings::Varyings;
use crate::ssa::{Memory, Program, Value};
use entry::Entry;
use uniform::InMemory;

mod bits;
pub(crate) mod compute;
mod convert_ifs;
mod element_pattern;
pub(crate) mod entry;
mod exponential;
mod expression;
mod footprint;
mod image;
mod inline_calls;
mod layout;
mod level_of_detail;
mod lookup;
mod loops;
mod math;
mod matrix;
mod memory;
mod operator;
mod reduce_strength;
mod statement;
mod uniform;
mod unroll_loops;
mod vpm_rows;

/// Most scalars of a variable.
const MOST_SCALARS: usize = 4096;
/// Most scalars of all variables that there are at the same time.
pub(crate) const MAX_VARIABLES: usize = 32_768;
/// Scalars that are copied at the cost of a value.
const COPIED_AS_ONE: usize = 16;

/// The lowered form of an expression.
#[derive(Clone, Debug)]
pub(crate) enum Lowered {
    /// Scalars.
    Scalars(Vec<Value>),
    /// A reference to variables or uniforms.
    Pointer(Pointer),
    /// A texture, by its number.
    Image(u32),
    /// A sampler.
    Sampler,
    /// A reference to memory.
    Memory(memory::Place),
}

/// A reference to scalars of variables or uniforms: the first scalar, and dynamic indices.
#[derive(Clone, Debug)]
pub(crate) struct Pointer {
    space: Space,
    first: usize,
    dynamic: Vec<Dynamic>,
}

/// A dynamic index.
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

/// The values of the variables at a point of the program.
#[derive(Clone, Debug)]
pub(crate) struct State {
    variables: Vec<Value>,
    /// Mask of the elements that reach this point.
    live: Value,
    /// No element reaches this point.
    dead: bool,
}

/// Elements that have left a function, a loop or an iteration of it, with their variables.
#[derive(Clone, Debug)]
struct Exit {
    live: Value,
    variables: Vec<Value>,
}

/// A loop that is being lowered.
#[derive(Clone, Debug, Default)]
struct Iteration {
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
    iterations: Vec<Iteration>,
    returns: Vec<Exit>,
    /// First variable of the returned value, if there is one.
    result: Option<usize>,
}

/// How a module variable is represented.
enum Global {
    Uniform(Vec<uniform::Scalar>),
    Variable(usize),
    Texture(u32),
    Sampler,
    Memory(Memory),
}

/// A module that is compiled, with the options that lowering depends on.
#[derive(Clone, Copy)]
pub(crate) struct SourceModule<'m> {
    pub(crate) text: &'m str,
    pub(crate) module: &'m Module,
    pub(crate) info: &'m ModuleInfo,
    /// See [`Options::fast_math`](crate::Options).
    pub(crate) fast_math: bool,
    /// See [`Options::half_color`](crate::Options).
    pub(crate) half_color: bool,
    /// See [`Options::budget`](crate::Options).
    pub(crate) budget: Budget,
    /// What the fragment shader of the same source reads, for its vertex shader.
    pub(crate) fragment: Option<&'m Varyings>,
    /// Arrays are looked up in memory, and loops read constants and uniforms again, to save registers.
    pub(crate) is_frugal: bool,
}

/// Lowers an entry point to the program of a stage: once more for each array of uniforms that is better read from memory.
pub(crate) fn lower<'m>(source: &SourceModule<'m>, index: usize, stage: Stage) -> Result<(Lowering<'m>, Entry)> {
    let (mut in_memory, mut work) = (InMemory::new(), 0);
    loop {
        let known = in_memory.len();
        let mut lowering = Lowering::new(source, in_memory, work)?;
        let entry = match stage {
            Stage::Compute => lowering.compute(index),
            _ => lowering.entry(index, stage),
        };
        if lowering.in_memory.len() == known {
            return Ok((lowering, entry?));
        }
        (in_memory, work) = (lowering.in_memory, lowering.program.work);
    }
}

/// A program in the making.
pub(crate) struct Lowering<'m> {
    /// The text of the module, for places in it.
    source: &'m str,
    module: &'m Module,
    info: &'m ModuleInfo,
    /// The scalars of each type, or why it has none.
    sizes: Vec<core::result::Result<usize, &'static Limit>>,
    pub(crate) program: Program,
    /// What a function returns for elements that never come to a return, because they were discarded or take no part: nothing depends on it.
    unspecified: Value,
    globals: HashMap<Handle<GlobalVariable>, Global>,
    pub(crate) fields: Vec<Field>,
    pub(crate) textures: Vec<Texture>,
    pub(crate) buffers: Vec<Buffer>,
    pub(crate) workgroups: Workgroups,
    /// First bytes of the workgroup's variables.
    workgroup_places: HashMap<Handle<GlobalVariable>, u32>,
    /// Members of uniforms that are buffers. One that joins them has the program lowered once more.
    in_memory: InMemory,
    calls: usize,
    /// The source location that was lowered last.
    place: Span,
    /// Results of the special function unit are used without refinement.
    fast_math: bool,
    half_color: bool,
    /// Steps that lowering may take.
    most_work: u64,
    fragment: Option<&'m Varyings>,
    is_frugal: bool,
    /// The variable that says which elements have not been discarded.
    kept: usize,
    pub(crate) discards: bool,
}

impl<'m> Lowering<'m> {
    fn new(source: &SourceModule<'m>, in_memory: InMemory, work: u64) -> Result<Self> {
        let SourceModule { text, module, info, fast_math, half_color, budget, fragment, is_frugal } = *source;
        let mut program = Program { work, ..Program::default() };
        let unspecified = program.unshared_constant(0);
        let mut lowering = Self {
            source: text,
            module,
            info,
            sizes: Vec::new(),
            program,
            unspecified,
            globals: HashMap::new(),
            fields: Vec::new(),
            textures: Vec::new(),
            buffers: Vec::new(),
            workgroups: Workgroups::default(),
            workgroup_places: HashMap::new(),
            in_memory,
            calls: 0,
            place: Span::default(),
            fast_math,
            half_color,
            most_work: budget.work,
            fragment,
            is_frugal,
            kept: 0,
            discards: false,
        };
        // A type comes behind those that it is made of: each is looked at once.
        for (_, ty) in module.types.iter() {
            let size = lowering.size_of(&ty.inner);
            lowering.sizes.push(size);
        }
        lowering.resources()?;
        Ok(lowering)
    }

    /// Counts scalars that are copied, and refuses to go on when too much has been done.
    fn charge(&mut self, copied: usize, span: Span) -> Result<()> {
        self.program.work += (copied / COPIED_AS_ONE) as u64 + 1;
        if span.is_defined() {
            self.place = span;
        }
        if self.program.work <= self.most_work {
            return Ok(());
        }
        refuse_beyond(self.place, &Limit::WORK, self.most_work, Budget::LARGE.work)
    }

    /// Refuses to have more variables than the state's.
    fn check_variables(&self, state: &State, more: usize, span: Span) -> Result<()> {
        let count = state.variables.len() + more;
        if count > MAX_VARIABLES {
            return refuse_with(span, &Limit::VARIABLE_SIZE, count);
        }
        Ok(())
    }

    /// Uniforms and textures of the module, in the order of the source.
    fn resources(&mut self) -> Result<()> {
        for (handle, variable) in self.module.global_variables.iter() {
            let name = variable.name.clone().unwrap_or_else(|| "unnamed".to_owned());
            let inner = &self.module.types[variable.ty].inner;
            let global = match (variable.space, inner) {
                (AddressSpace::Uniform, _) => {
                    let span = self.module.global_variables.get_span(handle);
                    Global::Uniform(self.uniform_variable(handle, span)?)
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

    /// The scalars that a value of a type has.
    fn scalars(&self, ty: Handle<Type>, span: Span) -> Result<usize> {
        self.scalars_of(&self.module.types[ty].inner, span)
    }

    fn scalars_of(&self, inner: &TypeInner, span: Span) -> Result<usize> {
        let count = self.count_of(inner, span)?;
        if count > MOST_SCALARS {
            return refuse_with(span, &Limit::VALUE_SIZE, format_args!("{count}, at most {MOST_SCALARS}"));
        }
        Ok(count)
    }

    /// The same, whether it can be kept in registers or not.
    fn count_of(&self, inner: &TypeInner, span: Span) -> Result<usize> {
        self.size_of(inner).or_else(|limit| refuse(span, limit))
    }

    /// The scalars of a type, of which the types that it is made of are known.
    fn size_of(&self, inner: &TypeInner) -> core::result::Result<usize, &'static Limit> {
        let part = |ty: Handle<Type>| self.sizes.get(ty.index()).copied().unwrap_or(Err(&Limit::TYPE_IN_REGISTERS));
        Ok(match inner {
            TypeInner::Scalar(scalar) | TypeInner::Vector { scalar, .. } | TypeInner::Matrix { scalar, .. }
                if scalar.width != 4 && scalar.kind != ScalarKind::Bool && !layout::is_half(*scalar) =>
            {
                return Err(&Limit::NUMBER_WIDTH);
            }
            TypeInner::Scalar(_) => 1,
            TypeInner::Vector { size, .. } => *size as usize,
            TypeInner::Matrix { columns, rows, .. } => *columns as usize * *rows as usize,
            TypeInner::Array { base, size: ArraySize::Constant(count), .. } => {
                part(*base)?.saturating_mul(count.get() as usize)
            }
            TypeInner::Struct { members, .. } => {
                let mut sum = 0usize;
                for member in members {
                    sum = sum.saturating_add(part(member.ty)?);
                }
                sum
            }
            TypeInner::Atomic(_) => return Err(&Limit::ATOMIC_PLACE),
            _ => return Err(&Limit::TYPE_IN_REGISTERS),
        })
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
                let length = self.count_of(&self.module.types[*base].inner, span)?;
                Ok((index.saturating_mul(length), length, self.module.types[*base].inner.clone()))
            }
            TypeInner::Struct { members, .. } => {
                let mut first = 0;
                for member in members.iter().take(index) {
                    first += self.count_of(&self.module.types[member.ty].inner, span)?;
                }
                let Some(member) = members.get(index) else { return fault(span, "a missing member") };
                let inner = &self.module.types[member.ty].inner;
                Ok((first, self.count_of(inner, span)?, inner.clone()))
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
}
