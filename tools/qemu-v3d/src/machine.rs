//! QEMU's Raspberry Pi machines: where the devices are that the plugin adds or replaces.
//!
//! All of them have the same peripherals at the same offsets, and the V3D on the same line of the same interrupt controller. What differs is the ARM's address
//! of the first peripheral, which the system on a chip determines.
//!
//! | machine | system on a chip | peripherals | program |
//! |---|---|---|---|
//! | `raspi0`, `raspi1ap` | `bcm2835` | 0x2000_0000 | `qemu-system-arm`, `qemu-system-aarch64` |
//! | `raspi2b` | `bcm2836` | 0x3F00_0000 | `qemu-system-arm`, `qemu-system-aarch64` |
//! | `raspi3ap`, `raspi3b` | `bcm2837` | 0x3F00_0000 | `qemu-system-aarch64` |
//!
//! # Sources
//! QEMU's `hw/arm/raspi.c`, `hw/arm/bcm2836.c` and `hw/arm/bcm2835_peripherals.c`.

use crate::display::Block;
use std::ffi::{CStr, c_int};
use std::ops::Range;

/// Length of the V3D's register block in bytes.
pub(crate) const V3D_BYTES: u64 = 0x1000;
/// Length of both mailboxes' registers in bytes.
pub(crate) const MAILBOX_BYTES: u64 = 0x40;
/// The status register of the mailbox to the ARM.
pub(crate) const MAILBOX_STATUS: u64 = 0x18;
/// Its bit that says that the mailbox is empty.
pub(crate) const MAILBOX_EMPTY: u64 = 1 << 30;
/// Offset of these registers in QEMU's device.
pub(crate) const MAILBOX_IN_DEVICE: u64 = 0x80;
/// The registers, equal to each other, that take a word for the firmware.
pub(crate) const MAILBOX_WRITE: Range<u64> = 0x20..0x30;
/// The bits of a word that hold the channel, and the channel of property messages.
pub(crate) const CHANNEL: u32 = 0xf;
pub(crate) const PROPERTY_CHANNEL: u32 = 8;
/// The bits of a word's address that select the VideoCore's way through its caches.
pub(crate) const BUS_ALIAS: u32 = 0xc000_0000;
/// Length of the power block's registers in bytes.
pub(crate) const POWER_BYTES: u64 = 0x200;
/// Length of the bridges' registers in bytes.
pub(crate) const BRIDGES_BYTES: u64 = 0x24;
/// Length of the V3D's clock control, one register, in bytes.
pub(crate) const CLOCK_BYTES: u64 = 4;
/// Length of the HVS' registers in bytes.
pub(crate) const HVS_BYTES: u64 = 0x1000;
/// A line of the interrupt controller's basic bank that nothing in QEMU uses: doorbell 0.
pub(crate) const STRAY_BASIC_IRQ: c_int = 2;
/// The registers of BCM2836 and BCM2837 that enable core 0's mailboxes as interrupts, and that set bits of its first mailbox [QA7].
pub(crate) const CORE_MAILBOX_CONTROL: u64 = 0x4000_0050;
pub(crate) const CORE_MAILBOX_SET: u64 = 0x4000_0080;
/// Length of UART0's registers in bytes.
pub(crate) const UART_BYTES: u64 = 0x1000;
/// Its data register [DDI 0183G, 3.3].
pub(crate) const UART_DATA: u64 = 0x00;
/// Its flags.
pub(crate) const UART_FLAGS: u64 = 0x18;
/// The flag that the receive FIFO is empty.
pub(crate) const UART_RECEIVE_EMPTY: u64 = 1 << 4;
/// The flags that the transmit FIFO is full and a byte is on the line.
pub(crate) const UART_NEVER_SENT: u64 = 1 << 5 | 1 << 3;
/// The V3D's line among the GPU interrupts.
pub(crate) const V3D_IRQ: c_int = 10;
/// The size of the GPU's address space; QEMU returns how much of it is RAM.
pub(crate) const BUS_WINDOW_BYTES: u64 = 0x4000_0000;

/// A system on a chip of the VideoCore IV family.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Soc {
    /// Of the Pi 1 and Zero.
    Bcm2835,
    /// Of the Pi 2.
    Bcm2836,
    /// Of the Pi 3.
    Bcm2837,
}

/// The machines that the plugin knows by name.
pub(crate) const MACHINES: [(&str, Soc); 5] = [
    ("raspi0", Soc::Bcm2835),
    ("raspi1ap", Soc::Bcm2835),
    ("raspi2b", Soc::Bcm2836),
    ("raspi3ap", Soc::Bcm2837),
    ("raspi3b", Soc::Bcm2837),
];

impl Soc {
    /// All of them.
    pub(crate) const ALL: [Self; 3] = [Self::Bcm2835, Self::Bcm2836, Self::Bcm2837];

    /// QEMU's name for its type of object.
    pub(crate) const fn type_name(self) -> &'static CStr {
        match self {
            Self::Bcm2835 => c"bcm2835",
            Self::Bcm2836 => c"bcm2836",
            Self::Bcm2837 => c"bcm2837",
        }
    }

    /// ARM physical address of the first peripheral.
    const fn peripherals(self) -> u64 {
        match self {
            Self::Bcm2835 => 0x2000_0000,
            Self::Bcm2836 | Self::Bcm2837 => 0x3f00_0000,
        }
    }

    /// ARM physical address of the peripheral at this offset from the first.
    pub(crate) const fn peripheral(self, offset: u64) -> u64 {
        self.peripherals() + offset
    }

    /// ARM physical address of the V3D's registers.
    pub(crate) const fn v3d(self) -> u64 {
        self.peripherals() + 0xc0_0000
    }

    /// ARM physical address of the mailboxes between ARM and firmware.
    pub(crate) const fn mailbox(self) -> u64 {
        self.peripherals() + 0xb880
    }

    /// ARM physical address of the power block.
    pub(crate) const fn power(self) -> u64 {
        self.peripherals() + 0x10_0000
    }

    /// ARM physical address of the V3D's clock control.
    pub(crate) const fn clock(self) -> u64 {
        self.peripherals() + 0x10_1038
    }

    /// ARM physical address of the bridges between the V3D and the bus.
    pub(crate) const fn bridges(self) -> u64 {
        self.peripherals() + 0xa000
    }

    /// ARM physical address of the HVS.
    pub(crate) const fn hvs(self) -> u64 {
        self.peripheral(Block::Hvs.place().0)
    }

    /// ARM physical address of the register that enables lines of the interrupt controller's basic bank.
    pub(crate) const fn enable_basic(self) -> u64 {
        self.peripherals() + 0xb218
    }

    /// ARM physical address of UART0, a PL011.
    pub(crate) const fn uart(self) -> u64 {
        self.peripherals() + 0x20_1000
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Linux's device trees: bcm2835.dtsi and bcm2836.dtsi map bus address 0x7e00_0000 here, and bcm283x.dtsi has v3d@7ec00000, mailbox@7e00b880,
    /// serial@7e201000, power at 7e100000 with bridges at 7e00a000, cprman@7e101000 and hvs@7e400000.
    #[test]
    fn the_registers_are_where_device_trees_have_them() {
        let addresses = |soc: Soc| {
            [
                soc.v3d(),
                soc.mailbox(),
                soc.uart(),
                soc.power(),
                soc.bridges(),
                soc.clock(),
                soc.hvs(),
                soc.enable_basic(),
            ]
        };
        let peripherals = [0xc0_0000, 0xb880, 0x20_1000, 0x10_0000, 0xa000, 0x10_1038, 0x40_0000, 0xb218];
        assert_eq!(addresses(Soc::Bcm2835), peripherals.map(|offset| 0x2000_0000 + offset));
        for soc in [Soc::Bcm2836, Soc::Bcm2837] {
            assert_eq!(addresses(soc), peripherals.map(|offset| 0x3f00_0000 + offset));
        }
    }
}
