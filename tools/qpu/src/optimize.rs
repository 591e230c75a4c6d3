//! Makes programs shorter without changing what they do.
//!
//! Basic blocks are list-scheduled: operations of the add ALU are paired with operations of the mul ALU, latencies (register files, SFU, TMU) are filled with
//! independent instructions, and unnecessary nops are removed. Nops in the delay slots of branches, program ends and thread switches are replaced by preceding
//! instructions, those of branches then by instructions from behind the branch, on either path.
//!
//! # Correctness
//! An instruction is moved over another only if neither writes what the other reads or writes, and accesses to one kind of peripheral keep their order. The
//! result is checked: a block that would break a rule which the original block keeps is left unchanged. The checks include the instructions that subroutines
//! return to.
//!
//! Programs that compute with addresses of labels, or have data between their instructions, are refused, because they depend on the layout of the code. Jump
//! tables after a call, which an offset indexes, are left unchanged.
//!
//! | file | contents |
//! |---|---|
//! | `behind_branches` | filling delay slots from the branch's target and from the path past it |
//! | `code_address` | which registers hold addresses of code, and which code must therefore not move |
//! | `effects` | dependences between instructions |
//! | `merge` | merging two instructions into one |
//! | `refusal` | why a program cannot be optimized |
//! | `schedule` | list scheduling of a block |

use alloc::vec;
use alloc::vec::Vec;

use v3d_hw::qpu::address_map::NOP as NO_REGISTER;
use v3d_hw::qpu::{BRANCH_DELAY_SLOTS, Instruction, Mux, Signal, THREAD_DELAY_SLOTS};

use crate::assembler::{Assembly, WordInfo};
use crate::check::facts::Facts;
use crate::check::flow::Flow;
use crate::check::{Finding, check};
use crate::interface::Interface;

mod behind_branches;
mod code_address;
mod effects;
mod merge;
mod refusal;
mod schedule;

use effects::Effects;
pub use merge::merge;
pub use refusal::{Reason, Refused};

/// An instruction without effect.
const NOP: u64 = 0x1000_09e7_009e_7000;

/// Number of instructions before and after.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Before.
    pub before: usize,
    /// After.
    pub after: usize,
}

/// A word with its source location.
#[derive(Clone, Copy, Debug)]
struct Line {
    word: u64,
    info: WordInfo,
    /// Index of this word in the original program; of the first, if it is merged from two.
    origin: usize,
}

/// A basic block.
#[derive(Clone, Debug)]
struct Block {
    /// Index of the block's first word in the original program.
    start: usize,
    lines: Vec<Line>,
    /// A branch, program end or thread switch with its delay slots: its order is fixed.
    fixed: bool,
    /// Part of a jump table: no instruction may move into it or out of it.
    in_table: bool,
}

/// Optimizes an assembled program.
pub fn optimize(assembly: &Assembly) -> Result<(Assembly, Report), Refused> {
    if let Some(word) = assembly.info.iter().position(|info| info.data) {
        return Err(Refused { span: Some(assembly.info[word].span), ..Refused::at(Reason::Data, word) });
    }
    if let Some(span) = assembly.addresses_used {
        return Err(Refused { reason: Reason::Addresses, word: None, span: Some(span) });
    }
    if let Some(relocation) = assembly.relocations.first() {
        let span = assembly.info.get(relocation.word).map(|info| info.span);
        return Err(Refused { reason: Reason::Addresses, word: None, span });
    }
    let placed = |refused: Refused| {
        let info = refused.word.and_then(|word| assembly.info.get(word));
        Refused { span: info.map(|info| info.span), ..refused }
    };
    let mut program = Program::of(&assembly.words, &assembly.info, &assembly.interface).map_err(placed)?;
    program.improve();
    let (words, info, places) = program.finish();
    let report = Report { before: assembly.words.len(), after: words.len() };
    let labels = assembly
        .labels
        .iter()
        .map(|(name, offset)| {
            (name.clone(), places.get(*offset as usize / 8).map_or(*offset, |place| *place as u32 * 8))
        })
        .collect();
    let globals = assembly
        .globals
        .iter()
        .map(|(name, value)| {
            let is_label = assembly.labels.iter().any(|(label, offset)| label == name && i64::from(*offset) == *value);
            let place = usize::try_from(*value / 8).ok().and_then(|at| places.get(at)).filter(|_| is_label);
            (name.clone(), place.map_or(*value, |place| *place as i64 * 8))
        })
        .collect();
    Ok((Assembly { words, info, labels, globals, optimized: true, ..assembly.clone() }, report))
}

/// Whether a word reads the address NOP as an operand, or has a write address without an operation: either yields a stale value [vc4asm]. That is harmless
/// for an operation whose result is always 0.
fn takes_left_over(word: u64) -> bool {
    let Instruction::Alu(alu) = Instruction::decode(word) else { return false };
    let nothing = |mux: Mux| match mux {
        Mux::A => alu.raddr_a == NO_REGISTER,
        Mux::B => alu.raddr_b == NO_REGISTER && alu.sig != Signal::SmallImmediate,
        _ => false,
    };
    let [add_zero, mul_zero] = alu.cancels();
    let zeros = [add_zero, add_zero, mul_zero, mul_zero];
    alu.operands().into_iter().zip(zeros).any(|(operand, zero)| !zero && operand.is_some_and(nothing))
        || !alu.op_add.acts() && alu.waddr_add != NO_REGISTER
        || !alu.op_mul.acts() && alu.waddr_mul != NO_REGISTER
}

/// Where a branch goes.
#[derive(Clone, Copy, Debug)]
struct Target {
    /// Index of the branch in the original program.
    branch: usize,
    /// Index of the block's first word in the original program.
    start: usize,
    /// Number of the block's instructions that the branch skips, because they are in its delay slots.
    skip: usize,
}

struct Program<'a> {
    interface: &'a Interface,
    length: usize,
    blocks: Vec<Block>,
    targets: Vec<Target>,
    /// Findings of the checker for the original program, which the result may have as well.
    findings: Vec<Finding>,
    /// Number of risks that the checker does not see or accepts, of which the result must not have more: see [`near_risks`] and [`risks_over_returns`].
    risks: [usize; 2],
}

impl<'a> Program<'a> {
    fn of(words: &[u64], info: &[WordInfo], interface: &'a Interface) -> Result<Self, Refused> {
        let length = words.len();
        let facts: Vec<Facts> = words.iter().map(|&word| Facts::of(word)).collect();
        // Leaders: the words at which a basic block starts.
        let mut starts = vec![false; length + 1];
        let mut fixed = vec![false; length];
        let mut targets = Vec::new();
        starts[0] = true;
        let tables = code_address::tables(words).map_err(|word| Refused::at(Reason::ComputedTarget, word))?;
        if let Some(word) = words.iter().position(|&word| takes_left_over(word)) {
            return Err(Refused::at(Reason::LeftOver, word));
        }
        let mut in_table = vec![false; length];
        for table in tables {
            starts[table.start] = true;
            starts[table.end] = true;
            fixed[table.clone()].fill(true);
            in_table[table].fill(true);
        }
        for (at, facts) in facts.iter().enumerate() {
            let signal = facts.signal();
            let slots = match signal {
                Signal::Branch => BRANCH_DELAY_SLOTS,
                _ if signal.ends_program() || signal.switches_threads() => THREAD_DELAY_SLOTS,
                _ => 0,
            } as usize;
            if slots > 0 {
                let end = (at + slots + 1).min(length);
                // A second branch in the delay slots belongs to the same block.
                starts[at] |= !fixed[at];
                starts[end] = true;
                fixed[at..end].fill(true);
            }
            if let Some(branch) = facts.branch {
                match branch.distance {
                    Some(distance) => {
                        let target = at as i64 + 4 + distance;
                        let target = usize::try_from(target).ok().filter(|&target| target <= length);
                        let target = target.ok_or(Refused::at(Reason::UnknownTarget, at))?;
                        starts[target] = true;
                        targets.push(Target { branch: at, start: target, skip: 0 });
                    }
                    // A return goes to the instruction after the call; branches into a jump table are handled above.
                    None if matches!(Instruction::decode(words[at]), Instruction::Branch(b) if b.reg && b.immediate == 0) =>
                        {}
                    None => return Err(Refused::at(Reason::UnknownTarget, at)),
                }
            }
            starts[at] |= info.get(at).is_some_and(|info| info.target);
        }
        let mut blocks: Vec<Block> = Vec::new();
        for at in 0..length {
            let continues = blocks.last().is_some_and(|block| block.fixed == fixed[at] && !starts[at]);
            if !continues {
                blocks.push(Block { start: at, lines: Vec::new(), fixed: fixed[at], in_table: in_table[at] });
            }
            let line = Line { word: words[at], info: info.get(at).copied().unwrap_or_default(), origin: at };
            if let Some(block) = blocks.last_mut() {
                block.lines.push(line);
            }
        }
        let findings = check(words, info, interface);
        let mut program = Self { interface, length, blocks, targets, findings, risks: [0; 2] };
        program.risks = program.risks_of(words);
        Ok(program)
    }

    /// The current program: its words, and the new index of each original block start.
    fn assemble(&self) -> (Vec<u64>, Vec<WordInfo>, Vec<usize>) {
        let mut words = Vec::new();
        let mut info = Vec::new();
        let mut places = vec![0; self.length + 1];
        let mut branches = Vec::new();
        let mut next = 0;
        for block in &self.blocks {
            // Addresses inside a block are not branch targets; they are mapped to the start of the next block.
            places[next..=block.start].fill(words.len());
            next = block.start + 1;
            for line in &block.lines {
                if line.word >> 60 == 15 {
                    branches.push((words.len(), line.origin));
                }
                words.push(line.word);
                info.push(line.info);
            }
        }
        places[next..].fill(words.len());
        for (at, origin) in branches {
            if let Some(target) = self.targets.iter().find(|target| target.branch == origin) {
                let distance = ((places[target.start] + target.skip) as i64 - at as i64 - 4) * 8;
                words[at] = words[at] & !0xffff_ffff | u64::from(distance as u32);
            }
        }
        (words, info, places)
    }

    /// Whether the program breaks no rule that the original program keeps.
    fn is_sound(&self) -> bool {
        let (words, info, _) = self.assemble();
        let found = check(&words, &info, self.interface);
        let count = |list: &[Finding], code| list.iter().filter(|finding| finding.code == code).count();
        if self.risks_of(&words).into_iter().zip(self.risks).any(|(new, old)| new > old) {
            return false;
        }
        found.iter().all(|finding| count(&found, finding.code) <= count(&self.findings, finding.code))
    }

    /// The risks in the words of [`Self::assemble`].
    fn risks_of(&self, words: &[u64]) -> [usize; 2] {
        let facts: Vec<Facts> = words.iter().map(|&word| Facts::of(word)).collect();
        let flow = Flow::of(&facts);
        let in_table = self.blocks.iter().flat_map(|block| core::iter::repeat_n(block.in_table, block.lines.len()));
        let tables: Vec<usize> = in_table.enumerate().filter(|&(_, in_table)| in_table).map(|(at, _)| at).collect();
        [near_risks(&facts, &flow), risks_over_returns(words, &facts, &flow, &tables)]
    }

    fn improve(&mut self) {
        for at in 0..self.blocks.len() {
            if !self.blocks[at].fixed {
                let original = self.blocks[at].lines.clone();
                self.reschedule(at);
                self.fill_slots(at, &original);
            }
        }
        self.fill_from_behind();
    }

    /// Replaces a block by a faster schedule, if there is a valid one.
    fn reschedule(&mut self, at: usize) {
        let old = self.blocks[at].lines.clone();
        let mut best = old.clone();
        let nop = |line: &Line| Line { word: NOP, ..*line };
        for patient in [true, false] {
            let scheduled = schedule::schedule(&old, at == 0, patient);
            // The code that follows may require a distance from the last instructions of the block: try with nops after them.
            for rest in 0..4 {
                let mut lines = scheduled.clone();
                if let Some(last) = old.last() {
                    lines.extend(core::iter::repeat_n(nop(last), rest));
                }
                if lines.len() > old.len() || schedule::time(&lines) >= schedule::time(&best) {
                    break;
                }
                self.blocks[at].lines = lines;
                if self.is_sound() {
                    best.clone_from(&self.blocks[at].lines);
                    break;
                }
            }
        }
        self.blocks[at].lines = best;
    }

    /// Moves instructions of a block into the delay slots after it. Candidates are taken from the new schedule and from the original order: in the schedule,
    /// an instruction that must stay before the branch may share a word with one that could be moved.
    fn fill_slots(&mut self, at: usize, original: &[Line]) {
        let Some(fixed) = self.slots_after(at) else { return };
        let free = fixed.iter().skip(1).take_while(|line| line.word == NOP).count();
        let mut best = (self.blocks[at].lines.clone(), fixed.clone());
        for lines in [best.0.clone(), original.to_vec()] {
            // A delay slot can hold two merged instructions.
            for count in 1..=lines.len().min(2 * free) {
                let (stay, moved) = sink(&lines, count, fixed[0].word);
                if moved.len() < count {
                    break;
                }
                let stay = schedule::schedule(&stay, at == 0, true);
                let moved = schedule::schedule(&moved, false, true);
                if moved.len() <= free {
                    self.try_slots(at, &stay, &moved, &fixed, &mut best);
                }
            }
        }
        (self.blocks[at].lines, self.blocks[at + 1].lines) = best;
    }

    /// Accepts a schedule with filled delay slots, if it is valid, and faster than the best so far.
    fn try_slots(
        &mut self,
        at: usize,
        stay: &[Line],
        moved: &[Line],
        fixed: &[Line],
        best: &mut (Vec<Line>, Vec<Line>),
    ) {
        let time = |(stay, fixed): &(Vec<Line>, Vec<Line>)| schedule::time(stay) + schedule::time(fixed);
        let mut slots = vec![fixed[0]];
        slots.extend_from_slice(moved);
        slots.extend_from_slice(&fixed[1 + moved.len()..]);
        // The branch may require a distance from the remaining instructions.
        for rest in 0..3 {
            let rest = core::iter::repeat_n(Line { word: NOP, ..fixed[0] }, rest);
            let candidate = (stay.iter().copied().chain(rest).collect(), slots.clone());
            if time(&candidate) >= time(best) {
                return;
            }
            if !keeps_distances(candidate.0.iter().chain(&candidate.1)) {
                continue;
            }
            (self.blocks[at].lines, self.blocks[at + 1].lines) = candidate.clone();
            if self.is_sound() {
                *best = candidate;
                return;
            }
        }
    }

    /// The branch, end or switch after a block with its delay slots, if the block is its only predecessor.
    fn slots_after(&self, at: usize) -> Option<Vec<Line>> {
        let next = self.blocks.get(at + 1).filter(|next| next.fixed && !next.in_table)?;
        let arrives = self.targets.iter().any(|target| target.start == next.start);
        (!arrives && !next.lines.first()?.info.target).then(|| next.lines.clone())
    }

    fn finish(self) -> (Vec<u64>, Vec<WordInfo>, Vec<usize>) {
        self.assemble()
    }
}

/// Removes up to `count` instructions on which nothing later in the block depends, so that they can be executed after `control`.
fn sink(lines: &[Line], count: usize, control: u64) -> (Vec<Line>, Vec<Line>) {
    let mut stay: Vec<Line> = Vec::new();
    let mut moved: Vec<Line> = Vec::new();
    for &line in lines.iter().rev() {
        let effects = Effects::of(line.word);
        let free = stay.iter().all(|later| effects.distance_to(&Effects::of(later.word)).is_none());
        if moved.len() < count && line.word != NOP && free && effects::may_follow(line.word, control) {
            moved.push(line);
        } else {
            stay.push(line);
        }
    }
    stay.reverse();
    moved.reverse();
    (stay, moved)
}

/// Whether all minimum distances to the code that follows are kept.
fn keeps_distances<'l>(lines: impl Iterator<Item = &'l Line>) -> bool {
    let effects: Vec<Effects> = lines.map(|line| Effects::of(line.word)).collect();
    effects.iter().enumerate().all(|(at, first)| {
        let near = effects.iter().skip(at + 1).take(2).enumerate();
        near.into_iter().all(|(steps, later)| first.distance_to(later).is_none_or(|distance| distance <= steps + 1))
    })
}

/// Number of neighbours of which the second reads a register of a file, or rotates an accumulator, that the first writes, under any conditions.
fn near_risks(facts: &[Facts], flow: &Flow) -> usize {
    let risky = |first: &Facts, next: &Facts| {
        let written = first.accesses.writes.iter().fold(0, |bits, write| bits | write.accumulator());
        next.accesses.rotated & written != 0 || next.reads_register_of(first)
    };
    let pairs = flow.nodes().flat_map(|node| flow.successors(node).iter().map(move |next| (node, next)));
    pairs.filter(|&(node, next)| risky(&facts[flow.at(node)], &facts[flow.at(next)])).count()
}

/// Number of distances that are too short between the last two delay slots of branches to computed addresses, such as returns, and the instructions to which
/// these may go. The checker knows no path between the two.
fn risks_over_returns(words: &[u64], facts: &[Facts], flow: &Flow, tables: &[usize]) -> usize {
    let effects: Vec<Effects> = words.iter().map(|&word| Effects::of(word)).collect();
    let behind_calls = flow.entries().iter().skip(1).map(|&entry| flow.at(entry));
    let arrivals: Vec<usize> = behind_calls.chain(tables.iter().copied()).collect();
    let is_computed = |facts: &Facts| facts.branch.is_some_and(|branch| branch.distance.is_none());
    let mut count = 0;
    for (at, _) in facts.iter().enumerate().filter(|(_, facts)| is_computed(facts)) {
        let behind_slots = at + BRANCH_DELAY_SLOTS as usize + 1;
        for &arrival in &arrivals {
            for (before, after) in [(1, 0), (1, 1), (2, 0), (2, 1)] {
                let pair = (effects.get(behind_slots - before), effects.get(arrival + after));
                let (Some(first), Some(later)) = pair else { continue };
                count += usize::from(first.distance_to(later).is_some_and(|distance| distance > before + after));
            }
        }
    }
    count
}
