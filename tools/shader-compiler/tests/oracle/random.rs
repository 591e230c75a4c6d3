//! Random numbers of the programs and operands whose results are recorded in the tables beside this file.
//!
//! The records are of these sequences, and the program that makes them does not depend on the model; so this is not `v3d_sim::random`, which other tests use.

/// Marsaglia's xorshift.
pub(crate) struct Random(u64);

impl Random {
    /// A different sequence for each seed.
    pub(crate) fn new(seed: u64) -> Self {
        let mut random = Self(0x9e37_79b9_7f4a_7c15 ^ seed.wrapping_mul(0xbf58_476d_1ce4_e5b9) | 1);
        for _ in 0..4 {
            random.below(2);
        }
        random
    }

    /// A number below `bound`.
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % bound
    }

    /// A random element of a list.
    pub(crate) fn pick<'a>(&mut self, list: &[&'a str]) -> &'a str {
        list[self.below(list.len() as u64) as usize]
    }
}
