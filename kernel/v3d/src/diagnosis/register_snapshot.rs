//! A snapshot of all registers, for a report.

use crate::platform::RegisterAccess;
use alloc::vec::Vec;
use core::fmt;
use v3d_hw::registers::{Access, Register};

/// The values of all registers that can be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegisterSnapshot {
    values: Vec<(Register, u32)>,
}

impl RegisterSnapshot {
    /// Reads every readable register. Reading has no side effects.
    pub fn take(registers: &impl RegisterAccess) -> Self {
        let readable = Register::ALL.iter().copied().filter(|register| register.access() != Access::WriteOnly);
        Self { values: readable.map(|register| (register, registers.read(register))).collect() }
    }

    /// The value of one register; `None` if it cannot be read.
    pub fn value(&self, register: Register) -> Option<u32> {
        self.values.iter().find(|(other, _)| *other == register).map(|&(_, value)| value)
    }

    /// All values in the order of the registers' addresses.
    pub fn values(&self) -> &[(Register, u32)] {
        &self.values
    }
}

impl fmt::Display for RegisterSnapshot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for &(register, value) in &self.values {
            writeln!(f, "{:8} {value:08x} {}", register.name(), register.explain(value))?;
        }
        Ok(())
    }
}
