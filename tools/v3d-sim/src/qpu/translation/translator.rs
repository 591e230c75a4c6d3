//! The translator: from the micro-ops of a block to host code.
//!
//! Code is generated in segments: a run of instructions, and the group after it if that does not need the sequencer either. At its top a segment makes the
//! checks that [block execution](crate::qpu::block::execution) makes for a run: the budget suffices, no accumulator that it needs is undefined, and all its
//! uniforms and varyings are available. If a check fails, the code returns and the first instruction of the segment is interpreted.
//!
//! After a segment, memory is up to date. A register that is overwritten in the same segment stays in the [register cache](super::register_cache), and is saved
//! only before a call.

use super::arithmetic::{DeadStores, Emitter, FLAGS, FRAME, REGISTERS};
use super::frame::{VARYING_BYTES, VARYING_COEFFICIENTS, at};
use crate::qpu::block::micro_op::MicroOp;
use crate::qpu::block::{Block, Group, PlainBranch};
use crate::qpu::isa::registers::{self, RegisterIndex};
use iced_x86::code_asm::*;
use iced_x86::{BlockEncoderOptions, IcedError};
use std::collections::BTreeMap;
use v3d_hw::BusAddr;
use v3d_hw::qpu::accesses::accumulators;
use v3d_hw::qpu::{BRANCH_DELAY_SLOTS, BranchCondition};

/// The rest of the budget.
const BUDGET: AsmRegister64 = r14;
/// Address of the next uniform.
const UNIFORMS: AsmRegister64 = r15;
/// Whether the branch is taken, during its delay slots.
const TAKEN: AsmRegister32 = r13d;

/// The bits of an address that [`BusAddr::offset`] keeps, without those within a word.
const WORD_OFFSET: u32 = BusAddr(u32::MAX).offset() & !3;
/// Instructions of a branch and its delay slots.
const BRANCH_INSTRUCTIONS: usize = 1 + BRANCH_DELAY_SLOTS as usize;
/// Maximum number of instructions translated for one block; an instruction in several segments counts several times.
const MAX_TRANSLATED: u64 = 1 << 13;

/// Code, and the offsets of its segments.
#[derive(Debug)]
pub(super) struct Translation {
    /// Position-independent code; its first byte is the entry for all segments.
    pub(super) bytes: Vec<u8>,
    /// Offset of the segment that begins at each instruction, if one does.
    pub(super) segments: Vec<Option<u32>>,
}

/// Translates a block. `None` if nothing in it can be translated, or if it is too large.
pub(super) fn translate(block: &Block) -> Result<Option<Translation>, IcedError> {
    let starts = starts(block);
    let instructions: u64 = starts.iter().map(|&at| block.run_from(at)).sum();
    if starts.is_empty() || instructions > MAX_TRANSLATED {
        return Ok(None);
    }
    let mut emitter = Emitter::new()?;
    let mut segments = BTreeMap::new();
    for at in starts {
        segments.insert(at, emitter.asm.create_label());
    }
    let leave = emitter.asm.create_label();
    let mut translator = Translator {
        block,
        emitter,
        segments,
        exits: BTreeMap::new(),
        last_writes: BTreeMap::new(),
        last_flags: None,
        leave,
        read: Streams::default(),
    };
    translator.enter()?;
    let starts: Vec<usize> = translator.segments.keys().copied().collect();
    for at in starts {
        translator.segment(at)?;
    }
    translator.finish()
}

/// The starts of segments: after what the sequencer executes, at the targets of branches and after branches.
fn starts(block: &Block) -> Vec<usize> {
    let count = |at: usize| block.runs.get(at).map_or(0, |run| run.count);
    let mut starts = Vec::new();
    for at in 0..block.instructions.len() {
        if at == 0 || count(at - 1) == 0 || block.instructions[at - 1].instruction.touches.uniforms_address {
            starts.push(at);
        }
        match block.runs.get(at).and_then(|run| run.group) {
            Some(Group::Branch(branch)) => starts.extend([usize::from(branch.target), at + BRANCH_INSTRUCTIONS]),
            Some(group) => starts.push(at + group.instructions()),
            None => {}
        }
    }
    starts.retain(|&at| block.runs.get(at).is_some_and(|run| run.count > 0 || run.group.is_some()));
    starts.sort_unstable();
    starts.dedup();
    starts
}

/// Length of the segment in a run: up to the first instruction that changes the uniforms' address, since the checks at its top do not hold after that.
fn segment_length(block: &Block, start: usize, count: usize) -> usize {
    let instructions = block.instructions.get(start..start + count).unwrap_or_default();
    instructions.iter().position(|placed| placed.instruction.touches.uniforms_address).map_or(count, |last| last + 1)
}

/// Elements taken from streams.
#[derive(Clone, Copy, Debug, Default)]
struct Streams {
    uniforms: i32,
    varyings: i32,
}

/// The maximum that a micro-op takes, in translated code or in a call back. A write to a TMU may take a uniform in addition.
fn max_taken(block: &Block, micro_op: &MicroOp) -> Streams {
    match *micro_op {
        MicroOp::Uniform { .. } | MicroOp::Tmu { .. } => Streams { uniforms: 1, varyings: 0 },
        MicroOp::Varying { .. } => Streams { uniforms: 0, varyings: 1 },
        // Both ports share one uniform, and two TMU writes in one instruction are against the rules.
        MicroOp::Whole { at } => block.instructions.get(usize::from(at)).map_or(Streams::default(), |placed| {
            let touches = &placed.instruction.touches;
            Streams {
                uniforms: i32::from(touches.uniform) + i32::from(touches.tmu_write),
                varyings: i32::from(touches.varying),
            }
        }),
        _ => Streams::default(),
    }
}

/// The maximum that some instructions take. `None` if they change the uniforms' address and then read uniforms.
fn max_taken_by(block: &Block, first: usize, count: usize) -> Option<Streams> {
    let mut all = Streams::default();
    let mut has_moved = false;
    for micro_op in block.micro_ops_of(first, count) {
        let max = max_taken(block, micro_op);
        if max.uniforms != 0 && has_moved {
            return None;
        }
        all.uniforms += max.uniforms;
        all.varyings += max.varyings;
        has_moved |= moves_uniforms(block, micro_op);
    }
    Some(all)
}

/// Whether a micro-op changes the uniforms' address.
fn moves_uniforms(block: &Block, micro_op: &MicroOp) -> bool {
    match *micro_op {
        MicroOp::UniformsAddress { .. } => true,
        MicroOp::Whole { at } => {
            block.instructions.get(usize::from(at)).is_some_and(|placed| placed.instruction.touches.uniforms_address)
        }
        _ => false,
    }
}

/// The register that a translated micro-op writes.
const fn written(micro_op: &MicroOp) -> Option<RegisterIndex> {
    match *micro_op {
        MicroOp::Operate { to, .. }
        | MicroOp::Conditional { to, .. }
        | MicroOp::Flags { to, .. }
        | MicroOp::Constant { to, .. }
        | MicroOp::Uniform { to, .. }
        | MicroOp::Varying { to, .. }
        | MicroOp::PackColour { to, .. }
        | MicroOp::PackA { to, .. } => Some(to),
        MicroOp::Unpack { .. } => Some(registers::UNPACKED),
        MicroOp::Sfu { .. } => Some(registers::R4),
        MicroOp::VpmRead { .. }
        | MicroOp::Tmu { .. }
        | MicroOp::LoadTmu { .. }
        | MicroOp::UniformsAddress { .. }
        | MicroOp::TileBuffer { .. }
        | MicroOp::ScoreboardUnlock { .. }
        | MicroOp::Whole { .. } => None,
    }
}

struct Translator<'a> {
    block: &'a Block,
    emitter: Emitter,
    segments: BTreeMap<usize, CodeLabel>,
    /// Labels of the exits before an instruction.
    exits: BTreeMap<usize, CodeLabel>,
    /// The last micro-ops of the segment that write to each register, and the last that sets flags.
    last_writes: BTreeMap<RegisterIndex, usize>,
    last_flags: Option<usize>,
    leave: CodeLabel,
    /// The streams' elements read since [`UNIFORMS`] and the varyings in the frame were advanced.
    read: Streams,
}

impl Translator<'_> {
    /// The entry: takes a frame and the address of a segment, returns the index of the next instruction.
    fn enter(&mut self) -> Result<(), IcedError> {
        let asm = &mut self.emitter.asm;
        for register in [rbx, rbp, r12, r13, r14, r15] {
            asm.push(register)?;
        }
        // The stack is aligned at calls.
        asm.sub(rsp, 8)?;
        asm.mov(FRAME, rdi)?;
        asm.mov(REGISTERS, qword_ptr(FRAME + at::REGISTERS))?;
        asm.mov(FLAGS, qword_ptr(FRAME + at::FLAGS))?;
        asm.mov(BUDGET, qword_ptr(FRAME + at::BUDGET))?;
        asm.mov(UNIFORMS, qword_ptr(FRAME + at::UNIFORMS))?;
        asm.stmxcsr(dword_ptr(FRAME + at::ROUNDING_OUTSIDE))?;
        asm.ldmxcsr(dword_ptr(FRAME + at::ROUNDING))?;
        asm.jmp(rsi)
    }

    fn exit(&mut self, at: usize) -> CodeLabel {
        *self.exits.entry(at).or_insert_with(|| self.emitter.asm.create_label())
    }

    /// Continues at an instruction, within its segment or outside.
    fn continue_at(&mut self, at: usize) -> Result<(), IcedError> {
        let label = self.segments.get(&at).copied().unwrap_or_else(|| self.exit(at));
        self.emitter.asm.jmp(label)
    }

    fn segment(&mut self, start: usize) -> Result<(), IcedError> {
        if let Some(label) = self.segments.get_mut(&start) {
            self.emitter.asm.set_label(label)?;
        }
        self.emitter.clear_cache();
        let length = self.block.runs.get(start).map_or(0, |run| usize::from(run.count));
        let count = segment_length(self.block, start, length);
        let at = start + count;
        let group = self.block.runs.get(at).and_then(|run| run.group).filter(|_| count == length);
        if let Some(Group::Branch(branch)) = group {
            // The branch is checked together with the run before it, or separately.
            if max_taken_by(self.block, start, count + BRANCH_INSTRUCTIONS).is_some() {
                return self.branch(start, count, branch);
            }
        }
        if count > 0 {
            self.check(start, count)?;
            self.find_last_writes(start, count);
            self.micro_ops(start, count)?;
            let replaces = self.replaced(start, count);
            let asm = &mut self.emitter.asm;
            if replaces != 0 {
                asm.and(dword_ptr(FRAME + at::UNDEFINED), !replaces)?;
            }
            asm.add(dword_ptr(FRAME + at::RUN_LENGTH), count as i32)?;
            self.record_last(at, count)?;
        }
        match group {
            None => self.continue_at(at),
            Some(Group::Branch(_)) if count == 0 => {
                // Its delay slots read uniforms after it, or they, have changed the address.
                let outside = self.exit(at);
                self.emitter.asm.jmp(outside)
            }
            Some(Group::Branch(_)) => self.continue_at(at),
            Some(group) => self.group(at, group),
        }
    }

    /// Accumulators and flags that some instructions overwrite.
    fn replaced(&self, first: usize, count: usize) -> i32 {
        let instructions = self.block.instructions.get(first..first + count).unwrap_or_default();
        i32::from(
            instructions.iter().fold(0, |replaces, placed| replaces | placed.instruction.touches.replaces_accumulators),
        )
    }

    /// A run followed by a branch with its delay slots.
    fn branch(&mut self, start: usize, count: usize, branch: PlainBranch) -> Result<(), IcedError> {
        let at = start + count;
        let all = count + BRANCH_INSTRUCTIONS;
        let behind = start + all;
        self.check(start, all)?;
        self.find_last_writes(start, all);
        self.micro_ops(start, count)?;
        let always = branch.condition == BranchCondition::Always;
        if !always {
            self.test_condition(branch.condition)?;
        }
        self.micro_ops(at + 1, BRANCH_INSTRUCTIONS - 1)?;
        self.record_last(behind, BRANCH_INSTRUCTIONS)?;
        // Nothing is undefined at a branch; otherwise the segment was left at its top.
        self.emitter.asm.mov(dword_ptr(FRAME + at::UNDEFINED), 0)?;
        let target = usize::from(branch.target);
        if always {
            self.emitter.asm.mov(dword_ptr(FRAME + at::RUN_LENGTH), 0)?;
            return self.continue_at(target);
        }
        let asm = &mut self.emitter.asm;
        let mut not_taken = asm.create_label();
        asm.test(TAKEN, TAKEN)?;
        asm.je(not_taken)?;
        asm.mov(dword_ptr(FRAME + at::RUN_LENGTH), 0)?;
        self.continue_at(target)?;
        let asm = &mut self.emitter.asm;
        asm.set_label(&mut not_taken)?;
        asm.add(dword_ptr(FRAME + at::RUN_LENGTH), all as i32)?;
        self.continue_at(behind)
    }

    /// A group other than a branch: it begins with a call.
    fn group(&mut self, at: usize, group: Group) -> Result<(), IcedError> {
        let count = group.instructions();
        let outside = self.exit(at);
        self.emitter.asm.mov(qword_ptr(FRAME + at::BUDGET), BUDGET)?;
        self.check(at, count)?;
        self.call(at::BEGIN_GROUP, at)?;
        let asm = &mut self.emitter.asm;
        let mut begun = asm.create_label();
        asm.test(eax, eax)?;
        asm.jne(begun)?;
        asm.mov(BUDGET, qword_ptr(FRAME + at::BUDGET))?;
        asm.jmp(outside)?;
        asm.set_label(&mut begun)?;
        asm.add(dword_ptr(FRAME + at::RUN_LENGTH), count as i32)?;
        self.find_last_writes(at, count);
        self.micro_ops(at, count)?;
        self.record_last(at + count, count)?;
        if group == Group::End {
            self.emitter.asm.mov(eax, (at + count) as u32)?;
            return self.emitter.asm.jmp(self.leave);
        }
        self.continue_at(at + count)
    }

    /// Emits the checks for some instructions, including a branch with its delay slots at their end, and subtracts them from the budget. If a check fails, the
    /// code leaves before the first instruction.
    fn check(&mut self, first: usize, count: usize) -> Result<(), IcedError> {
        let outside = self.exit(first);
        let Some(max) = max_taken_by(self.block, first, count) else {
            return self.emitter.asm.jmp(outside);
        };
        let run = self.block.runs.get(first).copied().unwrap_or_default();
        let (mut needs, mut upper_registers) = (i32::from(run.needs), run.upper_registers);
        let length = usize::from(run.count);
        if length < count
            && let Some(Group::Branch(_)) = self.block.runs.get(first + length).and_then(|run| run.group)
        {
            needs |= i32::from(accumulators::ALL) & !self.replaced(first, length);
            upper_registers |= self.block.runs.get(first + length + 1).is_some_and(|slots| slots.upper_registers);
        }
        let asm = &mut self.emitter.asm;
        asm.cmp(BUDGET, count as i32)?;
        asm.jb(outside)?;
        if needs != 0 {
            asm.test(dword_ptr(FRAME + at::UNDEFINED), needs)?;
            asm.jne(outside)?;
        }
        if upper_registers {
            asm.cmp(dword_ptr(FRAME + at::THREADED), 0)?;
            asm.jne(outside)?;
        }
        if max.uniforms != 0 {
            asm.lea(rax, ptr(UNIFORMS + 4 * max.uniforms))?;
            asm.cmp(rax, qword_ptr(FRAME + at::UNIFORMS_END))?;
            asm.ja(outside)?;
        }
        if max.varyings != 0 {
            asm.mov(rax, qword_ptr(FRAME + at::VARYINGS))?;
            asm.add(rax, VARYING_BYTES * max.varyings)?;
            asm.cmp(rax, qword_ptr(FRAME + at::VARYINGS_END))?;
            asm.ja(outside)?;
        }
        asm.sub(BUDGET, count as i32)
    }

    /// Records the last two of some instructions that end before an index.
    fn record_last(&mut self, end: usize, count: usize) -> Result<(), IcedError> {
        let last = end as i32 - 1;
        let asm = &mut self.emitter.asm;
        if count > 1 {
            return asm.mov(dword_ptr(FRAME + at::LAST), (last - 1) << 16 | last);
        }
        asm.mov(eax, dword_ptr(FRAME + at::LAST))?;
        asm.shl(eax, 16)?;
        asm.or(eax, last)?;
        asm.mov(dword_ptr(FRAME + at::LAST), eax)
    }

    /// Sets [`TAKEN`] to whether a condition holds.
    fn test_condition(&mut self, condition: BranchCondition) -> Result<(), IcedError> {
        let (flag, all_ones, equal) = match condition {
            BranchCondition::AllZSet => (0, true, true),
            BranchCondition::AllZClear => (0, false, true),
            BranchCondition::AnyZSet => (0, false, false),
            BranchCondition::AnyZClear => (0, true, false),
            BranchCondition::AllNSet => (1, true, true),
            BranchCondition::AllNClear => (1, false, true),
            BranchCondition::AnyNSet => (1, false, false),
            BranchCondition::AnyNClear => (1, true, false),
            BranchCondition::AllCSet => (2, true, true),
            BranchCondition::AllCClear => (2, false, true),
            BranchCondition::AnyCSet => (2, false, false),
            BranchCondition::AnyCClear => (2, true, false),
            BranchCondition::Always => return self.emitter.asm.mov(TAKEN, 1),
            BranchCondition::Reserved(_) => return self.emitter.asm.xor(TAKEN, TAKEN),
        };
        self.emitter.flag_bits(flag, eax)?;
        let asm = &mut self.emitter.asm;
        asm.xor(TAKEN, TAKEN)?;
        asm.cmp(eax, if all_ones { 0xffff } else { 0 })?;
        if equal { asm.sete(r13b) } else { asm.setne(r13b) }
    }

    /// Finds the micro-ops whose results are not overwritten within the segment.
    fn find_last_writes(&mut self, first: usize, count: usize) {
        self.last_writes.clear();
        self.last_flags = None;
        for index in self.block.micro_op_indices(first, count) {
            let Some(micro_op) = self.block.micro_op(index) else { continue };
            if let Some(register) = written(micro_op) {
                self.last_writes.insert(register, index);
            }
            if let MicroOp::Flags { .. } = micro_op {
                self.last_flags = Some(index);
            }
        }
    }

    fn micro_ops(&mut self, first: usize, count: usize) -> Result<(), IcedError> {
        for at in first..first + count {
            for index in self.block.micro_op_indices(at, 1) {
                let Some(micro_op) = self.block.micro_op(index) else { continue };
                self.emitter.dead_stores = DeadStores {
                    result: written(micro_op).is_some_and(|register| self.last_writes.get(&register) != Some(&index)),
                    flags: self.last_flags != Some(index),
                };
                if !self.translated(micro_op)? {
                    self.call(at::EXECUTE_MICRO_OP, index)?;
                }
            }
            self.emitter.end_instruction();
        }
        self.move_on()
    }

    /// Translates a micro-op; `false` if there is no translation.
    fn translated(&mut self, micro_op: &MicroOp) -> Result<bool, IcedError> {
        let emitter = &mut self.emitter;
        match *micro_op {
            MicroOp::Operate { operation, a, b, to } => emitter.operate(operation, a, b, to)?,
            MicroOp::Conditional { operation, a, b, to, condition } => {
                emitter.operate_where(operation, (a, b), to, condition)?;
            }
            MicroOp::Flags { operation, a, b, to, condition } => {
                emitter.operate_with_flags(operation, (a, b), to, condition)?;
            }
            MicroOp::Constant { to, value } => {
                let value = emitter.constant(value)?;
                emitter.store(to, value)?;
            }
            MicroOp::Uniform { to, .. } => {
                let value = emitter.broadcast(dword_ptr(UNIFORMS + 4 * self.read.uniforms))?;
                emitter.store(to, value)?;
                self.read.uniforms += 1;
            }
            MicroOp::Varying { to, .. } => {
                let from = VARYING_BYTES * self.read.varyings;
                emitter.asm.mov(rax, qword_ptr(FRAME + at::VARYINGS))?;
                let value = emitter.vector(rax + from)?;
                emitter.store(to, value)?;
                let coefficients = emitter.vector(rax + (from + VARYING_COEFFICIENTS))?;
                emitter.store(registers::COEFFICIENTS, coefficients)?;
                self.read.varyings += 1;
            }
            MicroOp::Unpack { from, mode, float } => return emitter.unpack(from, mode, float),
            MicroOp::PackColour { from, to, part } => emitter.pack_colour(from, to, part)?,
            MicroOp::PackA { from, to, mode, float } => return emitter.pack_a(from, to, mode, float),
            MicroOp::Sfu { function, from } => emitter.special_function(function, from)?,
            MicroOp::UniformsAddress { from } => self.set_uniforms(from)?,
            MicroOp::VpmRead { .. }
            | MicroOp::Tmu { .. }
            | MicroOp::LoadTmu { .. }
            | MicroOp::TileBuffer { .. }
            | MicroOp::ScoreboardUnlock { .. }
            | MicroOp::Whole { .. } => return Ok(false),
        }
        Ok(true)
    }

    /// Sets the uniforms' address to element 0 of a register.
    fn set_uniforms(&mut self, from: RegisterIndex) -> Result<(), IcedError> {
        // Uniforms read so far no longer count.
        self.read.uniforms = 0;
        let address = self.emitter.load(from)?;
        self.emitter.first_element(address, eax)?;
        let asm = &mut self.emitter.asm;
        asm.mov(dword_ptr(FRAME + at::SYNCED_ADDRESS), eax)?;
        asm.mov(dword_ptr(FRAME + at::LIMITED), 0)?;
        asm.and(eax, WORD_OFFSET as i32)?;
        asm.add(rax, qword_ptr(FRAME + at::WORDS))?;
        asm.mov(UNIFORMS, rax)?;
        asm.mov(qword_ptr(FRAME + at::SYNCED), rax)?;
        asm.mov(rax, qword_ptr(FRAME + at::WORDS_END))?;
        asm.mov(qword_ptr(FRAME + at::UNIFORMS_END), rax)
    }

    /// Advances the streams past what has been read.
    fn move_on(&mut self) -> Result<(), IcedError> {
        let Streams { uniforms, varyings } = std::mem::take(&mut self.read);
        if uniforms != 0 {
            self.emitter.asm.add(UNIFORMS, 4 * uniforms)?;
        }
        if varyings != 0 {
            self.emitter.asm.add(qword_ptr(FRAME + at::VARYINGS), VARYING_BYTES * varyings)?;
        }
        Ok(())
    }

    /// Calls back for a micro-op or a group. The register cache is empty afterwards.
    fn call(&mut self, call: i32, index: usize) -> Result<(), IcedError> {
        self.move_on()?;
        let asm = &mut self.emitter.asm;
        asm.mov(qword_ptr(FRAME + at::UNIFORMS), UNIFORMS)?;
        asm.mov(rdi, FRAME)?;
        asm.mov(esi, index as u32)?;
        self.emitter.call(call)?;
        let asm = &mut self.emitter.asm;
        asm.mov(REGISTERS, qword_ptr(FRAME + at::REGISTERS))?;
        asm.mov(FLAGS, qword_ptr(FRAME + at::FLAGS))?;
        asm.mov(UNIFORMS, qword_ptr(FRAME + at::UNIFORMS))
    }

    fn finish(mut self) -> Result<Option<Translation>, IcedError> {
        let asm = &mut self.emitter.asm;
        for (&at, label) in &mut self.exits {
            asm.set_label(label)?;
            asm.mov(eax, at as u32)?;
            asm.jmp(self.leave)?;
        }
        asm.set_label(&mut self.leave)?;
        asm.mov(qword_ptr(FRAME + at::BUDGET), BUDGET)?;
        asm.mov(qword_ptr(FRAME + at::UNIFORMS), UNIFORMS)?;
        asm.ldmxcsr(dword_ptr(FRAME + at::ROUNDING_OUTSIDE))?;
        asm.vzeroupper()?;
        asm.add(rsp, 8)?;
        for register in [r15, r14, r13, r12, rbp, rbx] {
            asm.pop(register)?;
        }
        asm.ret()?;
        self.emitter.finish()?;
        let assembled = self.emitter.asm.assemble_options(0, BlockEncoderOptions::RETURN_NEW_INSTRUCTION_OFFSETS)?;
        let mut offsets = vec![None; self.block.instructions.len()];
        for (&at, label) in &self.segments {
            if let Some(offset) = offsets.get_mut(at) {
                *offset = u32::try_from(assembled.label_ip(label)?).ok();
            }
        }
        Ok(Some(Translation { bytes: assembled.inner.code_buffer, segments: offsets }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::qpu::CodeCache;
    use crate::qpu::test_words::{BACK, COLOUR, END, NOP, memory_of};

    /// add unif_addr, r0, unif
    const UNIFORMS_ADDRESS: u64 = 0x1002_0a27_0c82_7180;
    /// bkpt
    const BREAKPOINT: u64 = 0x0000_09e7_009e_7000;

    /// Where the segments of a program begin.
    fn check(words: &[u64], expected: &[usize]) {
        let owned = memory_of(8 * words.len(), words);
        let block = CodeCache::new().block(owned.view(), 0).unwrap();
        let translation = translate(&block).unwrap();
        let segments = translation.map(|translation| translation.segments).unwrap_or_default();
        let found: Vec<usize> = (0..segments.len()).filter(|&at| segments[at].is_some()).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn blocks_begin_where_execution_can_come_from_elsewhere() {
        check(&[NOP, NOP, END, NOP, NOP], &[0, 3]);
        // After the branch, and at its target.
        check(&[NOP, NOP, BACK, NOP, NOP, NOP, NOP, END, NOP, NOP], &[0, 3, 6, 8]);
        // After the change of the uniforms' address.
        check(&[NOP, UNIFORMS_ADDRESS, NOP, NOP, END, NOP, NOP], &[0, 2, 5]);
        // After an access to the tile buffer.
        check(&[NOP, NOP, COLOUR, NOP, END, NOP, NOP], &[0, 3, 5]);
        check(&[BREAKPOINT], &[]);
    }
}
