//! Order and registers: list scheduling for both ALUs, in which each result gets its place when it is computed.
//!
//! At each cycle the operation with the longest chain of others behind it goes first, and another that fits into the same instruction goes with it. Since
//! places are known by then, whether two operations fit is no guess. An operand that stands in the way, in the same file as another or in r4, is moved when
//! nothing better can be done. There is no memory that a register could be saved to: if none is free, that is an error.

use std::cell::OnceCell;

use naga::Span;
use v3d_hw::Layout;
use v3d_hw::qpu::{AddOp, Alu, Branch, BranchCondition, Instruction, Signal, Unpack};

use crate::diagnostic::{Result, fault, refuse, refuse_with};
use crate::encode::{Place, Source, encode, source};
use crate::limit::Limit;
use crate::machine::{Block, End, Machine, Operand, Operation, Register, Target, Work};
use crate::order::{TEXTURE, Wait, waits};
use crate::registers::Registers;
use crate::ssa::StreamWord;

mod places;

/// Instructions for an operation, on the average, at which values only change places.
const MOST_FOR_EACH: usize = 16;
/// Cycles in which nothing can be done before something must be wrong.
const MOST_IDLE: usize = 64;
/// How an order is made. None is the best for all programs.
#[derive(Clone, Copy)]
struct Policy {
    /// The order of the source, which needs fewer registers than the one that waits least.
    patient: bool,
    /// Cycles in which a value's last use can come so that it is used soon, and belongs into an accumulator.
    soon: usize,
    /// Uses that a value has at most which belongs there: others are kept out of the way.
    uses: u32,
}

/// What is tried.
const POLICIES: [Policy; 8] = [
    Policy { patient: false, soon: 8, uses: u32::MAX },
    Policy { patient: false, soon: 8, uses: 2 },
    Policy { patient: false, soon: 8, uses: 3 },
    Policy { patient: false, soon: 4, uses: u32::MAX },
    Policy { patient: false, soon: 4, uses: 2 },
    Policy { patient: false, soon: 16, uses: u32::MAX },
    Policy { patient: false, soon: 16, uses: 2 },
    Policy { patient: true, soon: 8, uses: u32::MAX },
];

/// An instruction with the line that it is for, and the word of the uniforms that it reads.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Line {
    pub(crate) word: u64,
    pub(crate) span: Span,
    pub(crate) reads: Option<StreamWord>,
}

/// The instructions of a machine's blocks.
pub(crate) struct Scheduled {
    pub(crate) lines: Vec<Line>,
    /// Places of calls, which are left empty, with the routine that is called; three instructions behind each are executed before it.
    pub(crate) calls: Vec<(usize, usize)>,
}

impl Scheduled {
    /// The words of the uniforms, in the order in which they are read.
    pub(crate) fn stream(&self) -> Vec<StreamWord> {
        self.lines.iter().filter_map(|line| line.reads).collect()
    }
}

/// Cycles before its first use in which a number is brought.
const NEAR: usize = 3;

/// Why an operation does not go now.
enum Obstacle {
    /// A result or unit is not ready.
    Time,
    /// r4 has a value that is still needed.
    R4,
    /// An operand stands where it cannot be read with the others.
    Operand(usize),
    /// The register that the result would take the place of is needed afterwards.
    Merged,
    /// No register is free.
    Room,
}

struct Scheduler {
    machine: Machine,
    registers: Registers,
    /// Reads of each register that are still to come.
    left: Vec<u32>,
    /// Registers that have the same place at both ends of a loop.
    pinned: Vec<bool>,
    in_file_a: Vec<bool>,
    lines: Vec<Line>,
    /// Calls of routines: line and routine.
    calls: Vec<(usize, usize)>,
    /// First cycle in which something may come into r4.
    r4_free: usize,
    policy: Policy,
    /// A read of the uniforms is as urgent as those that must come after it.
    urgent_uniforms: bool,
}

/// The instructions of a program: of several orders the shortest.
///
/// # Errors
/// There are not enough registers: with the line where that is so.
pub(crate) fn schedule(machine: &Machine) -> Result<Scheduled> {
    orders(machine).reduce(shorter).unwrap_or_else(|| fault(Span::default(), "no schedule was tried"))
}

/// The instructions of a program in several orders.
pub(crate) fn orders(machine: &Machine) -> impl Iterator<Item = Result<Scheduled>> + '_ {
    let is_ordered = machine.blocks.iter().any(|block| !block.uniform_order.is_empty());
    let both = [false, true].into_iter().take(1 + usize::from(is_ordered));
    both.flat_map(|urgent| POLICIES.map(|policy| (policy, urgent)))
        .map(|(policy, urgent)| Scheduler { urgent_uniforms: urgent, ..Scheduler::new(machine, policy) }.run())
}

/// The shorter of two programs, or the first.
fn shorter(first: Result<Scheduled>, second: Result<Scheduled>) -> Result<Scheduled> {
    let is_better = match (&second, &first) {
        (Ok(second), Ok(first)) => second.lines.len() < first.lines.len(),
        (Err(_), Ok(_)) => false,
        (_, Err(_)) => true,
    };
    if is_better { second } else { first }
}

/// For each operation the cycles of the longest chain of others that wait for it.
fn urgencies(waits: &[Vec<Wait>]) -> Vec<usize> {
    let mut urgency = vec![1; waits.len()];
    loop {
        let mut is_done = true;
        for at in (0..waits.len()).rev() {
            for wait in &waits[at] {
                let least = 1 + urgency[at] + wait.better.max(wait.cycles) - usize::from(wait.cycles == 0);
                if urgency[wait.on] < least {
                    urgency[wait.on] = least;
                    // Only the order of uniforms makes an operation wait for one that is behind it in the list.
                    is_done &= wait.on < at;
                }
            }
        }
        if is_done {
            return urgency;
        }
    }
}

/// A block in the making.
struct Pending {
    operations: Vec<Operation>,
    waits: Vec<Vec<Wait>>,
    urgency: Vec<usize>,
    issued: Vec<Option<usize>>,
    /// What [`Pending::depths`] has found, until something is issued.
    depths: OnceCell<Vec<usize>>,
}

impl Scheduler {
    fn new(machine: &Machine, policy: Policy) -> Self {
        let count = machine.registers as usize;
        let mut left = vec![0; count];
        let mut pinned = vec![false; count];
        for block in &machine.blocks {
            block.operations.iter().flat_map(Operation::reads).for_each(|register| left[register.index()] += 1);
            for register in &block.kept {
                left[register.index()] += 1;
                pinned[register.index()] = true;
            }
        }
        let mut in_file_a = vec![false; count];
        machine.in_file_a.iter().for_each(|register| in_file_a[register.index()] = true);
        Self {
            machine: machine.clone(),
            registers: Registers::new(count, machine.reserved_from),
            left,
            pinned,
            in_file_a,
            lines: Vec::new(),
            calls: Vec::new(),
            r4_free: 0,
            policy,
            urgent_uniforms: false,
        }
    }

    fn run(mut self) -> Result<Scheduled> {
        let blocks = std::mem::take(&mut self.machine.blocks);
        let mut starts = Vec::new();
        for block in &blocks {
            starts.push(self.lines.len());
            self.block(block)?;
            match block.end {
                End::Falls => {}
                End::Again(head) => self.branch_to(starts[head]),
                // Where the routine is, is known when all of the program is there.
                End::Calls(routine) => {
                    self.calls.push((self.now(), routine));
                    (0..4).for_each(|_| self.idle());
                }
            }
            for &register in &block.kept {
                self.release(register);
            }
        }
        Ok(Scheduled { lines: self.lines, calls: self.calls })
    }

    fn now(&self) -> usize {
        self.lines.len()
    }

    fn idle(&mut self) {
        let span = self.lines.last().map_or(Span::default(), |line| line.span);
        if let Ok(bits) = Alu::NOP.to_bits() {
            self.lines.push(Line { word: bits as u64, span, reads: None });
        }
    }

    /// Back, while an element has Z clear; three more instructions are executed before.
    fn branch_to(&mut self, start: usize) {
        let distance = start as i64 - (self.now() as i64 + 4);
        let branch = Branch {
            sig: Signal::Branch,
            unused: 0,
            cond_br: BranchCondition::AnyZClear,
            rel: true,
            reg: false,
            raddr_a: 0,
            ws: false,
            waddr_add: v3d_hw::qpu::address_map::NOP,
            waddr_mul: v3d_hw::qpu::address_map::NOP,
            immediate: (distance * 8) as i32,
        };
        let span = self.lines.last().map_or(Span::default(), |line| line.span);
        if let Ok(word) = Instruction::Branch(branch).encode() {
            self.lines.push(Line { word, span, reads: None });
        }
        (0..3).for_each(|_| self.idle());
    }

    /// One read less is to come.
    fn release(&mut self, register: Register) {
        let left = &mut self.left[register.index()];
        *left = left.saturating_sub(1);
        if *left == 0 {
            self.registers.free(register);
        }
    }

    fn new_register(&mut self) -> Register {
        let register = self.machine.register();
        let count = self.machine.registers as usize;
        self.registers.grow(count);
        self.left.resize(count, 0);
        self.pinned.resize(count, false);
        self.in_file_a.resize(count, false);
        register
    }

    fn block(&mut self, block: &Block) -> Result<()> {
        let mut waits = waits(&block.operations, self.machine.registers as usize);
        let of_values = urgencies(&waits);
        for &(at, on) in &block.uniform_order {
            waits[at].push(Wait { on, cycles: 1, better: 1 });
        }
        let urgency = if self.urgent_uniforms { urgencies(&waits) } else { of_values };
        let issued = vec![None; block.operations.len()];
        let mut work =
            Pending { operations: block.operations.clone(), waits, urgency, issued, depths: OnceCell::new() };
        let mut idle = 0;
        let most = self.now() + MOST_FOR_EACH * (work.operations.len() + 1);
        while work.issued.iter().any(Option::is_none) {
            if self.now() > most {
                return self.no_room(&work);
            }
            if self.cycle(&mut work) {
                idle = 0;
                continue;
            }
            idle += 1;
            if idle > MOST_IDLE {
                return self.no_room(&work);
            }
            self.idle();
        }
        // What the next block reads must not be in r4.
        while let Some(register) = self.registers.r4 {
            if self.now() >= self.registers.ready(register) {
                if !self.relocate(register, Span::default(), &mut work) {
                    return refuse(Span::default(), &Limit::REGISTERS);
                }
            } else {
                self.idle();
            }
        }
        Ok(())
    }

    /// Why a block does not come to its end.
    fn no_room(&self, work: &Pending) -> Result<()> {
        let at = work.issued.iter().position(Option::is_none).unwrap_or(0);
        let span = work.operations[at].span;
        let count = self.registers.in_use();
        if self.registers.free_in_a().is_some() && self.registers.free_in_b().is_some() {
            fault(span, "registers are free, and no operation can be placed")
        } else {
            refuse_with(span, &Limit::REGISTERS, format_args!("{count} values here, for 64 registers"))
        }
    }

    /// Whether everything that an operation waits for has been done, long enough ago.
    fn may_go(&self, work: &Pending, at: usize) -> bool {
        let now = self.now();
        work.waits[at].iter().all(|wait| work.issued[wait.on].is_some_and(|issued| issued + wait.cycles <= now))
    }

    /// Fills one instruction; whether there was something to do.
    fn cycle(&mut self, work: &mut Pending) -> bool {
        let mut candidates: Vec<usize> =
            (0..work.operations.len()).filter(|&at| work.issued[at].is_none() && self.may_go(work, at)).collect();
        let patient = self.policy.patient;
        candidates.sort_by_key(|&at| if patient { (at, 0) } else { (usize::MAX - work.urgency[at], at) });
        let now = self.now();
        let waits_for_texture = |work: &Pending, at: usize| {
            work.operations[at].work == Work::LoadTexture
                && work.waits[at].iter().any(|wait| {
                    wait.better == TEXTURE && work.issued[wait.on].is_none_or(|asked| asked + TEXTURE > now)
                })
        };
        let mut obstacles = Vec::new();
        let mut later = Vec::new();
        for &at in &candidates {
            if waits_for_texture(work, at) || self.is_early(work, at) {
                later.push(at);
                continue;
            }
            match self.attempt(work, at, None) {
                Ok((word, place)) => {
                    self.issue(work, at, word, place, None);
                    self.pair(work, &candidates, &later);
                    return true;
                }
                Err(obstacle) => obstacles.push((at, obstacle)),
            }
        }
        // Nothing goes as it is: what stands in the way of the most urgent is moved.
        for (at, obstacle) in obstacles {
            if self.clear(work, at, &obstacle) {
                self.pair(work, &candidates, &later);
                return true;
            }
        }
        for at in later {
            match self.attempt(work, at, None) {
                Ok((word, place)) => {
                    self.issue(work, at, word, place, None);
                    return true;
                }
                Err(obstacle) => {
                    if self.clear(work, at, &obstacle) {
                        return true;
                    }
                }
            }
        }
        false
    }

    /// Puts another operation into the instruction that was made last.
    fn pair(&mut self, work: &mut Pending, candidates: &[usize], later: &[usize]) {
        let Some(line) = self.lines.pop() else { return };
        let mut candidates = candidates.to_vec();
        // What had to wait only for something in this instruction may go with it.
        let more: Vec<usize> = (0..work.operations.len())
            .filter(|at| !candidates.contains(at) && work.issued[*at].is_none() && self.may_go(work, *at))
            .collect();
        candidates.extend(more);
        for at in candidates {
            if work.issued[at].is_some() || later.contains(&at) || !self.may_go(work, at) || self.is_early(work, at) {
                continue;
            }
            if let Ok((word, place)) = self.attempt(work, at, Some(&line)) {
                self.issue(work, at, word, place, Some(line));
                return;
            }
        }
        self.lines.push(line);
    }

    /// The instruction that an operation would be now, alone or with another, and the place of its result.
    fn attempt(
        &mut self,
        work: &Pending,
        at: usize,
        with: Option<&Line>,
    ) -> std::result::Result<(u64, Option<Place>), Obstacle> {
        let operation = &work.operations[at];
        let now = self.now();
        // What a result merges with is not read: only what is written of it changes.
        let read = operation.operands.iter().filter_map(|operand| operand.register());
        for register in read {
            let mut ready = self.registers.ready(register);
            if matches!(operation.work, Work::Rotate(_)) {
                ready += 1;
            }
            if self.registers.place(register).is_none() || ready > now {
                return Err(Obstacle::Time);
            }
        }
        let reads = operation.uniform();
        if let Some(line) = with
            && line.reads.is_some()
            && reads.is_some()
        {
            return Err(Obstacle::Time);
        }
        let into_r4 = matches!(operation.target, Target::Special(..)) || operation.work == Work::LoadTexture;
        if into_r4 {
            if now < self.r4_free {
                return Err(Obstacle::Time);
            }
            if let Some(owner) = self.registers.r4 {
                let own_last = operation.reads().filter(|read| *read == owner).count() as u32;
                if self.left[owner.index()] > own_last {
                    return Err(Obstacle::R4);
                }
            }
        }
        let sources: Option<Vec<Source>> =
            operation.operands.iter().map(|&operand| source(operand, self.place_of(operand))).collect();
        let sources = sources.ok_or(Obstacle::Time)?;
        let targets = self.targets(work, at)?;
        let mut encodes = false;
        for target in targets {
            for word in encode(operation, &sources, target) {
                encodes = true;
                let word = match with {
                    None => Some(word),
                    Some(line) => qpu::optimize::merge(line.word, word),
                };
                if let Some(word) = word {
                    return Ok((word, target));
                }
            }
        }
        if encodes { Err(Obstacle::Time) } else { Err(self.in_the_way(operation, &sources)) }
    }

    fn place_of(&self, operand: Operand) -> Option<Place> {
        match operand {
            Operand::Register(register) | Operand::Part(register, _) => self.registers.place(register),
            _ => None,
        }
    }

    /// Which operand is to be moved so that an operation can be encoded.
    fn in_the_way(&self, operation: &Operation, sources: &[Source]) -> Obstacle {
        let movable = |at: usize| matches!(operation.operands[at], Operand::Register(_) | Operand::Part(..));
        // A part that cannot be unpacked on the way is unpacked before.
        if let Some(at) =
            sources.iter().position(|source| matches!(source, Source::At(_, unpack) if *unpack != Unpack::None))
        {
            return Obstacle::Operand(at);
        }
        let at = (0..sources.len())
            .find(|&at| movable(at) && !matches!(sources[at], Source::At(Place::Accumulator(_) | Place::R4, _)));
        match at.or_else(|| (0..sources.len()).find(|&at| movable(at))).or(Some(0)) {
            Some(at) => Obstacle::Operand(at),
            None => Obstacle::Room,
        }
    }

    /// Makes an operation an instruction, or part of one.
    fn issue(&mut self, work: &mut Pending, at: usize, word: u64, place: Option<Place>, with: Option<Line>) {
        let operation = work.operations[at].clone();
        let now = self.now();
        work.issued[at] = Some(now);
        work.depths.take();
        let place_of_color = operation.operands.first().and_then(|&operand| self.place_of(operand));
        if operation.target == Target::Color && place_of_color == Some(Place::Accumulator(0)) {
            self.lines.extend(with);
            return;
        }
        for register in operation.reads().collect::<Vec<_>>() {
            self.release(register);
        }
        match operation.target {
            Target::Special(_, register) => {
                self.registers.put(register, Place::R4, now + 3);
                self.r4_free = now + 3;
            }
            Target::Register(register) => {
                if let Some(place) = place {
                    let file = matches!(place, Place::A(_) | Place::B(_));
                    let rotated = usize::from(file && matches!(operation.work, Work::Rotate(_)));
                    self.registers.put(register, place, now + 1 + usize::from(file) + rotated);
                }
            }
            _ => {}
        }
        if let Some(register) = operation.writes()
            && self.left[register.index()] == 0
        {
            self.registers.free(register);
        }
        let span = with.as_ref().map_or(operation.span, |line| line.span);
        let reads = operation.uniform().or(with.and_then(|line| line.reads));
        self.lines.push(Line { word, span, reads });
    }

    /// Removes what stands in the way of an operation; whether that was an instruction.
    fn clear(&mut self, work: &mut Pending, at: usize, obstacle: &Obstacle) -> bool {
        let span = work.operations[at].span;
        match *obstacle {
            Obstacle::R4 => match self.registers.r4 {
                Some(owner) if self.registers.ready(owner) <= self.now() => self.relocate(owner, span, work),
                _ => false,
            },
            Obstacle::Operand(operand) => {
                let old = work.operations[at].operands[operand];
                if let Operand::Register(register) = old
                    && !self.pinned[register.index()]
                    && !self.in_file_a[register.index()]
                    && self.registers.place(register) != Some(Place::R4)
                {
                    return self.relocate(register, span, work);
                }
                let (how, operands) = match old {
                    Operand::Part(..) => (Work::Add(AddOp::Fmax), vec![old, old]),
                    _ => (Work::Move, vec![old]),
                };
                self.substitute(work, at, how, operands, |operation, fresh| {
                    operation
                        .operands
                        .iter_mut()
                        .filter(|other| **other == old)
                        .for_each(|other| *other = Operand::Register(fresh));
                })
            }
            Obstacle::Merged => {
                let Some(base) = work.operations[at].merges else { return false };
                let operands = vec![Operand::Register(base)];
                self.substitute(work, at, Work::Move, operands, |operation, fresh| operation.merges = Some(fresh))
            }
            Obstacle::Time | Obstacle::Room => false,
        }
    }

    /// Does an operation whose result another one takes instead of what it took.
    fn substitute(
        &mut self,
        work: &mut Pending,
        at: usize,
        how: Work,
        operands: Vec<Operand>,
        change: impl Fn(&mut Operation, Register),
    ) -> bool {
        let fresh = self.new_register();
        let (before, left) = (work.operations[at].clone(), self.left.clone());
        let made = Operation::new(how, operands, Target::Register(fresh), before.span);
        before.reads().for_each(|register| self.left[register.index()] -= 1);
        change(&mut work.operations[at], fresh);
        let reads: Vec<Register> = work.operations[at].reads().chain(made.reads()).collect();
        reads.into_iter().for_each(|register| self.left[register.index()] += 1);
        if let (Some(merged), Some(target)) = (work.operations[at].merges, work.operations[at].writes())
            && merged == fresh
        {
            self.in_file_a[fresh.index()] = self.in_file_a[target.index()];
        }
        let index = work.operations.len();
        work.operations.push(made);
        work.waits.push(Vec::new());
        work.urgency.push(work.urgency[at] + 1);
        work.issued.push(None);
        work.depths.take();
        if let Ok((word, place)) = self.attempt(work, index, None) {
            self.issue(work, index, word, place, None);
            return true;
        }
        work.operations.pop();
        work.waits.pop();
        work.urgency.pop();
        work.issued.pop();
        work.depths.take();
        work.operations[at] = before;
        self.left = left;
        false
    }
}
