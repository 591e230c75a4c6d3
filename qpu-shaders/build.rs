//! Assembles `shaders/` and generates Rust code: instruction words, and types of vertices and uniforms

use std::process::ExitCode;

fn main() -> ExitCode {
    // The colours that these shaders compute are rounded to 8 bits.
    let options = shader_build::Options { fast_math: true, ..shader_build::Options::default() };
    shader_build::build_with("shaders", "shaders.rs", &options)
}
