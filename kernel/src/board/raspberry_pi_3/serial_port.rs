//! The serial port on pins 14 and 15 of the header: one of two UARTs
//!
//! The firmware's choice is read from the function of the pins ([`serial_pins`](crate::board::gpio::serial_pins)).

use super::{interrupt_lines, peripherals::Peripherals};
use crate::{
    arch::clock,
    board::{
        bcm2837::{
            gpio::{self, SerialPins},
            mini_uart::{self, MiniUart},
            pl011::{self, Pl011},
        },
        boot_requests,
        firmware::Firmware,
        uart::Uart,
    },
    mmio::Mmio,
};

/// The port.
#[derive(Debug)]
pub enum SerialPort {
    /// UART0.
    Pl011(Pl011),
    /// UART1.
    MiniUart(MiniUart),
}

impl SerialPort {
    /// Initialises the UART that is connected to the pins.
    pub fn new(
        pins: SerialPins,
        gpio: &Mmio<gpio::Registers>,
        pl011: Mmio<pl011::Registers>,
        mini_uart: Mmio<mini_uart::Registers>,
        firmware: &impl Firmware,
    ) -> Self {
        match pins {
            SerialPins::Pl011 => {
                gpio::connect_pl011(gpio, || clock::spin_for_us(2));
                Self::Pl011(Pl011::new(pl011, boot_requests::pl011_clock_hz(firmware)))
            }
            SerialPins::MiniUart => Self::MiniUart(MiniUart::new(mini_uart, boot_requests::core_clock_hz(firmware))),
        }
    }

    /// The UART that is connected to the pins, already initialised by the firmware or the kernel: for early boot and panics.
    #[must_use]
    pub fn already_set_up(pins: SerialPins) -> Self {
        match pins {
            SerialPins::Pl011 => Self::Pl011(Pl011::already_set_up(Peripherals::another_pl011())),
            SerialPins::MiniUart => Self::MiniUart(MiniUart::already_set_up(Peripherals::another_mini_uart())),
        }
    }

    /// The UART.
    pub fn uart(&mut self) -> &mut dyn Uart {
        match self {
            Self::Pl011(uart) => uart,
            Self::MiniUart(uart) => uart,
        }
    }

    /// Keeps the baud rate after a change of the core clock. The PL011 has a clock of its own.
    pub fn follow_core_clock(&mut self, core_clock_hz: u32) {
        if let Self::MiniUart(uart) = self {
            uart.follow_clock(core_clock_hz);
        }
    }

    /// Its interrupt line.
    #[must_use]
    pub const fn interrupt_line(&self) -> u8 {
        match self {
            Self::Pl011(_) => interrupt_lines::PL011,
            Self::MiniUart(_) => interrupt_lines::AUXILIARY,
        }
    }

    /// Its name in messages.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Pl011(_) => "PL011 (UART0) on pins 14 and 15",
            Self::MiniUart(_) => "mini UART (UART1) on pins 14 and 15",
        }
    }
}
