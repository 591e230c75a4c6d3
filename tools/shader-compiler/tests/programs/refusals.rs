//! What is refused, and how that is said.

use shader_compiler::{Options, compile};

/// Compiles what must be refused; the message, and the text at its place.
fn check(source: &str, message: &str, at: &str) {
    let error = compile(source, "test.wgsl", &Options::default()).expect_err("this is to be refused");
    assert!(error.message.contains(message), "{}", error.message);
    let place = error.place.map(|(range, _)| &source[range]);
    assert_eq!(place, Some(at), "{}", error.rendered);
    assert!(error.rendered.contains("test.wgsl:"), "{}", error.rendered);
}

#[test]
fn limits_have_a_place_and_a_reason() {
    check(
        "@group(0) @binding(0) var t: texture_2d_array<f32>;
        @fragment fn f() -> @location(0) vec4<f32> { return textureLoad(t, vec2(0, 0), 0, 0); }",
        "arrays of textures do not exist",
        "textureLoad",
    );
    check(
        "@group(0) @binding(0) var<storage, read> s: array<f32>;
        @fragment fn f() -> @location(0) vec4<f32> { return vec4(s[1]); }",
        "storage buffers are not compiled",
        "s",
    );
    check(
        "@fragment fn f() -> @location(0) vec4<f32> { return vec4(1.0, 2.0, 3.0, q); }",
        "no definition in scope",
        "q",
    );
}

#[test]
fn several_entry_points_must_be_chosen_from() {
    let source = "@fragment fn red() -> @location(0) vec4<f32> { return vec4(1.0, 0.0, 0.0, 1.0); }
        @fragment fn blue() -> @location(0) vec4<f32> { return vec4(0.0, 0.0, 1.0, 1.0); }";
    let error = compile(source, "test.wgsl", &Options::default()).unwrap_err();
    assert!(error.message.contains("say which of red, blue"), "{error}");
    let options = Options { fragment: Some("blue".to_owned()), ..Options::default() };
    assert_eq!(compile(source, "test.wgsl", &options).unwrap().len(), 1);
    let options = Options { fragment: Some("green".to_owned()), ..Options::default() };
    let error = compile(source, "test.wgsl", &options).unwrap_err();
    assert!(error.message.contains("no Fragment entry point of the name green"), "{error}");
}

#[test]
fn too_many_values_at_once_are_refused_with_their_line() {
    // 80 sums that need all of 80 roots, each of which waits for the last.
    let terms: Vec<String> = (0..80).map(|n| format!("let t{n} = sqrt(v.x * {n}.5);")).collect();
    let sums: Vec<String> = (0..80).map(|n| format!("s = s * t{n} + t{};", 79 - n)).collect();
    let source = format!(
        "@fragment fn f(@location(0) v: vec2<f32>) -> @location(0) vec4<f32> {{
            {}
            var s = t0 * t79;
            {}
            return vec4(s);
        }}",
        terms.join("\n"),
        sums.join("\n")
    );
    if let Err(error) = compile(&source, "test.wgsl", &Options::default()) {
        assert!(error.message.contains("values are needed at once here"), "{}", error.message);
        assert!(error.place.is_some(), "{}", error.rendered);
    } else {
        panic!("80 values do not fit into 64 registers");
    }
}

/// naga's inputs are not in this tree: whoever has them says where. `UPDATE_NAGA` has the list written anew.
#[test]
fn naga_inputs_become_what_the_list_says() {
    let Some(folder) = std::env::var_os("NAGA_INPUTS") else { return };
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/naga.tsv");
    let list = std::fs::read_to_string(&path).unwrap();
    let mut rows = Vec::new();
    for row in list.lines() {
        if row.starts_with('#') {
            rows.push(row.to_owned());
            continue;
        }
        let name = row.split('\t').next().unwrap();
        let source = std::fs::read_to_string(std::path::Path::new(&folder).join(name)).unwrap();
        rows.push(match compile(&source, name, &Options::default()) {
            Ok(programs) => {
                let stages: Vec<String> = programs
                    .iter()
                    .map(|program| format!("{} {}", program.stage.name(), program.words.len()))
                    .collect();
                format!("{name}\tcompiles\t{}", stages.join(", "))
            }
            Err(error) => format!("{name}\trefused\t{}", error.message.lines().next().unwrap_or("")),
        });
    }
    if std::env::var_os("UPDATE_NAGA").is_some() {
        std::fs::write(&path, rows.join("\n") + "\n").unwrap();
    } else {
        assert_eq!(rows, list.lines().collect::<Vec<_>>());
    }
}
