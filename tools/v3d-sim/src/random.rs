//! Random numbers for suites and tests, the same on every host and in every version.

use crate::qpu::lanes::Lanes;

/// A generator of random numbers: splitmix64.
#[derive(Clone, Debug)]
pub struct Random {
    state: u64,
    ordinary: bool,
}

impl Random {
    /// The generator for a case of a suite.
    pub fn new(suite: u64, case: u64) -> Self {
        let mut random = Self { state: suite.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ case, ordinary: false };
        random.next_u64();
        random
    }

    /// The same generator, whose [values](Self::value) are floats as programs of scenes compute with if `ordinary`: 0, or from 2^-20 to 2^20.
    #[must_use]
    pub fn with_ordinary_values(self, ordinary: bool) -> Self {
        Self { ordinary, ..self }
    }

    /// The generator for a suite with a name.
    pub fn named(suite: &str) -> Self {
        // FNV-1a.
        let hash = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
        Self::new(suite.bytes().fold(0xcbf2_9ce4_8422_2325, hash), 0)
    }

    /// 64 random bits.
    pub fn next_u64(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    /// A number below a limit.
    ///
    /// # Panics
    /// If the limit is 0.
    pub fn below(&mut self, limit: u32) -> u32 {
        (self.next_u64() >> 32) as u32 % limit
    }

    /// A number in a range.
    ///
    /// # Panics
    /// If the range is empty.
    pub fn within(&mut self, range: std::ops::Range<i32>) -> i32 {
        range.start + self.below((range.end - range.start) as u32) as i32
    }

    /// True in one of `chances` cases on average.
    ///
    /// # Panics
    /// If `chances` is 0.
    pub fn one_in(&mut self, chances: u32) -> bool {
        self.below(chances) == 0
    }

    /// One of some choices.
    ///
    /// # Panics
    /// If there are none.
    pub fn pick<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len() as u32) as usize]
    }

    /// A 32-bit value, often one at an edge of integers or floats.
    pub fn value(&mut self) -> u32 {
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
        let random = self.next_u64() as u32;
        match self.below(8) {
            0 if self.ordinary => random & 0x8000_0000,
            _ if self.ordinary => random & 0x807f_ffff | (107 + self.below(40)) << 23,
            0 => self.pick(&EDGES),
            // Floats of a similar size, so that sums and products are not trivial.
            1..=4 => random & 0x807f_ffff | (100 + self.below(56)) << 23,
            5 => random >> self.below(32),
            _ => random,
        }
    }

    /// A [value](Self::value) in each element.
    pub fn lanes(&mut self) -> Lanes {
        Lanes(std::array::from_fn(|_| self.value()))
    }
}

/// Why a case failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("suite {suite}, case {case}: {what}")]
pub struct Failure {
    /// Name of the suite.
    pub suite: &'static str,
    /// Number of the case.
    pub case: u64,
    /// The difference, or that nothing has happened.
    pub what: String,
}
