//! Hands the memory layout of kernel8.img to the linker
//!
//! Only for the bare-metal target: the same crate is an ordinary library on the developer's machine.

use std::{env, path::PathBuf};

fn main() {
    let Some(manifest_dir) = env::var_os("CARGO_MANIFEST_DIR") else {
        panic!("cargo did not set CARGO_MANIFEST_DIR");
    };
    let script = PathBuf::from(manifest_dir).join("../linker.ld");
    println!("cargo::rerun-if-changed={}", script.display());
    println!("cargo::rerun-if-changed=build.rs");

    if env::var("CARGO_CFG_TARGET_OS").as_deref() == Ok("none") {
        println!("cargo::rustc-link-arg-bins=--script={}", script.display());
        // Sections of different permissions sit on pages of 4 KiB, not on the linker's default of 64 KiB.
        println!("cargo::rustc-link-arg-bins=-z");
        println!("cargo::rustc-link-arg-bins=max-page-size=4096");
    }
}
