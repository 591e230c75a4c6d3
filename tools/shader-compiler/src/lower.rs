//! Lowers naga's functions to scalar values in SSA form.
//!
//! Functions are inlined, vectors and matrices are split into scalars, and variables are replaced by their current values. A state records the values of the
//! variables and the mask of elements in which they are valid; where control flow joins, states are merged by selects.

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

/// Maximum number of scalars of a variable.
const MOST_SCALARS: usize = 4096;
/// Maximum number of scalars of all variables that exist at the same time.
pub(crate) const MAX_VARIABLES: usize = 32_768;
/// Number of scalars whose copying counts as one step.
const COPIED_AS_ONE: usize = 16;

/// The lowered form of an expression.
#[derive(Clone, Debug)]
pub(crate) enum Lowered {
    /// Scalars.
    Scalars(Vec<Value>),
    /// A pointer to variables or uniforms.
    Pointer(Pointer),
    /// A texture, by index.
    Image(u32),
    /// A sampler.
    Sampler,
    /// A pointer to memory.
    Memory(memory::Place),
}

/// A pointer to scalars of variables or uniforms: the first scalar, and dynamic indices.
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
    /// Variables of functions and private variables of the module.
    Variables,
    Uniform(Handle<GlobalVariable>),
}

/// The values of the variables at a point of the program.
#[derive(Clone, Debug)]
pub(crate) struct State {
    variables: Vec<Value>,
    /// Mask of the elements that are active at this point.
    live: Value,
    /// This point is unreachable.
    dead: bool,
}

/// Elements that have left a function, a loop or an iteration, with the values of their variables.
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

/// A module with the options that affect lowering.
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
    /// The varyings of the fragment shader of the same source, for its vertex shader.
    pub(crate) fragment: Option<&'m Varyings>,
    /// Saves registers: arrays are read from memory, and loops reread constants and uniforms.
    pub(crate) is_frugal: bool,
}

/// Lowers an entry point to the program of a stage. Lowering is repeated for each array of uniforms that is moved to memory.
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

/// The state of lowering.
pub(crate) struct Lowering<'m> {
    /// The text that the module's spans refer to.
    source: &'m str,
    module: &'m Module,
    info: &'m ModuleInfo,
    /// The number of scalars of each type, or the reason that it has none.
    sizes: Vec<core::result::Result<usize, &'static Limit>>,
    pub(crate) program: Program,
    /// The result of a function in elements that never return, because they were discarded or are inactive: its value does not matter.
    unspecified: Value,
    globals: HashMap<Handle<GlobalVariable>, Global>,
    pub(crate) fields: Vec<Field>,
    pub(crate) textures: Vec<Texture>,
    pub(crate) buffers: Vec<Buffer>,
    pub(crate) workgroups: Workgroups,
    /// Offsets of the workgroup's variables in bytes.
    workgroup_places: HashMap<Handle<GlobalVariable>, u32>,
    /// Members of uniforms that are buffers. If one is added, the program is lowered again.
    in_memory: InMemory,
    calls: usize,
    /// The source location of the expression or statement that was lowered last.
    place: Span,
    /// Use results of the special function unit without refinement.
    fast_math: bool,
    half_color: bool,
    /// Maximum number of steps.
    most_work: u64,
    fragment: Option<&'m Varyings>,
    is_frugal: bool,
    /// Results of `floor`, each with its argument.
    floors: HashMap<Value, Value>,
    /// The variable with the mask of elements that have not been discarded.
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
            floors: HashMap::new(),
            kept: 0,
            discards: false,
        };
        // A type is after its component types, so each is visited once.
        for (_, ty) in module.types.iter() {
            let size = lowering.size_of(&ty.inner);
            lowering.sizes.push(size);
        }
        lowering.resources()?;
        Ok(lowering)
    }

    /// Counts copied scalars as steps, and fails when the limit is exceeded.
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

    /// Fails if the state would have too many variables.
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
                // Private and workgroup variables are allocated when an entry point is lowered.
                _ => continue,
            };
            self.globals.insert(handle, global);
        }
        Ok(())
    }

    /// The number of scalars of a type.
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

    /// The same, also for types that cannot be kept in registers.
    fn count_of(&self, inner: &TypeInner, span: Span) -> Result<usize> {
        self.size_of(inner).or_else(|limit| refuse(span, limit))
    }

    /// The number of scalars of a type whose component types are known.
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

    /// The scalar type of an expression.
    fn kind_of(&self, frame: &Frame<'m>, expression: Handle<Expression>) -> ScalarKind {
        self.type_of(frame, expression).scalar_kind().unwrap_or(ScalarKind::Float)
    }

    fn span(&self, frame: &Frame<'m>, expression: Handle<Expression>) -> Span {
        frame.function.expressions.get_span(expression)
    }

    /// Offset and number of scalars of a component of a composite type, and the component's type.
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

    /// Number of elements that can be indexed.
    fn parts(&self, inner: &TypeInner, span: Span) -> Result<usize> {
        match inner {
            TypeInner::Vector { size, .. } => Ok(*size as usize),
            TypeInner::Matrix { columns, .. } => Ok(*columns as usize),
            TypeInner::Array { size: ArraySize::Constant(count), .. } => Ok(count.get() as usize),
            _ => fault(span, "an index into an array of unknown length"),
        }
    }
}
