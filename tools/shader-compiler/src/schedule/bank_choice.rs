//! Chooses the bank of a result.

use v3d_hw::qpu::File;
use v3d_hw::qpu::address_map::is_read_in_either_file;

use super::heuristic::{Heuristic, OPERAND_LEAD_CYCLES};
use super::list_scheduler::{Obstacle, Scheduler};
use super::occupancy::Occupancy;
use super::ready_list::ReadyList;
use crate::bundle::{Bank, Destination, Placed, RangeId, kind};
use crate::machine::{Operand, Operation, Register, Target, Work};

/// Kinds of operations that may only load a constant or a uniform.
const MOVE: usize = kind(Work::Move);
const LOAD: usize = kind(Work::Load(0));

/// The remaining uses of a result.
#[derive(Clone, Copy, Default)]
struct Uses {
    /// Number of operations that read it, and how often all of them do.
    count: u32,
    reads: u32,
    /// They also read another operand from file A.
    prefers_b: bool,
    /// One of them rotates it.
    is_rotated: bool,
}

/// Where a result can be.
#[derive(Clone, Copy)]
pub(super) enum Room {
    /// In one place only.
    Only(Choice),
    /// In any bank that has a register, which may become free by the operation.
    Banks {
        /// The register of the result.
        register: Register,
        /// It must be in file A.
        file_a: bool,
        /// File A has a register.
        a: bool,
        /// File B has a register.
        b: bool,
        /// Number of accumulators; with registers in all banks, those that become free by the operation are not counted.
        accumulators: usize,
    },
}

/// Candidate destinations of a result, best first.
#[derive(Default)]
pub(super) struct Choices {
    list: [Option<Choice>; 3],
}

/// A destination, and its effect on live ranges.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Choice {
    /// No register is written.
    Fixed(Destination),
    /// A live range begins in a bank.
    New(Bank),
    /// The register's existing live range continues.
    Rewrite(Destination),
    /// The live range of a register that is partly overwritten becomes that of the result.
    TakeOver(Register, Destination),
    /// No write is needed: the live range is the colour, and will be in r0 at the end.
    IsColor(RangeId),
}

impl Choice {
    /// The destination of the operation; `None` if nothing is written.
    pub(super) fn destination(self, occupancy: &Occupancy) -> Option<Destination> {
        match self {
            Self::Fixed(destination) | Self::Rewrite(destination) | Self::TakeOver(_, destination) => Some(destination),
            Self::New(bank) => Some(Destination::Range(bank, occupancy.next_range())),
            Self::IsColor(_) => None,
        }
    }
}

impl Choices {
    fn one(choice: Choice) -> Self {
        Self { list: [Some(choice), None, None] }
    }

    fn add(&mut self, bank: Bank) {
        for slot in &mut self.list {
            match slot {
                Some(Choice::New(other)) if *other == bank => return,
                Some(_) => {}
                None => {
                    *slot = Some(Choice::New(bank));
                    return;
                }
            }
        }
    }
}

impl IntoIterator for Choices {
    type Item = Choice;
    type IntoIter = core::iter::Flatten<core::array::IntoIter<Option<Choice>, 3>>;

    fn into_iter(self) -> Self::IntoIter {
        self.list.into_iter().flatten()
    }
}

impl Scheduler<'_> {
    /// Where the result of an operation can be now.
    pub(super) fn room(&self, operation: &Operation) -> Result<Room, Obstacle> {
        let register = match operation.target {
            Target::Register(register) => register,
            target => return Ok(Room::Only(Choice::Fixed(Placed::fixed_destination(target)))),
        };
        if operation.work == Work::LoadTexture {
            return Ok(Room::Only(Choice::New(Bank::R4)));
        }
        if let Some((bank, range)) = self.occupancy.place(register) {
            // The next value of a loop-carried one is written to the same register; as is the rest of a value that is assembled in parts.
            return Ok(Room::Only(Choice::Rewrite(Destination::Range(bank, range))));
        }
        let file_a = self.in_file_a[register.index()];
        if let Some(base) = operation.merges {
            return match self.occupancy.place(base) {
                Some((bank, range))
                    if bank != Bank::R4 && self.is_last_read(operation, base) && (!file_a || bank == Bank::A) =>
                {
                    Ok(Room::Only(Choice::TakeOver(base, Destination::Range(bank, range))))
                }
                _ => Err(Obstacle::Merged),
            };
        }
        let mut a = self.occupancy.has_room(Bank::A);
        let mut b = self.occupancy.has_room(Bank::B);
        let mut accumulators = self.occupancy.free_in(Bank::Accumulator);
        if !(a && b && accumulators > 1) {
            // Registers that die at this operation can be reused for its result.
            let mut freed = None;
            for read in operation.operands.iter().filter_map(Operand::register) {
                if self.left[read.index()] <= 2 && freed != Some(read) && self.is_last_read(operation, read) {
                    freed = Some(read);
                    match self.occupancy.bank(read) {
                        Some(Bank::A) => a = true,
                        Some(Bank::B) => b = true,
                        Some(Bank::Accumulator) => accumulators += 1,
                        Some(Bank::R4) | None => {}
                    }
                }
            }
        }
        let is_any = a || !file_a && (b || accumulators > 0);
        if is_any { Ok(Room::Banks { register, file_a, a, b, accumulators }) } else { Err(Obstacle::Room) }
    }

    /// The candidate destinations of a result, best first.
    pub(super) fn choices(&mut self, work: &ReadyList<'_>, at: Option<usize>, room: Room) -> Choices {
        let (register, file_a, a, b, accumulators) = match room {
            Room::Only(choice) => return Choices::one(choice),
            Room::Banks { register, file_a, a, b, accumulators } => (register, file_a, a, b, accumulators),
        };
        let mut choices = Choices::default();
        if file_a {
            choices.add(Bank::A);
            return choices;
        }
        let outlives = self.outlives_switch(work, register);
        let is_color = self.heuristic.colors_in_accumulator && self.becomes_color[register.index()];
        if !outlives && is_color && accumulators > 0 {
            choices.add(Bank::Accumulator);
        }
        let uses = self.uses(work, at, register);
        let Uses { prefers_b, is_rotated, .. } = uses;
        // The last accumulator is reserved for results that the next instruction uses.
        let soon = !outlives
            && match accumulators {
                0 => false,
                1 => self.is_used_within(work, at, register, uses, 1),
                _ => is_rotated || self.is_used_soon(work, at, register, uses),
            };
        let prefers_b = prefers_b || self.heuristic.evicts && self.occupancy.is_emptier_b();
        let files = if prefers_b { [Bank::B, Bank::A] } else { [Bank::A, Bank::B] };
        if soon {
            choices.add(Bank::Accumulator);
        }
        for file in files {
            if if file == Bank::A { a } else { b } {
                choices.add(file);
            }
        }
        if accumulators > 0 {
            choices.add(Bank::Accumulator);
        }
        choices
    }

    /// Whether a register dies at an operation.
    pub(super) fn is_last_read(&self, operation: &Operation, register: Register) -> bool {
        self.left[register.index()] == operation.reads_of(register)
    }

    /// The bank to copy a value to when its own is full.
    pub(super) fn bank_to_copy_to(&mut self, work: &ReadyList<'_>, register: Register) -> Option<Bank> {
        let from = self.occupancy.bank(register)?;
        let free = |occupancy: &Occupancy, bank| (bank != from && occupancy.has_room(bank)).then_some(bank);
        let (a, b) = (free(&self.occupancy, Bank::A), free(&self.occupancy, Bank::B));
        let accumulator = free(&self.occupancy, Bank::Accumulator);
        a.or(b).or(accumulator)?;
        if is_rotated(work, register) {
            // Only accumulators can be rotated.
            return accumulator;
        }
        if is_unpacked(work, register) || self.in_file_a[register.index()] {
            return a;
        }
        let uses = self.uses(work, None, register);
        let file = if uses.prefers_b { b.or(a) } else { a.or(b) };
        let is_preferred = |scheduler: &mut Self| {
            scheduler.occupancy.free_in(Bank::Accumulator) > 2 && from != Bank::R4
                || scheduler.is_used_soon(work, None, register, uses)
        };
        if accumulator.is_some() && !self.outlives_switch(work, register) && is_preferred(self) {
            accumulator.or(file)
        } else {
            file.or(accumulator)
        }
    }

    /// The file to copy a value to that must leave the accumulators.
    pub(super) fn file_to_copy_to(&self, work: &ReadyList<'_>, register: Register) -> Option<Bank> {
        let free = |occupancy: &Occupancy, bank| occupancy.has_room(bank).then_some(bank);
        let (a, b) = (free(&self.occupancy, Bank::A), free(&self.occupancy, Bank::B));
        if is_unpacked(work, register) || self.in_file_a[register.index()] {
            return a;
        }
        if self.uses(work, None, register).prefers_b { b.or(a) } else { a.or(b) }
    }

    /// The remaining uses of a register; those of the result of an operation if that is given.
    fn uses(&self, work: &ReadyList<'_>, at: Option<usize>, register: Register) -> Uses {
        let mut uses = Uses::default();
        self.each_user(work, at, register, |user| {
            let operation = work.operation(user);
            uses.count += 1;
            uses.reads += operation.reads_of(register);
            uses.is_rotated |= matches!(operation.work, Work::Rotate(_));
            let mut has_small = false;
            for operand in &operation.operands {
                match operand {
                    Operand::Input(File::A, source) => uses.prefers_b |= !is_read_in_either_file(source.address()),
                    Operand::Register(other) if *other != register => {
                        uses.prefers_b |= self.occupancy.bank(*other) == Some(Bank::A);
                    }
                    Operand::Small(_) => has_small = true,
                    _ => {}
                }
            }
            uses.prefers_b &= !has_small;
        });
        uses
    }

    /// Calls a function for each remaining operation that reads a register.
    fn each_user(&self, work: &ReadyList<'_>, at: Option<usize>, register: Register, mut call: impl FnMut(usize)) {
        match at {
            Some(at) => work.users_of_result(at, register).filter(|user| *user != at).for_each(&mut call),
            None => work.users(register).for_each(&mut call),
        }
    }

    /// Whether all uses of a register are as few and as soon as the heuristic demands of a value in an accumulator.
    fn is_used_soon(&mut self, work: &ReadyList<'_>, at: Option<usize>, register: Register, uses: Uses) -> bool {
        self.is_used_within(work, at, register, uses, usize::MAX)
    }

    /// The same, with at most this number of cycles until the last of them.
    fn is_used_within(
        &mut self,
        work: &ReadyList<'_>,
        at: Option<usize>,
        register: Register,
        uses: Uses,
        cycles: usize,
    ) -> bool {
        let horizon = self.horizon().min(cycles.saturating_add(1));
        let here_only = uses.count > 0 && uses.reads == self.left[register.index()];
        let mut last_use = 0;
        if here_only {
            self.each_user(work, at, register, |user| {
                if last_use < horizon {
                    last_use = last_use.max(work.depth(user, horizon));
                }
            });
        }
        let is_soon = |heuristic: &Heuristic| {
            let is_rare = uses.count <= heuristic.accumulator_uses;
            here_only && is_rare && last_use <= heuristic.accumulator_cycles.min(cycles)
        };
        let soon = is_soon(&self.heuristic);
        self.alike.retain(|other| is_soon(other) == soon);
        soon
    }

    /// Whether an operation only loads a constant or uniform whose first use is more than a few cycles later.
    #[inline]
    pub(super) fn is_early(&self, work: &ReadyList<'_>, at: usize) -> bool {
        let kind = work.kind(at);
        (kind == MOVE || kind == LOAD) && self.brings_early(work, at)
    }

    fn brings_early(&self, work: &ReadyList<'_>, at: usize) -> bool {
        let operation = work.operation(at);
        let brings = match operation.work {
            Work::Move => matches!(operation.operands.as_slice(), [Operand::Small(_) | Operand::Uniform(_)]),
            Work::Load(_) => true,
            _ => false,
        } && operation.merges.is_none();
        let Target::Register(register) = operation.target else { return false };
        brings
            && work
                .users_of_result(at, register)
                .filter(|user| *user != at)
                .map(|user| work.depth(user, OPERAND_LEAD_CYCLES + 1))
                .min()
                .is_some_and(|depth| depth > OPERAND_LEAD_CYCLES)
    }
}

/// Whether a remaining operation rotates a register.
pub(super) fn is_rotated(work: &ReadyList<'_>, register: Register) -> bool {
    work.users(register).any(|user| matches!(work.operation(user).work, Work::Rotate(_)))
}

/// Whether a remaining operation unpacks a component of a register.
pub(super) fn is_unpacked(work: &ReadyList<'_>, register: Register) -> bool {
    let takes_part = |operand: &Operand| matches!(operand, Operand::Part(other, _) if *other == register);
    work.users(register).any(|user| work.operation(user).operands.iter().any(takes_part))
}
