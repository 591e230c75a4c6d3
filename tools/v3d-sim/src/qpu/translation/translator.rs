//! The translator: from the micro-ops of a block to host code.
//!
//! Code is generated in segments: a run of instructions, and the group after it if that does not need the sequencer either. At its top a segment makes the
//! checks that [block execution](crate::qpu::block::execution) makes for a run: the budget suffices, no accumulator that it needs is undefined, and all its
//! uniforms and varyings are available. If a check fails, the code returns and the first instruction of the segment is interpreted.
//!
//! After a segment, memory is up to date. A register that is overwritten in the same segment stays in the [register cache](super::register_cache), and is saved
//! only before a call, if it is [read again](super::accesses). Micro-ops between two calls are a stretch: its code is made for one part of a QPU's vector after
//! the other, where a register of the host does not hold all of it.

use super::bounds::{Bounds, FloatUniforms};
use super::frame::VARYING_BYTES;
use super::host::{BranchTest, CallBack, Control, Flag, Host, Label};
use super::lowering::{self, DeadStores, Lowering};
use crate::qpu::CodeSize;
use crate::qpu::block::accumulators::Uses;
use crate::qpu::block::execution::GroupNeeds;
use crate::qpu::block::micro_op::MicroOp;
use crate::qpu::block::{Block, Group, PlainBranch};
use crate::qpu::isa::registers::{self, RegisterIndex};
use crate::tmu;
use std::collections::BTreeMap;
use v3d_hw::qpu::accesses::accumulators;
use v3d_hw::qpu::address_map::{TmuCoordinate, WriteTarget};
use v3d_hw::qpu::{BRANCH_DELAY_SLOTS, BranchCondition, Condition, Signal};

/// Instructions of a branch and its delay slots.
const BRANCH_INSTRUCTIONS: usize = 1 + BRANCH_DELAY_SLOTS as usize;
/// An index behind all micro-ops.
const BEHIND_ALL: usize = usize::MAX - 1;
/// Maximum number of instructions translated for one block; an instruction in several segments counts several times.
const MAX_TRANSLATED: u64 = 1 << 13;

/// Code, and the offsets of its segments.
#[derive(Debug)]
pub(super) struct Translation {
    /// Position-independent code; its first byte is the entry for all segments.
    pub(super) bytes: Vec<u8>,
    /// Offset of the segment that begins at each instruction, if one does.
    pub(super) segments: Vec<Option<u32>>,
    /// How much code it is.
    pub(super) size: CodeSize,
}

/// Translates a block. `None` if nothing in it can be translated, or if it is too large; an error says which instruction does not exist.
pub(super) fn translate<H: Host>(block: &Block, host: H) -> Result<Option<Translation>, String> {
    let starts = starts(block);
    let instructions: u64 = starts.iter().map(|&at| block.run_from(at)).sum();
    if starts.is_empty() || instructions > MAX_TRANSLATED {
        return Ok(None);
    }
    let mut lowering = Lowering::new(host);
    let control = lowering.host.control();
    let segments: BTreeMap<usize, Label> = starts.iter().map(|&at| (at, control.label())).collect();
    let leave = control.label();
    control.enter();
    let mut translator = Translator {
        block,
        lowering,
        segments,
        exits: BTreeMap::new(),
        last_writes: BTreeMap::new(),
        last_flags: None,
        dead_flags: BTreeMap::new(),
        leave,
        read: Streams::default(),
        float_uniforms: FloatUniforms::default(),
        stretch: Vec::new(),
        rare_calls: Vec::new(),
        size: CodeSize { translated: instructions, ..CodeSize::default() },
    };
    for at in starts {
        if let Some(&label) = translator.segments.get(&at) {
            translator.control().place(label);
        }
        translator.lowering.begin_trusting();
        let before = translator.control().instructions();
        translator.segment(at);
        translator.size.usual += (translator.control().instructions() - before) as u64;
        if translator.lowering.begin_checking() {
            translator.segment(at);
        }
    }
    translator.finish().map(Some)
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

/// Whether an instruction reads a uniform.
fn reads_uniform(block: &Block, at: u16) -> bool {
    block.instructions.get(usize::from(at)).is_none_or(|placed| placed.instruction.touches.uniform)
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
        | MicroOp::Read { .. }
        | MicroOp::Rotated { .. }
        | MicroOp::Tmu { .. }
        | MicroOp::LoadTmu { .. }
        | MicroOp::UniformsAddress { .. }
        | MicroOp::Peripheral { .. }
        | MicroOp::Signal { .. }
        | MicroOp::Whole { .. } => None,
    }
}

/// Whether a micro-op is a call back.
fn is_call(micro_op: &MicroOp) -> bool {
    match *micro_op {
        MicroOp::Operate { .. }
        | MicroOp::Conditional { .. }
        | MicroOp::Flags { .. }
        | MicroOp::Constant { .. }
        | MicroOp::Uniform { .. }
        | MicroOp::Varying { .. }
        | MicroOp::Unpack { .. }
        | MicroOp::PackColour { .. }
        | MicroOp::Sfu { .. }
        | MicroOp::UniformsAddress { .. } => false,
        MicroOp::PackA { mode, float, .. } => !lowering::packs_for_a(mode, float),
        MicroOp::VpmRead { .. }
        | MicroOp::Read { .. }
        | MicroOp::Rotated { .. }
        | MicroOp::Tmu { .. }
        | MicroOp::LoadTmu { .. }
        | MicroOp::Peripheral { .. }
        | MicroOp::Signal { .. }
        | MicroOp::Whole { .. } => true,
    }
}

/// The call back that executes a micro-op.
const fn call_back(micro_op: &MicroOp) -> CallBack {
    match *micro_op {
        MicroOp::Tmu { coordinate, .. } => CallBack::ExecuteLookup { computes: matches!(coordinate, TmuCoordinate::S) },
        MicroOp::LoadTmu { .. } => CallBack::ExecuteLookup { computes: false },
        MicroOp::VpmRead { .. } | MicroOp::Read { .. } | MicroOp::Peripheral { .. } | MicroOp::Signal { .. } => {
            CallBack::AccessUnit
        }
        _ => CallBack::ExecuteMicroOp,
    }
}

/// A step of a stretch.
#[derive(Clone, Copy, Debug)]
enum Step {
    /// A micro-op, by its index, that is no call.
    MicroOp(usize),
    /// What belongs to one instruction is no longer needed.
    EndInstruction,
    /// A branch tests a flag.
    Test(BranchTest),
}

struct Translator<'a, H> {
    block: &'a Block,
    lowering: Lowering<H>,
    segments: BTreeMap<usize, Label>,
    /// Labels of the exits before an instruction.
    exits: BTreeMap<usize, Label>,
    /// The last micro-ops of the segment that write to each register, and the last that sets flags.
    last_writes: BTreeMap<RegisterIndex, usize>,
    last_flags: Option<usize>,
    /// The flags that micro-ops of the segment's run set and nothing reads.
    dead_flags: BTreeMap<usize, [bool; 3]>,
    leave: Label,
    /// The streams' elements read since the host's uniforms and varyings were advanced.
    read: Streams,
    /// The uniforms that the segment has tested at its start.
    float_uniforms: FloatUniforms,
    /// Steps since the last call, for which no code has been made.
    stretch: Vec<Step>,
    /// Calls in place of code that has jumped there, by micro-op: from where, and back to where.
    rare_calls: Vec<(Label, Label, usize, CallBack)>,
    /// How much code there is.
    size: CodeSize,
}

impl<H: Host> Translator<'_, H> {
    fn control(&mut self) -> &mut H::Control {
        self.lowering.host.control()
    }

    fn exit(&mut self, at: usize) -> Label {
        if let Some(&label) = self.exits.get(&at) {
            return label;
        }
        let label = self.control().label();
        self.exits.insert(at, label);
        label
    }

    /// Continues at an instruction, within its segment or outside.
    fn continue_at(&mut self, at: usize) {
        let label = self.segments.get(&at).copied().unwrap_or_else(|| self.exit(at));
        self.control().jump(label);
    }

    /// The trusting or the checking code of a segment. Checking code is entered in the middle; what its top does, trusting code has done.
    fn segment(&mut self, start: usize) {
        self.lowering.clear_cache();
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
            self.check(start, count);
            self.test_varyings(start, count);
            self.test_uniforms(start, count);
            self.find_last_writes(start, count);
            self.find_dead_flags(start, count);
            self.micro_ops(start, count);
            self.end_stretch();
            self.move_on();
            let replaces = self.uses(start, count).replaces();
            let control = self.control();
            if replaces != 0 {
                control.define(replaces);
            }
            control.lengthen_run(count);
            control.record_last(at - 1, count);
        }
        match group {
            None => self.continue_at(at),
            Some(Group::Branch(_)) if count == 0 => {
                // Its delay slots read uniforms after it, or they, have changed the address.
                self.continue_outside(at);
            }
            Some(Group::Branch(_)) => self.continue_at(at),
            Some(group) => self.group(at, group),
        }
    }

    /// The use that some instructions make of accumulators and flags.
    fn uses(&self, first: usize, count: usize) -> Uses {
        Uses::of(self.block.instructions.get(first..first + count).unwrap_or_default())
    }

    /// A run followed by a branch with its delay slots.
    fn branch(&mut self, start: usize, count: usize, branch: PlainBranch) {
        let at = start + count;
        let all = count + BRANCH_INSTRUCTIONS;
        let behind = start + all;
        self.check(start, all);
        self.test_varyings(start, all);
        self.test_uniforms(start, all);
        self.find_last_writes(start, all);
        self.find_dead_flags(start, count);
        self.micro_ops(start, count);
        let always = branch.condition == BranchCondition::Always;
        if !always {
            self.test_condition(branch.condition);
        }
        self.micro_ops(at + 1, BRANCH_INSTRUCTIONS - 1);
        self.end_stretch();
        self.move_on();
        let not_taken = self.control().label();
        let control = self.control();
        control.record_last(behind - 1, BRANCH_INSTRUCTIONS);
        // Nothing is undefined at a branch; otherwise the segment was left at its top.
        control.define_all();
        let target = usize::from(branch.target);
        if always {
            control.end_run();
            return self.continue_at(target);
        }
        control.jump_unless_taken(not_taken);
        control.end_run();
        self.continue_at(target);
        let control = self.control();
        control.place(not_taken);
        control.lengthen_run(all);
        self.continue_at(behind);
    }

    /// A group other than a branch.
    fn group(&mut self, at: usize, group: Group) {
        let count = group.instructions();
        let Some(needs) = GroupNeeds::of(self.block, at, group) else {
            return self.continue_outside(at);
        };
        let begun = self.control().label();
        match group {
            Group::Tile => self.begin_group(at, group, needs, begun),
            Group::End if !needs.waits => self.begin_group(at, group, needs, begun),
            Group::Switch if !needs.scoreboard && !needs.upper_registers => self.switch(at, count, needs),
            Group::Switch | Group::End | Group::Branch(_) => self.call_to_begin(at, count, begun),
        }
        let control = self.control();
        control.place(begun);
        control.lengthen_run(count);
        self.lowering.test_varyings(false);
        self.float_uniforms = FloatUniforms::default();
        self.find_last_writes(at, count);
        self.find_dead_flags(at, count);
        self.micro_ops(at, count);
        self.end_stretch();
        self.move_on();
        self.control().record_last(at + count - 1, count);
        if group == Group::End {
            let leave = self.leave;
            return self.control().leave_with(at + count, leave);
        }
        self.continue_at(at + count);
    }

    /// Begins a group that only a program without the scoreboard needs a call for.
    fn begin_group(&mut self, at: usize, group: Group, needs: GroupNeeds, begun: Label) {
        let outside = self.exit(at);
        self.lowering.set_micro_op(BEHIND_ALL);
        self.lowering.write_back();
        self.lowering.clear_cache();
        let control = self.control();
        let without_scoreboard = control.label();
        if needs.accumulators != 0 {
            control.check_defined(needs.accumulators, outside);
        }
        if needs.upper_registers {
            control.check_single_threaded(outside);
        }
        if needs.scoreboard && !needs.waits {
            control.check_scoreboard(without_scoreboard);
        }
        if !needs.waits {
            self.check(at, group.instructions());
            if group == Group::End {
                self.control().end_program();
            }
        }
        if needs.scoreboard {
            if !needs.waits {
                self.control().jump(begun);
            }
            self.control().place(without_scoreboard);
            self.take_scoreboard(at, group, begun);
            self.call_to_begin(at, group.instructions(), begun);
        }
    }

    /// Switches threads with a group that needs nothing else. Where that breaks a rule, the code leaves.
    fn switch(&mut self, at: usize, count: usize, needs: GroupNeeds) {
        let outside = self.exit(at);
        self.lowering.set_micro_op(BEHIND_ALL);
        self.lowering.write_back();
        self.lowering.clear_cache();
        if needs.accumulators != 0 {
            self.control().check_defined(needs.accumulators, outside);
        }
        self.control().check_may_switch(outside);
        self.check(at, count);
        let signal = self.block.instructions.get(at).map(|placed| placed.instruction.signal);
        self.control().switch_threads(signal == Some(Signal::LastThreadSwitch));
    }

    /// Takes the scoreboard for a group whose first instruction waits for it, if nobody else has it; the code behind this is for the other case.
    fn take_scoreboard(&mut self, at: usize, group: Group, begun: Label) {
        let count = group.instructions();
        let otherwise = self.control().label();
        self.check(at, count);
        self.control().take_scoreboard(count, otherwise);
        if group == Group::End {
            self.control().end_program();
        }
        let control = self.control();
        control.jump(begun);
        control.place(otherwise);
        control.refund(count);
    }

    /// Begins a group with a call.
    fn call_to_begin(&mut self, at: usize, count: usize, begun: Label) {
        let outside = self.exit(at);
        self.control().save_budget();
        self.check(at, count);
        self.call(CallBack::BeginGroup, at);
        let control = self.control();
        control.jump_if_begun(begun);
        control.load_budget();
        control.jump(outside);
    }

    /// Leaves before an instruction.
    fn continue_outside(&mut self, at: usize) {
        let outside = self.exit(at);
        self.control().jump(outside);
    }

    /// Emits the checks for some instructions, including a branch with its delay slots at their end, and subtracts them from the budget. If a check fails, the
    /// code leaves before the first instruction.
    fn check(&mut self, first: usize, count: usize) {
        let outside = self.exit(first);
        let Some(max) = max_taken_by(self.block, first, count) else {
            return self.control().jump(outside);
        };
        let run = self.block.runs.get(first).copied().unwrap_or_default();
        let length = usize::from(run.count);
        // A segment can be shorter than its run, and a branch longer.
        let uses = self.uses(first, length.min(count));
        let (mut needs, mut upper_registers) = (uses.needs(), run.upper_registers);
        if length < count
            && let Some(Group::Branch(_)) = self.block.runs.get(first + length).and_then(|run| run.group)
        {
            needs |= accumulators::ALL & !uses.replaces();
            upper_registers |= self.block.runs.get(first + length + 1).is_some_and(|slots| slots.upper_registers);
        }
        let control = self.control();
        control.check_budget(count, outside);
        if needs != 0 {
            control.check_defined(needs, outside);
        }
        if upper_registers {
            control.check_single_threaded(outside);
        }
        if max.uniforms != 0 {
            control.check_uniforms(max.uniforms, outside);
        }
        if max.varyings != 0 {
            control.check_varyings(max.varyings, outside);
        }
        control.spend(count);
    }

    /// Tests varyings once for some instructions, if they read any.
    fn test_varyings(&mut self, first: usize, count: usize) {
        let mut micro_ops = self.block.micro_ops_of(first, count).iter();
        let reads = micro_ops.any(|micro_op| matches!(micro_op, MicroOp::Varying { .. }));
        self.lowering.test_varyings(reads);
    }

    /// Tests uniforms of some instructions at once, if there are several that float arithmetic takes.
    fn test_uniforms(&mut self, first: usize, count: usize) {
        let block = self.block;
        let indices = block.micro_op_indices(first, count);
        self.float_uniforms = FloatUniforms::of(indices.filter_map(|index| Some((index, block.micro_op(index)?))));
        self.lowering.test_uniforms(&self.float_uniforms);
    }

    /// Tests whether the condition of a branch holds.
    fn test_condition(&mut self, condition: BranchCondition) {
        let (flag, all_set, equal) = match condition {
            BranchCondition::AllZSet => (Flag::Zero, true, true),
            BranchCondition::AllZClear => (Flag::Zero, false, true),
            BranchCondition::AnyZSet => (Flag::Zero, false, false),
            BranchCondition::AnyZClear => (Flag::Zero, true, false),
            BranchCondition::AllNSet => (Flag::Negative, true, true),
            BranchCondition::AllNClear => (Flag::Negative, false, true),
            BranchCondition::AnyNSet => (Flag::Negative, false, false),
            BranchCondition::AnyNClear => (Flag::Negative, true, false),
            BranchCondition::AllCSet => (Flag::Carry, true, true),
            BranchCondition::AllCClear => (Flag::Carry, false, true),
            BranchCondition::AnyCSet => (Flag::Carry, false, false),
            BranchCondition::AnyCClear => (Flag::Carry, true, false),
            BranchCondition::Always => return self.control().set_taken(true),
            BranchCondition::Reserved(_) => return self.control().set_taken(false),
        };
        self.stretch.push(Step::Test(BranchTest { flag, all_set, equal }));
    }

    /// Finds the accesses to registers, and the micro-ops whose results are not overwritten within the segment.
    fn find_last_writes(&mut self, first: usize, count: usize) {
        self.last_writes.clear();
        self.last_flags = None;
        self.lowering.accesses.clear();
        for index in self.block.micro_op_indices(first, count) {
            let Some(micro_op) = self.block.micro_op(index) else { continue };
            self.lowering.accesses.add(index, micro_op);
            if let Some(register) = written(micro_op) {
                self.last_writes.insert(register, index);
            }
            if let MicroOp::Flags { .. } = micro_op {
                self.last_flags = Some(index);
            }
        }
    }

    /// Finds the flags of a run that are set and overwritten before anything reads them.
    fn find_dead_flags(&mut self, first: usize, count: usize) {
        self.dead_flags.clear();
        // From the last micro-op to the first: what comes behind may read all of them.
        let mut dead = [false; 3];
        for index in self.block.micro_op_indices(first, count).rev() {
            let Some(micro_op) = self.block.micro_op(index) else { continue };
            let condition = match *micro_op {
                MicroOp::Flags { condition: Condition::Always, .. } => {
                    self.dead_flags.insert(index, dead);
                    dead = [true; 3];
                    continue;
                }
                MicroOp::Conditional { condition, .. } => condition,
                _ if is_call(micro_op) || matches!(micro_op, MicroOp::Flags { .. }) => {
                    dead = [false; 3];
                    continue;
                }
                _ => continue,
            };
            let read = match condition {
                Condition::ZSet | Condition::ZClear => Flag::Zero,
                Condition::NSet | Condition::NClear => Flag::Negative,
                Condition::CSet | Condition::CClear => Flag::Carry,
                Condition::Never | Condition::Always => continue,
            };
            dead[read as usize] = false;
        }
    }

    /// Adds the micro-ops of some instructions to the stretch, and makes calls.
    fn micro_ops(&mut self, first: usize, count: usize) {
        for at in first..first + count {
            for index in self.block.micro_op_indices(at, 1) {
                match self.block.micro_op(index) {
                    None => {}
                    Some(micro_op) if self.rarely_calls(micro_op) => self.access_directly(index, micro_op),
                    Some(micro_op) if is_call(micro_op) => self.call(call_back(micro_op), index),
                    // It moves one word, whatever the parts are.
                    Some(&MicroOp::UniformsAddress { from }) => self.set_uniforms(index, from),
                    Some(_) => self.stretch.push(Step::MicroOp(index)),
                }
            }
            self.stretch.push(Step::EndInstruction);
        }
    }

    /// Makes the code of the stretch. The last part's values stay in the cache.
    fn end_stretch(&mut self) {
        let steps = std::mem::take(&mut self.stretch);
        if steps.iter().all(|step| matches!(step, Step::EndInstruction)) {
            if let Some(Step::EndInstruction) = steps.last() {
                self.lowering.end_instruction();
            }
            return;
        }
        let read = self.read;
        let bounds = self.lowering.bounds();
        let uses_flags = steps.iter().any(|step| self.uses_flags(step));
        let last =
            steps.iter().rev().find_map(|step| if let Step::MicroOp(index) = step { Some(*index) } else { None });
        for part in 0..H::PARTS {
            if part > 0 {
                self.lowering.set_micro_op(last.map_or(0, |last| last + 1));
                self.lowering.write_back();
                self.lowering.clear_cache();
                self.lowering.set_bounds(bounds.clone());
            }
            self.read = read;
            self.lowering.set_part(part, uses_flags);
            for &step in &steps {
                match step {
                    Step::MicroOp(index) => self.micro_op(index),
                    Step::EndInstruction => self.lowering.end_instruction(),
                    Step::Test(test) => self.lowering.test_flag(test),
                }
            }
        }
    }

    /// Whether a step reads or sets flags.
    fn uses_flags(&self, step: &Step) -> bool {
        match *step {
            Step::MicroOp(index) => {
                matches!(self.block.micro_op(index), Some(MicroOp::Conditional { .. } | MicroOp::Flags { .. }))
            }
            Step::Test(_) => true,
            Step::EndInstruction => false,
        }
    }

    /// Translates a micro-op that is no call.
    fn micro_op(&mut self, index: usize) {
        let Some(micro_op) = self.block.micro_op(index) else { return };
        let lowering = &mut self.lowering;
        lowering.set_micro_op(index);
        lowering.dead_stores = DeadStores {
            result: written(micro_op).is_some_and(|register| self.last_writes.get(&register) != Some(&index)),
            flags: self.last_flags != Some(index),
            each_flag: self.dead_flags.get(&index).copied().unwrap_or_default(),
        };
        match *micro_op {
            MicroOp::Operate { operation, a, b, to } => lowering.operate(operation, a, b, to),
            MicroOp::Conditional { operation, a, b, to, condition } => {
                lowering.operate_where(operation, (a, b), to, condition);
            }
            MicroOp::Flags { operation, a, b, to, condition } => {
                lowering.operate_with_flags(operation, (a, b), to, condition);
            }
            MicroOp::Constant { to, value } => lowering.constant(to, value),
            MicroOp::Uniform { to, .. } => {
                let tested = self.float_uniforms.has_reader(index);
                lowering.uniform(to, self.read.uniforms, tested, self.float_uniforms.has_normal_reader(index));
                self.read.uniforms += 1;
            }
            MicroOp::Varying { to, .. } => {
                lowering.varying(to, VARYING_BYTES * self.read.varyings);
                self.read.varyings += 1;
            }
            MicroOp::Unpack { from, mode, float } => lowering.unpack(from, mode, float),
            MicroOp::PackColour { from, to, part } => lowering.pack_colour(from, to, part),
            MicroOp::PackA { from, to, mode, float } => lowering.pack_a(from, to, mode, float),
            MicroOp::Sfu { function, from } => lowering.special_function(function, from),
            MicroOp::UniformsAddress { .. }
            | MicroOp::Rotated { .. }
            | MicroOp::VpmRead { .. }
            | MicroOp::Read { .. }
            | MicroOp::Tmu { .. }
            | MicroOp::LoadTmu { .. }
            | MicroOp::Peripheral { .. }
            | MicroOp::Signal { .. }
            | MicroOp::Whole { .. } => {}
        }
    }

    /// Sets the uniforms' address to element 0 of a register.
    fn set_uniforms(&mut self, index: usize, from: RegisterIndex) {
        self.end_stretch();
        self.lowering.set_micro_op(index);
        // Uniforms read so far no longer count.
        self.read.uniforms = 0;
        self.lowering.move_uniforms();
        if H::PARTS == 1 {
            self.lowering.first_element(from);
            self.control().set_uniforms();
        } else {
            self.lowering.write_back();
            self.lowering.clear_cache();
            self.control().set_uniforms_from(from);
        }
    }

    /// Advances the streams past what has been read.
    fn move_on(&mut self) {
        self.lowering.move_uniforms();
        let Streams { uniforms, varyings } = std::mem::take(&mut self.read);
        let control = self.control();
        if uniforms != 0 {
            control.advance_uniforms(uniforms);
        }
        if varyings != 0 {
            control.advance_varyings(varyings);
        }
    }

    /// Whether a micro-op is a call in rare cases only: it accesses the FIFOs of a TMU, and breaks no rule, or samples of the tile buffer, or unlocks the
    /// scoreboard.
    fn rarely_calls(&self, micro_op: &MicroOp) -> bool {
        match *micro_op {
            MicroOp::LoadTmu { .. } => true,
            MicroOp::Signal { signal, .. } => {
                matches!(signal, Signal::ScoreboardUnlock | Signal::LoadColor | Signal::LoadColorEnd)
            }
            MicroOp::Peripheral { target, condition, .. } => {
                matches!(target, WriteTarget::TlbZ | WriteTarget::TlbColorAll | WriteTarget::TlbColorMs)
                    && condition == Condition::Always
            }
            MicroOp::Tmu { coordinate, at, .. } => coordinate == TmuCoordinate::S || !reads_uniform(self.block, at),
            _ => false,
        }
    }

    /// Writes a coordinate to a TMU, loads a result, accesses samples, or unlocks the scoreboard. The register cache is empty afterwards.
    fn access_directly(&mut self, index: usize, micro_op: &MicroOp) {
        self.end_stretch();
        self.move_on();
        self.lowering.set_micro_op(index);
        self.lowering.write_back();
        let block = self.block;
        let control = self.control();
        let (rare, back) = (control.label(), control.label());
        match *micro_op {
            MicroOp::Tmu { unit, coordinate: TmuCoordinate::S, from, at } => {
                control.start_lookup(unit, from, reads_uniform(block, at), rare);
            }
            MicroOp::Tmu { unit, coordinate, from, .. } => {
                control.write_coordinate(unit, tmu::place(coordinate), from, rare);
            }
            MicroOp::LoadTmu { unit, .. } => control.load_result(unit, registers::R4, rare),
            MicroOp::Signal { signal: Signal::LoadColor | Signal::LoadColorEnd, .. } => {
                control.load_colour(registers::R4, rare);
            }
            MicroOp::Peripheral { target: WriteTarget::TlbZ, from, .. } => control.test_depth(from, rare),
            MicroOp::Peripheral { target: WriteTarget::TlbColorMs, from, .. } => control.write_sample(from, rare),
            MicroOp::Peripheral { from, .. } => control.write_colour(from, rare),
            _ => control.check_scoreboard_alone(rare),
        }
        control.place(back);
        self.lowering.clear_cache();
        if let MicroOp::LoadTmu { .. } | MicroOp::Signal { .. } = micro_op {
            self.lowering.forget_bound(registers::R4);
        }
        self.rare_calls.push((rare, back, index, call_back(micro_op)));
    }

    /// Calls back for a micro-op or a group. The register cache is empty afterwards.
    fn call(&mut self, function: CallBack, index: usize) {
        self.end_stretch();
        self.move_on();
        self.control().prepare_call(index);
        self.lowering.set_micro_op(match function {
            CallBack::ExecuteMicroOp | CallBack::ExecuteLookup { .. } | CallBack::AccessUnit => index,
            // Nothing of the run before the group is left to be saved.
            CallBack::BeginGroup => BEHIND_ALL,
        });
        self.lowering.write_back();
        self.control().call(function);
        self.lowering.clear_cache();
        self.control().finish_call();
        if function != CallBack::BeginGroup
            && let Some(micro_op) = self.block.micro_op(index)
        {
            match *micro_op {
                MicroOp::Whole { .. } => self.lowering.set_bounds(Bounds::new()),
                MicroOp::LoadTmu { .. } | MicroOp::Signal { .. } => self.lowering.forget_bound(registers::R4),
                MicroOp::VpmRead { to, .. } | MicroOp::Read { to, .. } | MicroOp::Rotated { to, .. } => {
                    self.lowering.forget_bound(to)
                }
                _ => written(micro_op).into_iter().for_each(|register| self.lowering.forget_bound(register)),
            }
        }
    }

    fn finish(mut self) -> Result<Translation, String> {
        let (exits, leave) = (std::mem::take(&mut self.exits), self.leave);
        let control = self.control();
        for (at, label) in exits {
            control.place(label);
            control.leave_with(at, leave);
        }
        control.place(leave);
        control.leave();
        for (rare, back, index, function) in std::mem::take(&mut self.rare_calls) {
            let control = self.control();
            control.place(rare);
            control.prepare_call(index);
            control.call(function);
            control.finish_call();
            control.jump(back);
        }
        self.lowering.finish();
        let all = self.control().instructions() as u64;
        let encoded = self.control().finish()?;
        let size = CodeSize { all, bytes: encoded.bytes.len() as u64, ..self.size };
        let mut segments = vec![None; self.block.instructions.len()];
        for (&at, label) in &self.segments {
            if let Some(offset) = segments.get_mut(at) {
                *offset = encoded.labels.get(label.0).copied().flatten();
            }
        }
        Ok(Translation { bytes: encoded.bytes, segments, size })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::qpu::CodeCache;
    use crate::qpu::test_words::{BACK, COLOUR, END, NOP, memory_of};
    #[cfg(target_arch = "x86_64")]
    use crate::qpu::translation::host::avx512::Avx512;
    #[cfg(target_arch = "aarch64")]
    use crate::qpu::translation::host::{aarch64::Reach, neon::Neon};

    /// add unif_addr, r0, unif
    const UNIFORMS_ADDRESS: u64 = 0x1002_0a27_0c82_7180;
    /// bkpt
    const BREAKPOINT: u64 = 0x0000_09e7_009e_7000;

    /// Where the segments of a program begin.
    fn check(words: &[u64], expected: &[usize]) {
        let owned = memory_of(8 * words.len(), words);
        let block = CodeCache::new().block(owned.view(), 0).unwrap();
        #[cfg(target_arch = "x86_64")]
        let translation = translate(&block, Avx512::new()).unwrap();
        #[cfg(target_arch = "aarch64")]
        let translation = translate(&block, Neon::new(Reach::Near)).unwrap();
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
