//! The system timer: 1 MHz, with four compare registers, of which the ARM uses 1 and 3
//!
//! The counter runs freely. When its low half equals compare register N, bit N of CS is set and GPU interrupt N is raised. Channels 0 and 2 belong to the
//! VideoCore.
//!
//! # Sources
//! BCM2835 ARM Peripherals, chapter 12.

use tock_registers::{
    interfaces::{Readable, Writeable},
    register_bitfields, register_structs,
    registers::{ReadOnly, ReadWrite},
};

use crate::mmio::Mmio;

register_bitfields! { u32,
    /// Which channels have matched; writing a one clears the bit.
    CS [
        M3 OFFSET(3) NUMBITS(1) [],
        M1 OFFSET(1) NUMBITS(1) [],
    ],
}

register_structs! {
    /// The system timer's registers.
    #[allow(missing_docs, reason = "field names are the manual's register names")]
    pub Registers {
        (0x00 => pub cs: ReadWrite<u32, CS::Register>),
        (0x04 => pub clo: ReadOnly<u32>),
        (0x08 => _chi),
        (0x0c => _c0),
        (0x10 => pub c1: ReadWrite<u32>),
        (0x14 => _c2),
        (0x18 => pub c3: ReadWrite<u32>),
        (0x1c => @END),
    }
}

/// The timer, of which channel 1 is used for ticks.
#[derive(Debug)]
pub struct SystemTimer {
    registers: Mmio<Registers>,
}

impl SystemTimer {
    /// The timer.
    #[must_use]
    pub const fn new(registers: Mmio<Registers>) -> Self {
        Self { registers }
    }

    /// Raises the interrupt of channel 1 in `delay_us` microseconds, and clears a pending one.
    pub fn alarm_in(&self, delay_us: u32) {
        self.registers.cs.write(CS::M1::SET);
        // Channels compare for equality: a time that has passed would match only after 71 minutes. A time counted from now has not passed.
        self.registers.c1.set(self.registers.clo.get().wrapping_add(delay_us));
    }

    /// Raises the interrupt of channel 3 in `delay_us` microseconds, until [`Self::quiet_spare`].
    pub fn raise_spare_in(&self, delay_us: u32) {
        self.registers.c3.set(self.registers.clo.get().wrapping_add(delay_us));
    }

    /// Clears the interrupt of channel 3.
    pub fn quiet_spare(&self) {
        self.registers.cs.write(CS::M3::SET);
    }
}
