//! The kernel on a board: the environment of `kernel_main`, and a message after it.
//!
//! The target selects the board: `armv6-none-eabi` is a Pi Zero or 1, `armv7a-none-eabi` a Pi 2, `aarch64-unknown-none` a Pi 3.
#![cfg_attr(target_os = "none", no_std, no_main)]
#![deny(unsafe_code)]

#[cfg(target_os = "none")]
extern crate alloc;

#[cfg(target_os = "none")]
mod board;
#[cfg(target_os = "none")]
#[allow(unsafe_code, reason = "the first instructions, raw loads and stores, the heap")]
mod machine;

#[cfg(not(target_os = "none"))]
fn main() {
    eprintln!("This program is a kernel: `cargo xtask test \"own kernel\"` builds it for boards and boots it in QEMU.");
    std::process::exit(2);
}
