//! A bare-metal kernel for the Raspberry Pi 3 family that draws with the VideoCore IV 3D engine
//!
//! # Where things are
//! - [`arch`]: the CPU: entry, exception vectors, MMU, caches, the core's own clock.
//! - [`board`]: everything around the CPU: serial ports, interrupt controller, timers, mailbox and firmware properties, framebuffer, power.
//! - [`mm`]: memory: the linker script's regions, translation tables, heap, memory shared with the GPU, stack watermarks.
//! - [`pages`]: pictures in memory; [`swapchain`]: which of them the next frame is drawn into; `console` and [`screen`]: everything said and
//!   heard; `logger` and [`log_ring`]: what was said with a time.
//! - [`boot_trace`]: how far a boot has come, for the next one; [`boot_options`]: what the card asks for.
//! - [`command`]: the language of the console, which is also the protocol of `cargo xtask`; [`shell`]: what its commands do; [`capture`] and
//!   [`selftest`]: the pure parts of the two largest.
//! - `gpu` wakes the 3D engine, `v3d_platform` is what the driver crate `v3d` asks of the board, `scenes` is what can be drawn,
//!   [`assets`], [`shapes`], [`dashboard`] and [`transcript`] what they show.
//!   The driver itself, the renderer and the shaders are crates of their own, which do not know this one.
//!
//! # Boot flow
//! `_start` ([`arch`], `boot.rs`) brings one core to EL1 with MMU and caches on and calls `start::kernel_main`, which brings
//! the devices up in the order of their needs and ends in the shell.
//!
//! # On the developer's machine
//! The crate is also an ordinary library there, without the modules that need the chip: everything that only computes
//! (messages, tables, decoders, the shell's language) has ordinary unit tests.
//!
//! # unsafe
//! Denied here; allowed, with reasons, in the few modules that touch instructions, registers and raw memory.

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
pub mod keys;
pub mod log_ring;
#[cfg(target_os = "none")]
pub mod logger;
#[allow(unsafe_code, reason = "the linker's symbols, the allocator, memory shared with devices")]
pub mod mm;
#[allow(unsafe_code, reason = "the one step from an address to registers")]
pub mod mmio;
pub mod pages;
#[cfg(target_os = "none")]
mod panic;
#[cfg(target_os = "none")]
pub mod replay;
#[cfg(target_os = "none")]
pub mod scenes;
pub mod screen;
pub mod selftest;
pub mod shapes;
pub mod shell;
#[cfg(target_os = "none")]
pub mod start;
pub mod swapchain;
pub mod text_history;
#[cfg(target_os = "none")]
mod tick;
pub mod transcript;
#[cfg(target_os = "none")]
pub mod v3d_platform;
