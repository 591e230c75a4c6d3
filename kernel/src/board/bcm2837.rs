//! The chip around the CPU: the blocks of a BCM2837, and the firmware of its VideoCore
//!
//! Each block has a file. The board's module knows the addresses and interrupt lines. BCM2835 and BCM2836 have the same blocks. What other kernels need
//! as well, because a V3D does not run without it, is in the crate `bcm283x`: the messages to the firmware, the framebuffer, power and clock of the V3D.
//!
//! # Sources
//! BCM2837 ARM Peripherals; BCM2835 ARM Peripherals with its errata; QA7 (ARM quad A7 core) rev 3.4; the wiki of
//! raspberrypi/firmware for the property interface.

#[cfg(target_os = "none")]
pub mod core_interrupts;
#[cfg(target_os = "none")]
pub mod emmc;
pub mod firmware;
pub mod framebuffer;
pub mod gpio;
#[cfg(target_os = "none")]
pub mod hvs;
#[cfg(target_os = "none")]
pub mod interrupt_controller;
#[cfg(target_os = "none")]
pub mod mailbox;
pub mod mini_uart;
pub mod pl011;
#[cfg(target_os = "none")]
pub mod power;
pub mod system_timer;
pub mod uart;
#[cfg(target_os = "none")]
pub mod v3d_registers;
pub mod watchdog;

pub use bcm283x::{boot_requests, property};
