//! What is known of the registers at an instruction: which code addresses, distances and numbers each may hold.

use alloc::vec::Vec;

use v3d_hw::qpu::{Condition, File};

use super::linear::Linear;
use crate::check::facts::Register;

/// Registers of file A, of file B, then r0 to r3.
pub(super) const REGISTERS: usize = 68;

/// Most values that are told apart; beyond, numbers are unknown.
const MAX_VALUES: usize = 48;

/// Where an unknown number comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Unknown {
    /// It is in the register when the program starts: what an earlier program has left, or an input.
    AtStart,
    /// An operation on floats computes it.
    Float,
    /// An instruction computes it.
    By(usize),
}

/// The values that a register may hold, in any of its elements.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Values {
    /// Those of which something is known, in order.
    pub(super) known: Vec<Linear>,
    /// An unknown number that has nothing to do with places in the code.
    pub(super) unknown: Option<Unknown>,
}

impl Values {
    /// One value.
    pub(super) fn one(value: Linear) -> Self {
        Self { known: alloc::vec![value], unknown: None }
    }

    /// An unknown number.
    pub(super) const fn unknown(from: Unknown) -> Self {
        Self { known: Vec::new(), unknown: Some(from) }
    }

    /// Adds a value.
    pub(super) fn add(&mut self, value: Linear) {
        if let Err(at) = self.known.binary_search(&value) {
            self.known.insert(at, value);
        }
    }

    /// Adds the values of another set.
    pub(super) fn join(&mut self, other: &Self) {
        for value in &other.known {
            if self.known.binary_search(value).is_err() {
                self.add(value.clone());
            }
        }
        self.unknown = match (self.unknown, other.unknown) {
            (Some(one), Some(two)) => Some(one.max(two)),
            (one, two) => one.or(two),
        };
    }

    /// Forgets numbers if there are too many values, so that loops which count come to an end; `at` is where that happens.
    pub(super) fn limit(&mut self, at: usize) {
        if self.known.len() <= MAX_VALUES {
            return;
        }
        for value in core::mem::take(&mut self.known) {
            match value.is_number() {
                true => self.unknown = self.unknown.or(Some(Unknown::By(at))),
                false => self.add(value.widened()),
            }
        }
    }

    /// The sums of each of these and each of other values; `None` if there is one that no address is computed by. `at` is the instruction that adds them.
    pub(super) fn plus(&self, other: &Self, at: usize) -> Option<Self> {
        let mut sums = Self::default();
        for (one, two) in self.known.iter().flat_map(|one| other.known.iter().map(move |two| (one, two))) {
            sums.add(one.plus(two)?);
        }
        for (known, unknown) in [(&self.known, other.unknown), (&other.known, self.unknown)] {
            for value in known.iter().filter(|_| unknown.is_some()) {
                match value.is_number() {
                    true => sums.unknown = Some(Unknown::By(at)),
                    false => sums.add(value.widened()),
                }
            }
        }
        if self.unknown.is_some() && other.unknown.is_some() {
            sums.unknown = Some(Unknown::By(at));
        }
        Some(sums)
    }

    /// The values with their signs changed, if they are numbers.
    pub(super) fn negated(&self) -> Option<Self> {
        let mut negated = Self { known: Vec::new(), unknown: self.unknown };
        for value in &self.known {
            negated.add(value.negated()?);
        }
        Some(negated)
    }

    /// The values shifted to the left, if they are numbers and it is known by how much.
    pub(super) fn shifted_left(&self, by: &Self) -> Option<Self> {
        let ([by], None) = (&by.known[..], by.unknown) else { return None };
        let by = (by.known_number()? & 31) as u8;
        let mut shifted = Self::default();
        for value in &self.known {
            shifted.add(value.shifted_left(by)?);
        }
        if self.unknown.is_some() {
            shifted.add(Linear::index(by));
        }
        Some(shifted)
    }

    /// Whether one of them depends on where code is.
    pub(super) fn follow_code(&self) -> bool {
        self.known.iter().any(|value| !value.is_number())
    }
}

/// What is known of all registers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct State {
    registers: Vec<Values>,
    /// The last write of a register under a condition, while the flags are what they were then: what it holds in the elements in which the condition holds.
    conditional: Vec<Option<(Condition, Values)>>,
}

impl State {
    /// The state at the start of a program.
    pub(super) fn at_start() -> Self {
        Self {
            registers: alloc::vec![Values::unknown(Unknown::AtStart); REGISTERS],
            conditional: alloc::vec![None; REGISTERS],
        }
    }

    /// The values of a register, as an operation with a condition reads them.
    pub(super) fn read(&self, register: usize, condition: Condition) -> &Values {
        match &self.conditional[register] {
            Some((under, values)) if *under == condition => values,
            _ => &self.registers[register],
        }
    }

    /// The values of a register in all elements.
    pub(super) fn all(&self, register: usize) -> &Values {
        &self.registers[register]
    }

    /// Writes a register: in the elements in which a condition holds, or without one in elements that are not known.
    pub(super) fn write(&mut self, at: usize, register: usize, values: Values, condition: Option<Condition>) {
        if condition == Some(Condition::Always) {
            self.conditional[register] = None;
            self.registers[register] = values;
        } else {
            self.registers[register].join(&values);
            self.conditional[register] = condition.map(|condition| (condition, values));
        }
        self.registers[register].limit(at);
    }

    /// Forgets which elements were written, because the flags change.
    pub(super) fn forget_conditions(&mut self) {
        self.conditional.fill(None);
    }

    /// Adds what another state knows; returns whether that changes anything. `at` is where both meet.
    pub(super) fn join(&mut self, other: &Self, at: usize) -> bool {
        let mut changed = false;
        for register in 0..REGISTERS {
            // A condition is kept once there is one, so that joining comes to an end.
            let condition = self.conditional[register].as_ref().or(other.conditional[register].as_ref());
            if let Some(condition) = condition.map(|(condition, _)| *condition) {
                let mut values = self.read(register, condition).clone();
                values.join(other.read(register, condition));
                values.limit(at);
                let joined = Some((condition, values));
                changed |= self.conditional[register] != joined;
                self.conditional[register] = joined;
            }
            let before = self.registers[register].clone();
            self.registers[register].join(&other.registers[register]);
            self.registers[register].limit(at);
            changed |= self.registers[register] != before;
        }
        changed
    }
}

/// Index of a register among [`REGISTERS`].
pub(super) fn index_of(register: Register) -> usize {
    match register {
        Register::InFile(File::A, number) => usize::from(number),
        Register::InFile(File::B, number) => 32 + usize::from(number),
        Register::Accumulator(number) => 64 + usize::from(number),
    }
}
