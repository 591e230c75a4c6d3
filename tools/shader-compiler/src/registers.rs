//! Which registers hold what.
//!
//! r0 to r3 can be read a cycle after they are written, and any number of them in one instruction; of each file one register can be read, two cycles
//! after it was written [AG p.17, p.37]. r4 has what the special function unit and the TMUs give, until the next result comes.

use v3d_hw::qpu::Hazard;

use crate::machine::Register;

/// Where a register is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// r0 to r3.
    Accumulator(u8),
    A(u8),
    B(u8),
    R4,
}

impl Place {
    /// Cycles from an operation to the first in which its result can be read here; a rotated one comes later.
    pub(crate) const fn latency(self, is_rotated: bool) -> usize {
        let hazard = match self {
            Self::Accumulator(_) | Self::R4 => return 1,
            Self::A(_) | Self::B(_) if is_rotated => Hazard::ReadAfterRotatedWrite,
            Self::A(_) | Self::B(_) => Hazard::ReadAfterWrite,
        };
        hazard.distance() as usize
    }
}

/// Registers of a file that have values: 14 and 15 belong to the fragment that comes next [AG p.21].
const IN_FILE: u8 = 32;
const KEPT_FREE: [u8; 2] = [14, 15];

/// Places and what is in them.
#[derive(Clone, Debug)]
pub(crate) struct Registers {
    places: Vec<Option<Place>>,
    ready: Vec<usize>,
    accumulators: [Option<Register>; 4],
    a: [Option<Register>; IN_FILE as usize],
    b: [Option<Register>; IN_FILE as usize],
    pub(crate) r4: Option<Register>,
    /// Registers of each file from this one on are not for values.
    reserved_from: u8,
}

impl Registers {
    pub(crate) fn new(count: usize, reserved_from: u8) -> Self {
        Self {
            places: vec![None; count],
            ready: vec![0; count],
            accumulators: [None; 4],
            a: [None; IN_FILE as usize],
            b: [None; IN_FILE as usize],
            r4: None,
            reserved_from: reserved_from.min(IN_FILE),
        }
    }

    /// Makes room for registers that came later.
    pub(crate) fn grow(&mut self, count: usize) {
        self.places.resize(count, None);
        self.ready.resize(count, 0);
    }

    pub(crate) fn place(&self, register: Register) -> Option<Place> {
        self.places[register.index()]
    }

    /// The first cycle in which it can be read.
    pub(crate) fn ready(&self, register: Register) -> usize {
        self.ready[register.index()]
    }

    fn slot(&mut self, place: Place) -> &mut Option<Register> {
        match place {
            Place::Accumulator(number) => &mut self.accumulators[usize::from(number & 3)],
            Place::A(number) => &mut self.a[usize::from(number & 31)],
            Place::B(number) => &mut self.b[usize::from(number & 31)],
            Place::R4 => &mut self.r4,
        }
    }

    /// Puts a register somewhere, where it can be read from a cycle on.
    pub(crate) fn put(&mut self, register: Register, place: Place, ready: usize) {
        if let Some(old) = self.places[register.index()]
            && old != place
        {
            *self.slot(old) = None;
        }
        *self.slot(place) = Some(register);
        self.places[register.index()] = Some(place);
        self.ready[register.index()] = ready;
    }

    /// Nobody needs it any more.
    pub(crate) fn free(&mut self, register: Register) {
        if let Some(place) = self.places[register.index()].take()
            && *self.slot(place) == Some(register)
        {
            *self.slot(place) = None;
        }
    }

    /// Registers in r0 to r3.
    pub(crate) fn in_accumulators(&self) -> impl Iterator<Item = Register> + '_ {
        self.accumulators.iter().copied().flatten()
    }

    /// Registers in file A.
    pub(crate) fn in_a(&self) -> impl Iterator<Item = Register> + '_ {
        self.a.iter().copied().flatten()
    }

    /// Registers in file B.
    pub(crate) fn in_b(&self) -> impl Iterator<Item = Register> + '_ {
        self.b.iter().copied().flatten()
    }

    /// Whether file B has more free registers than file A.
    pub(crate) fn is_emptier_b(&self) -> bool {
        self.in_b().count() < self.in_a().count()
    }

    /// Accumulators that are free, the one that colours end in last.
    pub(crate) fn free_accumulators(&self) -> impl Iterator<Item = Place> + Clone + '_ {
        [1, 2, 3, 0].into_iter().filter(|&at| self.accumulators[at].is_none()).map(|at| Place::Accumulator(at as u8))
    }

    pub(crate) fn free_in_a(&self) -> Option<Place> {
        self.free_in(&self.a).map(Place::A)
    }

    pub(crate) fn free_in_b(&self) -> Option<Place> {
        self.free_in(&self.b).map(Place::B)
    }

    fn free_in(&self, file: &[Option<Register>; IN_FILE as usize]) -> Option<u8> {
        (0..self.reserved_from).find(|number| !KEPT_FREE.contains(number) && file[usize::from(*number)].is_none())
    }

    /// Registers that can have values: of both files, and the five accumulators that do.
    pub(crate) fn count(&self) -> usize {
        let kept = KEPT_FREE.iter().filter(|number| **number < self.reserved_from).count();
        2 * (usize::from(self.reserved_from) - kept) + self.accumulators.len() + 1
    }

    /// Registers with values.
    pub(crate) fn in_use(&self) -> usize {
        let all = self.accumulators.iter().chain(&self.a).chain(&self.b);
        all.filter(|slot| slot.is_some()).count() + usize::from(self.r4.is_some())
    }
}
