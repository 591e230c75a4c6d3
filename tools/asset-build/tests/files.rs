//! Files become constants, and errors name the file that cannot be used.

use asset_build::{Assets, Error, FontOptions};
use std::path::{Path, PathBuf};

fn kernel_assets() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../kernel/assets")
}

/// A folder of this test alone.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&folder).expect("the build's folder for tests can be written");
    folder
}

/// Writes a picture with the `png` crate.
fn save_png(path: PathBuf, samples: &[u8], width: u32, height: u32, color: png::ColorType) {
    let mut encoder = png::Encoder::new(std::fs::File::create(path).expect("a test's file"), width, height);
    encoder.set_color(color);
    encoder.write_header().and_then(|mut writer| writer.write_image_data(samples)).expect("a picture in a test's file");
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

#[test]
fn a_picture_keeps_its_pixels() {
    let (from, to) = (folder("picture-in"), folder("picture-out"));
    let gray_and_alpha = [10, 255, 200, 0];
    save_png(from.join("two.png"), &gray_and_alpha, 2, 1, png::ColorType::GrayscaleAlpha);
    Assets::new().image("two", "two.png").write(&from, &to).unwrap();
    assert_eq!(std::fs::read(to.join("two.bin")).unwrap(), [10, 10, 10, 255, 200, 200, 200, 0]);
    assert!(std::fs::read_to_string(to.join("assets.rs")).unwrap().contains("width_px: 2, height_px: 1"));
}

/// A red picture of 8 x 8 pixels, [200, 40, 90], as Pillow writes it at quality 95.
const JPEG_BASE64: &str = "/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAAIBAQEBAQIBAQECAgICAgQDAgICAgUEBAMEBgUGBgYFBgYGBwkIBgcJBwYGCAsICQoKCgoKBggLDA\
         sKDAkKCgr/2wBDAQICAgICAgUDAwUKBwYHCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgr/wAARCAAI\
         AAgDAREAAhEBAxEB/8QAFAABAAAAAAAAAAAAAAAAAAAACP/EABQQAQAAAAAAAAAAAAAAAAAAAAD/xAAVAQEBAAAAAAAAAAAAAAAAAAAECf/EAB\
         QRAQAAAAAAAAAAAAAAAAAAAAD/2gAMAwEAAhEDEQA/ADuOpg//2Q==";

#[test]
fn a_jpeg_is_a_picture_too() {
    let (from, to) = (folder("jpeg-in"), folder("jpeg-out"));
    let bytes = data_encoding::BASE64.decode(JPEG_BASE64.as_bytes()).unwrap();
    std::fs::write(from.join("red.jpg"), bytes).unwrap();
    Assets::new().image("red", "red.jpg").write(&from, &to).unwrap();
    let rgba = std::fs::read(to.join("red.bin")).unwrap();
    assert_eq!(rgba.len(), 4 * 64);
    for pixel in rgba.chunks_exact(4) {
        let near = pixel.iter().zip([200, 40, 90, 255]).all(|(&one, other)| one.abs_diff(other) <= 3);
        assert!(near, "{pixel:?}");
    }
}

/// One triangle in a text file, its buffer as a data URI, its node moved and mirrored: the winding is reversed, so the
/// triangle still faces the same way.
#[test]
fn nodes_place_what_a_text_file_holds() {
    let (from, to) = (folder("text-in"), folder("text-out"));
    let positions: Vec<u8> =
        [0.0f32, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0].iter().flat_map(|value| value.to_le_bytes()).collect();
    let data = data_encoding::BASE64.encode(&positions);
    let json = format!(
        r#"{{"asset":{{"version":"2.0"}},"scenes":[{{"nodes":[0]}}],"nodes":[{{"mesh":0,"translation":[5,6,7],"scale":[-1,1,1]}}],
        "meshes":[{{"primitives":[{{"attributes":{{"POSITION":0}}}}]}}],
        "accessors":[{{"bufferView":0,"componentType":5126,"count":3,"type":"VEC3","min":[0,0,0],"max":[1,1,0]}}],
        "bufferViews":[{{"buffer":0,"byteLength":36}}],"buffers":[{{"byteLength":36,"uri":"data:application/octet-stream;base64,{data}"}}]}}"#
    );
    std::fs::write(from.join("one.gltf"), json).unwrap();
    Assets::new().model("one", "one.gltf").write(&from, &to).unwrap();
    let vertices = std::fs::read(to.join("one_vertices_0.bin")).unwrap();
    let float = |at: usize| f32::from_le_bytes([vertices[at], vertices[at + 1], vertices[at + 2], vertices[at + 3]]);
    let positions: Vec<[f32; 3]> = (0..3).map(|vertex| [0, 4, 8].map(|axis| float(28 * vertex + axis))).collect();
    assert_eq!(positions, [[5.0, 6.0, 7.0], [5.0, 7.0, 7.0], [4.0, 6.0, 7.0]]);
    // The flat normal (0, 0, 1) as half floats; zeros may have either sign.
    let normal = [12, 14, 16].map(|at| u16::from_le_bytes([vertices[at], vertices[at + 1]]));
    assert_eq!((normal[0] & 0x7fff, normal[1] & 0x7fff, normal[2]), (0, 0, 0x3c00));
    assert!(
        std::fs::read_to_string(to.join("assets.rs")).unwrap().contains("low: [4.0, 6.0, 7.0], high: [5.0, 7.0, 7.0]")
    );
}

/// The letter I of a sans-serif font is an upright bar: coverage is in the middle of each row, and the field is highest
/// on its axis.
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
    // The axis is half of 3.1 pixels inside, with a spread of four pixels.
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
    save_png(from.join("wide.png"), &[0; 2049], 2049, 1, png::ColorType::Grayscale);
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
