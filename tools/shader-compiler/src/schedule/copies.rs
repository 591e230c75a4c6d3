//! Copies between banks, which remove obstacles of operations.

use alloc::vec;
use alloc::vec::Vec;

use naga::Span;
use v3d_hw::qpu::AddOp;

use super::bank_choice::{is_rotated, is_unpacked};
use super::list_scheduler::{Obstacle, Scheduler};
use super::occupancy::latency;
use super::ready_list::ReadyList;
use crate::bundle::{Bank, Bundle, Destination, Placed};
use crate::machine::{Operand, Operation, Register, Target, Work};

impl Scheduler<'_> {
    /// Removes an operation's obstacle; returns whether that was an instruction.
    pub(super) fn clear(&mut self, work: &mut ReadyList<'_>, at: usize, obstacle: Obstacle) -> bool {
        let operation = work.operation(at);
        let span = operation.span;
        match obstacle {
            Obstacle::R4 => match self.occupancy.r4 {
                Some(owner) if self.occupancy.ready(owner) <= self.now() => self.copy(owner, span, work),
                _ => false,
            },
            Obstacle::Unroutable => {
                let in_the_way = || Obstacle::in_the_way(operation, |register| self.occupancy.bank(register));
                let obstacle = self.room(operation).err().unwrap_or_else(in_the_way);
                self.clear(work, at, obstacle)
            }
            Obstacle::Operand(number) => {
                let Some(&old) = operation.operands.get(number) else { return false };
                if let Operand::Register(register) = old
                    && !self.pinned[register.index()]
                    && !self.in_file_a[register.index()]
                    && self.occupancy.bank(register) != Some(Bank::R4)
                {
                    // What is rotated must be in an accumulator, also if that takes another value out of it.
                    return self.copy(register, span, work) || is_rotated(work, register) && self.evict(work);
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
                let Some(base) = operation.merges else { return false };
                let operands = vec![Operand::Register(base)];
                self.substitute(work, at, Work::Move, operands, |operation, fresh| operation.merges = Some(fresh))
            }
            Obstacle::Dropped(register) => self.rematerialize(work, register),
            Obstacle::Time | Obstacle::Until(_) | Obstacle::Room => false,
        }
    }

    /// Issues a move or unpack whose result replaces an operand of another operation.
    fn substitute(
        &mut self,
        work: &mut ReadyList<'_>,
        at: usize,
        how: Work,
        operands: Vec<Operand>,
        change: impl Fn(&mut Operation, Register),
    ) -> bool {
        let fresh = self.new_register();
        let before = work.operation(at).clone();
        let made = Operation::new(how, operands, Target::Register(fresh), before.span);
        let mut after = before.clone();
        change(&mut after, fresh);
        before.reads().for_each(|register| self.left[register.index()] -= 1);
        after.reads().chain(made.reads()).for_each(|register| self.left[register.index()] += 1);
        if let (Some(merged), Some(target)) = (after.merges, after.writes())
            && merged == fresh
        {
            self.in_file_a[fresh.index()] = self.in_file_a[target.index()];
            self.becomes_color[fresh.index()] = self.becomes_color[target.index()];
        }
        work.replace(at, after, fresh);
        if let Ok(issue) = self.attempt_operation(work, &made, None) {
            self.execute(&made, issue);
            return true;
        }
        let after = work.take_back(at, before);
        after.reads().chain(made.reads()).for_each(|register| self.left[register.index()] -= 1);
        work.operation(at).reads().for_each(|register| self.left[register.index()] += 1);
        false
    }

    /// Copies a value to a register file with a free register: from the accumulators if these are full, or from the other file. Returns whether that was an
    /// instruction.
    pub(super) fn evict(&mut self, work: &ReadyList<'_>) -> bool {
        let free = |bank| self.occupancy.has_room(bank).then_some(bank);
        let (a, b) = (free(Bank::A), free(Bank::B));
        let to_either = if self.occupancy.is_emptier_b() { b.or(a) } else { a.or(b) };
        let (from, to) = match (free(Bank::Accumulator), a, b) {
            (None, ..) => (Bank::Accumulator, to_either),
            (_, None, Some(_)) => (Bank::A, b),
            (_, Some(_), None) => (Bank::B, a),
            _ => return false,
        };
        let values = self.occupancy.in_bank(from);
        let Some(to) = to else { return false };
        let now = self.now();
        let awaited: Vec<Register> =
            work.candidates(now, self.threads.switched).flat_map(|at| work.operation(at).reads()).collect();
        let may_move = |register: &Register| {
            let needs_a = is_unpacked(work, *register) || self.in_file_a[register.index()];
            let is_older = self.pinned[register.index()] || !self.is_of_this_loop(*register);
            // It would come back at once.
            let is_next = is_rotated(work, *register) && awaited.contains(register);
            let stays = is_older || is_next || needs_a && to == Bank::B;
            !stays && self.occupancy.ready(*register) <= now
        };
        // The value with the furthest next use.
        let next_use = |register: &Register| work.users(*register).min().unwrap_or(usize::MAX);
        let furthest = values.iter().copied().filter(may_move).max_by_key(next_use);
        furthest.is_some_and(|register| self.copy_to(register, Span::default(), to))
    }

    /// Drops the rematerialisable value with the furthest next use; returns whether there was one. This takes no instruction.
    pub(super) fn drop_value(&mut self, work: &ReadyList<'_>) -> bool {
        let now = self.now();
        let may_go = |register: &Register| {
            self.rematerializable[register.index()].is_some()
                && !self.pinned[register.index()]
                && self.is_of_this_loop(*register)
                && self.occupancy.ready(*register) <= now
                // It would have to be rematerialised at once.
                && !work.candidates(now, 0).any(|at| work.operation(at).reads().any(|read| read == *register))
        };
        let next_use = |register: &Register| work.users(*register).min().unwrap_or(usize::MAX);
        let values = [Bank::Accumulator, Bank::A, Bank::B].map(|bank| self.occupancy.in_bank(bank).iter().copied());
        let Some(register) = values.into_iter().flatten().filter(may_go).max_by_key(next_use) else { return false };
        self.occupancy.free(register, now);
        self.dropped[register.index()] = true;
        true
    }

    /// Rematerialises a dropped value; returns whether that was an instruction.
    fn rematerialize(&mut self, work: &ReadyList<'_>, register: Register) -> bool {
        let Some(maker) = self.rematerializable[register.index()] else { return false };
        let Ok(issue) = self.attempt_operation(work, maker, None) else { return false };
        self.dropped[register.index()] = false;
        self.execute(maker, issue);
        true
    }

    /// Copies a value to another bank.
    pub(super) fn copy(&mut self, register: Register, span: Span, work: &ReadyList<'_>) -> bool {
        if self.occupancy.ready(register) > self.now() {
            return false;
        }
        self.bank_to_copy_to(work, register).is_some_and(|to| self.copy_to(register, span, to))
    }

    /// Copies a value to a given bank.
    pub(super) fn copy_to(&mut self, register: Register, span: Span, to: Bank) -> bool {
        let operation = Operation::new(Work::Move, vec![Operand::Register(register)], Target::Register(register), span);
        let destination = Destination::Range(to, self.occupancy.next_range());
        let placed = Placed::new(&operation, |register| self.occupancy.place(register));
        let alone = placed.and_then(|placed| Bundle::of(&placed, destination));
        let Some(bundle) = alone else { return false };
        let now = self.now();
        self.occupancy.begin(register, to, now, now + latency(to, false));
        self.current = bundle;
        true
    }
}
