//! The bank of each value during scheduling, and the resulting live ranges.
//!
//! Only the number of registers in use is tracked here; the pass `allocate` chooses the registers.

use alloc::vec;
use alloc::vec::Vec;

use v3d_hw::qpu::Hazard;

use crate::bundle::{Bank, RangeId};
use crate::machine::Register;

/// Cycles from an operation to the first instruction that can read its result; a rotation of it needs one more.
pub(super) const fn latency(bank: Bank, is_rotated: bool) -> usize {
    let hazard = match bank {
        Bank::Accumulator | Bank::R4 => return 1,
        Bank::A | Bank::B if is_rotated => Hazard::ReadAfterRotatedWrite,
        Bank::A | Bank::B => Hazard::ReadAfterWrite,
    };
    hazard.distance() as usize
}

/// r0 to r3.
pub(crate) const ACCUMULATORS: usize = 4;
/// Number of registers of a file.
pub(crate) const FILE_REGISTERS: u8 = 32;
/// Registers of both files that are never allocated: the hardware writes the next fragment's values to them [AG p.21].
pub(crate) const KEPT_FREE: [u8; 2] = [14, 15];

/// A live range: a value in one bank, from the instruction that writes it to the last one that reads it there.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LiveRange {
    pub(crate) register: Register,
    pub(crate) bank: Bank,
    pub(crate) start: usize,
    /// The last instruction that reads it; the register can be written from there on. `None` if it is live until the end.
    pub(crate) end: Option<usize>,
    /// It must be in r0.
    pub(crate) is_color: bool,
}

#[derive(Clone, Debug)]
pub(super) struct Occupancy {
    places: Vec<Option<(Bank, RangeId)>>,
    ready: Vec<usize>,
    in_bank: [Vec<Register>; 3],
    pub(super) r4: Option<Register>,
    /// Number of registers of each file.
    in_file: usize,
    pub(super) ranges: Vec<LiveRange>,
}

impl Occupancy {
    pub(super) fn new(count: usize, reserved_from: u8) -> Self {
        let reserved_from = reserved_from.min(FILE_REGISTERS);
        let kept = KEPT_FREE.iter().filter(|number| **number < reserved_from).count();
        Self {
            places: vec![None; count],
            ready: vec![0; count],
            in_bank: Default::default(),
            r4: None,
            in_file: usize::from(reserved_from) - kept,
            ranges: Vec::new(),
        }
    }

    /// Extends the tables for registers that were added.
    pub(super) fn grow(&mut self, count: usize) {
        self.places.resize(count, None);
        self.ready.resize(count, 0);
    }

    pub(super) fn place(&self, register: Register) -> Option<(Bank, RangeId)> {
        self.places[register.index()]
    }

    pub(super) fn bank(&self, register: Register) -> Option<Bank> {
        self.place(register).map(|(bank, _)| bank)
    }

    /// The first cycle in which it can be read.
    pub(super) fn ready(&self, register: Register) -> usize {
        self.ready[register.index()]
    }

    const fn capacity(&self, bank: Bank) -> usize {
        match bank {
            Bank::Accumulator => ACCUMULATORS,
            Bank::A | Bank::B => self.in_file,
            Bank::R4 => 1,
        }
    }

    /// Registers with values in a bank other than r4, oldest first.
    pub(super) fn in_bank(&self, bank: Bank) -> &[Register] {
        match bank {
            Bank::Accumulator => &self.in_bank[0],
            Bank::A => &self.in_bank[1],
            Bank::B => &self.in_bank[2],
            Bank::R4 => &[],
        }
    }

    /// Number of free registers of a bank.
    pub(super) fn free_in(&self, bank: Bank) -> usize {
        self.capacity(bank).saturating_sub(self.in_bank(bank).len())
    }

    pub(super) fn has_room(&self, bank: Bank) -> bool {
        self.free_in(bank) > 0
    }

    /// Whether file B has more free registers than file A.
    pub(super) fn is_emptier_b(&self) -> bool {
        self.in_bank(Bank::B).len() < self.in_bank(Bank::A).len()
    }

    fn remove(&mut self, register: Register) -> Option<(Bank, RangeId)> {
        let place = self.places[register.index()].take()?;
        match place.0 {
            Bank::R4 => self.r4 = self.r4.filter(|owner| *owner != register),
            Bank::Accumulator => self.in_bank[0].retain(|other| *other != register),
            Bank::A => self.in_bank[1].retain(|other| *other != register),
            Bank::B => self.in_bank[2].retain(|other| *other != register),
        }
        Some(place)
    }

    fn insert(&mut self, register: Register, place: (Bank, RangeId)) {
        self.places[register.index()] = Some(place);
        match place.0 {
            Bank::R4 => self.r4 = Some(register),
            Bank::Accumulator => self.in_bank[0].push(register),
            Bank::A => self.in_bank[1].push(register),
            Bank::B => self.in_bank[2].push(register),
        }
    }

    /// The index of the next live range in a bank.
    pub(super) fn next_range(&self) -> RangeId {
        RangeId(self.ranges.len() as u32)
    }

    /// Starts a live range in a bank, written in this cycle and readable from `ready` on; the register's previous range ends.
    pub(super) fn begin(&mut self, register: Register, bank: Bank, now: usize, ready: usize) -> RangeId {
        if let Some((_, old)) = self.remove(register) {
            self.ranges[old.index()].end = Some(now);
        }
        if bank == Bank::R4
            && let Some(owner) = self.r4
        {
            self.free(owner, now);
        }
        let range = self.next_range();
        self.ranges.push(LiveRange { register, bank, start: now, end: None, is_color: false });
        self.insert(register, (bank, range));
        self.ready[register.index()] = ready;
        range
    }

    /// A register is written again within its live range.
    pub(super) fn rewrite(&mut self, register: Register, ready: usize) {
        self.ready[register.index()] = ready;
    }

    /// A register continues the live range of another one, whose value it partly overwrites.
    pub(super) fn take_over(&mut self, from: Register, to: Register, ready: usize) {
        if let Some(place) = self.remove(from) {
            self.insert(to, place);
        }
        self.ready[to.index()] = ready;
    }

    /// Ends the live range of a register that is dead.
    pub(super) fn free(&mut self, register: Register, now: usize) {
        if let Some((_, range)) = self.remove(register) {
            self.ranges[range.index()].end = Some(now);
        }
    }

    /// Moves the instructions from this one on down by one.
    pub(super) fn move_down(&mut self, from: usize) {
        let moved = |at: &mut usize| *at += usize::from(*at >= from);
        for range in &mut self.ranges {
            moved(&mut range.start);
            range.end.as_mut().map(moved);
        }
        self.ready.iter_mut().for_each(|ready| *ready += usize::from(*ready > from));
    }

    /// Number of registers for values: of both files, and five accumulators.
    pub(super) const fn count(&self) -> usize {
        2 * self.in_file + ACCUMULATORS + 1
    }

    /// Number of registers with values.
    pub(super) fn in_use(&self) -> usize {
        self.in_bank.iter().map(Vec::len).sum::<usize>() + usize::from(self.r4.is_some())
    }
}
