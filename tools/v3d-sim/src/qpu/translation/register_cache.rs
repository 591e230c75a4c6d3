//! The register cache: which vector registers of the host hold registers of the QPU.
//!
//! A register of the QPU is written through to memory, from which the next segment loads it. Two kinds are not: one that is replaced before the end
//! of its segment is saved only when its host register is needed, or before a call; and what lives for one instruction only is forgotten behind it.

use crate::qpu::isa::registers::{self, RegisterIndex};

/// The host's registers that serve as cache. The others are for intermediate values and constants.
const NUMBERS: [u8; 25] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 23, 24, 25, 26, 27, 28, 29, 30, 31];

/// What lives for one instruction only.
const PASSING: [RegisterIndex; 7] = [
    registers::PORT_A,
    registers::PORT_B,
    registers::UNPACKED,
    registers::IMMEDIATE,
    registers::RESULT_ADD,
    registers::RESULT_MUL,
    registers::COEFFICIENTS,
];

/// The state of the cache at a point of the code.
#[derive(Clone, Debug)]
pub(super) struct RegisterCache {
    holders: [Option<u8>; 256],
    /// Registers of the QPU of which memory has an older value.
    unsaved: Vec<RegisterIndex>,
    /// When each host register was used last.
    wanted: [u32; 32],
    now: u32,
}

impl RegisterCache {
    /// An empty cache.
    pub(super) fn none() -> Self {
        Self { holders: [None; 256], unsaved: Vec::new(), wanted: [0; 32], now: 0 }
    }

    /// Empties the cache; memory has everything by now.
    pub(super) fn forget(&mut self) {
        debug_assert!(self.unsaved.is_empty(), "{:?} would be lost", self.unsaved);
        self.holders = [None; 256];
        self.unsaved.clear();
    }

    /// The host register that holds a register of the QPU.
    pub(super) fn of(&mut self, place: RegisterIndex) -> Option<u8> {
        let number = self.holders[usize::from(place)]?;
        self.want(number);
        Some(number)
    }

    /// A host register for a new value: the least recently used. The cache forgets what it held; what of that memory does not have yet is returned,
    /// to be saved first.
    pub(super) fn take(&mut self) -> (u8, Vec<RegisterIndex>) {
        let number = NUMBERS.into_iter().min_by_key(|&number| self.wanted[usize::from(number)]).unwrap_or(0);
        let is_held = |place: &RegisterIndex| self.holders[usize::from(*place)] == Some(number);
        let (displaced, kept) = self.unsaved.iter().copied().partition(is_held);
        self.unsaved = kept;
        for holder in &mut self.holders {
            *holder = holder.filter(|&held| held != number);
        }
        self.want(number);
        (number, displaced)
    }

    /// A host register holds what memory has, too.
    pub(super) fn note(&mut self, place: RegisterIndex, number: u8) {
        self.holders[usize::from(place)] = Some(number);
        self.unsaved.retain(|&unsaved| unsaved != place);
    }

    /// A host register holds the new value, memory an old one.
    pub(super) fn write(&mut self, place: RegisterIndex, number: u8) {
        self.note(place, number);
        self.unsaved.push(place);
    }

    /// The registers of which memory has an older value, and their host registers; from now on they count as saved.
    pub(super) fn save(&mut self) -> Vec<(RegisterIndex, u8)> {
        let unsaved = std::mem::take(&mut self.unsaved);
        unsaved.into_iter().filter_map(|place| Some((place, self.holders[usize::from(place)]?))).collect()
    }

    /// Marks a host register as free to be taken first.
    pub(super) fn drop(&mut self, number: u8) {
        self.wanted[usize::from(number)] = 0;
    }

    /// Whether a register lives for one instruction only.
    pub(super) fn passes(place: RegisterIndex) -> bool {
        PASSING.contains(&place)
    }

    /// Forgets what nothing reads behind the end of an instruction.
    pub(super) fn end_instruction(&mut self) {
        self.unsaved.retain(|place| !PASSING.contains(place));
        for place in PASSING {
            self.holders[usize::from(place)] = None;
        }
    }

    fn want(&mut self, number: u8) {
        self.now += 1;
        self.wanted[usize::from(number)] = self.now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A cache of registers 0 to 24, which fill it, and their host registers.
    fn full() -> (RegisterCache, Vec<u8>) {
        let mut cache = RegisterCache::none();
        let numbers = (0..NUMBERS.len() as RegisterIndex)
            .map(|place| {
                let (number, displaced) = cache.take();
                assert!(displaced.is_empty());
                cache.note(place, number);
                number
            })
            .collect();
        (cache, numbers)
    }

    #[test]
    fn the_register_that_was_wanted_first_is_taken() {
        let (mut cache, numbers) = full();
        assert_eq!(cache.of(0), Some(numbers[0]));
        assert_eq!(cache.take(), (numbers[1], vec![]));
        assert_eq!(cache.of(1), None);
        assert_eq!(cache.of(0), Some(numbers[0]));
        cache.forget();
        assert_eq!(cache.of(0), None);
    }

    #[test]
    fn what_memory_does_not_have_is_given_when_its_register_is_taken() {
        let (mut cache, numbers) = full();
        cache.write(0, numbers[0]);
        // Another register with the same value, and one whose first value is not needed.
        cache.write(100, numbers[0]);
        cache.write(101, numbers[0]);
        cache.write(101, numbers[1]);
        assert_eq!(cache.take(), (numbers[0], vec![0, 100]));
        assert_eq!(cache.save(), [(101, numbers[1])]);
        assert_eq!(cache.take(), (numbers[1], vec![]));
    }

    #[test]
    fn what_passes_between_parts_of_an_instruction_is_not_saved_behind_it() {
        let (mut cache, numbers) = full();
        cache.write(registers::RESULT_ADD, numbers[3]);
        cache.write(7, numbers[3]);
        cache.end_instruction();
        assert_eq!(cache.of(registers::RESULT_ADD), None);
        assert_eq!(cache.save(), [(7, numbers[3])]);
    }
}
