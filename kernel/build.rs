//! Passes the memory layout of kernel8.img to the linker, and generates constants from the files in `assets/`
//!
//! The layout applies to the bare-metal target only; for the host, the same crate is an ordinary library.

use std::{env, path::PathBuf};

use asset_build::{Assets, FontOptions};

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

    let built = Assets::new()
        .model("lighthouse", "assets/lighthouse.glb")
        .model("vessels", "assets/vessels.glb")
        .figure("walker", "assets/walker.glb")
        .image("wooden_crate", "assets/crate.png")
        .font("body_font", "assets/roboto-regular.ttf", FontOptions::coverage(18.0))
        .font("title_font", "assets/roboto-medium.ttf", FontOptions::distance(32.0, 5))
        .build();
    if let Err(error) = built {
        panic!("{error}");
    }
}
