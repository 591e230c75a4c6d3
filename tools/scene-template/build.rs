//! Compiles the shaders in `shaders/`, and converts the models, pictures and fonts in `assets/`

use std::process::ExitCode;

use asset_build::{Assets, FontOptions};

fn main() -> ExitCode {
    let built = Assets::new()
        .model("pawns", "assets/pawns.glb")
        // Roboto by Christian Robertson, copyright 2015 Google Inc., Apache-2.0.
        .font("labels", "assets/roboto-regular.ttf", FontOptions::coverage(16.0))
        .build();
    if let Err(error) = built {
        eprintln!("{error}");
        return ExitCode::FAILURE;
    }
    shader_build::build("shaders", "shaders.rs")
}
