//! Draws the examples on the host, for the test of the page: `pictures EXAMPLES FOLDER`.
//!
//! `NAME.rgba` has the pixels of `NAME.wgsl` or `NAME.qasm` at 320 x 180, with the settings that the page begins with.

use playground::assets::Assets;
use playground::frame::{Settings, Wanted, draw};
use playground::source::{Language, look};
use std::fs;
use std::path::PathBuf;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let [from, to] = [1, 2].map(|n| std::env::args().nth(n).map(PathBuf::from));
    let (from, to) = (from.ok_or("pictures EXAMPLES FOLDER")?, to.ok_or("pictures EXAMPLES FOLDER")?);
    fs::create_dir_all(&to)?;
    for entry in fs::read_dir(&from)? {
        let path = entry?.path();
        let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
        let Some(language) = Language::named(extension) else { continue };
        let Some(drawable) = look(language, &fs::read_to_string(&path)?).drawable else { continue };
        let drawn = draw(&drawable, &Settings::default(), &Assets::default(), Wanted::default())?;
        let pixels: Vec<u8> =
            drawn.picture.pixels.iter().flat_map(|&[red, green, blue, _]| [red, green, blue, 255]).collect();
        fs::write(to.join(path.file_stem().unwrap_or_default()).with_extension("rgba"), pixels)?;
    }
    Ok(())
}
