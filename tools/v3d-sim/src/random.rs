//! Random numbers for suites of cases: of our own, so that a case stays what it is.

use crate::lanes::Lanes;

/// A generator of numbers: splitmix64.
#[derive(Clone, Debug)]
pub(crate) struct Random(u64);

impl Random {
    /// The generator of a case of a suite.
    pub(crate) fn new(suite: u64, case: u64) -> Self {
        let mut random = Self(suite.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ case);
        random.next();
        random
    }

    /// 64 bits.
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    /// A number below a limit, which is not 0.
    pub(crate) fn below(&mut self, limit: u32) -> u32 {
        (self.next() >> 32) as u32 % limit
    }

    /// True in one of so many cases.
    pub(crate) fn one_in(&mut self, chances: u32) -> bool {
        self.below(chances) == 0
    }

    /// One of some choices.
    pub(crate) fn pick<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len() as u32) as usize]
    }

    /// A 32-bit value: often one at an edge of integers or floats.
    pub(crate) fn value(&mut self) -> u32 {
        const EDGES: [u32; 20] = [
            0,
            1,
            0x7fff_ffff,
            0x8000_0000,
            0xffff_ffff,
            0x3f80_0000,
            0xbf80_0000,
            0x7f80_0000,
            0xff80_0000,
            0x7f7f_ffff,
            0xff7f_ffff,
            0x0080_0000,
            0x8080_0000,
            0x007f_ffff,
            0x4f00_0000,
            0xcf00_0000,
            0x7fc0_0001,
            0x3effffff,
            0x0000_00ff,
            0x0000_8000,
        ];
        let random = self.next() as u32;
        match self.below(8) {
            0 => self.pick(&EDGES),
            // Floats of a similar size, whose sums and products are interesting.
            1..=4 => random & 0x807f_ffff | (100 + self.below(56)) << 23,
            5 => random >> self.below(32),
            _ => random,
        }
    }

    /// A value in each element.
    pub(crate) fn lanes(&mut self) -> Lanes {
        Lanes(std::array::from_fn(|_| self.value()))
    }
}
