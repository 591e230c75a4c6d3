//! A bare-metal kernel for the Raspberry Pi 3 family that draws with the VideoCore IV 3D engine
//!
//! # Modules
//! - [`arch`]: the CPU: entry, exception vectors, MMU, caches, the core's clock.
//! - [`board`]: all other hardware: serial ports, interrupt controller, timers, mailbox and firmware properties, framebuffer, power.
//! - [`mm`]: memory: the linker script's regions, translation tables, heap, memory shared with the GPU, stack watermarks.
//! - [`pages`]: pictures in memory; [`vsync`]: when one is shown ([`bcm283x::swapchain`] says into which the next frame is drawn); `console` and [`screen`]:
//!   input and output; `logger` and [`log_ring`]: the log.
//! - [`boot_trace`]: a record of each boot's progress for the next boot; [`boot_options`]: options on the SD card.
//! - [`report`]: the text of `selftest board`; [`report_page`]: its parts on the screen, as text and as QR codes.
//! - [`command`]: the syntax of console commands, which are also the protocol of `cargo xtask`; [`shell`]: their implementation; [`capture`] and [`selftest`]:
//!   the parts of the two largest commands that need no hardware.
//! - `gpu` brings up the V3D; `v3d_platform` implements the traits that the driver crate `v3d` needs; `scenes` are the demonstrations, which show [`assets`],
//!   [`shapes`], [`dashboard`] and [`transcript`]. The driver, the renderer and the shaders are separate crates that do not depend on this one.
//!
//! # Boot flow
//! `_start` ([`arch`], `boot.rs`) brings one core to EL1 with MMU and caches enabled and calls `start::kernel_main`, which initialises the devices in the order
//! of their dependencies and ends in the shell.
//!
//! # On the host
//! On the host, the crate is an ordinary library without the modules that need the hardware: everything that only computes (messages, tables, decoders, command
//! syntax) has ordinary unit tests.
//!
//! # unsafe
//! Denied in this crate, and allowed, with reasons, in the few modules that use instructions, registers and raw memory.

#![cfg_attr(target_os = "none", no_std)]
#![deny(unsafe_code)]

extern crate alloc;

#[allow(unsafe_code, reason = "instructions and system registers that Rust has no words for")]
pub mod arch;
pub mod assets;
#[allow(unsafe_code, reason = "addresses of registers (peripherals.rs), instructions before Rust (early_letter.rs)")]
pub mod board;
pub mod boot_options;
#[cfg(target_os = "none")]
pub mod boot_progress;
pub mod boot_trace;
pub mod breakout;
pub mod byte_ring;
pub mod capture;
pub mod command;
#[cfg(target_os = "none")]
pub mod console;
pub mod counter_set;
pub mod crc32;
pub mod dashboard;
pub mod frame_times;
#[cfg(target_os = "none")]
pub mod gpu;
pub mod irq_lock;
pub mod keyboard;
pub mod keys;
pub mod log_ring;
#[cfg(target_os = "none")]
pub mod logger;
#[allow(unsafe_code, reason = "the linker's symbols, the allocator, memory shared with devices")]
pub mod mm;
#[allow(unsafe_code, reason = "the one step from an address to registers")]
pub mod mmio;
pub mod moment;
pub mod pages;
#[cfg(target_os = "none")]
mod panic;
#[cfg(target_os = "none")]
pub mod replay;
pub mod report;
pub mod report_page;
#[cfg(target_os = "none")]
pub mod scenes;
pub mod screen;
pub mod selftest;
pub mod shapes;
pub mod shell;
#[cfg(target_os = "none")]
pub mod start;
pub mod text_history;
#[cfg(target_os = "none")]
mod tick;
pub mod transcript;
#[cfg(target_os = "none")]
pub mod v3d_platform;
pub mod vsync;
