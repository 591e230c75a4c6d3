//! Draws the examples on the host, for the test of the page: `pictures EXAMPLES LIGHTHOUSE FOLDER`.
//!
//! `NAME.rgba` has the pixels of `NAME.wgsl` or `NAME.qasm` at 320 x 180 on a quad, with the settings that the page begins with; `NAME.SHAPE.rgba` those of
//! bodies.

use playground::assets::Assets;
use playground::frame::{Settings, Wanted, draw};
use playground::model::Model;
use playground::source::{Drawable, Language, look};
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

/// Examples with the shape and the values that the page draws them with.
const BODIES: [(&str, &str, Option<[f32; 3]>); 4] = [
    ("lighthouse", "model", Some([0.55, 0.4, 0.5])),
    ("mirror", "sphere", None),
    ("textured", "cube", None),
    ("triangle", "triangle", None),
];

fn main() -> Result<(), Box<dyn Error>> {
    let [from, lighthouse, to] = [1, 2, 3].map(|n| std::env::args().nth(n).map(PathBuf::from));
    let usage = "pictures EXAMPLES LIGHTHOUSE FOLDER";
    let (from, lighthouse, to) = (from.ok_or(usage)?, lighthouse.ok_or(usage)?, to.ok_or(usage)?);
    fs::create_dir_all(&to)?;
    let model = Model::read("lighthouse.glb", fs::read(lighthouse)?)?;
    let assets = Assets { model: Some(model), ..Assets::default() };
    for entry in fs::read_dir(&from)? {
        let path = entry?.path();
        let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
        let Some(language) = Language::named(extension) else { continue };
        let Some(drawable) = look(language, &fs::read_to_string(&path)?).drawable else { continue };
        let name = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
        save(&to.join(format!("{name}.rgba")), &drawable, &Settings::default(), &assets)?;
        for (_, shape, to_sun) in BODIES.into_iter().filter(|(body, ..)| *body == name) {
            let values = to_sun.map(|to_sun| ("to_sun".to_owned(), to_sun.to_vec())).into_iter().collect();
            let settings = Settings { shape: shape.to_owned(), values, ..Settings::default() };
            save(&to.join(format!("{name}.{shape}.rgba")), &drawable, &settings, &assets)?;
        }
    }
    Ok(())
}

fn save(path: &Path, drawable: &Drawable, settings: &Settings, assets: &Assets) -> Result<(), Box<dyn Error>> {
    let drawn = draw(drawable, settings, assets, Wanted::default())?;
    let opaque = drawn.picture.pixels.iter().flat_map(|&[red, green, blue, _]| [red, green, blue, 255]);
    Ok(fs::write(path, opaque.collect::<Vec<u8>>())?)
}
