//! What surrounds the V3D of a Raspberry Pi 0 to 3, for any kernel: mailbox, framebuffer, power, clocks
//!
//! # Modules
//! - [`bus`]: loads and stores of physical addresses, which a kernel provides; [`peripherals`]: the addresses of the blocks; [`memory`]: memory that the
//!   VideoCore reads and writes too.
//! - [`mailbox`] carries a [`property`] message to the [`firmware`] and back. [`boot_requests`] asks for clocks and power, [`framebuffer`] for pages of pixels
//!   of a size that [`edid`] tells; [`refusals`] keeps what the firmware did not answer.
//! - [`swapchain`]: into which page the next frame is drawn.
//! - [`power`]: the power domain and the reset of the V3D.
//! - [`sd_card`]: blocks of the SD card.
//! - [`chip`]: all of it on a [`Bus`], as the four traits that the driver `v3d` needs.
//!
//! BCM2835, BCM2836 and BCM2837 have the same blocks; only the address at which the ARM sees them differs.
//!
//! # Sources
//! BCM2835 ARM Peripherals with its errata; BCM2837 ARM Peripherals; the wiki of raspberrypi/firmware for the property interface; [linux] for the power domain.
#![cfg_attr(not(test), no_std)]
#![forbid(unsafe_code)]

extern crate alloc;

pub mod boot_requests;
pub mod bus;
pub mod chip;
pub mod edid;
pub mod firmware;
pub mod framebuffer;
pub mod mailbox;
pub mod memory;
pub mod peripherals;
pub mod power;
pub mod property;
pub mod refusals;
pub mod sd_card;
pub mod swapchain;
mod waiting;

pub use bus::Bus;
pub use chip::{Chip, Pool, PowerOnError};
pub use firmware::Firmware;
pub use peripherals::Peripherals;
pub use swapchain::Swapchain;

/// Runs the README's examples as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
