//! The cycles of a program: what goes into each instruction.

use naga::Span;
use v3d_hw::control_list::Threading;
use v3d_hw::qpu::address_map::NOP;
use v3d_hw::qpu::{Alu, BRANCH_DELAY_SLOTS, BranchCondition, Instruction, SFU_LATENCY, Signal, Unpack};

use super::Effort;
use super::pending::{Pending, Plan};
use crate::diagnostic::{Result, fault, refuse, refuse_with};
use crate::encode::{Line, Source, Sources, branch, encode, has_room_for};
use crate::limit::Limit;
use crate::machine::{End, Machine, Operand, Operation, Register, Target, Work};
use crate::registers::{Place, Registers};

/// Instructions for an operation, on the average, at which values only change places.
const MOST_FOR_EACH: usize = 16;
/// Cycles in which nothing can be done before something must be wrong.
const MOST_IDLE: usize = 64;

/// Free registers below which an order that is to need few takes them for what comes next only. With it 17 of 360 random programs needed more than there are;
/// with 12 they were 38, with 32 20, and with 80 19.
const SCARCE: usize = 44;

/// Registers of each file that are a thread's own if there are two.
const REGISTERS_OF_A_THREAD: u8 = 16;

/// How an order is made. None is the best for all programs.
#[derive(Clone, Copy, PartialEq)]
pub(super) struct Policy {
    pub(super) order: Order,
    /// Cycles in which a value's last use can come so that it is used soon, and belongs into an accumulator.
    pub(super) soon: usize,
    /// Uses that a value has at most which belongs there: others are kept out of the way.
    pub(super) uses: u32,
    /// Threads are switched as soon as that costs nothing, instead of when there is nothing else to do.
    pub(super) early_switch: bool,
    /// Values are moved where a register of the other file or an accumulator is wanted: takes instructions, and comes to an end with fewer free registers.
    pub(super) makes_room: bool,
}

impl Policy {
    fn differs_in_places_only(self, other: Self) -> bool {
        let same = |policy: Self| (policy.order, policy.early_switch, policy.makes_room);
        same(self) == same(other)
    }
}

/// Which operation goes first of those that may.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    /// The one with the longest chain of others behind it: waits least.
    Urgency,
    /// The order of the source, which needs fewer registers.
    Source,
    /// What an operation needs comes right before it: often needs the fewest.
    Late,
}

/// Why an operation does not go now.
pub(super) enum Obstacle {
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

impl Obstacle {
    /// Which operand is to be moved so that an operation can be encoded.
    fn in_the_way(operation: &Operation, sources: &[Source]) -> Self {
        let movable = |at: usize| matches!(operation.operands[at], Operand::Register(_) | Operand::Part(..));
        // A part that cannot be unpacked on the way is unpacked before.
        if let Some(at) =
            sources.iter().position(|source| matches!(source, Source::At(_, unpack) if *unpack != Unpack::None))
        {
            return Self::Operand(at);
        }
        let at = (0..sources.len())
            .find(|&at| movable(at) && !matches!(sources[at], Source::At(Place::Accumulator(_) | Place::R4, _)));
        Self::Operand(at.or_else(|| (0..sources.len()).find(|&at| movable(at))).unwrap_or(0))
    }
}

pub(super) struct Scheduler<'m> {
    machine: &'m Machine,
    effort: &'m Effort,
    /// Registers of the machine, and those that were added.
    count: usize,
    pub(super) registers: Registers,
    /// Reads of each register that are still to come.
    pub(super) left: Vec<u32>,
    /// Registers that have the same place at both ends of a loop.
    pub(super) pinned: Vec<bool>,
    /// The first block that writes each register.
    made_in: Vec<usize>,
    /// The first block of the innermost loop around the block that is scheduled.
    head: usize,
    pub(super) in_file_a: Vec<bool>,
    /// Registers that become the colour by operations that change them in their place.
    pub(super) becomes_color: Vec<bool>,
    pub(super) lines: Vec<Line>,
    /// Calls of routines: line and routine.
    pub(super) calls: Vec<(usize, usize)>,
    /// First cycle in which something may come into r4.
    pub(super) r4_free: usize,
    pub(super) policy: Policy,
    /// Other policies by which all has been done in the same way so far.
    pub(super) alike: Vec<Policy>,
    /// Instructions of the shortest order that is known.
    limit: usize,
    pub(super) threads: Threads,
}

/// Where a program for two threads stands.
#[derive(Default)]
pub(super) struct Threads {
    /// Switches in this block so far.
    pub(super) switched: usize,
    /// The first instruction that may ask for the next switch.
    pub(super) first: usize,
    /// The instruction that asks for the last switch of all.
    pub(super) last: Option<usize>,
}

impl<'m> Scheduler<'m> {
    pub(super) fn new(
        machine: &'m Machine,
        effort: &'m Effort,
        threading: Threading,
        policy: Policy,
        policies: &[Policy],
        limit: usize,
    ) -> Self {
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
        let mut made_in = vec![0; count];
        for (at, block) in machine.blocks.iter().enumerate().rev() {
            block.operations.iter().filter_map(Operation::writes).for_each(|register| made_in[register.index()] = at);
        }
        let mut in_file_a = vec![false; count];
        machine.in_file_a.iter().for_each(|register| in_file_a[register.index()] = true);
        let mut becomes_color = vec![false; count];
        if let Some(color) = machine.color {
            becomes_color[color.index()] = true;
        }
        for operation in machine.blocks.iter().flat_map(|block| &block.operations).rev() {
            if let (Some(base), Some(result)) = (operation.merges, operation.writes())
                && becomes_color[result.index()]
            {
                becomes_color[base.index()] = true;
            }
        }
        let reserved_from = match threading {
            Threading::Single => machine.reserved_from,
            Threading::Dual => machine.reserved_from.min(REGISTERS_OF_A_THREAD),
        };
        Self {
            machine,
            effort,
            count,
            registers: Registers::new(count, reserved_from),
            left,
            pinned,
            made_in,
            head: 0,
            in_file_a,
            becomes_color,
            lines: Vec::new(),
            calls: Vec::new(),
            r4_free: 0,
            policy,
            alike: policies.iter().copied().filter(|other| other.differs_in_places_only(policy)).collect(),
            limit,
            threads: Threads::default(),
        }
    }

    /// Schedules all blocks; whether the program is shorter than the limit.
    pub(super) fn run(&mut self, plans: &[Plan<'_>]) -> Result<bool> {
        let mut starts = Vec::new();
        let mut behind: usize = plans.iter().map(Plan::least).sum();
        for (at, (block, plan)) in self.machine.blocks.iter().zip(plans).enumerate() {
            starts.push(self.lines.len());
            self.head = self.head_of_loop(at);
            behind -= plan.least();
            if !self.block(plan, behind)? {
                return Ok(false);
            }
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
        if let Some(last) = self.threads.last {
            self.set_signal(last, Signal::LastThreadSwitch);
        }
        Ok(self.now() < self.limit)
    }

    /// The first block of the innermost loop around a block; 0 if there is none.
    fn head_of_loop(&self, at: usize) -> usize {
        let ends = self.machine.blocks[at..].iter().filter_map(|block| match block.end {
            End::Again(head) if head <= at => Some(head),
            _ => None,
        });
        ends.max().unwrap_or(0)
    }

    /// Whether a value was made in the innermost loop: one that is older, and only passes through, has the same place in each iteration.
    pub(super) fn is_of_this_loop(&self, register: Register) -> bool {
        self.made_in.get(register.index()).is_none_or(|&at| at >= self.head)
    }

    pub(super) fn now(&self) -> usize {
        self.lines.len()
    }

    pub(super) fn idle(&mut self) {
        let span = self.lines.last().map_or(Span::default(), |line| line.span);
        self.lines.push(Line { instruction: Instruction::Alu(Alu::NOP), span, reads: None });
    }

    /// Back, while an element has Z clear.
    fn branch_to(&mut self, start: usize) {
        let instruction = branch(self.now(), start, BranchCondition::AnyZClear, NOP);
        let span = self.lines.last().map_or(Span::default(), |line| line.span);
        self.lines.push(Line { instruction, span, reads: None });
        (0..BRANCH_DELAY_SLOTS).for_each(|_| self.idle());
    }

    /// One read less is to come.
    fn release(&mut self, register: Register) {
        let left = &mut self.left[register.index()];
        *left = left.saturating_sub(1);
        if *left == 0 {
            self.registers.free(register);
        }
    }

    pub(super) fn new_register(&mut self) -> Register {
        let register = Register(self.count as u32);
        self.count += 1;
        self.registers.grow(self.count);
        self.left.resize(self.count, 0);
        self.pinned.resize(self.count, false);
        self.in_file_a.resize(self.count, false);
        self.becomes_color.resize(self.count, false);
        register
    }

    /// Schedules a block; whether the program can still be shorter than the limit, if the blocks behind have so many instructions at least.
    fn block(&mut self, plan: &Plan<'_>, behind: usize) -> Result<bool> {
        let mut work = Pending::new(plan, self.policy.order);
        (self.threads.switched, self.threads.first) = (0, self.now());
        let mut idle = 0;
        let most = self.now() + MOST_FOR_EACH * (work.left + 1);
        while work.left > 0 {
            if self.now() + work.least() + behind >= self.limit {
                return Ok(false);
            }
            if self.now() > most {
                return self.no_room(&work);
            }
            if self.effort.is_spent() {
                return refuse(self.place(&work), &Limit::PROGRAM_SIZE);
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
            if self.now() < self.registers.ready(register) {
                self.idle();
            } else if !self.relocate(register, Span::default(), &work) {
                return refuse(Span::default(), &Limit::REGISTERS);
            }
        }
        Ok(true)
    }

    /// The source of the first operation that is left, or of one near it.
    fn place(&self, work: &Pending<'_>) -> Span {
        let first = work.first().unwrap_or(0);
        let left = (first..work.count()).map(|at| work.operation(at).span);
        let mut spans = left.chain(self.lines.iter().rev().map(|line| line.span));
        spans.find(Span::is_defined).unwrap_or_default()
    }

    /// Why a block does not come to its end.
    fn no_room<T>(&self, work: &Pending<'_>) -> Result<T> {
        let span = self.place(work);
        if self.registers.free_in_a().is_some() && self.registers.free_in_b().is_some() {
            return fault(span, "registers are free, and no operation can be placed");
        }
        let (values, registers) = (self.registers.in_use(), self.registers.count());
        refuse_with(span, &Limit::REGISTERS, format_args!("{values} values here, for {registers} registers"))
    }

    /// Candidates that would take one of the last registers, where the order is that of the source: all that free none, but for the first operation.
    fn barred(&self, work: &Pending<'_>, candidates: &[usize]) -> Vec<usize> {
        if self.policy.order == Order::Urgency || self.registers.count() - self.registers.in_use() >= SCARCE {
            return Vec::new();
        }
        let takes = |at: &usize| {
            let operation = work.operation(*at);
            let frees = operation.reads().any(|register| self.is_last_read(operation, register));
            Some(*at) != work.first() && operation.writes().is_some() && !frees
        };
        candidates.iter().copied().filter(takes).collect()
    }

    /// Fills one instruction; whether there was something to do.
    fn cycle(&mut self, work: &mut Pending<'_>) -> bool {
        let now = self.now();
        let awaits_switch = work.awaits_switch(self.threads.switched);
        if awaits_switch && self.policy.early_switch && self.can_switch(work, now) {
            self.switch_threads();
            return true;
        }
        let candidates: Vec<usize> = work.candidates(now, self.threads.switched).collect();
        // Each instruction looks at all operations that could be in it.
        self.effort.spend(candidates.len().max(1));
        let mut obstacles = Vec::new();
        let mut later = Vec::new();
        let barred = self.barred(work, &candidates);
        for &at in &candidates {
            if barred.contains(&at) {
                continue;
            }
            let waits =
                self.threads.last.is_none() && work.operation(at).work == Work::LoadTexture && work.waits_at(at, now);
            if waits || self.is_early(work, at) {
                later.push(at);
                continue;
            }
            match self.attempt(work, at, None) {
                Ok((instruction, place)) => {
                    self.issue(work, at, instruction, place, None);
                    self.pair(work, &candidates, &later, &barred);
                    return true;
                }
                Err(obstacle) => obstacles.push((at, obstacle)),
            }
        }
        // Nothing goes as it is: what stands in the way of the most urgent is moved.
        for (at, obstacle) in obstacles {
            if self.clear(work, at, &obstacle) {
                self.pair(work, &candidates, &later, &barred);
                return true;
            }
        }
        if awaits_switch {
            if self.can_switch(work, now) {
                self.switch_threads();
                return true;
            }
            if self.keep_over_switch(work) {
                self.pair(work, &candidates, &later, &barred);
                return true;
            }
        }
        for at in later {
            match self.attempt(work, at, None) {
                Ok((instruction, place)) => {
                    self.issue(work, at, instruction, place, None);
                    return true;
                }
                Err(obstacle) => {
                    if self.clear(work, at, &obstacle) {
                        return true;
                    }
                }
            }
        }
        self.policy.makes_room && self.make_room(work)
    }

    /// Puts another operation into the instruction that was made last.
    fn pair(&mut self, work: &mut Pending<'_>, candidates: &[usize], later: &[usize], barred: &[usize]) {
        let Some(line) = self.lines.pop() else { return };
        let now = self.now();
        // What had to wait only for something in this instruction may go with it.
        let mut known = candidates.to_vec();
        known.sort_unstable();
        let is_new = |at: &usize| known.binary_search(at).is_err();
        let mut more: Vec<usize> = work.candidates(now, self.threads.switched).filter(is_new).collect();
        more.sort_unstable();
        self.effort.spend(candidates.len());
        for at in candidates.iter().copied().chain(more) {
            let may_go =
                work.may_go(at, now, self.threads.switched) && has_room_for(&line.instruction, work.operation(at));
            if !may_go || later.contains(&at) || barred.contains(&at) || self.is_early(work, at) {
                continue;
            }
            if let Ok((instruction, place)) = self.attempt(work, at, Some(&line)) {
                self.issue(work, at, instruction, place, Some(line));
                return;
            }
        }
        self.lines.push(line);
    }

    /// The instruction that an operation would be now, alone or with another, and the place of its result.
    fn attempt(
        &mut self,
        work: &Pending<'_>,
        at: usize,
        with: Option<&Line>,
    ) -> std::result::Result<(Instruction, Option<Place>), Obstacle> {
        self.attempt_operation(work, work.operation(at), Some(at), with)
    }

    /// The same for an operation that need not be one of the block.
    pub(super) fn attempt_operation(
        &mut self,
        work: &Pending<'_>,
        operation: &Operation,
        at: Option<usize>,
        with: Option<&Line>,
    ) -> std::result::Result<(Instruction, Option<Place>), Obstacle> {
        self.effort.spend(1);
        let now = self.now();
        // What a result merges with is not read: only what is written of it changes.
        let rotated = usize::from(matches!(operation.work, Work::Rotate(_)));
        for register in operation.operands.iter().filter_map(|operand| operand.register()) {
            if self.registers.place(register).is_none() || self.registers.ready(register) + rotated > now {
                return Err(Obstacle::Time);
            }
        }
        if with.is_some_and(|line| line.reads.is_some()) && operation.uniform().is_some() {
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
        let sources = Sources::of(operation, |register| self.registers.place(register)).ok_or(Obstacle::Time)?;
        let targets = self.targets(work, operation, at)?;
        let mut encodes = false;
        for target in targets {
            for alone in encode(operation, &sources, target) {
                encodes = true;
                let instruction = match with {
                    None => Some(alone),
                    Some(line) => qpu::optimize::merge(&line.instruction, &alone),
                };
                if let Some(instruction) = instruction {
                    return Ok((instruction, target));
                }
            }
        }
        Err(if encodes { Obstacle::Time } else { Obstacle::in_the_way(operation, &sources) })
    }

    /// Makes an operation of the block an instruction, or part of one.
    fn issue(
        &mut self,
        work: &mut Pending<'_>,
        at: usize,
        instruction: Instruction,
        place: Option<Place>,
        with: Option<Line>,
    ) {
        work.issue(at, self.now());
        self.execute(work.operation(at), instruction, place, with);
    }

    /// Adds an instruction, and does what it does to the registers.
    pub(super) fn execute(
        &mut self,
        operation: &Operation,
        instruction: Instruction,
        place: Option<Place>,
        with: Option<Line>,
    ) {
        let now = self.now();
        if operation.target == Target::Color {
            let from = operation.operands.first().and_then(|operand| self.registers.place(operand.register()?));
            if from == Some(Place::Accumulator(0)) {
                self.lines.extend(with);
                return;
            }
        }
        operation.reads().for_each(|register| self.release(register));
        match operation.target {
            Target::Special(_, register) => {
                self.r4_free = now + SFU_LATENCY as usize;
                self.registers.put(register, Place::R4, self.r4_free);
            }
            Target::Register(register) => {
                if let Some(place) = place {
                    let is_rotated = matches!(operation.work, Work::Rotate(_));
                    self.registers.put(register, place, now + place.latency(is_rotated));
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
        self.lines.push(Line { instruction, span, reads });
    }
}
