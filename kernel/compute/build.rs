//! Assembles `shaders/` into Rust: words, and types for what feeds them

use std::process::ExitCode;

fn main() -> ExitCode {
    shader_build::build("shaders", "shaders.rs")
}
