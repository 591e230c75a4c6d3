//! The example's header of programs is made of their source in WGSL.

use std::path::Path;

#[test]
fn the_examples_programs_are_current() {
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("example");
    let options = shader_build::Options { fast_math: true, ..shader_build::Options::default() };
    shader_build::expect_c_header(&example.join("textured_lit.wgsl"), &example.join("textured_lit.h"), &options)
        .unwrap();
}
