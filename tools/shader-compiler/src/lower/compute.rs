//! Compute entry points: built-in inputs with the indices of invocations and workgroups, and workgroup memory.
//!
//! A program processes 16 invocations of a workgroup at a time, one per element. A larger workgroup consists of several such parts: executed one after the
//! other or, if they synchronise, on one QPU each.

use alloc::borrow::ToOwned;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use hashbrown::HashSet;

use naga::{AddressSpace, ArraySize, Binding, BuiltIn, Handle, Scalar, Span, StorageAccess, Type, TypeInner};
use v3d_hw::qpu::{AddOp, MulOp};
use v3d_hw::vpm::WINDOW_ROWS;

use super::{Global, Lowered, Lowering, State};
use crate::diagnostic::{Result, fault, refuse, refuse_with};
use crate::interface::{Buffer, Number, Stage, TRANSFER_ROWS, Workgroups};
use crate::limit::Limit;
use crate::link_varyings::Varyings;
use crate::lower::entry::{Entry, entry_span};
use crate::ssa::{Access, Given, Memory, Op, Relation, Share, StreamWord, Value};

/// Elements of a QPU's vectors.
const ELEMENTS: u32 = 16;
/// Maximum number of invocations of a workgroup.
const MAX_INVOCATIONS: u32 = 1024;
/// Number of QPUs: the maximum number of parts of a workgroup that can synchronise.
const MAX_PARTS_TOGETHER: u32 = 12;
/// Bytes that are cleared at a time: a row of the VPM.
const LINE_BYTES: u32 = 64;
/// Programs with workgroups of their own that the VPM must have room for. With their memory in main memory more of them would run at a time, but they would
/// wait for each other at each access: there is one DMA unit for all QPUs.
const MIN_PROGRAMS: u32 = 3;
/// Memory of a workgroup in bytes.
const MAX_WORKGROUP_BYTES: u32 = 1 << 20;

/// Whether the memory of a workgroup fits the VPM beside the rows for DMA: of one workgroup if its parts are programs of their own, otherwise of as many as
/// programs are to run at a time.
const fn fits_vpm(rows: u32, parts: u32) -> bool {
    if parts > 1 {
        rows + parts * TRANSFER_ROWS <= WINDOW_ROWS
    } else {
        (rows + TRANSFER_ROWS) * MIN_PROGRAMS <= WINDOW_ROWS
    }
}

impl<'m> Lowering<'m> {
    /// Lowers a compute entry point.
    pub(super) fn compute(&mut self, index: usize) -> Result<Entry> {
        let module = self.module;
        let entry = &module.entry_points[index];
        let span = entry_span(self.source, entry);
        let size = entry.workgroup_size;
        if entry.workgroup_size_overrides.is_some() {
            return refuse(span, &Limit::OVERRIDE);
        }
        let invocations = size.iter().fold(1u32, |product, side| product.saturating_mul(*side));
        if invocations > MAX_INVOCATIONS {
            return refuse_with(span, &Limit::WORKGROUP_SIZE, format_args!("{invocations}, at most {MAX_INVOCATIONS}"));
        }
        self.workgroups =
            Workgroups { size, parts: invocations.div_ceil(ELEMENTS), together: false, memory_bytes: 0, vpm_rows: 0 };
        self.memory_variables(index, Stage::Compute)?;

        let mut local = self.program.value(Op::Given(Given::Element));
        if self.workgroups.parts > 1 {
            let part = self.program.value(Op::Given(Given::Part));
            let (four, element) = (self.program.bits(4), local);
            let first = self.program.alu(AddOp::Shl, part, four);
            local = self.program.alu(AddOp::Add, first, element);
        }
        let mut live = self.program.bits(u32::MAX);
        if !invocations.is_multiple_of(ELEMENTS) {
            let count = self.program.bits(invocations);
            live = self.program.compare(Relation::SignedLess, local, count);
        }
        let mut state = State { variables: Vec::new(), live, dead: false };
        // A compute program never discards.
        let all = self.program.bits(u32::MAX);
        state.variables.push(all);
        self.kept = 0;
        self.private_variables(&mut state)?;

        let mut arguments = Vec::new();
        for argument in &entry.function.arguments {
            let mut parts = Vec::new();
            let name = argument.name.clone().unwrap_or_default();
            self.parts_of(name, argument.binding.as_ref(), argument.ty, &mut parts, span)?;
            let mut values = Vec::new();
            for part in &parts {
                let Binding::BuiltIn(built_in) = part.binding else {
                    return fault(span, "an input of a compute shader at a location");
                };
                values.extend(self.number_of_invocation(built_in, local, size, span)?);
            }
            arguments.push(Lowered::Scalars(values));
        }
        let Workgroups { memory_bytes, vpm_rows, .. } = self.workgroups;
        let shares_memory = memory_bytes > 0 || vpm_rows > 0;
        if shares_memory {
            let (memory, address, lines) = match vpm_rows {
                0 => (Memory::Workgroup, StreamWord::WorkgroupMemory(0), memory_bytes / LINE_BYTES),
                rows => (Memory::Vpm, StreamWord::VpmMemory(0), rows),
            };
            let address = self.program.uniform(address);
            self.program.access(Access::Clear { memory, address, lines });
            self.barrier();
        }
        let info = self.info.get_entry_point(index);
        self.function(&entry.function, info, arguments, &mut state, span)?;
        if shares_memory {
            // The next workgroup uses the memory once all invocations have arrived here.
            self.barrier();
        }
        if self.workgroups.together && self.workgroups.parts > MAX_PARTS_TOGETHER {
            let most = MAX_PARTS_TOGETHER * ELEMENTS;
            return refuse_with(span, &Limit::WORKGROUP_TOGETHER, format_args!("{invocations}, at most {most}"));
        }
        self.load_past_caches();
        Ok(Entry {
            attributes: Vec::new(),
            varyings: Varyings::default(),
            writes_depth: false,
            discards: false,
            points: false,
            point_size: false,
        })
    }

    /// Gives storage buffers their numbers and the workgroup's variables their places. Only compute programs can write to memory.
    pub(super) fn memory_variables(&mut self, index: usize, stage: Stage) -> Result<()> {
        let module = self.module;
        let mut shared = Vec::new();
        for (handle, variable) in module.global_variables.iter() {
            let span = module.global_variables.get_span(handle);
            let memory = match variable.space {
                AddressSpace::Storage { access } => {
                    let is_writable = access.contains(StorageAccess::STORE);
                    if is_writable && stage != Stage::Compute {
                        continue;
                    }
                    let name = variable.name.clone().unwrap_or_else(|| "unnamed".to_owned());
                    self.buffers.push(self.buffer(name, is_writable, variable.ty));
                    Memory::Buffer(self.buffers.len() as u32 - 1)
                }
                AddressSpace::WorkGroup => {
                    let uses = self.info.get_entry_point(index)[handle];
                    if uses.is_empty() {
                        continue;
                    }
                    let first = self.workgroups.memory_bytes;
                    let bytes = module.types[variable.ty].inner.size(module.to_ctx()).next_multiple_of(LINE_BYTES);
                    self.workgroups.memory_bytes = first.saturating_add(bytes);
                    if self.workgroups.memory_bytes > MAX_WORKGROUP_BYTES {
                        return refuse_with(
                            span,
                            &Limit::WORKGROUP_MEMORY,
                            format_args!("{} bytes, at most {MAX_WORKGROUP_BYTES}", self.workgroups.memory_bytes),
                        );
                    }
                    self.workgroup_places.insert(handle, first);
                    shared.push(handle);
                    continue;
                }
                _ => continue,
            };
            self.globals.insert(handle, Global::Memory(memory));
        }
        let rows = self.workgroups.memory_bytes.div_ceil(LINE_BYTES);
        let mut memory = Memory::Workgroup;
        if fits_vpm(rows, self.workgroups.parts) {
            (self.workgroups.memory_bytes, self.workgroups.vpm_rows) = (0, rows);
            memory = Memory::Vpm;
        }
        self.globals.extend(shared.into_iter().map(|handle| (handle, Global::Memory(memory))));
        Ok(())
    }

    /// The description of a storage buffer for the host.
    pub(super) fn buffer(&self, name: String, writable: bool, ty: Handle<Type>) -> Buffer {
        let types = &self.module.types;
        let array = |ty: Handle<Type>| match types[ty].inner {
            TypeInner::Array { size: ArraySize::Dynamic, stride, .. } => Some(stride),
            _ => None,
        };
        let (fixed_bytes, stride_bytes) = match &types[ty].inner {
            TypeInner::Struct { members, .. } => match members.last() {
                Some(last) if array(last.ty).is_some() => (last.offset, array(last.ty).unwrap_or(0)),
                _ => (types[ty].inner.size(self.module.to_ctx()), 0),
            },
            inner => match array(ty) {
                Some(stride) => (0, stride),
                None => (inner.size(self.module.to_ctx()), 0),
            },
        };
        let (mut scalars, mut seen) = (Vec::new(), HashSet::new());
        self.scalar_types(ty, &mut scalars, &mut seen);
        scalars.dedup();
        let number = match scalars.as_slice() {
            [Scalar::F32] => Some(Number::Float),
            [Scalar::I32] => Some(Number::Int),
            [Scalar::U32] => Some(Number::Uint),
            _ => None,
        };
        Buffer { name, writable, number, fixed_bytes, stride_bytes }
    }

    /// The scalar types in a type; each nested type is visited once.
    fn scalar_types(&self, ty: Handle<Type>, scalars: &mut Vec<Scalar>, seen: &mut HashSet<Handle<Type>>) {
        if !seen.insert(ty) {
            return;
        }
        match &self.module.types[ty].inner {
            TypeInner::Array { base, .. } => self.scalar_types(*base, scalars, seen),
            TypeInner::Struct { members, .. } => {
                members.iter().for_each(|member| self.scalar_types(member.ty, scalars, seen));
            }
            inner => scalars.extend(inner.scalar()),
        }
    }

    /// The value of a built-in input, computed from the invocation's index in the workgroup.
    fn number_of_invocation(
        &mut self,
        built_in: BuiltIn,
        local: Value,
        size: [u32; 3],
        span: Span,
    ) -> Result<Vec<Value>> {
        Ok(match built_in {
            BuiltIn::LocalInvocationIndex => vec![local],
            BuiltIn::LocalInvocationId => self.local_number(local, size).to_vec(),
            BuiltIn::WorkGroupId => (0..3).map(|axis| self.program.value(Op::Given(Given::Workgroup(axis)))).collect(),
            BuiltIn::NumWorkGroups => {
                (0..3).map(|axis| self.program.uniform(StreamWord::Share(Share::Count(axis)))).collect()
            }
            BuiltIn::GlobalInvocationId => {
                let local = self.local_number(local, size);
                let mut numbers = Vec::new();
                for (axis, (local, side)) in (0..).zip(local.into_iter().zip(size)) {
                    let workgroup = self.program.value(Op::Given(Given::Workgroup(axis)));
                    let first = self.times(workgroup, side);
                    numbers.push(self.program.alu(AddOp::Add, first, local));
                }
                numbers
            }
            _ => return refuse(span, &Limit::BUILT_IN_INPUT),
        })
    }

    /// `local_invocation_id`: the index of an invocation in its workgroup along three axes.
    fn local_number(&mut self, local: Value, [width, height, depth]: [u32; 3]) -> [Value; 3] {
        let zero = self.program.bits(0);
        let (rows, x) = if height * depth == 1 { (zero, local) } else { self.local_divided(local, width) };
        let (z, y) = if depth == 1 { (zero, rows) } else { self.local_divided(rows, height) };
        [x, y, z]
    }

    /// Quotient and remainder of a number below 1024 by a constant.
    fn local_divided(&mut self, number: Value, divisor: u32) -> (Value, Value) {
        let program = &mut self.program;
        if divisor.is_power_of_two() {
            let (by, mask) = (program.bits(divisor.trailing_zeros()), program.bits(divisor - 1));
            return (program.alu(AddOp::Shr, number, by), program.and(number, mask));
        }
        // The reciprocal with 20 bits, rounded up: for numbers below 2^10 the error is too small to reach the next integer.
        let reciprocal = program.bits((1u32 << 20).div_ceil(divisor));
        let product = program.value(Op::Mul(MulOp::Mul24, number, reciprocal));
        let twenty = program.bits(20);
        let quotient = program.alu(AddOp::Shr, product, twenty);
        let divisor = program.bits(divisor);
        let whole = program.value(Op::Mul(MulOp::Mul24, quotient, divisor));
        (quotient, program.alu(AddOp::Sub, number, whole))
    }

    /// Waits for the other parts of the workgroup. The elements of one part execute in lockstep.
    pub(super) fn barrier(&mut self) {
        if self.workgroups.parts > 1 {
            self.workgroups.together = true;
            let memory = if self.workgroups.vpm_rows > 0 { Memory::Vpm } else { Memory::Workgroup };
            self.program.access(Access::Barrier { memory });
        }
    }
}
