//! Compiles the shaders in `shaders/`, and converts the models, pictures and fonts in `assets/`

use std::process::ExitCode;

fn main() -> ExitCode {
    if let Err(error) = asset_build::Assets::new().model("pawns", "assets/pawns.glb").build() {
        eprintln!("{error}");
        return ExitCode::FAILURE;
    }
    shader_build::build("shaders", "shaders.rs")
}
