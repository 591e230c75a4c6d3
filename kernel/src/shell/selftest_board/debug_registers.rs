//! Registers that show the V3D's inner state, and how they change from step to step
//!
//! Boards that work have values other than 0 here (FDBGO 4 or 6, FDBGB 0x18, FDBGS 0x3147 and ERRSTAT 0x1000 after jobs that drew correctly [bm]), which no
//! source explains. They are therefore recorded, and not judged.

use core::fmt;

use v3d::{hw::registers::Register, platform::RegisterAccess};

/// The registers, in the order in which they are printed.
const REGISTERS: [Register; 7] = [
    Register::PCS,
    Register::ERRSTAT,
    Register::DBGE,
    Register::FDBGO,
    Register::FDBGB,
    Register::FDBGR,
    Register::FDBGS,
];

/// Their values at one time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct DebugRegisters {
    values: [u32; REGISTERS.len()],
}

impl DebugRegisters {
    pub(super) fn read(registers: &impl RegisterAccess) -> Self {
        Self { values: REGISTERS.map(|register| registers.read(register)) }
    }

    /// The values that differ from earlier ones.
    pub(super) fn changes_since(&self, before: &Self) -> impl fmt::Display {
        Changes { after: *self, before: Some(*before) }
    }
}

impl fmt::Display for DebugRegisters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Changes { after: *self, before: None }.fmt(f)
    }
}

/// All values, or those that differ from earlier ones.
struct Changes {
    after: DebugRegisters,
    before: Option<DebugRegisters>,
}

impl fmt::Display for Changes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut separator = "";
        for (index, (register, value)) in REGISTERS.into_iter().zip(self.after.values).enumerate() {
            if self.before.is_none_or(|before| before.values[index] != value) {
                write!(f, "{separator}{} {value:#x}", register.name())?;
                separator = ", ";
            }
        }
        Ok(())
    }
}
