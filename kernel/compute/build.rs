//! Assembles `shaders/` and generates Rust code: instruction words, and types of uniforms

use std::process::ExitCode;

fn main() -> ExitCode {
    shader_build::build("shaders", "shaders.rs")
}
