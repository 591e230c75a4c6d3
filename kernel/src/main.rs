//! kernel8.img: nothing but the library, whose `_start` the linker finds
//!
//! On the developer's machine this is a program that says where the kernel runs.

#![cfg_attr(target_os = "none", no_std, no_main)]
#![forbid(unsafe_code)]

#[cfg(target_os = "none")]
use kernel as _;

#[cfg(not(target_os = "none"))]
fn main() {
    println!("this kernel runs on a Raspberry Pi 3: `cargo xtask run` builds it for one and starts it in QEMU");
}
