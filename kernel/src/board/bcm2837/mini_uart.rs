//! UART1: the small serial port of the auxiliary block
//!
//! It resembles a 16550 and has FIFOs of 8 bytes. Its baud rate is core clock / (8 * (divisor + 1)), so it is right only while the core clock does not change:
//! config.txt fixes it (`core_freq=250`) where it selects this UART, and the divisor follows the measured clock after each change that the kernel makes.
//!
//! # Sources
//! BCM2835 ARM Peripherals, chapter 2, and its errata (IER bits 1 and 0 are swapped in the table on p.12).

use tock_registers::{
    interfaces::{ReadWriteable, Readable, Writeable},
    register_bitfields, register_structs,
    registers::{ReadOnly, ReadWrite, WriteOnly},
};

use super::uart::{BAUD_RATE, Uart};
use crate::mmio::Mmio;

register_bitfields! { u32,
    /// Enables of auxiliary devices.
    AUXENB [
        /// The mini UART.
        MINI_UART OFFSET(0) NUMBITS(1) [],
    ],
    /// Interrupt enables.
    IER [
        /// Interrupt when a byte has been received. The errata move it here from bit 1.
        RECEIVE OFFSET(0) NUMBITS(1) [],
    ],
    /// FIFO control.
    IIR [
        /// Writing ones empties both FIFOs.
        CLEAR OFFSET(1) NUMBITS(2) [],
    ],
    /// Line control.
    LCR [
        /// Eight data bits are selected by both bits; the manual shows one [errata].
        DATA_SIZE OFFSET(0) NUMBITS(2) [ EightBits = 0b11 ],
    ],
    /// Line status.
    LSR [
        /// The transmitter is idle and its FIFO is empty.
        TX_IDLE OFFSET(6) NUMBITS(1) [],
        /// The transmit FIFO has room for at least one byte.
        TX_EMPTY OFFSET(5) NUMBITS(1) [],
        /// A byte has been received.
        DATA_READY OFFSET(0) NUMBITS(1) [],
    ],
    /// Control.
    CNTL [
        TX_ENABLE OFFSET(1) NUMBITS(1) [],
        RX_ENABLE OFFSET(0) NUMBITS(1) [],
    ],
}

register_structs! {
    /// The mini UART's registers in the auxiliary block.
    #[allow(missing_docs, reason = "field names are the manual's register names")]
    pub Registers {
        (0x00 => _auxirq),
        (0x04 => pub auxenb: ReadWrite<u32, AUXENB::Register>),
        (0x08 => _reserved),
        (0x40 => pub io: ReadWrite<u32>),
        (0x44 => pub ier: WriteOnly<u32, IER::Register>),
        (0x48 => pub iir: WriteOnly<u32, IIR::Register>),
        (0x4c => pub lcr: WriteOnly<u32, LCR::Register>),
        (0x50 => pub mcr: WriteOnly<u32>),
        (0x54 => pub lsr: ReadOnly<u32, LSR::Register>),
        (0x58 => _msr),
        (0x60 => pub cntl: ReadWrite<u32, CNTL::Register>),
        (0x64 => _stat),
        (0x68 => pub baud: WriteOnly<u32>),
        (0x6c => @END),
    }
}

/// The divisor for the console's baud rate, rounded to the nearest.
///
/// At 250 MHz: 250,000,000 / (8 * 115,200) - 1 = 270.27, so 270 (0.1 % off).
#[must_use]
pub fn divisor(core_clock_hz: u32) -> u32 {
    ((core_clock_hz + 4 * BAUD_RATE) / (8 * BAUD_RATE)).saturating_sub(1)
}

/// UART1.
#[derive(Debug)]
pub struct MiniUart {
    registers: Mmio<Registers>,
}

impl MiniUart {
    /// Initialises the UART; the core clock runs at `core_clock_hz`.
    #[must_use]
    pub fn new(registers: Mmio<Registers>, core_clock_hz: u32) -> Self {
        registers.auxenb.modify(AUXENB::MINI_UART::SET);
        registers.cntl.set(0);
        registers.ier.set(0);
        registers.lcr.write(LCR::DATA_SIZE::EightBits);
        registers.mcr.set(0);
        registers.baud.set(divisor(core_clock_hz));
        registers.iir.write(IIR::CLEAR.val(0b11));
        registers.cntl.write(CNTL::TX_ENABLE::SET + CNTL::RX_ENABLE::SET);
        Self { registers }
    }

    /// Keeps the baud rate when the core clock has changed to `core_clock_hz`, after all bytes have been sent.
    pub fn follow_clock(&mut self, core_clock_hz: u32) {
        self.flush();
        self.registers.baud.set(divisor(core_clock_hz));
    }

    /// The UART, which is already initialised.
    #[must_use]
    pub fn already_set_up(registers: Mmio<Registers>) -> Self {
        Self { registers }
    }
}

impl Uart for MiniUart {
    fn try_send(&mut self, byte: u8) -> bool {
        if !self.registers.lsr.is_set(LSR::TX_EMPTY) {
            return false;
        }
        self.registers.io.set(u32::from(byte));
        true
    }

    fn try_receive(&mut self) -> Option<u8> {
        self.registers.lsr.is_set(LSR::DATA_READY).then(|| self.registers.io.get() as u8)
    }

    fn enable_receive_interrupt(&mut self) {
        self.registers.ier.write(IER::RECEIVE::SET);
    }

    fn acknowledge_receive_interrupt(&mut self) {
        // The interrupt is deasserted when the FIFO is empty.
    }

    fn has_sent(&self) -> bool {
        self.registers.lsr.is_set(LSR::TX_IDLE)
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn divisors_round_to_the_nearest() {
        assert_eq!(super::divisor(250_000_000), 270);
        assert_eq!(super::divisor(400_000_000), 433);
        assert_eq!(super::divisor(0), 0);
    }
}
