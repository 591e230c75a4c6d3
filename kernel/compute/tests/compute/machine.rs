//! A machine and pseudorandom numbers for each test.

use compute::{Compute, Session};
use v3d::{Driver, Limits};
use v3d_host::{Config, Model};

/// Runs `test` with a machine of its own, and checks that the model reports no violations.
pub(crate) fn with_gpu(test: impl FnOnce(&mut Session<'_, '_, '_, Model>)) {
    let machine = Model::new(24 << 20, Config::default());
    let mut driver = Driver::bring_up(&machine, &machine.interrupts, Limits::default()).unwrap();
    test(&mut Compute::new().on(&mut driver));
    assert_eq!(machine.take_faults(), []);
}

/// Random words and floats.
pub(crate) struct Random(v3d_sim::random::Random);

impl Random {
    pub(crate) fn new(seed: u32) -> Self {
        Self(v3d_sim::random::Random::new(0, seed.into()))
    }

    pub(crate) fn word(&mut self) -> u32 {
        (self.0.next_u64() >> 32) as u32
    }

    pub(crate) fn words(&mut self, count: usize) -> Vec<u32> {
        (0..count).map(|_| self.word()).collect()
    }

    /// Floats from -1 to 1.
    pub(crate) fn floats(&mut self, count: usize) -> Vec<f32> {
        (0..count).map(|_| (self.word() as i32) as f32 / 2_147_483_648.0).collect()
    }
}
