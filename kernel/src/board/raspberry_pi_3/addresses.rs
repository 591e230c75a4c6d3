//! Addresses of the chip's blocks, as the ARM sees them
//!
//! # Sources
//! BCM2835 ARM Peripherals, chapters 2, 5 to 7, 12 to 14, with the base address of BCM2836 and BCM2837; AG section 10 for the V3D; QA7 rev 3.4; Linux's device
//! trees
//! for bridges, power, clocks and the scaler.

use core::ops::Range;

/// The chip's peripherals, directly above memory.
pub const PERIPHERALS: Range<usize> = 0x3f00_0000..0x4000_0000;
/// Interrupt routing and mailboxes of the ARM cores.
pub const CORE_PERIPHERALS: Range<usize> = 0x4000_0000..0x4000_1000;

/// The 1 MHz timer.
pub const SYSTEM_TIMER: usize = PERIPHERALS.start + 0x0000_3000;
/// Bridges between the V3D and the bus.
pub const ASYNC_BRIDGE: usize = PERIPHERALS.start + 0x0000_a000;
/// Interrupts of the peripherals.
pub const INTERRUPT_CONTROLLER: usize = PERIPHERALS.start + 0x0000_b200;
/// The mailbox to the firmware.
pub const MAILBOX: usize = PERIPHERALS.start + 0x0000_b880;
/// Power domains, reset and watchdog.
pub const POWER: usize = PERIPHERALS.start + 0x0010_0000;
/// Clocks.
pub const CLOCK_MANAGER: usize = PERIPHERALS.start + 0x0010_1000;
/// Pins.
pub const GPIO: usize = PERIPHERALS.start + 0x0020_0000;
/// UART0.
pub const PL011: usize = PERIPHERALS.start + 0x0020_1000;
/// The auxiliary block, which contains UART1.
pub const AUXILIARY: usize = PERIPHERALS.start + 0x0021_5000;
/// The Arasan controller of SD cards.
pub const EMMC: usize = PERIPHERALS.start + 0x0030_0000;
/// The hardware video scaler.
pub const HVS: usize = PERIPHERALS.start + 0x0040_0000;
/// The V3D.
pub const V3D: usize = PERIPHERALS.start + 0x00c0_0000;
