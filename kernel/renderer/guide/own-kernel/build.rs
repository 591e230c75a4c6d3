//! Tells the linker where the firmware loads the kernel, and the code which board it is for

use std::env;

fn main() {
    println!("cargo::rustc-check-cfg=cfg(armv6)");
    println!("cargo::rerun-if-changed=link.ld");
    let target = env::var("TARGET").unwrap_or_default();
    if target.starts_with("armv6") {
        println!("cargo::rustc-cfg=armv6");
    }
    if env::var("CARGO_CFG_TARGET_OS").as_deref() == Ok("none") {
        // [raspberrypi.com config.txt, kernel_address]
        let load = if target.starts_with("aarch64") { "0x80000" } else { "0x8000" };
        let folder = env::var("CARGO_MANIFEST_DIR").unwrap_or_default();
        for argument in [format!("--defsym=LOAD={load}"), format!("--script={folder}/link.ld")] {
            println!("cargo::rustc-link-arg-bins={argument}");
        }
    }
}
