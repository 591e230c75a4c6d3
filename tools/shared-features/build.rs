//! Depends on what the package's manifest names; there is nothing to be generated.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
}
