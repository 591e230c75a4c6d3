//! Figures: the poses of a skeleton, and what is refused.

use asset_build::Assets;
use std::path::{Path, PathBuf};

/// A folder of this test alone.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("figures").join(name);
    std::fs::create_dir_all(&folder).expect("the build's folder for tests can be written");
    folder
}

/// A triangle whose first corner follows node 1 and whose others follow node 2, which is above it by 1 and turns by 180 degrees about z within a second. The
/// node that carries both is moved by (5, 0, 0).
fn figure() -> (String, Vec<u8>) {
    let mut bytes = Vec::new();
    let floats =
        |values: &[f32], bytes: &mut Vec<u8>| bytes.extend(values.iter().flat_map(|value| value.to_le_bytes()));
    floats(&[0.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 2.0, 0.0], &mut bytes);
    bytes.extend([0, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0]);
    bytes.extend([255, 0, 0, 0].repeat(3));
    let identity = [1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0];
    floats(&identity, &mut bytes);
    floats(&[0.0, 0.0, 0.0, 1.0], &mut bytes);
    floats(&identity, &mut bytes);
    floats(&[0.0, -1.0, 0.0, 1.0], &mut bytes);
    floats(&[0.0, 1.0], &mut bytes);
    floats(&[0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 1.0, 0.0], &mut bytes);
    let text = r#"{"asset":{"version":"2.0"},"scene":0,"scenes":[{"nodes":[0,3]}],
        "nodes":[{"translation":[5,0,0],"children":[1]},{"children":[2]},{"translation":[0,1,0]},{"mesh":0,"skin":0,"translation":[9,9,9]}],
        "meshes":[{"primitives":[{"attributes":{"POSITION":0,"JOINTS_0":1,"WEIGHTS_0":2}}]}],
        "skins":[{"inverseBindMatrices":3,"joints":[1,2]}],
        "animations":[{"name":"turn","samplers":[{"input":4,"output":5}],"channels":[{"sampler":0,"target":{"node":2,"path":"rotation"}}]}],
        "accessors":[{"bufferView":0,"componentType":5126,"count":3,"type":"VEC3","min":[0,0,0],"max":[1,2,0]},
            {"bufferView":1,"componentType":5121,"count":3,"type":"VEC4"},
            {"bufferView":2,"componentType":5121,"normalized":true,"count":3,"type":"VEC4"},
            {"bufferView":3,"componentType":5126,"count":2,"type":"MAT4"},
            {"bufferView":4,"componentType":5126,"count":2,"type":"SCALAR","min":[0],"max":[1]},
            {"bufferView":5,"componentType":5126,"count":2,"type":"VEC4"}],
        "bufferViews":[{"buffer":0,"byteLength":36},{"buffer":0,"byteOffset":36,"byteLength":12},{"buffer":0,"byteOffset":48,"byteLength":12},
            {"buffer":0,"byteOffset":60,"byteLength":128},{"buffer":0,"byteOffset":188,"byteLength":8},{"buffer":0,"byteOffset":196,"byteLength":32}],
        "buffers":[{"uri":"figure.bin","byteLength":228}]}"#;
    (text.to_owned(), bytes)
}

fn build(name: &str, text: &str, bytes: &[u8]) -> Result<PathBuf, String> {
    let folder = folder(name);
    std::fs::write(folder.join("figure.gltf"), text).expect("a test's file");
    std::fs::write(folder.join("figure.bin"), bytes).expect("a test's file");
    let built = Assets::new().figure("figure", "figure.gltf").write(&folder, &folder);
    built.map(|()| folder).map_err(|error| error.to_string())
}

fn poses(folder: &Path) -> Vec<f32> {
    let bytes = std::fs::read(folder.join("figure_poses_0.bin")).expect("poses are written");
    bytes.as_chunks().0.iter().map(|&bytes| f32::from_le_bytes(bytes)).collect()
}

#[test]
fn joints_have_the_movements_of_the_nodes_above_them() {
    let (text, bytes) = figure();
    let folder = build("poses", &text, &bytes).unwrap();
    let numbers = poses(&folder);
    // 31 poses of two joints with 12 numbers each.
    assert_eq!(numbers.len(), 31 * 24);
    let near = |found: &[f32], expected: [f32; 12], what: &str| {
        assert!(found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-5), "{what}: {found:?}");
    };
    let still = [1.0, 0.0, 0.0, 5.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0];
    for pose in [0, 10, 30] {
        near(&numbers[24 * pose..][..12], still, "the first joint");
    }
    near(&numbers[12..24], still, "the second one before it turns");
    // By 90 degrees about (0, 1): (x, y) becomes (5 - (y - 1), 1 + x).
    near(
        &numbers[24 * 15 + 12..][..12],
        [0.0, -1.0, 0.0, 6.0, 1.0, 0.0, 0.0, 1.0, 0.0, 0.0, 1.0, 0.0],
        "half of the time",
    );
    near(&numbers[24 * 30 + 12..][..12], [-1.0, 0.0, 0.0, 5.0, 0.0, -1.0, 0.0, 2.0, 0.0, 0.0, 1.0, 0.0], "the end");
    let vertices = std::fs::read(folder.join("figure_vertices_0.bin")).unwrap();
    let influences: Vec<&[u8]> = vertices.chunks(36).map(|vertex| &vertex[28..]).collect();
    assert_eq!(influences, [[0, 0, 0, 0, 255, 0, 0, 0], [1, 0, 0, 0, 255, 0, 0, 0], [1, 0, 0, 0, 255, 0, 0, 0]]);
    let text = std::fs::read_to_string(folder.join("assets.rs")).unwrap();
    assert!(text.contains(r#"renderer::asset::Animation { name: "turn", duration_s: 1.0, joints: 2"#), "{text}");
}

#[test]
fn a_figure_without_animations_has_its_pose() {
    let (text, bytes) = figure();
    let at = text.find(r#""animations""#).unwrap();
    let end = text.find(r#""accessors""#).unwrap();
    let folder = build("still", &format!("{}{}", &text[..at], &text[end..]), &bytes).unwrap();
    assert_eq!(poses(&folder).len(), 24);
}

#[test]
fn what_a_figure_cannot_be_is_refused_with_a_reason() {
    let (text, bytes) = figure();
    let joints = vec!["1"; 33].join(",");
    for (name, from, to, reason) in [
        ("no-skin", r#""skins":[{"inverseBindMatrices":3,"joints":[1,2]}],"#, "", "Index"),
        ("rigid", r#""mesh":0,"skin":0"#, r#""mesh":0"#, "node 3 has a mesh without the skin"),
        ("joints", r#""joints":[1,2]"#, &format!(r#""joints":[{joints}]"#), "33 joints; 32 are possible"),
        ("one-joint", r#""joints":[1,2]"#, r#""joints":[1]"#, "follows joint 1 of 1"),
        (
            "matrices",
            r#""count":2,"type":"MAT4""#,
            r#""count":1,"type":"MAT4""#,
            "1 inverse bind matrices for 2 joints",
        ),
        (
            "type",
            r#""bufferView":1,"componentType":5121"#,
            r#""bufferView":1,"componentType":5126"#,
            "its joints are accessor 1",
        ),
        ("weights", r#","WEIGHTS_0":2"#, "", "it has no weights"),
        ("morph", r#""path":"rotation""#, r#""path":"weights""#, "morph targets"),
        ("cubic", r#""output":5"#, r#""output":5,"interpolation":"CUBICSPLINE""#, "2 values for 2 times"),
        ("circle", r#"{"translation":[0,1,0]}"#, r#"{"translation":[0,1,0],"children":[1]}"#, "two parents"),
        (
            "short",
            r#""byteOffset":196,"byteLength":32"#,
            r#""byteOffset":196,"byteLength":16"#,
            "does not have its 2 elements",
        ),
    ] {
        assert!(text.contains(from), "{name}");
        let error = build(name, &text.replace(from, to), &bytes).unwrap_err();
        assert!(error.contains(reason), "{name}: {error}");
    }
    // Times that run backwards, and an animation of an hour.
    for (name, times, reason) in
        [("back", [1.0f32, 0.0], "do not increase"), ("hour", [0.0, 3600.0], "more than 4096 poses")]
    {
        let mut bytes = bytes.clone();
        bytes[188..196].copy_from_slice(&times.map(f32::to_le_bytes).concat());
        let error = build(name, &text, &bytes).unwrap_err();
        assert!(error.contains(reason), "{name}: {error}");
    }
}
