//! Models from elsewhere are built, or refused with a reason.
//!
//! Whatever a file says, that takes bounded time and memory, and nothing outside of its folder is read.

use asset_build::{Assets, FontOptions};
use std::path::{Path, PathBuf};

/// A folder of this test alone.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("hostile").join(name);
    std::fs::create_dir_all(&folder).expect("the build's folder for tests can be written");
    folder
}

/// The bytes of three corners: positions.
fn positions() -> Vec<u8> {
    [0.0f32, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0].iter().flat_map(|value| value.to_le_bytes()).collect()
}

/// A model of one triangle in a text file: the parts that a test replaces.
struct Text {
    scenes: String,
    nodes: String,
    primitive: String,
    accessor: String,
    more_accessors: String,
    view: String,
    uri: String,
    byte_length: String,
    images: String,
}

impl Default for Text {
    fn default() -> Self {
        Self {
            scenes: r#"{"nodes":[0]}"#.to_owned(),
            nodes: r#"{"mesh":0}"#.to_owned(),
            primitive: r#""attributes":{"POSITION":0}"#.to_owned(),
            accessor: r#""bufferView":0,"componentType":5126,"count":3,"type":"VEC3""#.to_owned(),
            more_accessors: String::new(),
            view: r#""byteLength":36"#.to_owned(),
            uri: format!("data:application/octet-stream;base64,{}", data_encoding::BASE64.encode(&positions())),
            byte_length: "36".to_owned(),
            images: String::new(),
        }
    }
}

impl Text {
    fn json(&self) -> String {
        let Self { scenes, nodes, primitive, accessor, more_accessors, view, uri, byte_length, images } = self;
        format!(
            r#"{{"asset":{{"version":"2.0"}},"scenes":[{scenes}],"nodes":[{nodes}],"meshes":[{{"primitives":[{{{primitive}}}]}}],
            "accessors":[{{{accessor},"min":[0,0,0],"max":[1,1,0]}}{more_accessors}],"bufferViews":[{{"buffer":0,{view}}}],
            "buffers":[{{"byteLength":{byte_length},"uri":{uri:?}}}],"images":[{images}]}}"#
        )
    }
}

/// Builds a model from a file of this text.
fn build(name: &str, text: &str) -> Result<(), String> {
    let (from, to) = (folder(name), folder(&format!("{name}-out")));
    std::fs::write(from.join("model.gltf"), text).unwrap();
    Assets::new().model("model", "model.gltf").write(&from, &to).map_err(|error| error.to_string())
}

/// Builds what must be refused with a message that has all of these parts.
fn check(name: &str, text: &Text, expected: &[&str]) {
    let message = build(name, &text.json()).expect_err(name);
    for part in expected.iter().chain(&["model.gltf"]) {
        assert!(message.contains(part), "{name}: {message:?} does not say {part:?}");
    }
}

#[test]
fn the_model_that_the_tests_change_is_right() {
    assert_eq!(build("right", &Text::default().json()), Ok(()));
}

#[test]
fn a_node_that_is_reached_twice_is_refused() {
    let nodes = |nodes: &str| Text { nodes: nodes.to_owned(), ..Text::default() };
    check("itself", &nodes(r#"{"mesh":0,"children":[0]}"#), &["node 0 is reached twice"]);
    check("cycle", &nodes(r#"{"children":[1]},{"mesh":0,"children":[0]}"#), &["node 0 is reached twice"]);
    let doubled: Vec<String> = (1..=24).map(|next| format!(r#"{{"children":[{next},{next}]}}"#)).collect();
    check("doubled", &nodes(&format!(r#"{},{{"mesh":0}}"#, doubled.join(","))), &["is reached twice"]);
    let shared = Text { scenes: r#"{"nodes":[0,0]}"#.to_owned(), ..Text::default() };
    check("root", &shared, &["node 0 is reached twice in scene 0"]);
}

#[test]
fn two_scenes_may_have_the_same_node() {
    let text = Text { scenes: r#"{"nodes":[0]},{"nodes":[0]}"#.to_owned(), ..Text::default() };
    assert_eq!(build("scenes", &text.json()), Ok(()));
}

/// Recursion by nodes would need a stack for it.
#[test]
fn a_chain_of_100_000_nodes_is_a_model() {
    let chain: String = (1..100_000).map(|next| format!(r#"{{"children":[{next}]}},"#)).collect();
    let text = Text { nodes: format!(r#"{chain}{{"mesh":0}}"#), ..Text::default() };
    assert_eq!(build("chain", &text.json()), Ok(()));
}

#[test]
fn nodes_scenes_and_triangles_without_end_are_refused() {
    // 3,000 scenes of the same 1,000 nodes.
    let children: Vec<String> = (1..1000).map(|child| child.to_string()).collect();
    let nodes = format!(r#"{{"children":[{}]}}{}"#, children.join(","), ",{}".repeat(999));
    let scenes = vec![r#"{"nodes":[0]}"#; 3000].join(",");
    check("visits", &Text { nodes, scenes, ..Text::default() }, &["more than 1048576 nodes"]);
    // The same three corners again and again, by 2,000,000 indices of one byte that are all replaced by nothing.
    let indices = r#",{"componentType":5121,"count":3000000,"type":"SCALAR",
        "sparse":{"count":1,"indices":{"bufferView":0,"componentType":5121},"values":{"bufferView":0}}}"#;
    let nodes = [r#"{"mesh":0}"#; 2].join(",");
    let text = Text {
        scenes: r#"{"nodes":[0,1]}"#.to_owned(),
        nodes,
        primitive: r#""attributes":{"POSITION":0},"indices":1"#.to_owned(),
        more_accessors: indices.to_owned(),
        ..Text::default()
    };
    check("triangles", &text, &["more than 1048576 triangles"]);
    let objects = Text { nodes: format!("{{}}{}", ",{}".repeat(600_000)), ..Text::default() };
    check("objects", &objects, &["more than 524288 objects"]);
}

/// The crate `gltf` panics where an accessor is not what it expects.
#[test]
fn accessors_that_are_not_what_they_should_be_are_refused() {
    let accessor = |name: &str, accessor: &str, expected: &[&str]| {
        check(name, &Text { accessor: accessor.to_owned(), ..Text::default() }, expected);
    };
    accessor("bytes", r#""bufferView":0,"componentType":5121,"count":3,"type":"VEC3""#, &["positions are accessor 0"]);
    accessor("pairs", r#""bufferView":0,"componentType":5126,"count":3,"type":"VEC2""#, &["Vec2", "instead of Vec3"]);
    accessor("none", r#""bufferView":0,"componentType":5126,"count":0,"type":"VEC3""#, &["has no elements"]);
    accessor(
        "many",
        r#""bufferView":0,"componentType":5126,"count":4,"type":"VEC3""#,
        &["does not have its 4 elements"],
    );
    let most = u64::MAX;
    accessor(
        "count",
        &format!(r#""bufferView":0,"componentType":5126,"count":{most},"type":"VEC3""#),
        &["does not have its"],
    );
    accessor(
        "offset",
        &format!(r#""bufferView":0,"byteOffset":{most},"componentType":5126,"count":3,"type":"VEC3""#),
        &["does not have its"],
    );
    let sparse = |count: u64, replaced: u64| {
        format!(
            r#""componentType":5126,"count":{count},"type":"VEC3","sparse":{{"count":{replaced},
            "indices":{{"bufferView":0,"componentType":5125}},"values":{{"bufferView":0}}}}"#
        )
    };
    accessor("zeros", &sparse(1 << 40, 1), &["has 1099511627776 elements"]);
    accessor("replaced", &sparse(3, 4), &["4 of its 3 elements are replaced"]);
    let bounds = format!(
        r#""bufferView":0,"componentType":5126,"count":3,"type":"VEC3","normalized":false,"max":[0,0,0],"min":[0{}]"#,
        ",0".repeat(99)
    );
    let text = Text { accessor: bounds, ..Text::default() }.json().replace(r#","min":[0,0,0],"max":[1,1,0]"#, "");
    assert!(build("bounds", &text).unwrap_err().contains("bounds of more than 16 components"));
    let missing = Text { primitive: r#""attributes":{"POSITION":9}"#.to_owned(), ..Text::default() };
    check("missing", &missing, &["accessor 9, which is not there"]);
    accessor("values", &sparse(9, 4), &["does not have its 4 elements"]);
    let indices = Text { primitive: r#""attributes":{"POSITION":0},"indices":0"#.to_owned(), ..Text::default() };
    check("float-indices", &indices, &["indices are accessor 0", "instead of Scalar"]);
    let view =
        |name: &str, view: &str| check(name, &Text { view: view.to_owned(), ..Text::default() }, &["buffer view 0"]);
    view("beyond", r#""byteOffset":4,"byteLength":36"#);
    view("overflow", &format!(r#""byteOffset":{most},"byteLength":36"#));
    let apart = Text { view: r#""byteLength":36,"byteStride":4"#.to_owned(), ..Text::default() };
    check("apart", &apart, &["12 bytes are 4 bytes apart"]);
}

#[test]
fn a_uri_reads_nothing_outside_of_the_folder() {
    let parent = folder("outside");
    std::fs::write(parent.join("secret.bin"), positions()).unwrap();
    let from = folder("outside/model");
    std::fs::write(from.join("inside.bin"), positions()).unwrap();
    std::fs::create_dir_all(from.join("deeper")).unwrap();
    std::fs::write(from.join("deeper/inside.bin"), positions()).unwrap();
    let check = |uri: &str, expected: Result<(), &str>| {
        for images in ["", "image"] {
            // As a buffer; then as a picture beside a buffer that is right.
            let text = if images.is_empty() {
                Text { uri: uri.to_owned(), ..Text::default() }
            } else {
                Text { images: format!(r#"{{"uri":{uri:?}}}"#), ..Text::default() }
            };
            std::fs::write(from.join("model.gltf"), text.json()).unwrap();
            let result = Assets::new().model("model", "model.gltf").write(&from, &folder("outside-out"));
            let message = result.map_err(|error| error.to_string());
            match (&message, expected) {
                (Ok(()), Ok(())) => {}
                // The bytes are no picture: so they were read.
                (Err(message), Ok(())) if message.contains("neither a PNG nor a JPEG") => {}
                (Err(message), Err(part)) if message.contains(part) => {}
                _ => panic!("{uri}: {message:?} instead of {expected:?}"),
            }
        }
    };
    check("inside.bin", Ok(()));
    check("./deeper/../inside.bin", Err("not a file below"));
    check("deeper/inside.bin", Ok(()));
    for outside in
        ["../secret.bin", "deeper/../../secret.bin", "/etc/passwd", "/dev/zero", "../../../../../../../../dev/zero", ""]
    {
        check(outside, Err("not a file below the document's folder"));
    }
    for not_plain in ["file:///etc/passwd", "%2e%2e/secret.bin", "..\\secret.bin", "https://example.com/a.bin"] {
        check(not_plain, Err("not the plain name of a file"));
    }
    check("deeper", Err("it is not a file"));
    #[cfg(unix)]
    for (name, target) in [("link.bin", "../secret.bin"), ("zero.bin", "/dev/zero")] {
        let _ = std::fs::remove_file(from.join(name));
        std::os::unix::fs::symlink(target, from.join(name)).unwrap();
        check(name, Err("is a link to something that is not below the document's folder"));
    }
}

#[cfg(unix)]
#[test]
fn what_is_no_file_is_not_read() {
    let to = folder("device-out");
    let refused = |assets: Assets| {
        let message = assets.write(Path::new("/dev"), &to).unwrap_err().to_string();
        assert!(message.contains("/dev/zero: it is not a file"), "{message}");
    };
    refused(Assets::new().model("a", "zero"));
    refused(Assets::new().image("a", "zero"));
    refused(Assets::new().font("a", "zero", FontOptions::coverage(16.0)));
}

/// A header of a PNG picture with 60,000 x 60,000 pixels: 14 GB, if there was memory for them.
#[test]
fn the_size_of_a_picture_is_checked_before_its_pixels_are_read() {
    let (from, to) = (folder("picture"), folder("picture-out"));
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, 60_000, 60_000);
    encoder.set_color(png::ColorType::Rgba);
    drop(encoder.write_header().unwrap());
    std::fs::write(from.join("wide.png"), &bytes).unwrap();
    let message = Assets::new().image("wide", "wide.png").write(&from, &to).unwrap_err().to_string();
    assert!(message.contains("60000 x 60000 pixels"), "{message}");
}

/// 20 pictures of 16 MiB, each in 20 KB.
#[test]
fn the_pictures_of_a_model_have_256_mib_of_pixels_at_most() {
    let from = folder("pictures");
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, 2048, 2048);
    encoder.set_color(png::ColorType::Rgba);
    encoder.write_header().and_then(|mut writer| writer.write_image_data(&vec![0; 1 << 24])).unwrap();
    std::fs::write(from.join("black.png"), &bytes).unwrap();
    let text = Text { images: vec![r#"{"uri":"black.png"}"#; 20].join(","), ..Text::default() };
    check("pictures", &text, &["image 16", "more than 256 MiB of pixels"]);
}

#[test]
fn headers_of_binary_files_are_checked() {
    let from = folder("headers");
    for (number, bytes) in
        [&b"glTF"[..], b"glTF\x02\0\0\0\x05\0\0\0", b"glTF\x02\0\0\0\0\0\0\0JSON", b"glTF\x02\0\0\0\x0c\0\0\0"]
            .iter()
            .enumerate()
    {
        std::fs::write(from.join("short.glb"), bytes).unwrap();
        let result = Assets::new().model("a", "short.glb").write(&from, &folder("headers-out"));
        assert!(result.unwrap_err().to_string().contains("short.glb"), "{number}");
    }
}

/// Splitmix64.
fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mixed = (*state ^ *state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ mixed >> 31
}

/// A model with everything that is read, in which numbers are replaced: it is built or refused.
#[test]
fn models_with_other_numbers_are_built_or_refused() {
    const COUNT: usize = 600;
    let text = Text {
        scenes: r#"{"nodes":[0]},{"nodes":[2]}"#.to_owned(),
        nodes: r#"{"mesh":0,"children":[1]},{"mesh":0,"scale":[1,2,3]},{"children":[3]},{"mesh":0}"#.to_owned(),
        primitive: r#""attributes":{"POSITION":0,"NORMAL":1,"TEXCOORD_0":2},"indices":3,"mode":4"#.to_owned(),
        more_accessors: r#",{"bufferView":0,"componentType":5126,"count":3,"type":"VEC3"},
            {"bufferView":0,"byteOffset":0,"componentType":5121,"normalized":true,"count":3,"type":"VEC2"},
            {"bufferView":0,"byteOffset":0,"componentType":5121,"count":3,"type":"SCALAR",
             "sparse":{"count":2,"indices":{"bufferView":0,"byteOffset":0,"componentType":5121},"values":{"bufferView":0,"byteOffset":1}}}"#
            .to_owned(),
        view: r#""byteOffset":0,"byteLength":36"#.to_owned(),
        ..Text::default()
    }
    .json();
    let data = text.find("data:").unwrap();
    let is_number = |at: usize| text.as_bytes()[at].is_ascii_digit() && !(at > data && at < data + 100);
    let places: Vec<usize> = (0..text.len()).filter(|&at| is_number(at) && !is_number(at - 1)).collect();
    let numbers = [
        "0",
        "1",
        "2",
        "3",
        "4",
        "5",
        "5121",
        "5123",
        "5125",
        "5126",
        "255",
        "65536",
        "4294967295",
        "18446744073709551615",
    ];
    let (mut state, mut built) = (1, 0);
    for number in 0..COUNT {
        let mut changed = text.clone();
        // From the back, so that the places before stay right.
        let mut chosen = [(); 2].map(|()| places[next(&mut state) as usize % places.len()]);
        chosen.sort_unstable_by(|a, b| b.cmp(a));
        for at in chosen {
            let end = at + changed[at..].find(|character: char| !character.is_ascii_digit()).unwrap();
            changed.replace_range(at..end, numbers[next(&mut state) as usize % numbers.len()]);
        }
        let result = std::panic::catch_unwind(|| build("numbers", &changed));
        built += usize::from(result.unwrap_or_else(|_| panic!("number {number} panics:\n{changed}")).is_ok());
    }
    assert!((COUNT / 50..COUNT).contains(&built), "{built} of {COUNT} are built");
}
