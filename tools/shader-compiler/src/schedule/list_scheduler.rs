//! List scheduling of a program: the operations of each instruction.
//!
//! In each cycle the ready operation with the highest rank is issued, together with a second one that fits into the same instruction. The bank of a result is
//! chosen at issue, since latencies and read ports depend on it.

use alloc::vec;
use alloc::vec::Vec;

use naga::Span;
use v3d_hw::control_list::Threading;
use v3d_hw::qpu::{Condition, ReadSource, SFU_LATENCY, Signal};

use super::bank_choice::Choice;
use super::heuristic::{Heuristic, MAX_IDLE_CYCLES, MAX_INSTRUCTIONS_PER_OPERATION, Rank};
use super::occupancy::{Occupancy, latency};
use super::ready_list::ReadyList;
use super::{Effort, Scheduled, Slot};
use crate::bundle::{Bank, Bundle, Destination, Joint, Placed, Reading, kind, may_read_together};
use crate::diagnostic::{Result, fault, refuse, refuse_with};
use crate::limit::Limit;
use crate::machine::{Block, End, Machine, Operand, Operation, Pack, Register, Target, Work};
use crate::order::BlockOrder;

/// Number of registers of each file for one of two threads [AG p.20].
const REGISTERS_OF_A_THREAD: u8 = 16;
/// The kind of loads of results of lookups.
const LOOKUP: usize = kind(Work::LoadTexture);

/// How an operation is issued.
pub(super) struct Issue {
    choice: Choice,
    /// `None` if it takes no part of an instruction.
    joint: Option<Joint>,
}

/// The reason that an operation cannot be issued in this cycle.
#[derive(Clone, Copy)]
pub(super) enum Obstacle {
    /// An operand or unit is not ready.
    Time,
    /// An operand or r4 is not ready before this cycle, whatever else is issued.
    Until(usize),
    /// r4 holds a live value.
    R4,
    /// An operand is in a bank from which it cannot be read together with the others.
    Operand(usize),
    /// Two operands are in banks from which they cannot be read together.
    Unroutable,
    /// The register that the result is merged into is live after the operation.
    Merged,
    /// An operand was dropped, and must be rematerialised.
    Dropped(Register),
    /// No register is free.
    Room,
}

impl Obstacle {
    /// The operand that must be copied so that the operation can be encoded.
    pub(super) fn in_the_way(operation: &Operation, bank: impl Fn(Register) -> Option<Bank>) -> Self {
        let operands = &operation.operands;
        // A component that the operation cannot unpack is unpacked by a separate move.
        if let Some(at) = operands.iter().position(|operand| matches!(operand, Operand::Part(..))) {
            return Self::Operand(at);
        }
        let in_file = |operand: &Operand| matches!(operand, Operand::Register(register) if matches!(bank(*register), Some(Bank::A | Bank::B)));
        let at = operands.iter().position(in_file);
        let at = at.or_else(|| operands.iter().position(|operand| matches!(operand, Operand::Register(_))));
        Self::Operand(at.unwrap_or(0))
    }
}

pub(super) struct Scheduler<'m> {
    machine: &'m Machine,
    effort: &'m Effort,
    /// Number of virtual registers: those of the program, and those added for copies.
    count: usize,
    pub(super) occupancy: Occupancy,
    /// Number of remaining reads of each register.
    pub(super) left: Vec<u32>,
    /// Registers that must be in the same live range at the beginning and the end of a loop.
    pub(super) pinned: Vec<bool>,
    /// The first block that writes each register.
    made_in: Vec<usize>,
    /// The first block of the innermost loop that contains the current block.
    head: usize,
    pub(super) in_file_a: Vec<bool>,
    /// For each register the operation that can rematerialise its value without reading another register.
    pub(super) rematerializable: Vec<Option<&'m Operation>>,
    /// Values that were dropped, to be rematerialised at their next use.
    pub(super) dropped: Vec<bool>,
    /// Registers of the colour under construction: each operation merges its result into the previous one.
    pub(super) becomes_color: Vec<bool>,
    pub(super) slots: Vec<Slot>,
    /// The instruction under construction, which follows those in `slots`; empty between cycles.
    pub(super) current: Bundle,
    /// First cycle in which r4 may be written.
    pub(super) r4_free: usize,
    pub(super) heuristic: Heuristic,
    /// Other heuristics that would have made the same decisions so far.
    pub(super) alike: Vec<Heuristic>,
    threading: Threading,
    /// Number of instructions of the shortest known schedule.
    limit: usize,
    pub(super) threads: Threads,
    attempts: Attempts,
}

/// The operations that are attempted in a cycle; the lists keep their memory from cycle to cycle.
#[derive(Default)]
struct Attempts {
    candidates: Vec<usize>,
    /// Candidates that would use one of the last registers.
    barred: Vec<usize>,
    /// Candidates that wait until no other can be issued.
    later: Vec<usize>,
    obstacles: Vec<(usize, Obstacle)>,
    /// Operations that became ready in this cycle.
    more: Vec<usize>,
    /// Operations that can share the element that the cycle's first operation moves to a register.
    sharers: Vec<usize>,
}

/// State of the thread switches of a program for two threads.
#[derive(Default)]
pub(super) struct Threads {
    /// Number of switches in this block so far.
    pub(super) switched: usize,
    /// The first instruction that may signal the next switch.
    pub(super) first: usize,
    /// The instruction that signals the program's last switch.
    pub(super) last: Option<usize>,
}

impl<'m> Scheduler<'m> {
    pub(super) fn new(
        machine: &'m Machine,
        effort: &'m Effort,
        threading: Threading,
        heuristic: Heuristic,
        heuristics: &[Heuristic],
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
        let reserved_from = reserved_from(machine, threading);
        Self {
            machine,
            effort,
            count,
            occupancy: Occupancy::new(count, reserved_from),
            left,
            pinned,
            made_in,
            head: 0,
            in_file_a,
            rematerializable: rematerializable(machine),
            dropped: vec![false; count],
            becomes_color,
            slots: Vec::with_capacity(machine.blocks.iter().map(|block| block.operations.len()).sum()),
            current: Bundle::EMPTY,
            r4_free: 0,
            heuristic,
            alike: heuristics.iter().copied().filter(|other| other.differs_in_banks_only(heuristic)).collect(),
            threading,
            limit,
            threads: Threads::default(),
            attempts: Attempts::default(),
        }
    }

    /// Schedules all blocks; returns whether the program is shorter than the limit.
    pub(super) fn run(&mut self, orders: &[BlockOrder]) -> Result<bool> {
        let mut starts = Vec::new();
        let mut behind: usize = orders.iter().map(|order| order.lower_bound).sum();
        for (at, (block, order)) in self.machine.blocks.iter().zip(orders).enumerate() {
            let start = self.slots.len();
            starts.push(start);
            self.head = self.head_of_loop(at);
            behind -= order.lower_bound;
            if !self.block(block, order, behind)? {
                return Ok(false);
            }
            match block.end {
                End::Falls => {}
                End::Again(head) => self.end_by(Slot::Branch { to: starts[head] }, start),
                // The address of the routine is known when the program is complete.
                End::Calls(routine) => self.end_by(Slot::Call { routine }, start),
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

    /// The schedule.
    pub(super) fn finish(self) -> Scheduled {
        let reserved_from = reserved_from(self.machine, self.threading);
        Scheduled {
            slots: self.slots,
            ranges: self.occupancy.ranges,
            reserved_from,
            threading: self.threading,
            is_crowded: false,
        }
    }

    /// The first block of the innermost loop that contains a block; 0 if there is none.
    fn head_of_loop(&self, at: usize) -> usize {
        let ends = self.machine.blocks[at..].iter().filter_map(|block| match block.end {
            End::Again(head) if head <= at => Some(head),
            _ => None,
        });
        ends.max().unwrap_or(0)
    }

    /// Whether a value is defined in the innermost loop. A value from outside must be in the same register in each iteration.
    pub(super) fn is_of_this_loop(&self, register: Register) -> bool {
        self.made_in.get(register.index()).is_none_or(|&at| at >= self.head)
    }

    pub(super) fn now(&self) -> usize {
        self.slots.len()
    }

    pub(super) fn idle(&mut self) {
        self.slots.push(Slot::Bundle(Bundle::EMPTY));
    }

    /// Decrements the number of remaining reads.
    fn release(&mut self, register: Register) {
        let left = &mut self.left[register.index()];
        *left = left.saturating_sub(1);
        if *left == 0 {
            let now = self.now();
            self.occupancy.free(register, now);
        }
    }

    pub(super) fn new_register(&mut self) -> Register {
        let register = Register(self.count as u32);
        self.count += 1;
        self.occupancy.grow(self.count);
        self.left.resize(self.count, 0);
        self.pinned.resize(self.count, false);
        self.in_file_a.resize(self.count, false);
        self.becomes_color.resize(self.count, false);
        self.rematerializable.resize(self.count, None);
        self.dropped.resize(self.count, false);
        register
    }

    /// Schedules a block; returns whether the program can still be shorter than the limit, given a lower bound `behind` for the blocks that follow.
    fn block(&mut self, block: &Block, order: &BlockOrder, behind: usize) -> Result<bool> {
        let mut work = ReadyList::new(block, order, self.heuristic);
        (self.threads.switched, self.threads.first) = (0, self.now());
        let mut idle = 0;
        let most = self.now() + MAX_INSTRUCTIONS_PER_OPERATION * (work.left + 1);
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
            if idle > MAX_IDLE_CYCLES {
                return self.no_room(&work);
            }
            self.idle();
        }
        // No value may be in r4 at the end of a block.
        while let Some(register) = self.occupancy.r4 {
            if self.now() < self.occupancy.ready(register) {
                self.idle();
            } else if self.copy(register, Span::default(), &work) {
                self.end_instruction();
            } else {
                return refuse(Span::default(), &Limit::REGISTERS);
            }
        }
        Ok(true)
    }

    /// The source location of the first remaining operation, or of one close to it.
    fn place(&self, work: &ReadyList<'_>) -> Span {
        let first = work.first().unwrap_or(0);
        let left = (first..work.count()).map(|at| work.operation(at).span);
        let mut spans = left.chain(self.slots.iter().rev().filter_map(Slot::span));
        spans.find(Span::is_defined).unwrap_or_default()
    }

    /// The error of a block that cannot be scheduled.
    fn no_room<T>(&self, work: &ReadyList<'_>) -> Result<T> {
        let span = self.place(work);
        if self.occupancy.has_room(Bank::A) && self.occupancy.has_room(Bank::B) {
            return fault(span, "registers are free, and no operation can be placed");
        }
        let (values, registers) = (self.occupancy.in_use(), self.occupancy.count());
        refuse_with(span, &Limit::REGISTERS, format_args!("{values} values here, for {registers} registers"))
    }

    /// Finds the candidates that would use one of the last registers, with orders that save registers: all that free none, except for the first operation.
    fn bar(&self, work: &ReadyList<'_>, candidates: &[usize], barred: &mut Vec<usize>) {
        if self.heuristic.rank == Rank::CriticalPath
            || self.occupancy.count() - self.occupancy.in_use() >= self.heuristic.careful_below
        {
            return;
        }
        let first = work.first();
        let takes = |at: &usize| {
            let operation = work.operation(*at);
            let frees = operation.reads().any(|register| self.is_last_read(operation, register));
            Some(*at) != first && operation.writes().is_some() && !frees
        };
        barred.extend(candidates.iter().copied().filter(takes));
    }

    /// Fills one instruction; returns whether anything was issued.
    fn cycle(&mut self, work: &mut ReadyList<'_>) -> bool {
        let mut attempts = core::mem::take(&mut self.attempts);
        let Attempts { candidates, barred, later, obstacles, more, sharers } = &mut attempts;
        for list in [&mut *candidates, barred, later, more, sharers] {
            list.clear();
        }
        obstacles.clear();
        work.forget_fresh();
        let is_issued = self.fill(work, &mut attempts);
        self.attempts = attempts;
        self.end_instruction();
        is_issued
    }

    /// Adds the instruction under construction to the schedule, if it has any operation.
    fn end_instruction(&mut self) {
        if !self.current.is_empty() {
            self.slots.push(Slot::Bundle(core::mem::replace(&mut self.current, Bundle::EMPTY)));
        }
    }

    fn fill(&mut self, work: &mut ReadyList<'_>, attempts: &mut Attempts) -> bool {
        let now = self.now();
        let awaits_switch = work.awaits_switch(self.threads.switched);
        if awaits_switch && self.heuristic.switches_early && self.can_switch(work, now) {
            self.switch_threads();
            return true;
        }
        work.list_candidates(now, self.threads.switched, &mut attempts.candidates);
        // Each instruction considers all candidates.
        self.effort.spend(attempts.candidates.len().max(1));
        self.bar(work, &attempts.candidates, &mut attempts.barred);
        for number in 0..attempts.candidates.len() {
            let at = attempts.candidates[number];
            if work.is_put_off(at, now) || attempts.barred.contains(&at) {
                continue;
            }
            let waits = work.kind(at) == LOOKUP && self.threads.last.is_none() && work.waits_at(at, now);
            if waits || self.is_early(work, at) {
                attempts.later.push(at);
                continue;
            }
            if self.absorb(work, at) {
                self.pair(work, attempts);
                return true;
            }
            match self.attempt(work, at) {
                Ok(issue) => {
                    self.list_sharers(work, at, &mut attempts.sharers);
                    self.issue(work, at, issue);
                    if !self.share(work, at, &attempts.sharers) {
                        self.pair(work, attempts);
                    }
                    return true;
                }
                Err(Obstacle::Until(cycle)) => work.put_off(at, cycle),
                Err(obstacle) => attempts.obstacles.push((at, obstacle)),
            }
        }
        // If no operation can be issued, a copy removes the obstacle of the one with the highest rank.
        let mut may_clear_r4 = true;
        for number in 0..attempts.obstacles.len() {
            let (at, obstacle) = attempts.obstacles[number];
            // The value in r4 is the same for all.
            let is_r4 = matches!(obstacle, Obstacle::R4);
            if is_r4 && !core::mem::replace(&mut may_clear_r4, false) {
                continue;
            }
            if self.clear(work, at, obstacle) {
                self.pair(work, attempts);
                return true;
            }
        }
        if awaits_switch {
            if self.can_switch(work, now) {
                self.switch_threads();
                return true;
            }
            if self.keep_over_switch(work) {
                self.pair(work, attempts);
                return true;
            }
        }
        for &at in &attempts.later {
            match self.attempt(work, at) {
                Ok(issue) => {
                    self.issue(work, at, issue);
                    return true;
                }
                Err(obstacle) => {
                    if self.clear(work, at, obstacle) {
                        return true;
                    }
                }
            }
        }
        self.heuristic.evicts && (self.evict(work) || self.drop_value(work))
    }

    /// Adds a second operation to the instruction under construction.
    fn pair(&mut self, work: &mut ReadyList<'_>, attempts: &mut Attempts) {
        let Attempts { candidates, barred, later, more, .. } = attempts;
        if self.current.is_empty() {
            return;
        }
        let now = self.now();
        let room = self.current.room();
        let (has_uniform, has_unit) = (self.current.uniform().is_some(), self.current.accesses_unit());
        // Operations with only an anti-dependence on this instruction can be a part of it.
        more.extend_from_slice(work.fresh());
        more.sort_unstable();
        self.effort.spend(candidates.len());
        more.retain(|&at| work.may_go(at, now, self.threads.switched));
        for &at in candidates.iter().chain(&*more) {
            if !(room[work.kind(at)] || work.operation(at).moved_element().is_some())
                || work.is_issued(at)
                || work.is_put_off(at, now)
                || later.contains(&at)
                || has_uniform && work.reads_uniform(at)
                || has_unit && work.accesses_unit(at)
                || barred.contains(&at)
                || self.is_early(work, at)
            {
                continue;
            }
            if self.absorb(work, at) {
                return;
            }
            if room[work.kind(at)]
                && let Ok(issue) = self.attempt(work, at)
            {
                self.issue(work, at, issue);
                return;
            }
        }
    }

    /// Issues the only operation that reads the register to which another one moves an element of a stream, with the element itself as its operand, instead of
    /// both. Returns whether it did.
    fn absorb(&mut self, work: &mut ReadyList<'_>, at: usize) -> bool {
        let Some((source, moved)) = work.operation(at).moved_element() else { return false };
        let Some(sharer) = work.sharers(at, self.now(), self.threads.switched).next() else { return false };
        let operation = work.operation(sharer);
        // An instruction reads one uniform.
        if source == ReadSource::Uniform && operation.uniform().is_some()
            || self.left[moved.index()] != operation.reads_of(moved)
            || !self.current.room()[work.kind(sharer)]
            || self.is_early(work, sharer)
        {
            return false;
        }
        let operation = operation.with_operand(moved, work.operation(at).operands[0]);
        let Ok(issue) = self.attempt_operation(work, &operation, Some(sharer)) else { return false };
        let now = self.now();
        work.issue(at, now);
        work.issue(sharer, now);
        self.left[moved.index()] = 0;
        self.execute(&operation, issue);
        true
    }

    /// Lists the operations that can share the element that an operation is about to move to a register.
    fn list_sharers(&self, work: &ReadyList<'_>, at: usize, sharers: &mut Vec<usize>) {
        sharers.clear();
        if !self.heuristic.evicts && work.operation(at).moved_element().is_some() {
            sharers.extend(work.sharers(at, self.now(), self.threads.switched));
        }
    }

    /// Adds one of them to the instruction under construction, if that has the move only.
    fn share(&mut self, work: &mut ReadyList<'_>, at: usize, sharers: &[usize]) -> bool {
        let room = self.current.room();
        let Some((source, moved)) = work.operation(at).moved_element() else { return false };
        for &sharer in sharers {
            if !room[work.kind(sharer)] || self.is_early(work, sharer) {
                continue;
            }
            let reads = work.operation(sharer).reads_of(moved);
            let operation = work.operation(sharer).with_operand(moved, Operand::Shared(source));
            if let Ok(issue) = self.attempt_operation(work, &operation, Some(sharer)) {
                work.issue(sharer, self.now());
                self.execute(&operation, issue);
                (0..reads).for_each(|_| self.release(moved));
                return true;
            }
        }
        false
    }

    /// How an operation can be a part of the instruction under construction.
    fn attempt(&mut self, work: &ReadyList<'_>, at: usize) -> core::result::Result<Issue, Obstacle> {
        self.attempt_operation(work, work.operation(at), Some(at))
    }

    /// The same for an operation that need not be in the block.
    pub(super) fn attempt_operation(
        &mut self,
        work: &ReadyList<'_>,
        operation: &Operation,
        at: Option<usize>,
    ) -> core::result::Result<Issue, Obstacle> {
        self.effort.spend(1);
        let now = self.now();
        let is_first = self.current.is_empty();
        // Only heuristics that evict values drop any.
        if self.heuristic.evicts
            && let Some(register) = operation.reads().find(|register| self.dropped[register.index()])
        {
            return Err(Obstacle::Dropped(register));
        }
        // The register that the result is merged with is not read: the rest of it just remains.
        let rotated = usize::from(matches!(operation.work, Work::Rotate(_)));
        let mut first: Option<Reading> = None;
        let mut is_routable = true;
        for operand in &operation.operands {
            let place = match operand.register() {
                None => None,
                Some(register) => {
                    let place = self.occupancy.place(register).ok_or(Obstacle::Time)?;
                    let ready = self.occupancy.ready(register) + rotated;
                    if ready > now {
                        return Err(Obstacle::Until(ready));
                    }
                    Some(place)
                }
            };
            let reading = (operand, place);
            if !is_first && self.current.excludes(reading) {
                return Err(Obstacle::Time);
            }
            is_routable &= first.is_none_or(|first| may_read_together(first, reading));
            first = Some(reading);
        }
        if !is_routable && !is_first {
            return Err(Obstacle::Time);
        }
        let into_r4 = matches!(operation.target, Target::Special(..)) || operation.work == Work::LoadTexture;
        if into_r4 {
            if now < self.r4_free {
                return Err(Obstacle::Until(self.r4_free));
            }
            if let Some(owner) = self.occupancy.r4
                && self.left[owner.index()] > operation.reads_of(owner)
            {
                return Err(Obstacle::R4);
            }
        }
        if operation.target == Target::Color
            && let Some(Operand::Register(color)) = operation.operands.first()
            && let Some((Bank::Accumulator, range)) = self.occupancy.place(*color)
        {
            return Ok(Issue { choice: Choice::IsColor(range), joint: None });
        }
        if !is_routable {
            return Err(Obstacle::Unroutable);
        }
        let room = self.room(operation)?;
        let in_the_way = |scheduler: &Self| match is_first {
            false => Obstacle::Time,
            true => Obstacle::in_the_way(operation, |register| scheduler.occupancy.bank(register)),
        };
        let placed = Placed::new(operation, |register| self.occupancy.place(register)).ok_or(Obstacle::Time)?;
        let ways = self.current.ways(&placed);
        if !ways.is_any() {
            return Err(in_the_way(self));
        }
        let choices = self.choices(work, at, room);
        let found = choices.into_iter().find_map(|choice| {
            let destination = choice.destination(&self.occupancy)?;
            Some(Issue { choice, joint: Some(self.current.joint(&ways, &placed, destination)?) })
        });
        found.ok_or_else(|| in_the_way(self))
    }

    /// Issues an operation of the block.
    fn issue(&mut self, work: &mut ReadyList<'_>, at: usize, issue: Issue) {
        work.issue(at, self.now());
        self.execute(work.operation(at), issue);
    }

    /// The number of cycles from which on it does not matter for any heuristic that may still be tried when a value is read.
    pub(super) fn horizon(&self) -> usize {
        let cycles = |heuristic: &Heuristic| heuristic.accumulator_cycles;
        let others = self.alike.iter().map(cycles).max().unwrap_or(0);
        1 + cycles(&self.heuristic).max(others)
    }

    /// Adds an operation to the instruction under construction, and updates the live ranges.
    pub(super) fn execute(&mut self, operation: &Operation, issue: Issue) {
        let now = self.now();
        let Issue { choice, joint } = issue;
        if let Choice::IsColor(range) = choice {
            self.occupancy.ranges[range.index()].is_color = true;
            return;
        }
        let is_rotated = matches!(operation.work, Work::Rotate(_));
        // Before the base is released, so that its live range continues.
        if let (Some(register), Choice::TakeOver(base, Destination::Range(bank, _))) = (operation.writes(), choice) {
            self.occupancy.take_over(base, register, now + latency(bank, is_rotated));
        }
        operation.reads().for_each(|register| self.release(register));
        match (operation.writes(), choice) {
            (Some(register), Choice::Fixed(_)) => {
                self.r4_free = now + SFU_LATENCY as usize;
                self.occupancy.begin(register, Bank::R4, now, self.r4_free);
            }
            (Some(register), Choice::New(bank)) => {
                self.occupancy.begin(register, bank, now, now + latency(bank, is_rotated));
            }
            (Some(register), Choice::Rewrite(Destination::Range(bank, _))) => {
                self.occupancy.rewrite(register, now + latency(bank, is_rotated));
            }
            _ => {}
        }
        if let Some(register) = operation.writes()
            && self.left[register.index()] == 0
        {
            self.occupancy.free(register, now);
        }
        if let Some(joint) = joint {
            self.current.join(joint);
        }
    }
}

/// For each register the operation that can rematerialise its value: the only one that writes it, and with only uniforms and constants as operands.
fn rematerializable(machine: &Machine) -> Vec<Option<&Operation>> {
    let mut makers = vec![None; machine.registers as usize];
    let mut writers = vec![0u32; makers.len()];
    for operation in machine.blocks.iter().flat_map(|block| &block.operations) {
        let Target::Register(register) = operation.target else {
            if let Some(register) = operation.writes() {
                writers[register.index()] += 1;
            }
            continue;
        };
        writers[register.index()] += 1;
        let is_known = |operand: &Operand| match operand {
            Operand::Small(_) => true,
            // A loop that keeps uniforms in registers cannot reread them.
            Operand::Uniform(_) => !machine.keeps_words,
            _ => false,
        };
        let is_plain = matches!(operation.work, Work::Add(_) | Work::Mul(_) | Work::Move | Work::Load(_))
            && operation.condition == Condition::Always
            && !operation.sets_flags
            && operation.merges.is_none()
            && operation.pack == Pack::None;
        if is_plain && operation.operands.iter().all(is_known) {
            makers[register.index()] = Some(operation);
        }
    }
    let once = makers.into_iter().zip(writers);
    once.map(|(maker, writers)| maker.filter(|_| writers == 1)).collect()
}

/// The first reserved register of each file.
pub(super) fn reserved_from(machine: &Machine, threading: Threading) -> u8 {
    match threading {
        Threading::Single => machine.reserved_from,
        Threading::Dual => machine.reserved_from.min(REGISTERS_OF_A_THREAD),
    }
}
