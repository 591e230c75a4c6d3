//! Places in memory: storage buffers, and what the invocations of a workgroup share.
//!
//! # Bounds
//! What is read behind the end of an array is its last or first element, and what is written there is not written: WGSL allows both.
//!
//! # Caches
//! The TMUs and the L2 cache keep what they have read; what DMA writes does not change that. So a word is read by a TMU only where the program cannot have
//! written to its buffer before, by itself or in a loop around both. Otherwise it is read by DMA. What other invocations write is seen behind a barrier
//! by the same rule: they have come to the barrier by the same program.

use std::collections::HashSet;

use naga::{ArraySize, AtomicFunction, Expression, Handle, ScalarKind, Span, TypeInner, VectorSize};
use v3d_hw::qpu::AddOp;

use super::{Frame, Lowered, Lowering, State};
use crate::diagnostic::{Result, fault, refuse};
use crate::limit::Limit;
use crate::ssa::{Access, Atomic, Memory, Op, Relation, Step, StreamWord, Value};

/// Words that one access stores.
const MAX_WORDS: usize = 4;
/// Bytes between the words of one element and the next that DMA can skip.
const MAX_GAP_BYTES: u32 = 65_535;

/// A place in memory.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    memory: Memory,
    /// Bytes that are known.
    first: u32,
    /// Bytes that only the program knows: as the source has it, and with all indices inside of their arrays.
    offset: Option<(Value, Value)>,
    /// Elements whose indices are inside.
    inside: Option<Value>,
    /// Bytes between the elements of the array that was indexed last.
    stride: u32,
}

impl Place {
    /// The start of a buffer, or of the workgroup's memory.
    pub(super) const fn start(memory: Memory) -> Self {
        Self { memory, first: 0, offset: None, inside: None, stride: 0 }
    }

    /// So many bytes further.
    pub(super) const fn further(mut self, bytes: u32) -> Self {
        self.first = self.first.wrapping_add(bytes);
        self
    }
}

/// Bytes from a column of a matrix to the next.
const fn column_bytes(rows: VectorSize) -> u32 {
    match rows {
        VectorSize::Bi => 8,
        VectorSize::Tri | VectorSize::Quad => 16,
    }
}

impl<'m> Lowering<'m> {
    /// A part of what is at a place, by a number that is known.
    pub(super) fn part_of_memory(
        &mut self,
        place: &Place,
        inner: &TypeInner,
        index: usize,
        span: Span,
    ) -> Result<Lowered> {
        let bytes = match inner {
            TypeInner::Struct { members, .. } => members.get(index).map(|member| member.offset),
            TypeInner::Vector { .. } => Some(4 * index as u32),
            TypeInner::Matrix { rows, .. } => Some(column_bytes(*rows) * index as u32),
            TypeInner::Array { size: ArraySize::Constant(count), stride, .. } if index < count.get() as usize => {
                Some(stride * index as u32)
            }
            TypeInner::Array { .. } => {
                let index = self.program.bits(index as u32);
                return self.element_of_memory(place, inner, index, span);
            }
            _ => None,
        };
        match bytes {
            Some(bytes) => Ok(Lowered::Memory(place.clone().further(bytes))),
            None => fault(span, "a missing part of a value"),
        }
    }

    /// A part of what is at a place, by a number that the program computes.
    pub(super) fn element_of_memory(
        &mut self,
        place: &Place,
        inner: &TypeInner,
        index: Value,
        span: Span,
    ) -> Result<Lowered> {
        let (count, stride) = match inner {
            TypeInner::Array { size: ArraySize::Constant(count), stride, .. } => (Some(count.get()), *stride),
            TypeInner::Array { size: ArraySize::Dynamic, stride, .. } => (None, *stride),
            TypeInner::Vector { size, .. } => (Some(*size as u32), 4),
            TypeInner::Matrix { columns, rows, .. } => (Some(*columns as u32), column_bytes(*rows)),
            _ => return fault(span, "an index into an array of unknown length"),
        };
        if let (Some(index), Some(count)) = (self.program.constant(index), count)
            && index < count
        {
            return Ok(Lowered::Memory(place.clone().further(index * stride)));
        }
        let count = match count {
            Some(count) => self.program.bits(count),
            None => self.length_of(place),
        };
        let inside = self.program.compare(Relation::UnsignedLess, index, count);
        let (zero, one) = (self.program.bits(0), self.program.bits(1));
        let last = self.program.alu(AddOp::Sub, count, one);
        let safe = self.program.alu(AddOp::Min, index, last);
        let safe = self.program.alu(AddOp::Max, safe, zero);
        let (raw, safe) = (self.times(index, stride), self.times(safe, stride));
        let (offset, inside) = match (place.offset, place.inside) {
            (Some((before_raw, before_safe)), before_inside) => {
                let raw = self.program.alu(AddOp::Add, before_raw, raw);
                let safe = self.program.alu(AddOp::Add, before_safe, safe);
                ((raw, safe), before_inside.map_or(inside, |before| self.program.and(before, inside)))
            }
            _ => ((raw, safe), inside),
        };
        Ok(Lowered::Memory(Place { offset: Some(offset), inside: Some(inside), stride, ..place.clone() }))
    }

    /// The length of the array at the end of a buffer.
    pub(super) fn length_of(&mut self, place: &Place) -> Value {
        match place.memory {
            Memory::Buffer(buffer) => self.program.uniform(StreamWord::Length(buffer)),
            Memory::Workgroup => self.program.bits(0),
        }
    }

    /// A number times one that is known.
    pub(super) fn times(&mut self, number: Value, factor: u32) -> Value {
        if let Some(product) = self.multiplied_by_shifts(number, factor) {
            return product;
        }
        let factor = self.program.bits(factor);
        self.multiplied(number, factor)
    }

    /// The bytes of a type's scalars from its start.
    pub(super) fn offsets(&self, inner: &TypeInner, first: u32, offsets: &mut Vec<u32>, span: Span) -> Result<()> {
        let types = &self.module.types;
        match inner {
            TypeInner::Scalar(scalar) | TypeInner::Vector { scalar, .. } | TypeInner::Matrix { scalar, .. }
                if scalar.kind == ScalarKind::Bool =>
            {
                return refuse(span, &Limit::BOOL_IN_MEMORY);
            }
            TypeInner::Scalar(_) | TypeInner::Atomic(_) => offsets.push(first),
            TypeInner::Vector { size, .. } => offsets.extend((0..*size as u32).map(|at| first + 4 * at)),
            TypeInner::Matrix { columns, rows, .. } => {
                for column in 0..*columns as u32 {
                    let start = first + column * column_bytes(*rows);
                    offsets.extend((0..*rows as u32).map(|at| start + 4 * at));
                }
            }
            TypeInner::Array { base, size: ArraySize::Constant(count), stride } => {
                for at in 0..count.get() {
                    self.offsets(&types[*base].inner, first + at * stride, offsets, span)?;
                }
            }
            TypeInner::Struct { members, .. } => {
                for member in members {
                    self.offsets(&types[member.ty].inner, first + member.offset, offsets, span)?;
                }
            }
            _ => return refuse(span, &Limit::TYPE_IN_MEMORY),
        }
        Ok(())
    }

    /// An address so many bytes behind a place: one that is valid in all elements, or one for those that take part.
    fn address(&mut self, place: &Place, bytes: u32, safe: bool) -> Value {
        let at = place.first.wrapping_add(bytes);
        let word = match place.memory {
            Memory::Buffer(buffer) => StreamWord::Buffer { buffer, offset: at },
            Memory::Workgroup => StreamWord::WorkgroupMemory(at),
        };
        let base = self.program.uniform(word);
        match place.offset {
            Some((raw, valid)) => self.program.alu(AddOp::Add, base, if safe { valid } else { raw }),
            None => base,
        }
    }

    /// An address where a mask says so, else 0.
    fn address_where(&mut self, mask: Value, address: Value) -> Value {
        let none = self.program.bits(0);
        self.program.select(mask, address, none)
    }

    pub(super) fn load_memory(
        &mut self,
        place: &Place,
        inner: &TypeInner,
        state: &State,
        span: Span,
    ) -> Result<Vec<Value>> {
        if !matches!(inner, TypeInner::Atomic(_)) {
            // Too many numbers, and numbers of other sizes.
            self.scalars_of(inner, span)?;
        }
        let mut offsets = Vec::new();
        self.offsets(inner, 0, &mut offsets, span)?;
        let read_only = match place.memory {
            Memory::Buffer(buffer) => self.buffers.get(buffer as usize).is_some_and(|buffer| !buffer.writable),
            Memory::Workgroup => false,
        };
        let mut words = Vec::new();
        for bytes in offsets {
            let address = self.address(place, bytes, true);
            words.push(if read_only {
                self.program.value(Op::Fetch(address))
            } else {
                let uncached = Some(self.address_where(state.live, address));
                self.program.access(Access::Load { memory: place.memory, address, uncached })
            });
        }
        Ok(words)
    }

    pub(super) fn store_memory(
        &mut self,
        place: &Place,
        inner: &TypeInner,
        scalars: &[Value],
        state: &State,
        span: Span,
    ) -> Result<()> {
        let mask = place.inside.map_or(state.live, |inside| self.program.and(state.live, inside));
        if let TypeInner::Atomic(_) = inner {
            let Some(&data) = scalars.first() else { return fault(span, "an operation without an operand") };
            let address = self.address(place, 0, false);
            let address = self.address_where(mask, address);
            let (memory, function) = (place.memory, Atomic::Exchange);
            self.program.access(Access::Atomic { memory, function, address, data, compare: data });
            return Ok(());
        }
        self.scalars_of(inner, span)?;
        let mut offsets = Vec::new();
        self.offsets(inner, 0, &mut offsets, span)?;
        let mut at = 0;
        while at < offsets.len().min(scalars.len()) {
            let follows = |next: usize| offsets.get(next) == Some(&(offsets[at] + 4 * (next - at) as u32));
            let count = (1..MAX_WORDS).take_while(|more| follows(at + more)).count() + 1;
            let words = scalars[at..(at + count).min(scalars.len())].to_vec();
            let bytes = 4 * words.len() as u32;
            let fits = (bytes..=bytes + MAX_GAP_BYTES).contains(&place.stride);
            let stride = if fits { place.stride } else { bytes };
            let address = self.address(place, offsets[at], false);
            let address = self.address_where(mask, address);
            self.program.access(Access::Store { memory: place.memory, address, words, stride });
            at += count;
        }
        Ok(())
    }

    /// An operation on a word that others may change at the same time; what it gives: the word as it was, and with an expectation whether it was that.
    pub(super) fn atomic(
        &mut self,
        frame: &mut Frame<'m>,
        pointer: Handle<Expression>,
        function: AtomicFunction,
        value: Handle<Expression>,
        state: &mut State,
        span: Span,
    ) -> Result<Vec<Value>> {
        let Lowered::Memory(place) = self.operand(frame, pointer, state)? else {
            return refuse(span, &Limit::ATOMIC_PLACE);
        };
        let is_signed = self.kind_of(frame, value) == ScalarKind::Sint;
        let data = self.scalar(frame, value, state)?;
        let mut compare = None;
        let function = match function {
            AtomicFunction::Add => Atomic::Add,
            AtomicFunction::Subtract => Atomic::Subtract,
            AtomicFunction::And => Atomic::And,
            AtomicFunction::ExclusiveOr => Atomic::ExclusiveOr,
            AtomicFunction::InclusiveOr => Atomic::InclusiveOr,
            AtomicFunction::Min if is_signed => Atomic::SignedMin,
            AtomicFunction::Min => Atomic::UnsignedMin,
            AtomicFunction::Max if is_signed => Atomic::SignedMax,
            AtomicFunction::Max => Atomic::UnsignedMax,
            AtomicFunction::Exchange { compare: None } => Atomic::Exchange,
            AtomicFunction::Exchange { compare: Some(expected) } => {
                compare = Some(self.scalar(frame, expected, state)?);
                Atomic::CompareExchange
            }
        };
        let mask = place.inside.map_or(state.live, |inside| self.program.and(state.live, inside));
        let address = self.address(&place, 0, false);
        let address = self.address_where(mask, address);
        let expected = compare.unwrap_or(data);
        let access = Access::Atomic { memory: place.memory, function, address, data, compare: expected };
        let old = self.program.access(access);
        let mut result = vec![old];
        if let Some(expected) = compare {
            result.push(self.program.compare(Relation::Equal, old, expected));
        }
        Ok(result)
    }

    /// Decides which words the TMUs may read: those of buffers that the program has not written to as yet.
    pub(super) fn load_past_caches(&mut self) {
        let program = &mut self.program;
        // What is written in each loop.
        let mut in_loop: Vec<HashSet<Memory>> = vec![HashSet::new(); program.loops.len()];
        let mut open: Vec<u32> = Vec::new();
        for step in &program.steps {
            match *step {
                Step::Begin(number) => open.push(number),
                Step::End(_) => {
                    open.pop();
                }
                Step::Compute(value) => {
                    if let Op::Access(number) = program.op(value)
                        && let Some(memory) = program.accesses[number as usize].written()
                    {
                        for number in &open {
                            in_loop[*number as usize].insert(memory);
                        }
                    }
                }
            }
        }
        let mut written: HashSet<Memory> = HashSet::new();
        for at in 0..program.steps.len() {
            match program.steps[at] {
                Step::Begin(number) => open.push(number),
                Step::End(_) => {
                    open.pop();
                }
                Step::Compute(value) => {
                    let Op::Access(number) = program.op(value) else { continue };
                    let access = &mut program.accesses[number as usize];
                    written.extend(access.written());
                    if let Access::Load { memory: memory @ Memory::Buffer(_), uncached, .. } = access
                        && !written.contains(memory)
                        && !open.iter().any(|number| in_loop[*number as usize].contains(memory))
                    {
                        *uncached = None;
                    }
                }
            }
        }
    }
}
