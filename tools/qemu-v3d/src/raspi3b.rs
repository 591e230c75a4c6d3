//! QEMU's machine `raspi3b`: addresses of the devices that the plugin replaces.
//!
//! # Sources
//! QEMU's `hw/arm/bcm2836.c` and `hw/arm/bcm2835_peripherals.c`.

use std::ffi::c_int;

/// ARM physical address of the V3D register block on BCM2837.
pub(crate) const V3D_BASE: u64 = 0x3fc0_0000;
/// Length of the register block in bytes.
pub(crate) const V3D_BYTES: u64 = 0x1000;
/// ARM physical address of the mailboxes between ARM and firmware.
pub(crate) const MAILBOX_BASE: u64 = 0x3f00_b880;
/// Length of both mailboxes' registers in bytes.
pub(crate) const MAILBOX_BYTES: u64 = 0x40;
/// The status register of the mailbox to the ARM.
pub(crate) const MAILBOX_STATUS: u64 = 0x18;
/// Its bit that says that the mailbox is empty.
pub(crate) const MAILBOX_EMPTY: u64 = 1 << 30;
/// ARM physical address of UART0, a PL011.
pub(crate) const UART_BASE: u64 = 0x3f20_1000;
/// Length of its registers in bytes.
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
