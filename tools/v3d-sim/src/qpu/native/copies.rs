//! Which vector registers of the host hold copies of places of the register array.
//!
//! Memory always holds the truth: whatever is written to a place is stored there at once. A register only spares the next reader a load, so that
//! copies can be forgotten at any time, and need no saving when code is left.

use crate::qpu::registers::Place;

/// Numbers of the host's registers that hold copies. The others are for intermediate values and constants.
const NUMBERS: [u8; 25] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 23, 24, 25, 26, 27, 28, 29, 30, 31];

/// The copies at a point of the code.
#[derive(Clone, Debug)]
pub(super) struct Copies {
    holders: [Option<u8>; 256],
    /// When each register was last wanted.
    wanted: [u32; 32],
    now: u32,
}

impl Copies {
    /// No copies.
    pub(super) fn none() -> Self {
        Self { holders: [None; 256], wanted: [0; 32], now: 0 }
    }

    /// Forgets all copies.
    pub(super) fn forget(&mut self) {
        self.holders = [None; 256];
    }

    /// The register that holds a copy of a place.
    pub(super) fn of(&mut self, place: Place) -> Option<u8> {
        let number = self.holders[usize::from(place)]?;
        self.want(number);
        Some(number)
    }

    /// A register for a new value: the one that has not been wanted for longest. What it was a copy of is forgotten.
    pub(super) fn take(&mut self) -> u8 {
        let number = NUMBERS.into_iter().min_by_key(|&number| self.wanted[usize::from(number)]).unwrap_or(0);
        for holder in &mut self.holders {
            *holder = holder.filter(|&held| held != number);
        }
        self.want(number);
        number
    }

    /// Notes that a register holds what is in a place now.
    pub(super) fn note(&mut self, place: Place, number: u8) {
        self.holders[usize::from(place)] = Some(number);
    }

    fn want(&mut self, number: u8) {
        self.now += 1;
        self.wanted[usize::from(number)] = self.now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_register_that_was_wanted_first_is_taken() {
        let mut copies = Copies::none();
        let numbers: Vec<u8> = (0..25)
            .map(|place| {
                let number = copies.take();
                copies.note(place, number);
                number
            })
            .collect();
        assert_eq!(copies.of(0), Some(numbers[0]));
        assert_eq!(copies.take(), numbers[1]);
        assert_eq!(copies.of(1), None);
        assert_eq!(copies.of(0), Some(numbers[0]));
        copies.forget();
        assert_eq!(copies.of(0), None);
    }
}
