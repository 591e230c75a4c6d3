//! kernel8.img: links the library, which contains the entry point `_start`
//!
//! On the host, it is a program that tells how to run the kernel.

#![cfg_attr(target_os = "none", no_std, no_main)]
#![forbid(unsafe_code)]

#[cfg(target_os = "none")]
use kernel as _;

#[cfg(not(target_os = "none"))]
fn main() {
    println!("this kernel runs on a Raspberry Pi 3: `cargo xtask run` builds it for one and starts it in QEMU");
}
