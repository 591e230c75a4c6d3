//! Lookups: the parameters of the next one, and pending results.

use v3d_hw::qpu::address_map::TmuCoordinate;

/// Parameters of a texture.
const PARAMETERS: usize = 4;
/// Results that a TMU keeps for a QPU [AG p.40].
const RESULTS: usize = 8;
/// Slots for coordinates that a TMU has for a QPU [AG p.39]; two threads share them.
const SLOTS: u8 = 8;

/// The uniforms that belong to the coordinates of one lookup, by their numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Parameters {
    uniforms: [u32; PARAMETERS],
    count: u8,
    /// A bit for each coordinate that was written.
    written: u8,
}

impl Parameters {
    pub(super) const fn is_empty(&self) -> bool {
        self.count == 0
    }

    pub(super) const fn count(&self) -> u8 {
        self.count
    }

    /// A coordinate is written. If one were written twice, the assignment of uniforms to parameters would be undefined.
    pub(super) fn push(&mut self, coordinate: TmuCoordinate, uniform: u32) -> Result<(), &'static str> {
        let bit = match coordinate {
            TmuCoordinate::S => 1,
            TmuCoordinate::T => 2,
            TmuCoordinate::R => 4,
            TmuCoordinate::B => 8,
        };
        let place = self.uniforms.get_mut(usize::from(self.count)).filter(|_| self.written & bit == 0);
        *place.ok_or("writes a texture coordinate twice for one lookup")? = uniform;
        self.count += 1;
        self.written |= bit;
        Ok(())
    }

    /// The uniforms, in the order of the writes.
    pub(super) fn uniforms(&self) -> &[u32] {
        self.uniforms.get(..usize::from(self.count)).unwrap_or_default()
    }
}

/// Pending lookups.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Results {
    /// Slots that each of them uses, oldest first.
    slots: [u8; RESULTS],
    count: u8,
}

impl Results {
    /// Starts a lookup whose coordinates use this number of slots.
    pub(super) fn push(&mut self, slots: u8, threaded: bool) -> Result<(), &'static str> {
        let room = if threaded { SLOTS / 2 } else { SLOTS };
        let in_use: u8 = self.slots.iter().sum();
        let free = self.slots.get_mut(usize::from(self.count)).filter(|_| in_use + slots <= room);
        *free.ok_or("begins a lookup for which a TMU has no room")? = slots;
        self.count += 1;
        Ok(())
    }

    /// A result is taken.
    pub(super) fn pop(&mut self) -> Result<(), &'static str> {
        self.count = self.count.checked_sub(1).ok_or("takes the result of a lookup, but none is under way")?;
        self.slots.rotate_left(1);
        self.slots[RESULTS - 1] = 0;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tmu_has_eight_slots_and_a_thread_half_of_them() {
        for (threaded, lookups) in [(false, 4), (true, 2)] {
            let mut results = Results::default();
            for _ in 0..lookups {
                results.push(2, threaded).unwrap();
            }
            assert!(results.push(1, threaded).is_err());
            results.pop().unwrap();
            assert_eq!(results.push(2, threaded), Ok(()));
            assert!((0..lookups).all(|_| results.pop().is_ok()) && results.pop().is_err());
            assert_eq!(results, Results::default());
        }
    }

    #[test]
    fn each_coordinate_is_written_once() {
        let mut parameters = Parameters::default();
        parameters.push(TmuCoordinate::T, 7).unwrap();
        assert!(parameters.push(TmuCoordinate::T, 8).is_err());
        parameters.push(TmuCoordinate::S, 9).unwrap();
        assert_eq!(parameters.uniforms(), [7, 9]);
    }
}
