//! Decodes ESR_EL1 into words
//!
//! Bits 31:26 (EC) are the exception class. Bits 24:0 (ISS) are details of the class; for aborts they include a fault status code and the kind of access.
//!
//! # Sources
//! ARM DDI 0487, D19.2.37 (ESR_EL1).

use core::fmt;

/// A value of `ESR_EL1`, displayed as a sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Syndrome(pub u64);

impl Syndrome {
    /// Bits 31:26: the class of the exception.
    #[must_use]
    pub fn class(self) -> u64 {
        self.0 >> 26 & 0x3f
    }

    /// Bits 24:0: details whose meaning depends on the class.
    #[must_use]
    pub fn details(self) -> u64 {
        self.0 & 0x1ff_ffff
    }

    /// Whether `FAR_EL1` holds the address of the access that failed.
    #[must_use]
    pub fn has_fault_address(self) -> bool {
        const FAR_NOT_VALID: u64 = 1 << 10;
        match self.class() {
            0x20 | 0x21 | 0x24 | 0x25 => self.details() & FAR_NOT_VALID == 0,
            0x22 => true,
            _ => false,
        }
    }
}

impl fmt::Display for Syndrome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self.class() {
            0x00 => "unknown instruction or reason",
            0x01 => "trapped WFI or WFE",
            0x07 => "access to FP/SIMD while it is off",
            0x0e => "illegal execution state",
            0x11 | 0x15 => "SVC instruction",
            0x12 | 0x16 => "HVC instruction",
            0x13 | 0x17 => "SMC instruction",
            0x18 => "trapped access to a system register",
            0x20 => "instruction abort from a lower level",
            0x21 => "instruction abort",
            0x22 => "misaligned program counter",
            0x24 => "data abort from a lower level",
            0x25 => "data abort",
            0x26 => "misaligned stack pointer",
            0x28 | 0x2c => "floating-point exception",
            0x2f => "SError",
            0x30 | 0x31 => "hardware breakpoint",
            0x32 | 0x33 => "software step",
            0x34 | 0x35 => "watchpoint",
            0x38 | 0x3c => "breakpoint instruction",
            other => return write!(f, "exception of class {other:#04x}, details {:#x}", self.details()),
        };
        f.write_str(what)?;
        match self.class() {
            0x20 | 0x21 => write!(f, ": {}", FaultStatus(self.details())),
            0x24 | 0x25 => {
                const WRITE_NOT_READ: u64 = 1 << 6;
                let access = if self.details() & WRITE_NOT_READ != 0 { "write" } else { "read" };
                write!(f, " on a {access}: {}", FaultStatus(self.details()))
            }
            0x3c => write!(f, ", number {}", self.details() & 0xffff),
            _ => Ok(()),
        }
    }
}

/// Bits 5:0 of an abort's details.
struct FaultStatus(u64);

impl fmt::Display for FaultStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let code = self.0 & 0x3f;
        let level = code & 3;
        match code {
            0x00..=0x03 => write!(f, "address outside of the translated range (level {level})"),
            0x04..=0x07 => write!(f, "nothing is mapped there (level {level})"),
            0x08..=0x0b => write!(f, "access flag not set (level {level})"),
            0x0c..=0x0f => write!(f, "not permitted there (level {level})"),
            0x10 => f.write_str("the bus answered with an error"),
            0x14..=0x17 => write!(f, "the bus answered with an error during a table walk (level {level})"),
            0x18 => f.write_str("parity or ECC error"),
            0x21 => f.write_str("misaligned access"),
            0x30 => f.write_str("conflicting TLB entries"),
            0x35 => f.write_str("exclusive or atomic access to memory that has none"),
            other => write!(f, "fault status {other:#04x}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Syndrome;

    /// Syndromes recorded from QEMU 7.2's raspi3b or constructed from the manual's field descriptions.
    #[test]
    fn aborts_are_told_in_words() {
        let cases = [
            (0x9600_0045, "data abort on a write: nothing is mapped there (level 1)", true),
            (0x9600_0007, "data abort on a read: nothing is mapped there (level 3)", true),
            (0x9600_004f, "data abort on a write: not permitted there (level 3)", true),
            (0x8600_000f, "instruction abort: not permitted there (level 3)", true),
            (0x9600_0410, "data abort on a read: the bus answered with an error", false),
            (0x9600_0035, "data abort on a read: exclusive or atomic access to memory that has none", true),
            (0xf200_0001, "breakpoint instruction, number 1", false),
            (0x0200_0000, "unknown instruction or reason", false),
            (0xbe00_0000, "SError", false),
            (0x6600_0000, "exception of class 0x19, details 0x0", false),
        ];
        for (word, text, has_address) in cases {
            assert_eq!(Syndrome(word).to_string(), text, "{word:#x}");
            assert_eq!(Syndrome(word).has_fault_address(), has_address, "{word:#x}");
        }
    }
}
