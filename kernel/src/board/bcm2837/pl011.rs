//! UART0: ARM PrimeCell PL011
//!
//! It has two FIFOs of 16 bytes, a divisor in 1/64ths, and any baud rate up to clock / 16.
//!
//! # Sources
//! ARM DDI 0183G (PL011 r1p5); BCM2835 ARM Peripherals, chapter 13.

use tock_registers::{
    interfaces::{Readable, Writeable},
    register_bitfields, register_structs,
    registers::{ReadOnly, ReadWrite, WriteOnly},
};

use super::uart::{BAUD_RATE, Uart};
use crate::mmio::Mmio;

register_bitfields! { u32,
    /// Data, with error flags of a received byte.
    DR [
        /// The byte.
        DATA OFFSET(0) NUMBITS(8) [],
    ],
    /// Flags.
    FR [
        /// The transmit FIFO is full.
        TXFF OFFSET(5) NUMBITS(1) [],
        /// The receive FIFO is empty.
        RXFE OFFSET(4) NUMBITS(1) [],
        /// A byte is being sent or waits in the FIFO.
        BUSY OFFSET(3) NUMBITS(1) [],
    ],
    /// Line control.
    LCRH [
        /// Length of a word.
        WLEN OFFSET(5) NUMBITS(2) [ EightBits = 0b11 ],
        /// FIFO enable.
        FEN OFFSET(4) NUMBITS(1) [],
    ],
    /// Control.
    CR [
        /// Receiver enable.
        RXE OFFSET(9) NUMBITS(1) [],
        /// Transmitter enable.
        TXE OFFSET(8) NUMBITS(1) [],
        /// UART enable.
        UARTEN OFFSET(0) NUMBITS(1) [],
    ],
    /// FIFO levels at which interrupts are raised.
    IFLS [
        RXIFLSEL OFFSET(3) NUMBITS(3) [ OneEighth = 0b000 ],
    ],
    /// Interrupt mask (1 lets it through) and clear.
    INTERRUPTS [
        /// Receive timeout: bytes have waited in the FIFO for 32 bit times.
        RT OFFSET(6) NUMBITS(1) [],
        /// The receive FIFO has reached its level.
        RX OFFSET(4) NUMBITS(1) [],
    ],
}

register_structs! {
    /// The PL011's registers.
    #[allow(missing_docs, reason = "field names are the manual's register names")]
    pub Registers {
        (0x00 => pub dr: ReadWrite<u32, DR::Register>),
        (0x04 => _rsrecr),
        (0x18 => pub fr: ReadOnly<u32, FR::Register>),
        (0x1c => _reserved),
        (0x24 => pub ibrd: WriteOnly<u32>),
        (0x28 => pub fbrd: WriteOnly<u32>),
        (0x2c => pub lcrh: WriteOnly<u32, LCRH::Register>),
        (0x30 => pub cr: WriteOnly<u32, CR::Register>),
        (0x34 => pub ifls: ReadWrite<u32, IFLS::Register>),
        (0x38 => pub imsc: ReadWrite<u32, INTERRUPTS::Register>),
        (0x3c => _ris),
        (0x44 => pub icr: WriteOnly<u32, INTERRUPTS::Register>),
        (0x48 => @END),
    }
}

/// Integer and fractional divisor (in 64ths) for the console's baud rate: clock / (16 * baud), rounded to the nearest 64th.
///
/// At 48 MHz: 48,000,000 / (16 * 115,200) = 26.0417, that is 26 and 3/64 (26.0469; the rate is off by 0.02 %).
#[must_use]
pub fn divisor(clock_hz: u32) -> (u32, u32) {
    let sixty_fourths = (u64::from(clock_hz) * 64 + u64::from(BAUD_RATE) * 8) / (u64::from(BAUD_RATE) * 16);
    ((sixty_fourths / 64) as u32, (sixty_fourths % 64) as u32)
}

/// UART0.
#[derive(Debug)]
pub struct Pl011 {
    registers: Mmio<Registers>,
}

impl Pl011 {
    /// Initialises the UART; its clock runs at `clock_hz`.
    #[must_use]
    pub fn new(registers: Mmio<Registers>, clock_hz: u32) -> Self {
        let mut uart = Self { registers };
        // The firmware may still be sending; changing the line settings would corrupt its last bytes.
        uart.flush();
        let registers = &uart.registers;
        registers.cr.set(0);
        registers.imsc.set(0);
        registers.icr.set(0x7ff);
        let (integer, fraction) = divisor(clock_hz);
        registers.ibrd.set(integer);
        registers.fbrd.set(fraction);
        // The divisor takes effect with the write to LCRH [DDI 0183G, 3.3.6].
        registers.lcrh.write(LCRH::WLEN::EightBits + LCRH::FEN::SET);
        registers.ifls.write(IFLS::RXIFLSEL::OneEighth);
        registers.cr.write(CR::UARTEN::SET + CR::TXE::SET + CR::RXE::SET);
        uart
    }

    /// The UART, which is already initialised.
    #[must_use]
    pub fn already_set_up(registers: Mmio<Registers>) -> Self {
        Self { registers }
    }
}

impl Uart for Pl011 {
    fn try_send(&mut self, byte: u8) -> bool {
        if self.registers.fr.is_set(FR::TXFF) {
            return false;
        }
        self.registers.dr.write(DR::DATA.val(u32::from(byte)));
        true
    }

    fn try_receive(&mut self) -> Option<u8> {
        if self.registers.fr.is_set(FR::RXFE) {
            return None;
        }
        Some(self.registers.dr.read(DR::DATA) as u8)
    }

    fn enable_receive_interrupt(&mut self) {
        self.registers.imsc.write(INTERRUPTS::RX::SET + INTERRUPTS::RT::SET);
    }

    fn acknowledge_receive_interrupt(&mut self) {
        self.registers.icr.write(INTERRUPTS::RX::SET + INTERRUPTS::RT::SET);
    }

    fn has_sent(&self) -> bool {
        !self.registers.fr.is_set(FR::BUSY)
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn divisors_round_to_the_nearest_64th() {
        assert_eq!(super::divisor(48_000_000), (26, 3));
        assert_eq!(super::divisor(3_000_000), (1, 40));
        assert_eq!(super::divisor(16 * 115_200), (1, 0));
    }
}
