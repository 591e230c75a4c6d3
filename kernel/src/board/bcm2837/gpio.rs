//! Pins: the function of the header's serial pins 14 and 15, pins as outputs, and the pins of the SD card
//!
//! On boards with Bluetooth, the PL011 is connected to the Bluetooth chip by default (pins 32 and 33), and the header's serial pins to the mini UART. The
//! firmware's choice can be read from the pins' function: `enable_uart=1` sets ALT5 (mini UART), `dtoverlay=disable-bt` sets ALT0 (PL011).
//!
//! # Sources
//! BCM2835 ARM Peripherals, chapter 6; raspberrypi.com documentation, "Configure UARTs".

use tock_registers::{
    interfaces::{ReadWriteable, Readable, Writeable},
    register_bitfields, register_structs,
    registers::{ReadWrite, WriteOnly},
};

use crate::mmio::Mmio;

register_bitfields! { u32,
    /// Function of pins 10 to 19, three bits each.
    GPFSEL1 [
        /// Pin 15: receive.
        FSEL15 OFFSET(15) NUMBITS(3) [ Input = 0b000, Alt0Pl011 = 0b100, Alt5MiniUart = 0b010 ],
        /// Pin 14: transmit.
        FSEL14 OFFSET(12) NUMBITS(3) [ Input = 0b000, Alt0Pl011 = 0b100, Alt5MiniUart = 0b010 ],
    ],
    /// Function of pins 30 to 39.
    GPFSEL3 [
        /// Pin 33: the PL011's receiver, when it is connected to the Bluetooth chip.
        FSEL33 OFFSET(9) NUMBITS(3) [ Input = 0b000, Alt3Pl011 = 0b111 ],
        /// Pin 32: the PL011's transmitter, likewise.
        FSEL32 OFFSET(6) NUMBITS(3) [ Input = 0b000, Alt3Pl011 = 0b111 ],
    ],
    /// Pull-up or pull-down of the pins that are selected in the clock register.
    GPPUD [
        PUD OFFSET(0) NUMBITS(2) [ Off = 0, Down = 1, Up = 2 ],
    ],
}

register_structs! {
    /// The part of the GPIO block that the kernel uses.
    #[allow(missing_docs, reason = "field names are the manual's register names")]
    pub Registers {
        (0x00 => _gpfsel0),
        (0x04 => pub gpfsel1: ReadWrite<u32, GPFSEL1::Register>),
        (0x08 => pub gpfsel2: ReadWrite<u32>),
        (0x0c => pub gpfsel3: ReadWrite<u32, GPFSEL3::Register>),
        (0x10 => pub gpfsel4: ReadWrite<u32>),
        (0x14 => pub gpfsel5: ReadWrite<u32>),
        (0x18 => _reserved0),
        (0x1c => pub gpset: [WriteOnly<u32>; 2]),
        (0x24 => _reserved1),
        (0x28 => pub gpclr: [WriteOnly<u32>; 2]),
        (0x30 => _others),
        (0x94 => pub gppud: ReadWrite<u32, GPPUD::Register>),
        (0x98 => pub gppudclk0: ReadWrite<u32>),
        (0x9c => pub gppudclk1: ReadWrite<u32>),
        (0xa0 => @END),
    }
}

/// The UART that is connected to the header's serial pins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SerialPins {
    /// UART0.
    #[default]
    Pl011,
    /// UART1.
    MiniUart,
}

/// The UART that the firmware selected by the pins' function. Anything but a clear choice of the mini UART selects the PL011, which is then connected to the
/// pins.
#[must_use]
pub fn serial_pins(registers: &Mmio<Registers>) -> SerialPins {
    if registers.gpfsel1.matches_all(GPFSEL1::FSEL14::Alt5MiniUart) { SerialPins::MiniUart } else { SerialPins::Pl011 }
}

/// Connects the PL011 to pins 14 and 15, and disconnects it from the Bluetooth chip.
///
/// `wait_150_cycles` waits for at least 150 cycles of the core clock, which the pull control needs between its steps.
pub fn connect_pl011(registers: &Mmio<Registers>, wait_150_cycles: impl Fn()) {
    registers.gpfsel3.modify(GPFSEL3::FSEL32::Input + GPFSEL3::FSEL33::Input);
    registers.gpfsel1.modify(GPFSEL1::FSEL14::Alt0Pl011 + GPFSEL1::FSEL15::Alt0Pl011);
    // The receiver is pulled up, so that an open cable reads as an idle line.
    pull_up(registers, &registers.gppudclk0, 1 << 15, wait_150_cycles);
}

/// Connects pins with pull-ups: those with a bit in `pins`, which one of the clock registers has.
fn pull_up(registers: &Registers, clock: &ReadWrite<u32>, pins: u32, wait_150_cycles: impl Fn()) {
    registers.gppud.write(GPPUD::PUD::Up);
    wait_150_cycles();
    clock.set(pins);
    wait_150_cycles();
    registers.gppud.write(GPPUD::PUD::Off);
    clock.set(0);
}

/// The function of the Arasan controller, both on pins 34 to 39 and on pins 48 to 53 [BCM2835 ARM Peripherals, 6.2].
const ALT3: u32 = 0b111;

/// A register of ten pins, in which those from `pins` have another function if `is_changed` says so of theirs.
fn with_function(word: u32, pins: core::ops::RangeInclusive<u8>, function: u32, is_changed: fn(u32) -> bool) -> u32 {
    pins.fold(word, |word, pin| {
        let shift = 3 * u32::from(pin % 10);
        if is_changed(word >> shift & 0b111) { word & !(0b111 << shift) | function << shift } else { word }
    })
}

/// Connects the Arasan controller with the SD card on pins 48 to 53, with pull-ups on all but the clock, and disconnects it from the wireless chip on pins 34
/// to 39.
///
/// `wait_150_cycles` waits as in [`connect_pl011`].
pub fn connect_card(registers: &Mmio<Registers>, wait_150_cycles: impl Fn()) {
    const INPUT: u32 = 0b000;
    registers.gpfsel3.set(with_function(registers.gpfsel3.get(), 34..=39, INPUT, |function| function == ALT3));
    registers.gpfsel4.set(with_function(registers.gpfsel4.get(), 48..=49, ALT3, |_| true));
    registers.gpfsel5.set(with_function(registers.gpfsel5.get(), 50..=53, ALT3, |_| true));
    pull_up(registers, &registers.gppudclk1, 0b11_1110 << (48 - 32), wait_150_cycles);
}

/// Configures a pin from 20 to 29 or from 40 to 49 as an output. Other pins are ignored.
pub fn make_output(registers: &Mmio<Registers>, pin: u8) {
    const OUTPUT: u32 = 0b001;
    let select = match pin / 10 {
        2 => &registers.gpfsel2,
        4 => &registers.gpfsel4,
        _ => return,
    };
    let shift = 3 * u32::from(pin % 10);
    select.set(select.get() & !(0b111 << shift) | OUTPUT << shift);
}

/// Sets an output high or low. Pins beyond 63 do not exist and are ignored.
pub fn set_output(registers: &Mmio<Registers>, pin: u8, high: bool) {
    let bank = usize::from(pin / 32);
    let bits = if high { registers.gpset.get(bank) } else { registers.gpclr.get(bank) };
    if let Some(register) = bits {
        register.set(1 << (pin % 32));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bits 29:27 are pin 39's or 49's, 14:12 pin 34's, 26:24 pin 48's [BCM2835 ARM Peripherals, 6.1].
    #[test]
    fn only_the_functions_of_the_named_pins_change() {
        assert_eq!(with_function(0, 48..=49, ALT3, |_| true), 0x3f00_0000);
        assert_eq!(with_function(u32::MAX, 50..=53, 0b100, |_| true), 0xffff_f924);
        let wireless = 0b111 << 27 | 0b100 << 24 | 0b111 << 12 | 0b111 << 9;
        assert_eq!(with_function(wireless, 34..=39, 0, |function| function == ALT3), 0b100 << 24 | 0b111 << 9);
    }
}
