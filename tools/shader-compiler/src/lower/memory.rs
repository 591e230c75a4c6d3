//! Pointers to memory: storage buffers and workgroup memory.
//!
//! # Bounds
//! An out-of-bounds read returns the last or first element of the array, and an out-of-bounds write is dropped: WGSL allows both.
//!
//! # Caches
//! The TMUs and the L2 cache keep what they have read; writes by DMA do not update them. So a word is read by a TMU only if the program cannot have written
//! to its buffer before, including in a loop around both. Otherwise it is read by DMA. Writes of other invocations are visible after a barrier by the same
//! rule: these execute the same program.

use alloc::vec;
use alloc::vec::Vec;
use hashbrown::HashSet;

use naga::{AtomicFunction, Expression, Handle, ScalarKind, Span, TypeInner};
use v3d_hw::qpu::AddOp;

use super::layout::{Slot, elements};
use super::{Frame, Lowered, Lowering, State};
use crate::diagnostic::{Result, fault, refuse};
use crate::limit::Limit;
use crate::ssa::{Access, Atomic, Memory, Op, PackedComponent, Relation, Step, StreamWord, Value};

/// Words that one access stores in main memory.
const MAX_WORDS: usize = 4;
/// Maximum gap in bytes between the words of one element and the next that DMA supports.
const MAX_GAP_BYTES: u32 = 65_535;

/// A pointer to memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    pub(super) memory: Memory,
    /// Constant offset in bytes.
    pub(super) first: u32,
    /// Dynamic offset in bytes: with the indices of the source, and with all indices clamped to their arrays.
    pub(super) offset: Option<(Value, Value)>,
    /// Mask of the elements whose indices are in bounds.
    pub(super) inside: Option<Value>,
    /// Bytes between the elements of the array that was indexed last.
    stride: u32,
    /// The dynamic offset is a multiple of 4.
    in_words: bool,
}

impl Place {
    /// A pointer to the start of a buffer, or of the workgroup's memory.
    pub(super) const fn start(memory: Memory) -> Self {
        Self { memory, first: 0, offset: None, inside: None, stride: 0, in_words: true }
    }

    /// The same pointer with a constant number of bytes added.
    pub(super) const fn further(mut self, bytes: u32) -> Self {
        self.first = self.first.wrapping_add(bytes);
        self
    }
}

impl<'m> Lowering<'m> {
    /// A component of a pointer's target, by a constant index.
    pub(super) fn part_of_memory(
        &mut self,
        place: &Place,
        inner: &TypeInner,
        index: usize,
        span: Span,
    ) -> Result<Lowered> {
        let bytes = match (inner, elements(inner)) {
            (TypeInner::Struct { members, .. }, _) => members.get(index).map(|member| member.offset),
            (_, Some((Some(count), stride))) if index < count as usize => Some(stride * index as u32),
            (_, Some(_)) => {
                let index = self.program.bits(index as u32);
                return self.element_of_memory(place, inner, index, span);
            }
            _ => None,
        };
        match bytes {
            Some(bytes) => Ok(Lowered::Memory(place.further(bytes))),
            None => fault(span, "a missing part of a value"),
        }
    }

    /// An element of a pointer's target, by a dynamic index.
    pub(super) fn element_of_memory(
        &mut self,
        place: &Place,
        inner: &TypeInner,
        index: Value,
        span: Span,
    ) -> Result<Lowered> {
        let Some((count, stride)) = elements(inner) else {
            return fault(span, "an index into an array of unknown length");
        };
        if let (Some(index), Some(count)) = (self.program.constant(index), count)
            && index < count
        {
            return Ok(Lowered::Memory(place.further(index * stride)));
        }
        let count = match count {
            Some(count) => self.program.bits(count),
            None => self.length_of(place),
        };
        if let Some(pattern) = self.program.element_pattern(index, self.workgroups.parts)
            && self.program.constant(count).is_some_and(|count| pattern.most() < count.into())
        {
            let offset = self.times(index, stride);
            let offset = match place.offset {
                Some((raw, safe)) => {
                    (self.program.alu(AddOp::Add, raw, offset), self.program.alu(AddOp::Add, safe, offset))
                }
                None => (offset, offset),
            };
            let in_words = place.in_words && stride.is_multiple_of(4);
            return Ok(Lowered::Memory(Place { offset: Some(offset), stride, in_words, ..*place }));
        }
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
        let in_words = place.in_words && stride.is_multiple_of(4);
        Ok(Lowered::Memory(Place { offset: Some(offset), inside: Some(inside), stride, in_words, ..*place }))
    }

    /// The length of the runtime-sized array at the end of a buffer.
    pub(super) fn length_of(&mut self, place: &Place) -> Value {
        match place.memory {
            Memory::Buffer(buffer) => self.program.uniform(StreamWord::Length(buffer)),
            Memory::Workgroup | Memory::Vpm => self.program.bits(0),
        }
    }

    /// The product with a constant.
    pub(super) fn times(&mut self, number: Value, factor: u32) -> Value {
        if let Some(product) = self.multiplied_by_shifts(number, factor) {
            return product;
        }
        let factor = self.program.bits(factor);
        self.multiplied(number, factor)
    }

    /// The address at an offset from a pointer: one that is valid in all elements, or only in active ones.
    fn address(&mut self, place: &Place, bytes: u32, safe: bool) -> Value {
        let at = place.first.wrapping_add(bytes);
        let word = match place.memory {
            Memory::Buffer(buffer) => StreamWord::Buffer { buffer, offset: at },
            Memory::Workgroup => StreamWord::WorkgroupMemory(at),
            Memory::Vpm => StreamWord::VpmMemory(at),
        };
        let base = self.program.uniform(word);
        match place.offset {
            Some((raw, valid)) => self.program.alu(AddOp::Add, base, if safe { valid } else { raw }),
            None => base,
        }
    }

    /// An address where a mask is set, else 0.
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
            // Fails for too many numbers, and for other sizes.
            self.scalars_of(inner, span)?;
        }
        let mut slots = Vec::new();
        self.slots(inner, 0, &mut slots, span)?;
        let mut numbers = Vec::new();
        // Halves of one word are adjacent.
        let mut last = None;
        for Slot { offset, is_half } in slots {
            if !is_half {
                numbers.push(self.load_word(place, offset, state));
                continue;
            }
            let in_word = place.first.wrapping_add(offset) & 2;
            if !place.in_words {
                numbers.push(self.load_half(place, offset, state));
                continue;
            }
            let start = offset.wrapping_sub(in_word);
            let word = match last {
                Some((known, word)) if known == start => word,
                _ => self.load_word(place, start, state),
            };
            last = Some((start, word));
            numbers.push(self.program.value(Op::Unpack(PackedComponent::Half((in_word / 2) as u8), word)));
        }
        Ok(numbers)
    }

    /// Loads a half float at an offset whose alignment within its word is known only at run time.
    fn load_half(&mut self, place: &Place, bytes: u32, state: &State) -> Value {
        let address = self.address(place, bytes, true);
        let (words, upper) = (self.program.bits(!3), self.program.bits(2));
        let word = self.program.and(address, words);
        let word = self.load_at(place.memory, word, state);
        let is_upper = self.program.and(address, upper);
        let [low, high] = [0, 1].map(|half| self.program.value(Op::Unpack(PackedComponent::Half(half), word)));
        self.program.select(is_upper, high, low)
    }

    /// Loads the word at an offset from a pointer.
    fn load_word(&mut self, place: &Place, bytes: u32, state: &State) -> Value {
        if place.memory == Memory::Vpm
            && let Some(word) = self.load_rows(place, bytes)
        {
            return word;
        }
        let address = self.address(place, bytes, true);
        self.load_at(place.memory, address, state)
    }

    fn load_at(&mut self, memory: Memory, address: Value, state: &State) -> Value {
        let read_only = match memory {
            Memory::Buffer(buffer) => self.buffers.get(buffer as usize).is_some_and(|buffer| !buffer.writable),
            Memory::Workgroup | Memory::Vpm => false,
        };
        if read_only {
            return self.program.value(Op::Fetch(address));
        }
        // A read of the VPM needs no mask: the address is valid in all elements.
        let uncached = (memory != Memory::Vpm).then(|| self.address_where(state.live, address));
        self.program.access(Access::Load { memory, address, uncached })
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
        let mut slots = Vec::new();
        self.slots(inner, 0, &mut slots, span)?;
        let stored = self.whole_words(place, &slots, scalars, span)?;
        let max_words = if place.memory == Memory::Vpm { 1 } else { MAX_WORDS };
        let mut at = 0;
        while at < stored.len() {
            let first = stored[at].0;
            let follows = |more: &usize| stored.get(at + more).is_some_and(|next| next.0 == first + 4 * *more as u32);
            let count = (1..max_words).take_while(follows).count() + 1;
            if place.memory == Memory::Vpm && self.store_row(place, first, stored[at].1, state) {
                at += 1;
                continue;
            }
            let words: Vec<Value> = stored[at..at + count].iter().map(|(_, word)| *word).collect();
            let bytes = 4 * words.len() as u32;
            let fits = (bytes..=bytes + MAX_GAP_BYTES).contains(&place.stride);
            let stride = if fits { place.stride } else { bytes };
            let address = self.address(place, first, false);
            let address = self.address_where(mask, address);
            self.program.access(Access::Store { memory: place.memory, address, words, stride });
            at += count;
        }
        Ok(())
    }

    /// Combines numbers to the words in memory that they fill, each with its offset. The other half of a word must not be changed, since another invocation
    /// may be writing it.
    fn whole_words(
        &mut self,
        place: &Place,
        slots: &[Slot],
        scalars: &[Value],
        span: Span,
    ) -> Result<Vec<(u32, Value)>> {
        let mut words = Vec::new();
        let mut numbers = slots.iter().zip(scalars);
        while let Some((slot, &scalar)) = numbers.next() {
            if !slot.is_half {
                words.push((slot.offset, scalar));
                continue;
            }
            let is_lower = place.in_words && place.first.wrapping_add(slot.offset) & 2 == 0;
            let upper =
                numbers.next().filter(|(upper, _)| is_lower && upper.is_half && upper.offset == slot.offset + 2);
            let Some((_, &upper)) = upper else { return refuse(span, &Limit::HALF_STORE) };
            let word = self.program.value(Op::PackHalf(0, None, scalar));
            words.push((slot.offset, self.program.value(Op::PackHalf(1, Some(word), upper))));
        }
        Ok(words)
    }

    /// An atomic operation; its result is the previous word, and for a compare and exchange whether the comparison succeeded.
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

    /// Decides which words the TMUs may read: those of buffers that the program has not written to before.
    pub(super) fn load_past_caches(&mut self) {
        let program = &mut self.program;
        // The buffers that are written in each loop.
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
