//! The watchdog of the power block: a reset on request, and by itself after a time without a sign of life
//!
//! Every write carries the password 0x5A in the top byte, or nothing happens. The watchdog counts down 16.16 seconds from the
//! value in its 20-bit register; at zero, and with full reset chosen in RSTC, the chip restarts and the firmware loads
//! kernel8.img again. Memory keeps its contents as long as the firmware does not use it.
//!
//! QEMU 7.2 has no countdown: a write that chooses the full reset restarts the machine at once [qemu].
//!
//! # Sources
//! [linux drivers/watchdog/bcm2835_wdt.c].

use tock_registers::{interfaces::Writeable, register_bitfields, register_structs, registers::ReadWrite};

use crate::mmio::Mmio;

register_bitfields! { u32,
    /// Reset control.
    RSTC [
        PASSWORD OFFSET(24) NUMBITS(8) [ Correct = 0x5a ],
        /// What the watchdog does at zero.
        WRCFG OFFSET(4) NUMBITS(2) [ Nothing = 0b00, FullReset = 0b10 ],
    ],
    /// The countdown.
    WDOG [
        PASSWORD OFFSET(24) NUMBITS(8) [ Correct = 0x5a ],
        /// 1/65536 seconds left.
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

/// The longest time there is to look after it, in milliseconds: 20 bits of 1/65536 seconds.
pub const MAX_MS: u32 = 15_999;

/// The watchdog.
#[derive(Debug)]
pub struct Watchdog {
    registers: Mmio<Registers>,
    timeout_ms: Option<u32>,
}

impl Watchdog {
    /// The watchdog, which is off until it is armed.
    #[must_use]
    pub fn new(registers: Mmio<Registers>) -> Self {
        Self { registers, timeout_ms: None }
    }

    /// Restarts the chip `timeout_ms` milliseconds after the last sign of life.
    pub fn arm(&mut self, timeout_ms: u32) {
        self.timeout_ms = Some(timeout_ms.min(MAX_MS));
        self.sign_of_life();
    }

    /// Switches it off.
    pub fn disarm(&mut self) {
        self.timeout_ms = None;
        self.registers.rstc.write(RSTC::PASSWORD::Correct + RSTC::WRCFG::Nothing);
    }

    /// Tells the watchdog, if it is armed, that the kernel lives.
    pub fn sign_of_life(&mut self) {
        if let Some(timeout_ms) = self.timeout_ms {
            self.count_down(timeout_ms);
        }
    }

    /// The time it gives the kernel, if it is armed.
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
        self.registers.rstc.write(RSTC::PASSWORD::Correct + RSTC::WRCFG::FullReset);
    }
}

/// Milliseconds as the register counts them, at most what it can hold.
fn ticks(timeout_ms: u32) -> u32 {
    (u64::from(timeout_ms.min(MAX_MS)) * 65536 / 1000) as u32
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_longest_time_fits_the_register() {
        assert_eq!(super::ticks(1000), 65536);
        assert!(super::ticks(super::MAX_MS) < 1 << 20);
        assert_eq!(super::ticks(u32::MAX), super::ticks(super::MAX_MS));
    }
}
