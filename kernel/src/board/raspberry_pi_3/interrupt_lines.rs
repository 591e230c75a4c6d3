//! Interrupt lines of the chip's blocks
//!
//! # Sources
//! BCM2835 ARM Peripherals, chapter 7, and chapter 12 for the timer; [lk] [qemu] for the V3D.

/// Channel 1 of the system timer.
pub const SYSTEM_TIMER: u8 = 1;
/// Channel 3 of the system timer, used only to provoke an interrupt storm.
pub const SPARE_TIMER: u8 = 3;
/// The V3D.
pub const V3D: u8 = 10;
/// The auxiliary block, which contains the mini UART.
pub const AUXILIARY: u8 = 29;
/// UART0.
pub const PL011: u8 = 57;
