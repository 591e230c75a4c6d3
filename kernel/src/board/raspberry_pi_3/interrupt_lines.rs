//! Interrupt lines of the chip's blocks
//!
//! # Sources
//! BCM2835 ARM Peripherals, chapter 7, and chapter 12 for the timer; [lk] [qemu] for the V3D.

/// Channel 1 of the system timer.
pub const SYSTEM_TIMER: u8 = 1;
/// Channel 3 of the system timer, which has no use but to fail on purpose.
pub const SPARE_TIMER: u8 = 3;
/// The 3D engine.
pub const V3D: u8 = 10;
/// The auxiliary block, which has the mini UART.
pub const AUXILIARY: u8 = 29;
/// UART0.
pub const PL011: u8 = 57;
