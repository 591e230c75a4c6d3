//! Where results go.

use v3d_hw::qpu::File;
use v3d_hw::qpu::address_map::is_read_in_either_file;

use super::pending::Pending;
use super::scheduler::{Obstacle, Policy, Scheduler};
use crate::machine::{Operand, Operation, Register, Target, Work};
use crate::registers::Place;

/// Cycles before its first use in which a number is brought.
const NEAR: usize = 3;

/// What becomes of a result.
#[derive(Clone, Copy)]
struct Outlook {
    /// Everything that uses it comes soon.
    soon: bool,
    /// It is used by the next instructions.
    at_once: bool,
    /// It is used beside values of file A.
    prefers_b: bool,
}

/// Places in an order, each once.
#[derive(Default)]
pub(super) struct Places {
    /// `None` for a result that needs no register. There are four accumulators, and one register of each file is offered.
    list: [Option<Place>; 6],
    count: usize,
    next: usize,
}

impl Places {
    fn one(place: Option<Place>) -> Self {
        Self { list: [place, None, None, None, None, None], count: 1, next: 0 }
    }

    fn contains(&self, place: Place) -> bool {
        self.list[..self.count].contains(&Some(place))
    }

    fn add(&mut self, place: Place) {
        if !self.contains(place)
            && let Some(slot) = self.list.get_mut(self.count)
        {
            *slot = Some(place);
            self.count += 1;
        }
    }
}

impl Iterator for Places {
    type Item = Option<Place>;

    fn next(&mut self) -> Option<Option<Place>> {
        let place = self.list[..self.count].get(self.next).copied();
        self.next += 1;
        place
    }
}

impl Scheduler<'_> {
    /// Places that a result may have, the best first.
    pub(super) fn targets(
        &mut self,
        work: &Pending<'_>,
        operation: &Operation,
        at: Option<usize>,
    ) -> Result<Places, Obstacle> {
        let Target::Register(register) = operation.target else { return Ok(Places::one(None)) };
        if operation.work == Work::LoadTexture {
            return Ok(Places::one(Some(Place::R4)));
        }
        if let Some(place) = self.registers.place(register) {
            // A carried value's next, in the place that it has; or the rest of one that is made in parts.
            return Ok(Places::one(Some(place)));
        }
        let file_a = self.in_file_a[register.index()];
        if let Some(base) = operation.merges {
            return match self.registers.place(base) {
                Some(place @ (Place::Accumulator(_) | Place::A(_) | Place::B(_)))
                    if self.is_last_read(operation, base) && (!file_a || matches!(place, Place::A(_))) =>
                {
                    Ok(Places::one(Some(place)))
                }
                _ => Err(Obstacle::Merged),
            };
        }
        // Registers that are read here for the last time make room.
        let (mut a, mut b, mut accumulators) = (None, None, Places::default());
        for read in operation.reads() {
            if !self.is_last_read(operation, read) {
                continue;
            }
            match self.registers.place(read) {
                Some(place @ Place::A(_)) => a = a.or(Some(place)),
                Some(place @ Place::B(_)) => b = b.or(Some(place)),
                Some(place @ Place::Accumulator(_)) => accumulators.add(place),
                _ => {}
            }
        }
        let (a, b) = (a.or_else(|| self.registers.free_in_a()), b.or_else(|| self.registers.free_in_b()));
        let mut places = Places::default();
        if file_a {
            a.into_iter().for_each(|place| places.add(place));
        } else {
            self.registers.free_accumulators().for_each(|place| accumulators.add(place));
            let outlives = self.outlives_switch(work, register);
            if !outlives && self.becomes_color[register.index()] && accumulators.contains(Place::Accumulator(0)) {
                places.add(Place::Accumulator(0));
            }
            let Outlook { soon, at_once, prefers_b } = self.outlook(work, at, register);
            // The last accumulator is for what is used at once.
            let soon = !outlives && (soon && (at_once || accumulators.count > 1) || is_rotated(work, register));
            let prefers_b = prefers_b || self.policy.makes_room && self.registers.is_emptier_b();
            let files = if prefers_b { [b, a] } else { [a, b] };
            let files = files.into_iter().flatten();
            let accumulators = accumulators.flatten();
            if soon {
                accumulators.chain(files).for_each(|place| places.add(place));
            } else {
                files.chain(accumulators).for_each(|place| places.add(place));
            }
        }
        if places.count == 0 { Err(Obstacle::Room) } else { Ok(places) }
    }

    /// Whether nothing reads a register after an operation.
    pub(super) fn is_last_read(&self, operation: &Operation, register: Register) -> bool {
        self.left[register.index()] == operation.reads().filter(|read| *read == register).count() as u32
    }

    /// Where a value can go that must leave its place.
    pub(super) fn new_place(&mut self, work: &Pending<'_>, register: Register) -> Option<Place> {
        let from = self.registers.place(register)?;
        if is_rotated(work, register) {
            // Only accumulators can be rotated.
            return self.registers.free_accumulators().next();
        }
        if is_unpacked(work, register) || self.in_file_a[register.index()] {
            return self.registers.free_in_a();
        }
        let Outlook { soon, prefers_b, .. } = self.outlook(work, None, register);
        let files = [self.registers.free_in_a(), self.registers.free_in_b()];
        let other_file = match from {
            Place::A(_) => files[1],
            Place::B(_) => files[0],
            _ if prefers_b => files[1].or(files[0]),
            _ => files[0].or(files[1]),
        };
        let mut accumulators = self.registers.free_accumulators();
        let outlives = self.outlives_switch(work, register);
        if !outlives && (soon || accumulators.clone().count() > 2 && from != Place::R4) {
            accumulators.next().or(other_file)
        } else {
            other_file.or(accumulators.next())
        }
    }

    /// Where a value can go that must not be in an accumulator.
    pub(super) fn place_in_file(&mut self, work: &Pending<'_>, register: Register) -> Option<Place> {
        let (a, b) = (self.registers.free_in_a(), self.registers.free_in_b());
        if is_unpacked(work, register) || self.in_file_a[register.index()] {
            return a;
        }
        if self.outlook(work, None, register).prefers_b { b.or(a) } else { a.or(b) }
    }

    /// Whether a result is used soon, and by what stands beside values of file A.
    fn outlook(&mut self, work: &Pending<'_>, at: Option<usize>, register: Register) -> Outlook {
        let (mut deepest, mut prefers_b, mut count, mut reads) = (0, false, 0u32, 0u32);
        for user in work.users(register).filter(|user| Some(*user) != at) {
            let operation = work.operation(user);
            count += 1;
            reads += operation.reads().filter(|read| *read == register).count() as u32;
            deepest = deepest.max(work.depth(user));
            for operand in &operation.operands {
                match operand {
                    Operand::Input(File::A, source) => prefers_b |= !is_read_in_either_file(source.address()),
                    Operand::Register(other) if *other != register => {
                        prefers_b |= matches!(self.registers.place(*other), Some(Place::A(_)));
                    }
                    _ => {}
                }
            }
            if operation.operands.iter().any(|operand| matches!(operand, Operand::Small(_))) {
                prefers_b = false;
            }
        }
        let here_only = reads == self.left[register.index()];
        let is_soon = |policy: &Policy| (1..=policy.uses).contains(&count) && here_only && deepest <= policy.soon;
        let soon = is_soon(&self.policy);
        self.alike.retain(|other| is_soon(other) == soon);
        Outlook { soon, at_once: soon && deepest <= 1, prefers_b }
    }

    /// Whether an operation only brings a number or a uniform, for something that is far away.
    pub(super) fn is_early(&self, work: &Pending<'_>, at: usize) -> bool {
        let operation = work.operation(at);
        let brings = match operation.work {
            Work::Move => matches!(operation.operands.as_slice(), [Operand::Small(_) | Operand::Uniform(_)]),
            Work::Load(_) => true,
            _ => false,
        } && operation.merges.is_none();
        let Target::Register(register) = operation.target else { return false };
        brings
            && work
                .users(register)
                .filter(|user| *user != at)
                .map(|user| work.depth(user))
                .min()
                .is_some_and(|depth| depth > NEAR)
    }
}

/// Whether an operation to come rotates a register.
pub(super) fn is_rotated(work: &Pending<'_>, register: Register) -> bool {
    work.users(register).any(|user| matches!(work.operation(user).work, Work::Rotate(_)))
}

/// Whether an operation to come takes a part of a register.
pub(super) fn is_unpacked(work: &Pending<'_>, register: Register) -> bool {
    let takes_part = |operand: &Operand| matches!(operand, Operand::Part(other, _) if *other == register);
    work.users(register).any(|user| work.operation(user).operands.iter().any(takes_part))
}
