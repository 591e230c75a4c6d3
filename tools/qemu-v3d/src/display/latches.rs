//! Registers that hold what is written to them.

/// Registers of 32 bits from offset 0 on. Beyond the last of them, loads give 0 and stores have no effect.
#[derive(Debug)]
pub(super) struct Latches<const WORDS: usize>([u32; WORDS]);

impl<const WORDS: usize> Default for Latches<WORDS> {
    fn default() -> Self {
        Self([0; WORDS])
    }
}

impl<const WORDS: usize> Latches<WORDS> {
    /// The register at byte `offset`.
    pub(super) fn get(&self, offset: u64) -> u32 {
        self.0.get(offset as usize / 4).copied().unwrap_or(0)
    }

    /// Replaces the register at byte `offset`.
    pub(super) fn set(&mut self, offset: u64, value: u32) {
        if let Some(register) = self.0.get_mut(offset as usize / 4) {
            *register = value;
        }
    }
}
