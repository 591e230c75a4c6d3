//! The chip around the CPU: BCM2837 of the Raspberry Pi 3 family
//!
//! One file a block. Peripherals sit at ARM physical 0x3F00_0000 (0x7E00_0000 in the manual's bus addresses); the VideoCore
//! and its firmware are asked through the mailbox.
//!
//! # Sources
//! BCM2837 ARM Peripherals; BCM2835 ARM Peripherals with its errata; QA7 (ARM quad A7 core) rev 3.4; the wiki of
//! raspberrypi/firmware for the property interface.

pub mod act_led;
pub mod board;
pub mod boot_requests;
pub mod edid;
pub mod firmware;
pub mod framebuffer;
pub mod gpio;
#[cfg(target_os = "none")]
pub mod interrupt_controller;
pub mod mailbox;
pub mod mini_uart;
#[cfg(target_os = "none")]
pub mod peripherals;
pub mod pl011;
#[cfg(target_os = "none")]
pub mod power;
pub mod property;
pub mod system_timer;
pub mod uart;
pub mod watchdog;
