//! The watchdog of the power block: resets the chip on request, or when the kernel hangs
//!
//! Writes take effect only with the password 0x5A in the top byte. The watchdog counts down from its 20-bit register in 1/65536 seconds; at zero, if RSTC
//! selects a full reset, the chip restarts and the firmware loads kernel8.img again. Memory keeps its contents, except where the firmware uses it.
//!
//! RSTC has other bits, whose reset value is 0x102 and whose meaning no source gives: only WRCFG is changed, as in Linux.
//!
//! QEMU 7.2 has no countdown: a write that selects the full reset restarts the machine at once [qemu].
//!
//! # Sources
//! [linux drivers/watchdog/bcm2835_wdt.c].

use tock_registers::{
    LocalRegisterCopy,
    fields::FieldValue,
    interfaces::{Readable, Writeable},
    register_bitfields, register_structs,
    registers::ReadWrite,
};

use crate::mmio::Mmio;

register_bitfields! { u32,
    /// Reset control.
    RSTC [
        PASSWORD OFFSET(24) NUMBITS(8) [ Correct = 0x5a ],
        /// The action at zero.
        WRCFG OFFSET(4) NUMBITS(2) [ Nothing = 0b00, FullReset = 0b10 ],
    ],
    /// The countdown.
    WDOG [
        PASSWORD OFFSET(24) NUMBITS(8) [ Correct = 0x5a ],
        /// Remaining time in 1/65536 seconds.
        TIME OFFSET(0) NUMBITS(20) [],
    ],
}

register_structs! {
    /// The watchdog's part of the power block.
    #[allow(missing_docs, reason = "field names are Linux's register names")]
    pub Registers {
        (0x00 => _others),
        (0x1c => pub rstc: ReadWrite<u32, RSTC::Register>),
        (0x20 => pub rsts: ReadWrite<u32>),
        (0x24 => pub wdog: ReadWrite<u32, WDOG::Register>),
        (0x28 => @END),
    }
}

/// The longest timeout in milliseconds: 20 bits of 1/65536 seconds.
pub const MAX_MS: u32 = 15_999;

/// The watchdog.
#[derive(Debug)]
pub struct Watchdog {
    registers: Mmio<Registers>,
    timeout_ms: Option<u32>,
}

impl Watchdog {
    /// The watchdog, not armed.
    #[must_use]
    pub fn new(registers: Mmio<Registers>) -> Self {
        Self { registers, timeout_ms: None }
    }

    /// Restarts the chip `timeout_ms` milliseconds after the last [`Self::sign_of_life`].
    pub fn arm(&mut self, timeout_ms: u32) {
        self.timeout_ms = Some(timeout_ms.min(MAX_MS));
        self.sign_of_life();
    }

    /// Switches it off.
    pub fn disarm(&mut self) {
        self.timeout_ms = None;
        self.set_action(RSTC::WRCFG::Nothing);
    }

    /// Restarts the countdown if the watchdog is armed.
    pub fn sign_of_life(&mut self) {
        if let Some(timeout_ms) = self.timeout_ms {
            self.count_down(timeout_ms);
        }
    }

    /// The timeout in milliseconds, if the watchdog is armed.
    #[must_use]
    pub fn timeout_ms(&self) -> Option<u32> {
        self.timeout_ms
    }

    /// Restarts the chip within a millisecond.
    pub fn reboot(&mut self) {
        self.count_down(1);
    }

    fn count_down(&mut self, timeout_ms: u32) {
        self.registers.wdog.write(WDOG::PASSWORD::Correct + WDOG::TIME.val(ticks(timeout_ms)));
        self.set_action(RSTC::WRCFG::FullReset);
    }

    fn set_action(&self, action: FieldValue<u32, RSTC::Register>) {
        self.registers.rstc.set(with_action(self.registers.rstc.get(), action));
    }
}

/// The word to write to RSTC for this action at zero: its other bits stay as they are.
fn with_action(rstc: u32, action: FieldValue<u32, RSTC::Register>) -> u32 {
    let mut word = LocalRegisterCopy::<u32, RSTC::Register>::new(rstc);
    word.modify(RSTC::PASSWORD::Correct + action);
    word.get()
}

/// Converts milliseconds to the register's unit, limited to its maximum.
fn ticks(timeout_ms: u32) -> u32 {
    (u64::from(timeout_ms.min(MAX_MS)) * 65536 / 1000) as u32
}

#[cfg(test)]
mod tests {
    use super::{RSTC, with_action};

    /// 0x102 is Linux's PM_RSTC_RESET, and 0x20 the full reset.
    #[test]
    fn rstc_keeps_its_other_bits() {
        assert_eq!(with_action(0x102, RSTC::WRCFG::FullReset), 0x5a00_0122);
        assert_eq!(with_action(0x00ab_cdff, RSTC::WRCFG::Nothing), 0x5aab_cdcf);
    }

    #[test]
    fn the_longest_time_fits_the_register() {
        assert_eq!(super::ticks(1000), 65536);
        assert!(super::ticks(super::MAX_MS) < 1 << 20);
        assert_eq!(super::ticks(u32::MAX), super::ticks(super::MAX_MS));
    }
}
