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
//! Where code depends on the layout of other code, it is computed again: branches to labels, and distances between labels, by relocations. Registers are
//! followed to find where branches to computed addresses go; every such place stays a possible target, in any layout. Jump tables, which an unknown index
//! selects from, are left unchanged. A program that uses addresses in another way, or has data between its instructions, is refused.
//!
//! | file | contents |
//! |---|---|
//! | `behind_branches` | filling delay slots from the branch's target and from the path past it |
//! | `code_address` | where branches to computed addresses go, and which code must therefore not move |
//! | `effects` | dependences between instructions |
//! | `linear` | values that follow places in the code |
//! | `merge` | merging two instructions into one |
//! | `refusal` | why a program cannot be optimized |
//! | `schedule` | list scheduling of a block |
//! | `values` | what registers may hold |

use alloc::collections::BTreeSet;
use alloc::vec;
use alloc::vec::Vec;

use v3d_hw::qpu::address_map::NOP as NO_REGISTER;
use v3d_hw::qpu::{BRANCH_DELAY_SLOTS, Instruction, Mux, Signal, THREAD_DELAY_SLOTS};

use crate::assembler::{Assembly, Relocation, WordInfo};
use crate::check::facts::Facts;
use crate::check::flow::Flow;
use crate::check::{Finding, Rules, check_from};
use crate::interface::Interface;

mod behind_branches;
mod code_address;
mod effects;
mod linear;
mod merge;
mod refusal;
mod schedule;
mod values;

use code_address::{Code, Jumps};
use effects::Effects;
use linear::Linear;
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
    /// The distance that its low half consists of.
    measure: Option<Measure>,
}

impl Line {
    /// An instruction without effect, with the source location of this one.
    const fn as_nop(self) -> Self {
        Self { word: NOP, measure: None, ..self }
    }
}

/// A relocation by words of the original program: the low half of a word is the distance from one word to another, plus a number of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Measure {
    to: usize,
    from: usize,
    addend: i32,
}

impl Measure {
    /// The relocation of an assembled word, if both places are at words of a program of a length.
    fn of(relocation: &Relocation, length: usize) -> Option<Self> {
        let word =
            |offset: u32| (offset.is_multiple_of(8) && offset as usize / 8 <= length).then_some(offset as usize / 8);
        Some(Self {
            to: word(relocation.to)?,
            from: word(relocation.from)?,
            addend: i32::try_from(relocation.addend).ok()?,
        })
    }

    /// The distance as a sum of places.
    fn linear(self) -> Option<Linear> {
        Linear::distance(self.to, self.from).plus(&Linear::number(self.addend))
    }

    /// The relocation of a word in a layout.
    const fn relocation(self, word: usize, places: &[usize]) -> Relocation {
        Relocation {
            word,
            to: places[self.to] as u32 * 8,
            from: places[self.from] as u32 * 8,
            addend: self.addend as i64,
        }
    }
}

/// A basic block.
#[derive(Clone, Debug)]
struct Block {
    /// Index of the block's first word in the original program.
    start: usize,
    lines: Vec<Line>,
    /// A branch, program end or thread switch with its delay slots: its order is fixed.
    fixed: bool,
    /// It keeps its contents, as part of a jump table: no instruction may move into it or out of it.
    kept: bool,
}

/// Optimizes an assembled program.
pub fn optimize(assembly: &Assembly) -> Result<(Assembly, Report), Refused> {
    if let Some(word) = assembly.info.iter().position(|info| info.data) {
        return Err(Refused { span: Some(assembly.info[word].span), ..Refused::at(Reason::Data, word) });
    }
    if let Some(span) = assembly.addresses_used {
        return Err(Refused { reason: Reason::Addresses, word: None, span: Some(span) });
    }
    let placed = |refused: Refused| {
        let info = refused.word.and_then(|word| assembly.info.get(word));
        Refused { span: info.map(|info| info.span), ..refused }
    };
    let mut program = Program::of(assembly).map_err(placed)?;
    program.improve();
    let Layout { words, info, places, relocations } = program.layout();
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
    Ok((Assembly { words, info, labels, globals, relocations, optimized: true, ..assembly.clone() }, report))
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

/// The words of a program in the order that it has at the moment.
struct Layout {
    words: Vec<u64>,
    info: Vec<WordInfo>,
    /// The new index of each word of the original program at which a block starts, and of its end.
    places: Vec<usize>,
    relocations: Vec<Relocation>,
}

struct Program<'a> {
    interface: &'a Interface,
    length: usize,
    blocks: Vec<Block>,
    targets: Vec<Target>,
    jumps: Jumps,
    /// Words of the original program to which paths lead that start elsewhere or go by computed addresses, in order.
    arrivals: Vec<usize>,
    /// Findings of the checker for the original program, which the result may have as well.
    findings: Vec<Finding>,
    /// Number of risks that the checker accepts, of which the result must not have more: see [`near_risks`].
    near_risks: usize,
    /// Risks on paths that the checker does not see, of which the result must not have others.
    jump_risks: BTreeSet<JumpRisk>,
}

/// A distance that is too short between an instruction in the last delay slots of a branch to a computed address, and one at a place to which that may go: the
/// branch and the place, as words of the original program.
type JumpRisk = (usize, usize);

impl<'a> Program<'a> {
    fn of(assembly: &'a Assembly) -> Result<Self, Refused> {
        let Assembly { words, info, interface, .. } = assembly;
        let length = words.len();
        let facts: Vec<Facts> = words.iter().map(|&word| Facts::of(word)).collect();
        if let Some(word) = words.iter().position(|&word| takes_left_over(word)) {
            return Err(Refused::at(Reason::LeftOver, word));
        }
        let measures = measures(assembly)?;
        let entries = entries(assembly);
        let jumps = jumps(assembly, &facts, &measures, &entries)?;
        let mut arrivals: Vec<usize> = jumps.targets.values().flatten().copied().chain(entries).collect();
        arrivals.sort_unstable();
        arrivals.dedup();
        // Leaders: the words at which a basic block starts.
        let mut starts = vec![false; length + 1];
        let mut fixed = vec![false; length];
        let mut targets = Vec::new();
        starts[0] = true;
        let sums = jumps.sums.iter().flat_map(|(sum, _)| sum.places());
        let measured = measures.iter().flatten().flat_map(|measure| [measure.to, measure.from]);
        for word in arrivals.iter().copied().chain(sums).chain(measured) {
            starts[word] = true;
        }
        let mut kept = vec![false; length];
        for table in &jumps.kept {
            starts[table.start] = true;
            starts[table.end] = true;
            fixed[table.clone()].fill(true);
            kept[table.clone()].fill(true);
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
                    None if branch.register.is_some() => {}
                    None => return Err(Refused::at(Reason::UnknownTarget, at)),
                }
            }
            starts[at] |= info.get(at).is_some_and(|info| info.target);
        }
        let mut blocks: Vec<Block> = Vec::new();
        for at in 0..length {
            let continues = blocks.last().is_some_and(|block| block.fixed == fixed[at] && !starts[at]);
            if !continues {
                blocks.push(Block { start: at, lines: Vec::new(), fixed: fixed[at], kept: kept[at] });
            }
            // The target of a branch without a register is known by the branch.
            let measure = measures[at].filter(|_| facts[at].branch.is_none_or(|branch| branch.register.is_some()));
            let info = info.get(at).copied().unwrap_or_default();
            let line = Line { word: words[at], info, origin: at, measure };
            if let Some(block) = blocks.last_mut() {
                block.lines.push(line);
            }
        }
        let mut program = Self {
            interface,
            length,
            blocks,
            targets,
            jumps,
            arrivals,
            findings: Vec::new(),
            near_risks: 0,
            jump_risks: BTreeSet::new(),
        };
        let layout = program.layout();
        program.findings = program.check(&layout);
        (program.near_risks, program.jump_risks) = program.risks_of(&layout);
        Ok(program)
    }

    /// The program as it is at the moment.
    fn layout(&self) -> Layout {
        let mut words = Vec::new();
        let mut info = Vec::new();
        let mut places = vec![0; self.length + 1];
        let mut branches = Vec::new();
        let mut measures = Vec::new();
        let mut next = 0;
        for block in &self.blocks {
            // Addresses inside a block are not branch targets; they are mapped to the start of the next block.
            places[next..=block.start].fill(words.len());
            next = block.start + 1;
            for line in &block.lines {
                if let Some(measure) = line.measure {
                    measures.push((words.len(), measure));
                } else if line.word >> 60 == 15 {
                    branches.push((words.len(), line.origin));
                }
                words.push(line.word);
                info.push(line.info);
            }
        }
        places[next..].fill(words.len());
        let mut set_low_half = |at: usize, value: i64| words[at] = words[at] & !0xffff_ffff | u64::from(value as u32);
        for (at, origin) in branches {
            if let Some(target) = self.targets.iter().find(|target| target.branch == origin) {
                set_low_half(at, ((places[target.start] + target.skip) as i64 - at as i64 - 4) * 8);
            }
        }
        let relocations: Vec<Relocation> =
            measures.into_iter().map(|(at, measure)| measure.relocation(at, &places)).collect();
        for relocation in &relocations {
            set_low_half(relocation.word, relocation.value());
        }
        Layout { words, info, places, relocations }
    }

    /// The words of a layout at which paths arrive from elsewhere.
    fn entries(&self, places: &[usize]) -> Vec<usize> {
        self.arrivals.iter().map(|&word| places[word]).collect()
    }

    /// What the checker finds.
    fn check(&self, layout: &Layout) -> Vec<Finding> {
        check_from(&self.entries(&layout.places), Rules::Sure, &layout.words, &layout.info, self.interface)
    }

    /// Whether the program breaks no rule that the original program keeps, and all computed addresses are those of the original program's targets.
    fn is_sound(&self) -> bool {
        let layout = self.layout();
        let address = |word: usize| 8 * layout.places[word] as i64;
        if self.jumps.sums.iter().any(|(sum, target)| sum.value(address) != address(*target)) {
            return false;
        }
        let (near, jumps) = self.risks_of(&layout);
        if near > self.near_risks || !jumps.is_subset(&self.jump_risks) {
            return false;
        }
        let found = self.check(&layout);
        let count = |list: &[Finding], code| list.iter().filter(|finding| finding.code == code).count();
        found.iter().all(|finding| count(&found, finding.code) <= count(&self.findings, finding.code))
    }

    /// The risks in a layout.
    fn risks_of(&self, layout: &Layout) -> (usize, BTreeSet<JumpRisk>) {
        let facts: Vec<Facts> = layout.words.iter().map(|&word| Facts::of(word)).collect();
        let flow = Flow::with_entries(&facts, &self.entries(&layout.places));
        (near_risks(&facts, &flow), self.jump_risks(layout))
    }

    /// Distances that are too short between the last two delay slots of branches to computed addresses, such as returns, and the instructions to which these
    /// may go. The checker knows no path between the two.
    fn jump_risks(&self, layout: &Layout) -> BTreeSet<JumpRisk> {
        let effects: Vec<Effects> = layout.words.iter().map(|&word| Effects::of(word)).collect();
        let is_near = |behind_slots: usize, arrival: usize| {
            [(1, 0), (1, 1), (2, 0), (2, 1)].into_iter().any(|(before, after)| {
                let pair = (effects.get(behind_slots - before), effects.get(arrival + after));
                let (Some(first), Some(later)) = pair else { return false };
                first.distance_to(later).is_some_and(|distance| distance > before + after)
            })
        };
        let mut risks = BTreeSet::new();
        for (&branch, targets) in &self.jumps.targets {
            // The instruction after the delay slots starts a block.
            let Some(&behind_slots) = layout.places.get(branch + BRANCH_DELAY_SLOTS as usize + 1) else { continue };
            let near = targets.iter().filter(|&&target| is_near(behind_slots, layout.places[target]));
            risks.extend(near.map(|&target| (branch, target)));
        }
        risks
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
        for patient in [true, false] {
            let scheduled = schedule::schedule(&old, at == 0, patient);
            // The code that follows may require a distance from the last instructions of the block: try with nops after them.
            for rest in 0..4 {
                let mut lines = scheduled.clone();
                if let Some(last) = old.last() {
                    lines.extend(core::iter::repeat_n(last.as_nop(), rest));
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
            let rest = core::iter::repeat_n(fixed[0].as_nop(), rest);
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
        let next = self.blocks.get(at + 1).filter(|next| next.fixed && !next.kept)?;
        let arrives = self.arrivals.binary_search(&next.start).is_ok()
            || self.targets.iter().any(|target| target.start == next.start);
        (!arrives && !next.lines.first()?.info.target).then(|| next.lines.clone())
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

/// The distances that words of a program consist of in their low half: those between labels, and those of relative branches to which a register is added.
fn measures(assembly: &Assembly) -> Result<Vec<Option<Measure>>, Refused> {
    let length = assembly.words.len();
    let mut measures = vec![None; length];
    for relocation in &assembly.relocations {
        let at = relocation.word;
        let measure = Measure::of(relocation, length).ok_or(Refused::at(Reason::Addresses, at))?;
        if let Some(place) = measures.get_mut(at) {
            *place = Some(measure);
        }
    }
    for (at, &word) in assembly.words.iter().enumerate() {
        let Instruction::Branch(branch) = Instruction::decode(word) else { continue };
        if branch.rel && branch.reg && measures[at].is_none() {
            let from = at + BRANCH_DELAY_SLOTS as usize + 1;
            let to = usize::try_from(from as i64 + i64::from(branch.immediate.div_euclid(8))).ok();
            let to = to.filter(|&to| to.max(from) <= length).ok_or(Refused::at(Reason::UnknownTarget, at))?;
            measures[at] = Some(Measure { to, from, addend: branch.immediate.rem_euclid(8) });
        }
    }
    Ok(measures)
}

/// The words at which a program may be started: the first, and labels that it exports.
fn entries(assembly: &Assembly) -> Vec<usize> {
    let exported = assembly.globals.iter().filter(|(name, value)| assembly.label(name).map(i64::from) == Some(*value));
    let words = exported.filter_map(|(_, value)| usize::try_from(value / 8).ok());
    [0].into_iter().chain(words).filter(|&word| word < assembly.words.len()).collect()
}

/// Where branches to computed addresses go.
fn jumps(
    assembly: &Assembly,
    facts: &[Facts],
    measures: &[Option<Measure>],
    entries: &[usize],
) -> Result<Jumps, Refused> {
    let computes = |facts: &Facts| facts.branch.is_some_and(|branch| branch.register.is_some());
    if measures.iter().all(Option::is_none) && !facts.iter().any(computes) {
        return Ok(Jumps::default());
    }
    let labels: Vec<usize> = (0..).zip(&assembly.info).filter(|(_, info)| info.target).map(|(at, _)| at).collect();
    Code { words: &assembly.words, facts, measures, labels: &labels, entries }.jumps()
}
