//! A bare-metal kernel for the Raspberry Pi 3 family that draws with the VideoCore IV 3D engine
//!
//! # Modules
//! - [`arch`]: the CPU: entry, exception vectors, MMU, caches, the core's clock.
//! - [`board`]: all other hardware: serial ports, interrupt controller, timers, mailbox and firmware properties, framebuffer, power.
//! - [`mm`]: memory: the linker script's regions, translation tables, heap, memory shared with the GPU, stack watermarks.
//! - [`boot`]: options on the SD card, the start in Rust, and a record of each boot's progress for the next boot.
//! - [`display`]: pages in memory, and when one is shown ([`bcm283x::swapchain`] says into which the next frame is drawn); [`terminal`]: the console, its
//!   screen and its keys; [`logging`]: the log.
//! - `live`: the shader that is written while the kernel runs, with the feature `wgsl`.
//! - [`storage`]: files on the SD card.
//! - [`shell`]: the console's commands, whose syntax ([`shell::command`]) is also the protocol of `cargo xtask`; [`capture`], [`selftest`] and [`report`]: the
//!   parts of the largest commands that need no hardware.
//! - `gpu` brings up the V3D and implements the traits that the driver crate `v3d` needs; `scenes` are the demonstrations, made of [`scene_parts`] that compute
//!   and are tested on the host. The driver, the renderer and the shaders are separate crates that do not depend on this one.
//!
//! # Boot flow
//! `_start` ([`arch`], `boot.rs`) brings one core to EL1 with MMU and caches enabled and calls `boot::start::kernel_main`, which initialises the devices in the
//! order of their dependencies and ends in the shell.
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
#[allow(unsafe_code, reason = "addresses of registers (peripherals.rs), instructions before Rust (early_letter.rs)")]
pub mod board;
pub mod boot;
pub mod capture;
pub mod crc32;
pub mod display;
#[cfg(target_os = "none")]
pub mod gpu;
pub mod irq_lock;
#[cfg(feature = "wgsl")]
pub mod live;
pub mod logging;
#[allow(unsafe_code, reason = "the linker's symbols, the allocator, memory shared with devices")]
pub mod mm;
#[allow(unsafe_code, reason = "the one step from an address to registers")]
pub mod mmio;
#[cfg(target_os = "none")]
mod panic;
pub mod report;
pub mod scene_parts;
#[cfg(target_os = "none")]
pub mod scenes;
pub mod selftest;
pub mod shell;
pub mod storage;
pub mod terminal;
#[cfg(target_os = "none")]
mod tick;
