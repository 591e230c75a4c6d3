//! Compiles `shaders/` and generates Rust code: instruction words, and types of vertices and uniforms

use std::process::ExitCode;

fn main() -> ExitCode {
    shader_build::build("shaders", "shaders.rs")
}
