//! What stands in the way of an operation, and how it is removed.

use naga::Span;
use v3d_hw::qpu::AddOp;

use super::pending::Pending;
use super::places::{is_rotated, is_unpacked};
use super::scheduler::{Obstacle, Scheduler};
use crate::encode::{Line, Sources, encode};
use crate::machine::{Operand, Operation, Register, Target, Work};
use crate::registers::Place;

impl Scheduler<'_> {
    /// Removes what stands in the way of an operation; whether that was an instruction.
    pub(super) fn clear(&mut self, work: &mut Pending<'_>, at: usize, obstacle: &Obstacle) -> bool {
        let operation = work.operation(at);
        let span = operation.span;
        match *obstacle {
            Obstacle::R4 => match self.registers.r4 {
                Some(owner) if self.registers.ready(owner) <= self.now() => self.relocate(owner, span, work),
                _ => false,
            },
            Obstacle::Operand(number) => {
                let Some(&old) = operation.operands.get(number) else { return false };
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
                let Some(base) = operation.merges else { return false };
                let operands = vec![Operand::Register(base)];
                self.substitute(work, at, Work::Move, operands, |operation, fresh| operation.merges = Some(fresh))
            }
            Obstacle::Time | Obstacle::Room => false,
        }
    }

    /// Does an operation whose result another one takes instead of what it took.
    fn substitute(
        &mut self,
        work: &mut Pending<'_>,
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
        if let Ok((instruction, place)) = self.attempt_operation(work, &made, None, None) {
            self.execute(&made, instruction, place, None);
            return true;
        }
        let after = work.take_back(at, before);
        after.reads().chain(made.reads()).for_each(|register| self.left[register.index()] -= 1);
        work.operation(at).reads().for_each(|register| self.left[register.index()] += 1);
        false
    }

    /// Moves a value to a register file that is not full: out of the accumulators if these are, or out of the other file. Whether that was an instruction.
    pub(super) fn make_room(&mut self, work: &Pending<'_>) -> bool {
        let (a, b) = (self.registers.free_in_a(), self.registers.free_in_b());
        let to_either = if self.registers.is_emptier_b() { b.or(a) } else { a.or(b) };
        let (values, to): (Vec<Register>, _) = match (self.registers.free_accumulators().next(), a, b) {
            (None, ..) => (self.registers.in_accumulators().collect(), to_either),
            (_, None, Some(_)) => (self.registers.in_a().collect(), b),
            (_, Some(_), None) => (self.registers.in_b().collect(), a),
            _ => return false,
        };
        let Some(to) = to else { return false };
        let now = self.now();
        let may_move = |register: &Register| {
            let needs_a = is_unpacked(work, *register) || self.in_file_a[register.index()];
            let is_older = self.pinned[register.index()] || !self.is_of_this_loop(*register);
            let stays = is_older || is_rotated(work, *register) || needs_a && matches!(to, Place::B(_));
            !stays && self.registers.ready(*register) <= now
        };
        // The one that is used last of all.
        let next_use = |register: &Register| work.users(*register).min().unwrap_or(usize::MAX);
        let furthest = values.into_iter().filter(may_move).max_by_key(next_use);
        furthest.is_some_and(|register| self.relocate_to(register, Span::default(), to))
    }

    /// Moves a value to another place.
    pub(super) fn relocate(&mut self, register: Register, span: Span, work: &Pending<'_>) -> bool {
        if self.registers.ready(register) > self.now() {
            return false;
        }
        self.new_place(work, register).is_some_and(|to| self.relocate_to(register, span, to))
    }

    /// The same to a certain place.
    pub(super) fn relocate_to(&mut self, register: Register, span: Span, to: Place) -> bool {
        let operation = Operation::new(Work::Move, vec![Operand::Register(register)], Target::Register(register), span);
        let Some(sources) = Sources::of(&operation, |register| self.registers.place(register)) else { return false };
        let Some(instruction) = encode(&operation, &sources, Some(to)).next() else { return false };
        let ready = self.now() + to.latency(false);
        self.registers.put(register, to, ready);
        self.lines.push(Line { instruction, span, reads: None });
        true
    }
}
