//! Files become constants, and what cannot be used is refused with its name.

use asset_build::{Assets, Error, FontOptions};
use std::path::{Path, PathBuf};

fn kernel_assets() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../kernel/assets")
}

/// A folder of this test's own.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&folder).expect("the build's folder for tests can be written");
    folder
}

fn error(assets: Assets, from: &Path, name: &str) -> String {
    assets.write(from, &folder(name)).expect_err("it is refused").to_string()
}

#[test]
fn a_model_has_its_materials_and_its_bounds() {
    let to = folder("model");
    Assets::new().model("lighthouse", "lighthouse.glb").write(&kernel_assets(), &to).unwrap();
    let text = std::fs::read_to_string(to.join("assets.rs")).unwrap();
    for material in ["rock", "white paint", "red paint", "iron", "lamp", "wood", "brass", "grass"] {
        assert!(text.contains(&format!("name: {material:?}")), "{material}");
    }
    let vertices = std::fs::read(to.join("lighthouse_vertices_0.bin")).unwrap();
    let indices = std::fs::read(to.join("lighthouse_indices_0.bin")).unwrap();
    assert_eq!(vertices.len() % 28, 0);
    let count = vertices.len() / 28;
    let named: Vec<usize> =
        indices.chunks_exact(2).map(|two| usize::from(u16::from_le_bytes([two[0], two[1]]))).collect();
    assert_eq!(named.iter().max(), Some(&(count - 1)), "every vertex is named, and none that is not there");
    assert_eq!(named.len() % 3, 0);
}

/// A checker board of two pixels, written by the library that others read pictures with.
#[test]
fn a_picture_keeps_its_pixels() {
    let (from, to) = (folder("picture-in"), folder("picture-out"));
    let gray_and_alpha = [10, 255, 200, 0];
    image::save_buffer(from.join("two.png"), &gray_and_alpha, 2, 1, image::ColorType::La8).unwrap();
    Assets::new().image("two", "two.png").write(&from, &to).unwrap();
    assert_eq!(std::fs::read(to.join("two.bin")).unwrap(), [10, 10, 10, 255, 200, 200, 200, 0]);
    assert!(std::fs::read_to_string(to.join("assets.rs")).unwrap().contains("width_px: 2, height_px: 1"));
}

/// The letter I of a sans-serif font is an upright bar: covered in the middle of each row, the field highest on its axis.
#[test]
fn glyphs_have_coverage_or_distances() {
    let to = folder("font");
    let fonts = Assets::new()
        .font("coverage", "roboto-regular.ttf", FontOptions::coverage(32.0).characters(['I', ' ']))
        .font("distance", "roboto-regular.ttf", FontOptions::distance(32.0, 4).characters(['I']));
    fonts.write(&kernel_assets(), &to).unwrap();
    let text = std::fs::read_to_string(to.join("assets.rs")).unwrap();
    assert!(text.contains("GlyphKind::Coverage") && text.contains("GlyphKind::Distance { spread_px: 4.0 }"));
    let coverage = std::fs::read(to.join("coverage.bin")).unwrap();
    // Roboto's capitals are 1456/2048 of an em high, its I 198/2048 wide: 22.75 by 3.1 pixels.
    let area: f64 = coverage.iter().map(|&covered| f64::from(covered) / 255.0).sum();
    assert!((area - 22.75 * 3.09).abs() < 2.0, "{area}");
    let distance = std::fs::read(to.join("distance.bin")).unwrap();
    // The axis is half of 3.1 pixels inside; a spread is four pixels.
    let highest = f64::from(*distance.iter().max().unwrap());
    assert!((highest - (128.0 + 127.0 * 1.55 / 4.0)).abs() < 8.0, "{highest}");
}

#[test]
fn what_cannot_be_used_is_refused_with_its_name() {
    let from = folder("broken");
    std::fs::write(from.join("text.png"), "this is no picture").unwrap();
    std::fs::write(from.join("text.ttf"), "this is no font").unwrap();
    std::fs::write(from.join("text.glb"), "this is no model").unwrap();
    std::fs::write(from.join("empty.gltf"), r#"{"asset":{"version":"2.0"}}"#).unwrap();
    image::save_buffer(from.join("wide.png"), &[0; 2049], 2049, 1, image::ColorType::L8).unwrap();
    let check = |assets: Assets, expected: &[&str]| {
        let message = error(assets, &from, "broken-out");
        for part in expected {
            assert!(message.contains(part), "{message:?} does not say {part:?}");
        }
    };
    check(Assets::new().image("a", "none.png"), &["none.png"]);
    check(Assets::new().image("a", "text.png"), &["text.png"]);
    check(Assets::new().image("a", "wide.png"), &["wide.png", "2049 x 1", "2048"]);
    check(Assets::new().font("a", "text.ttf", FontOptions::coverage(16.0)), &["text.ttf"]);
    check(Assets::new().model("a", "text.glb"), &["text.glb"]);
    check(Assets::new().model("a", "empty.gltf"), &["empty.gltf", "no triangles"]);
    check(Assets::new().image("Not A Name", "wide.png"), &["\"Not A Name\"", "lower case"]);
    let from = kernel_assets();
    let twice = Assets::new().image("same", "crate.png").image("same", "crate.png");
    assert!(matches!(twice.write(&from, &folder("twice")), Err(Error::Name { reason: "is used twice", .. })));
    let huge = Assets::new().font("a", "roboto-regular.ttf", FontOptions::coverage(300.0));
    assert!(error(huge, &from, "huge").contains("4 to 256 pixels"));
    let missing = Assets::new().font("a", "roboto-regular.ttf", FontOptions::coverage(16.0).characters(['\u{3042}']));
    assert!(error(missing, &from, "missing").contains("U+3042"));
}
