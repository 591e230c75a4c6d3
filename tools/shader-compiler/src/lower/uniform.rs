//! Uniforms: words of the stream, or memory.
//!
//! A member of a uniform structure is a field, whose words the program reads from its stream where it needs them. A stream can only be read in order, so a
//! dynamic index is a select among all words of an array. Longer arrays, and members with numbers of several types, are buffers instead: the stream has their
//! address, and their words are looked up by TMU 0. The same is done for all arrays with a dynamic index if there are too few registers for selects.

use alloc::borrow::ToOwned;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use hashbrown::HashSet;

use naga::{ArraySize, GlobalVariable, Handle, ScalarKind, Span, Type, TypeInner};

use super::layout::Slot;
use super::memory::Place;
use super::{COPIED_AS_ONE, Lowering, Pointer, Space};
use crate::diagnostic::{Result, refuse_with};
use crate::interface::{Field, Number};
use crate::limit::Limit;
use crate::ssa::{Memory, Op, PackedComponent, StreamWord, Value};

/// Maximum number of elements for a dynamic index by selects: with vectors of four floats, each takes 4 instructions, a lookup 17 and its latency.
const MAX_SELECTED: usize = 8;
/// Maximum number of scalars of a uniform: 64 KiB, as WebGPU guarantees.
const MAX_SCALARS: usize = 16_384;

/// Members of uniforms that are in memory: variable, and index of the member.
pub(super) type InMemory = HashSet<(Handle<GlobalVariable>, usize)>;

/// A scalar of a uniform.
#[derive(Clone, Copy, Debug)]
pub(super) enum Scalar {
    /// A word of the stream.
    Stream(StreamWord),
    /// A number in a buffer.
    Memory { buffer: u32, slot: Slot },
}

impl Lowering<'_> {
    /// The scalars of a uniform variable; creates its fields and buffers.
    pub(super) fn uniform_variable(&mut self, variable: Handle<GlobalVariable>, span: Span) -> Result<Vec<Scalar>> {
        let mut scalars = Vec::new();
        for (number, (name, ty)) in self.members(variable).into_iter().enumerate() {
            let count = self.count_of(&self.module.types[ty].inner, span)?;
            self.charge(count.saturating_mul(COPIED_AS_ONE), span)?;
            if scalars.len() + count > MAX_SCALARS {
                let size = format_args!("{}, at most {MAX_SCALARS}", scalars.len() + count);
                return refuse_with(span, &Limit::VALUE_SIZE, size);
            }
            if self.in_memory.contains(&(variable, number)) || !self.field(&name, ty, &mut scalars) {
                let buffer = self.buffers.len() as u32;
                self.buffers.push(self.buffer(name, false, ty));
                let mut slots = Vec::new();
                self.slots(&self.module.types[ty].inner, 0, &mut slots, span)?;
                scalars.extend(slots.into_iter().map(|slot| Scalar::Memory { buffer, slot }));
            }
        }
        Ok(scalars)
    }

    /// Names and types of a uniform structure's members; a variable that is not a structure is its own member.
    fn members(&self, variable: Handle<GlobalVariable>) -> Vec<(String, Handle<Type>)> {
        let variable = &self.module.global_variables[variable];
        let named = |name: &Option<String>| name.clone().unwrap_or_else(|| "unnamed".to_owned());
        match &self.module.types[variable.ty].inner {
            TypeInner::Struct { members, .. } => {
                members.iter().map(|member| (named(&member.name), member.ty)).collect()
            }
            _ => vec![(named(&variable.name), variable.ty)],
        }
    }

    /// Adds a field and its words in the order of the type's scalars, if all scalars have the same type.
    fn field(&mut self, name: &str, ty: Handle<Type>, scalars: &mut Vec<Scalar>) -> bool {
        let (element, count) = match self.module.types[ty].inner {
            TypeInner::Array { base, size: ArraySize::Constant(count), .. } => (base, Some(count.get())),
            _ => (ty, None),
        };
        let (mut kinds, mut places) = (Vec::new(), Vec::new());
        self.flatten(element, &mut kinds, &mut places);
        kinds.dedup();
        let number = match kinds.as_slice() {
            [ScalarKind::Float] => Number::Float,
            [ScalarKind::Sint] => Number::Int,
            [ScalarKind::Uint] => Number::Uint,
            _ => return false,
        };
        let (field, components) = (self.fields.len() as u32, places.len() as u32);
        for element in 0..count.unwrap_or(1) {
            let indices = places.iter().map(|place| element * components + place);
            scalars.extend(indices.map(|index| Scalar::Stream(StreamWord::Field { field, index })));
        }
        self.fields.push(Field { name: name.to_owned(), number, components, count });
        true
    }

    /// The scalar types of a type, and the position of each scalar in its field: matrices are in row-major order.
    fn flatten(&self, ty: Handle<Type>, kinds: &mut Vec<ScalarKind>, places: &mut Vec<u32>) {
        let first = places.len() as u32;
        let inner = &self.module.types[ty].inner;
        kinds.extend(inner.scalar_kind());
        match inner {
            TypeInner::Scalar(_) => places.push(first),
            TypeInner::Vector { size, .. } => places.extend(first..first + *size as u32),
            TypeInner::Matrix { columns, rows, .. } => {
                let (columns, rows) = (*columns as u32, *rows as u32);
                places.extend((0..columns).flat_map(|column| (0..rows).map(move |row| first + row * columns + column)));
            }
            TypeInner::Array { base, size: ArraySize::Constant(count), .. } => {
                (0..count.get()).for_each(|_| self.flatten(*base, kinds, places));
            }
            TypeInner::Struct { members, .. } => {
                members.iter().for_each(|member| self.flatten(member.ty, kinds, places));
            }
            _ => {}
        }
    }

    /// A scalar's value.
    pub(super) fn uniform_scalar(&mut self, scalar: Scalar) -> Value {
        match scalar {
            Scalar::Stream(word) => self.program.uniform(word),
            Scalar::Memory { buffer, slot: Slot { offset, is_half } } => {
                let half = if is_half { offset & 2 } else { 0 };
                let address = self.program.uniform(StreamWord::Buffer { buffer, offset: offset - half });
                let word = self.program.value(Op::Fetch(address));
                if is_half {
                    self.program.value(Op::Unpack(PackedComponent::Half((half / 2) as u8), word))
                } else {
                    word
                }
            }
        }
    }

    /// The pointer to memory that a uniform pointer denotes, if it does.
    pub(super) fn uniform_place(&self, pointer: &Pointer) -> Option<Place> {
        match self.uniform_at(pointer)? {
            Scalar::Memory { buffer, slot } => Some(Place::start(Memory::Buffer(buffer)).further(slot.offset)),
            Scalar::Stream(_) => None,
        }
    }

    fn uniform_at(&self, pointer: &Pointer) -> Option<Scalar> {
        let Space::Uniform(variable) = pointer.space else { return None };
        match self.globals.get(&variable) {
            Some(super::Global::Uniform(scalars)) => scalars.get(pointer.first).copied(),
            _ => None,
        }
    }

    /// Moves an array of uniforms to a buffer if a dynamic index selects among too many elements; the program is then lowered again. Returns whether that is
    /// so.
    pub(super) fn move_to_memory(&mut self, pointer: &Pointer, count: usize, span: Span) -> Result<bool> {
        let Space::Uniform(variable) = pointer.space else { return Ok(false) };
        if count <= MAX_SELECTED && !self.is_frugal {
            return Ok(false);
        }
        let mut end = 0;
        for (number, (_, ty)) in self.members(variable).into_iter().enumerate() {
            end += self.count_of(&self.module.types[ty].inner, span)?;
            if pointer.first < end {
                self.in_memory.insert((variable, number));
                break;
            }
        }
        Ok(true)
    }
}
