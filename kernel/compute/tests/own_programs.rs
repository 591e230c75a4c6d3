//! The words of the programs are what the sources in `shaders/` compile to.
//!
//! They are stored in `src/programs.rs`, so that building this crate needs neither the assembler nor the compiler. After a change of a shader,
//! `UPDATE_WORDS=1 cargo test -p compute --test own_programs` writes the file again.

use std::path::Path;

#[test]
fn programs_are_made_of_the_folder_shaders() {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let about = "The assembled programs, one module each, for running them by other means; made of `shaders`.";
    shader_build::expect_file(&package.join("shaders"), &package.join("src/programs.rs"), about).unwrap();
}
