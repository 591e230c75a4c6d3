//! Where results go, and where values are moved that stand in the way.

use naga::Span;

use super::{Line, NEAR, Obstacle, Pending, Scheduler};
use crate::encode::{Place, encode, source};
use crate::machine::{Operand, Operation, Register, Target, Work};

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

impl Scheduler {
    /// Places that a result may have, the best first.
    pub(super) fn targets(&self, work: &Pending, at: usize) -> std::result::Result<Vec<Option<Place>>, Obstacle> {
        let operation = &work.operations[at];
        let Target::Register(register) = operation.target else { return Ok(vec![None]) };
        if operation.work == Work::LoadTexture {
            return Ok(vec![Some(Place::R4)]);
        }
        if let Some(place) = self.registers.place(register) {
            // A carried value's next, in the place that it has; or the rest of one that is made in parts.
            return Ok(vec![Some(place)]);
        }
        let file_a = self.in_file_a[register.index()];
        if let Some(base) = operation.merges {
            let place = self.registers.place(base);
            let reads = operation.reads().filter(|read| *read == base).count() as u32;
            return match place {
                Some(place @ (Place::Accumulator(_) | Place::A(_) | Place::B(_)))
                    if self.left[base.index()] == reads && (!file_a || matches!(place, Place::A(_))) =>
                {
                    Ok(vec![Some(place)])
                }
                _ => Err(Obstacle::Merged),
            };
        }
        let mut places: Vec<Place> = Vec::new();
        // Registers that are read here for the last time make room.
        let mut dying: Vec<Place> = Vec::new();
        for read in operation.reads() {
            let count = operation.reads().filter(|other| *other == read).count() as u32;
            if self.left[read.index()] == count
                && let Some(place) = self.registers.place(read)
                && place != Place::R4
                && !dying.contains(&place)
            {
                dying.push(place);
            }
        }
        let (dying_a, dying_b) = (
            dying.iter().copied().find(|place| matches!(place, Place::A(_))),
            dying.iter().copied().find(|place| matches!(place, Place::B(_))),
        );
        let (a, b) = (dying_a.or(self.registers.free_in_a()), dying_b.or(self.registers.free_in_b()));
        if file_a {
            places.extend(a);
        } else {
            let is_color = self.is_color(work, register);
            let accumulators: Vec<Place> = dying
                .iter()
                .copied()
                .filter(|place| matches!(place, Place::Accumulator(_)))
                .chain(self.registers.free_accumulators())
                .collect();
            if is_color && accumulators.contains(&Place::Accumulator(0)) {
                places.push(Place::Accumulator(0));
            }
            let Outlook { soon, at_once, prefers_b } = self.outlook(work, at, register);
            // The last accumulator is for what is used at once.
            let soon = soon && (at_once || accumulators.len() > 1) || self.is_rotated(work, register);
            let files: Vec<Place> =
                if prefers_b { b.into_iter().chain(a).collect() } else { a.into_iter().chain(b).collect() };
            if soon {
                places.extend(accumulators);
                places.extend(files);
            } else {
                places.extend(files);
                places.extend(accumulators);
            }
        }
        if places.is_empty() { Err(Obstacle::Room) } else { Ok(places.into_iter().map(Some).collect()) }
    }

    /// Whether a register becomes the colour by operations that change it in its place.
    fn is_color(&self, work: &Pending, register: Register) -> bool {
        let mut register = register;
        for operation in &work.operations {
            if operation.merges == Some(register)
                && let Some(next) = operation.writes()
            {
                register = next;
            }
        }
        self.machine.color == Some(register)
    }

    /// Whether a result is used soon, and by what stands beside values of file A.
    fn outlook(&self, work: &Pending, at: usize, register: Register) -> Outlook {
        let depths = work.depths();
        let (mut deepest, mut prefers_b, mut count) = (0, false, 0u32);
        for (user, operation) in work.operations.iter().enumerate() {
            if work.issued[user].is_some() || user == at || !operation.reads().any(|read| read == register) {
                continue;
            }
            count += 1;
            deepest = deepest.max(depths[user]);
            for operand in &operation.operands {
                match operand {
                    Operand::FixedA(_) => prefers_b = true,
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
        let here_only = count == self.left[register.index()];
        let soon = (1..=self.policy.uses).contains(&count) && here_only && deepest <= self.policy.soon;
        Outlook { soon, at_once: soon && deepest <= 1, prefers_b }
    }

    /// Whether an operation only brings a number or a uniform, for something that is far away.
    pub(super) fn is_early(&self, work: &Pending, at: usize) -> bool {
        let operation = &work.operations[at];
        let brings = operation.work == Work::Move
            && operation.merges.is_none()
            && matches!(operation.operands.as_slice(), [Operand::Small(_) | Operand::Uniform(_)]);
        let Target::Register(register) = operation.target else { return false };
        if !brings {
            return false;
        }
        let depths = work.depths();
        let used = (0..work.operations.len())
            .filter(|&user| user != at && work.issued[user].is_none())
            .filter(|&user| work.operations[user].reads().any(|read| read == register));
        used.map(|user| depths[user]).min().is_some_and(|depth| depth > NEAR)
    }

    /// Whether an operation to come rotates a register.
    fn is_rotated(&self, work: &Pending, register: Register) -> bool {
        work.operations.iter().enumerate().any(|(at, operation)| {
            work.issued[at].is_none()
                && matches!(operation.work, Work::Rotate(_))
                && operation.reads().any(|read| read == register)
        })
    }

    /// Moves a value to another place.
    pub(super) fn relocate(&mut self, register: Register, span: Span, work: &mut Pending) -> bool {
        let Some(from) = self.registers.place(register) else { return false };
        if self.registers.ready(register) > self.now() {
            return false;
        }
        let is_unpacked = work.operations.iter().enumerate().any(|(at, operation)| {
            work.issued[at].is_none()
                && operation
                    .operands
                    .iter()
                    .any(|operand| matches!(operand, Operand::Part(other, _) if *other == register))
        });
        let is_rotated = self.is_rotated(work, register);
        let mut places: Vec<Place> = Vec::new();
        if is_rotated {
            // Only accumulators can be rotated.
            places.extend(self.registers.free_accumulators());
        } else if is_unpacked || self.in_file_a[register.index()] {
            places.extend(self.registers.free_in_a());
        } else {
            let Outlook { soon, prefers_b, .. } = self.outlook(work, usize::MAX, register);
            let files = [self.registers.free_in_a(), self.registers.free_in_b()];
            let other_file = match from {
                Place::A(_) => files[1],
                Place::B(_) => files[0],
                _ if prefers_b => files[1].or(files[0]),
                _ => files[0].or(files[1]),
            };
            let accumulators: Vec<Place> = self.registers.free_accumulators().collect();
            if soon || accumulators.len() > 2 && from != Place::R4 {
                places.extend(accumulators);
                places.extend(other_file);
            } else {
                places.extend(other_file);
                places.extend(accumulators);
            }
        }
        let Some(&to) = places.first() else { return false };
        let operand = Operand::Register(register);
        let operation = Operation::new(Work::Move, vec![operand], Target::Register(register), span);
        let Some(source) = source(operand, Some(from)) else { return false };
        let Some(&word) = encode(&operation, &[source], Some(to)).first() else { return false };
        let file = matches!(to, Place::A(_) | Place::B(_));
        let ready = self.now() + 1 + usize::from(file);
        self.registers.put(register, to, ready);
        self.lines.push(Line { word, span, reads: None });
        true
    }
}

impl Pending {
    /// For each operation the cycles that what it waits for needs at least.
    fn depths(&self) -> &[usize] {
        self.depths.get_or_init(|| {
            let mut depths = vec![0; self.operations.len()];
            for at in 0..depths.len() {
                let open = self.waits[at].iter().filter(|wait| self.issued[wait.on].is_none());
                depths[at] = open.map(|wait| depths[wait.on] + wait.better.max(wait.cycles)).max().unwrap_or(0);
            }
            depths
        })
    }
}
