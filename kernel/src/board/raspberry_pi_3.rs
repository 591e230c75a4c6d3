//! Raspberry Pi 3 and its relatives: 3B, 3B+, 3A+, Compute Module 3, Zero 2 W, and the 2B with the same chip
//!
//! The memory split is defined in `linker.ld` at the top of the repository, which `build.rs` passes to the linker.
//!
//! # Sources
//! BCM2835 ARM Peripherals for the addresses of blocks, QA7 rev 3.4 for those of the cores; raspberrypi.com documentation for the boards.

pub mod act_led;
pub mod addresses;
#[cfg(target_os = "none")]
mod early_letter;
pub mod interrupt_lines;
#[cfg(target_os = "none")]
pub mod peripherals;
pub mod revision;
#[cfg(target_os = "none")]
pub mod serial_port;
