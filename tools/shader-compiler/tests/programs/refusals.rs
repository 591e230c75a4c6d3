//! Sources that are refused, and the errors.

use shader_compiler::interface::Stage;
use shader_compiler::limit::Limit;
use shader_compiler::{Error, Options, compile};

/// Compiles a source that must be refused; checks the limit, and the text at its place.
fn check(source: &str, limit: &Limit, at: &str) {
    let error = compile(source, "test.wgsl", &Options::default()).expect_err(limit.name);
    assert_eq!(error.limit, Some(limit), "{}", error.rendered);
    assert!(error.message.starts_with(limit.message), "{}", error.message);
    let place = error.place.map(|(range, _)| &source[range]);
    assert_eq!(place, Some(at), "{}", error.rendered);
    assert!(error.rendered.contains("test.wgsl:"), "{}", error.rendered);
}

/// A source for each limit, with the text that the error points to.
const SOURCES: &[(&Limit, &str, &str)] = &[
    (
        &Limit::VALUE_SIZE,
        "var<private> big: array<f32, 5000>;
        @fragment fn f() -> @location(0) vec4<f32> { return vec4(big[0]); }",
        "var<private> big: array<f32, 5000>;",
    ),
    (
        &Limit::DYNAMIC_INDEX,
        "@fragment fn f(@location(0) x: f32) -> @location(0) vec4<f32> {
            var many: array<f32, 65>;
            many[i32(x)] = x;
            return vec4(many[i32(x)]);
        }",
        "many[i32(x)]",
    ),
    (
        &Limit::OVERRIDE,
        "override size: u32;
        @fragment fn f() -> @location(0) vec4<f32> { return vec4(f32(size)); }",
        "size",
    ),
    (
        &Limit::VERTEX_LOOP,
        "@vertex fn v(@location(0) n: i32) -> @builtin(position) vec4<f32> {
            var sum = 0;
            for (var i = 0; i < n; i++) { sum = sum * 3 + i; }
            return vec4(f32(sum));
        }",
        "for (var i = 0; i < n; i++) { sum = sum * 3 + i; }",
    ),
    (
        &Limit::VARYING_PER_SAMPLE,
        "@fragment fn f(@location(0) @interpolate(perspective, sample) x: f32) -> @location(0) vec4<f32> { return vec4(x); }",
        "f(@location(0) @interpolate(perspective, sample) x: f32)",
    ),
    (
        &Limit::VARYING_FLAT_FIRST,
        "@fragment fn f(@location(0) @interpolate(flat, first) x: f32) -> @location(0) vec4<f32> { return vec4(x); }",
        "f(@location(0) @interpolate(flat, first) x: f32)",
    ),
    (
        &Limit::VARYING_LINEAR,
        "@fragment fn f(@location(0) @interpolate(linear) x: f32) -> @location(0) vec4<f32> { return vec4(x); }",
        "f(@location(0) @interpolate(linear) x: f32)",
    ),
    (
        &Limit::SAMPLE_INDEX,
        "@fragment fn f(@builtin(sample_index) n: u32) -> @location(0) vec4<f32> { return vec4(f32(n)); }",
        "f(@builtin(sample_index) n: u32)",
    ),
    (&Limit::COLOR_TYPE, "@fragment fn f() -> @location(0) vec4<u32> { return vec4(1u); }", "f()"),
    (
        &Limit::COLOR_COUNT,
        "struct Out { @location(0) a: vec4<f32>, @location(1) b: vec4<f32> }
        @fragment fn f() -> Out { return Out(vec4(1.0), vec4(0.0)); }",
        "f()",
    ),
    (&Limit::COLOR_MISSING, "@fragment fn f() -> @builtin(frag_depth) f32 { return 0.5; }", "f()"),
    (
        &Limit::STORAGE_IN_STAGE,
        "@group(0) @binding(0) var<storage, read_write> s: array<f32>;
        @fragment fn f() -> @location(0) vec4<f32> { s[1] = 2.0; return vec4(1.0); }",
        "s",
    ),
    (
        &Limit::HALF_STORE,
        "enable f16;
        @group(0) @binding(0) var<storage, read_write> s: array<f16>;
        @compute @workgroup_size(16) fn f(@builtin(local_invocation_index) i: u32) { s[i] = 1.0h; }",
        "s[i] = 1.0h",
    ),
    (&Limit::WORKGROUP_SIZE, "@compute @workgroup_size(64, 64) fn f() {}", "f()"),
    (&Limit::WORKGROUP_TOGETHER, "@compute @workgroup_size(256) fn f() { workgroupBarrier(); }", "f()"),
    (
        &Limit::WORKGROUP_MEMORY,
        "var<workgroup> shared_words: array<u32, 300000>;
        @compute @workgroup_size(16) fn f(@builtin(local_invocation_index) i: u32) { shared_words[i] = i; }",
        "var<workgroup> shared_words: array<u32, 300000>;",
    ),
    (
        &Limit::TEXTURE_DIMENSION,
        "@group(0) @binding(0) var t: texture_3d<f32>;
        @fragment fn f() -> @location(0) vec4<f32> { return textureLoad(t, vec3(0, 0, 0), 0); }",
        "textureLoad",
    ),
    (
        &Limit::TEXTURE_ARRAY,
        "@group(0) @binding(0) var t: texture_2d_array<f32>;
        @fragment fn f() -> @location(0) vec4<f32> { return textureLoad(t, vec2(0, 0), 0, 0); }",
        "textureLoad",
    ),
    (
        &Limit::TEXTURE_SAMPLES,
        "@group(0) @binding(0) var t: texture_multisampled_2d<f32>;
        @fragment fn f() -> @location(0) vec4<f32> { return textureLoad(t, vec2(0, 0), 0); }",
        "textureLoad",
    ),
    (
        &Limit::TEXTURE_KIND,
        "@group(0) @binding(0) var t: texture_2d<u32>;
        @fragment fn f() -> @location(0) vec4<f32> { return vec4<f32>(textureLoad(t, vec2(0, 0), 0)); }",
        "textureLoad",
    ),
    (
        &Limit::TEXTURE_STORE,
        "@group(0) @binding(0) var t: texture_storage_2d<rgba8unorm, write>;
        @compute @workgroup_size(1) fn f() { textureStore(t, vec2(0, 0), vec4(1.0)); }",
        "textureStore",
    ),
    (
        &Limit::NUMBER_WIDTH,
        "@fragment fn f(@location(0) x: f32) -> @location(0) vec4<f32> { return vec4(f32(f64(x) * 2.0lf)); }",
        "f64(x)",
    ),
    (
        &Limit::ATTRIBUTE_COUNT,
        "struct In { @location(0) a: f32, @location(1) b: f32, @location(2) c: f32, @location(3) d: f32, @location(4) e: f32,
            @location(5) g: f32, @location(6) h: f32, @location(7) i: f32, @location(8) j: f32 }
        struct Out { @builtin(position) p: vec4<f32>, @location(0) v: f32 }
        @vertex fn f(in: In) -> Out { return Out(vec4(in.a, in.c, in.e + in.h, in.j), in.b + in.d + in.g + in.i); }",
        "f(in: In)",
    ),
    (
        &Limit::VARYING_COUNT,
        "struct In { @location(0) a: vec4<f32>, @location(1) b: vec4<f32>, @location(2) c: vec4<f32>, @location(3) d: vec4<f32>,
            @location(4) e: vec4<f32>, @location(5) g: vec4<f32>, @location(6) h: vec4<f32>, @location(7) i: vec4<f32>, @location(8) j: f32 }
        @fragment fn f(in: In) -> @location(0) vec4<f32> { return in.a; }",
        "f(in: In)",
    ),
    (
        &Limit::BUILT_IN_INPUT,
        "enable primitive_index;
        @fragment fn f(@builtin(primitive_index) n: u32) -> @location(0) vec4<f32> { return vec4(f32(n)); }",
        "f(@builtin(primitive_index) n: u32)",
    ),
    (
        &Limit::BUILT_IN_OUTPUT,
        "struct Out { @location(0) color: vec4<f32>, @builtin(sample_mask) mask: u32 }
        @fragment fn f() -> Out { return Out(vec4(1.0), 3u); }",
        "f()",
    ),
    (
        &Limit::CUBE_OFFSET,
        "@group(0) @binding(0) var t: texture_cube<f32>;
        @group(0) @binding(1) var s: sampler;
        @fragment fn f(@location(0) x: vec3<f32>) -> @location(0) vec4<f32> { return textureSample(t, s, x, vec3(1)); }",
        "textureSample",
    ),
    (
        &Limit::SUBGROUPS,
        "@compute @workgroup_size(16) fn f() { _ = subgroupBallot(true); }",
        "subgroupBallot",
    ),
];

#[test]
fn limits_have_a_place_and_a_reason() {
    for (limit, source, at) in SOURCES {
        check(source, limit, at);
    }
}

/// A source that is not WGSL is refused by naga.
#[test]
fn errors_of_the_language_are_nagas() {
    let source = "@fragment fn f() -> @location(0) vec4<f32> { return vec4(1.0, 2.0, 3.0, q); }";
    let error = compile(source, "test.wgsl", &Options::default()).unwrap_err();
    assert_eq!(error.limit, None);
    assert!(error.message.contains("no definition in scope"), "{error}");
    assert_eq!(error.place.map(|(range, _)| &source[range]), Some("q"));
}

/// The list of naga's inputs names only existing limits, whether the inputs are available or not.
#[test]
fn limits_of_the_list_exist() {
    let rows = include_str!("../naga.tsv").lines().filter_map(|row| row.split_once("\tlimit\t"));
    let unknown: Vec<_> = rows.filter(|(_, name)| Limit::ALL.iter().all(|limit| limit.name != *name)).collect();
    assert!(unknown.is_empty(), "{unknown:?}");
}

#[test]
fn names_of_limits_are_different() {
    let names: std::collections::BTreeSet<&str> = Limit::ALL.iter().map(|limit| limit.name).collect();
    assert_eq!(names.len(), Limit::ALL.len());
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
    // 80 sums that each need all of 80 roots, and the previous sum.
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
        assert_eq!(error.limit, Some(&Limit::REGISTERS), "{}", error.message);
        assert!(error.place.is_some(), "{}", error.rendered);
    } else {
        panic!("80 values do not fit into 64 registers");
    }
}

/// The result of each entry point of a source, compiled separately, as rows of the list.
fn outcomes(name: &str, source: &str) -> Vec<String> {
    let row = |entry: &str, error: &Error| match error.limit {
        Some(limit) => format!("{name}\t{entry}\tlimit\t{}", limit.name),
        None => format!("{name}\t{entry}\trefused\t{}", error.message.lines().next().unwrap_or("")),
    };
    let nothing = Options::default();
    let module = match shader_compiler::parse(source, name) {
        Ok(module) if !module.entry_points.is_empty() => module,
        _ => return compile(source, name, &nothing).map_or_else(|error| vec![row("-", &error)], |_| Vec::new()),
    };
    let rows = module.entry_points.iter().map(|entry| {
        let name_of_entry = Some(entry.name.clone());
        let options = match entry.stage {
            naga::ShaderStage::Vertex => {
                Options { stage: Some(Stage::Vertex), vertex: name_of_entry, ..nothing.clone() }
            }
            naga::ShaderStage::Fragment => {
                Options { stage: Some(Stage::Fragment), fragment: name_of_entry, ..nothing.clone() }
            }
            _ => Options { stage: Some(Stage::Compute), compute: name_of_entry, ..nothing.clone() },
        };
        match compile(source, name, &options) {
            Ok(programs) => {
                let counts: Vec<_> = programs
                    .iter()
                    .map(|program| format!("{} {}", program.stage.name(), program.words.len()))
                    .collect();
                format!("{name}\t{}\tcompiles\t{}", entry.name, counts.join(", "))
            }
            Err(error) => row(&entry.name, &error),
        }
    });
    rows.collect()
}

/// naga's inputs are not in this tree: a variable names their folder. `UPDATE_NAGA` writes the list again.
#[test]
fn naga_inputs_become_what_the_list_says() {
    let Some(folder) = std::env::var_os("NAGA_INPUTS") else {
        println!("not compared: NAGA_INPUTS does not name the folder with naga's inputs");
        return;
    };
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/naga.tsv");
    let list = std::fs::read_to_string(&path).unwrap();
    let mut rows: Vec<String> = list.lines().filter(|row| row.starts_with('#')).map(str::to_owned).collect();
    let mut files: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "wgsl"));
    files.sort();
    for file in files {
        let source = std::fs::read_to_string(&file).unwrap();
        rows.extend(outcomes(file.file_name().unwrap().to_str().unwrap(), &source));
    }
    if std::env::var_os("UPDATE_NAGA").is_some() {
        std::fs::write(&path, rows.join("\n") + "\n").unwrap();
    } else {
        assert_eq!(rows, list.lines().collect::<Vec<_>>());
    }
}

/// Vertex shaders with loops that elements without a vertex cannot keep from ending, and others.
#[test]
fn loops_of_vertex_shaders_have_an_end_for_all_elements() {
    let check = |body: &str, is_accepted: bool| {
        let source = format!(
            "struct Uniforms {{ count: i32, limit: f32 }}
            @group(0) @binding(0) var<uniform> u: Uniforms;
            @vertex fn v(@location(0) n: i32, @location(1) f: f32) -> @builtin(position) vec4<f32> {{
                var x = f; var sum = 0; var k = 0;
                {body}
                return vec4(x + f32(sum) + f32(k));
            }}"
        );
        let limit = compile(&source, "loop.wgsl", &Options::default()).map_or_else(|error| Some(error.limit), |_| None);
        assert_eq!(limit, if is_accepted { None } else { Some(Some(&Limit::VERTEX_LOOP)) }, "{body}");
    };
    for body in [
        "for (var i = 0; i < u.count; i++) { x = x * 1.5 + u.limit; }",
        "for (var i = 0; i < u.count; i++) { if (x > f32(i)) { break; } x = x * 1.5 + u.limit; }",
        "for (var i = 0; i < min(n, 800); i++) { x = x * 1.5 + u.limit; }",
        "for (var i = 0; i <= clamp(n, 1, u.count); i++) { x = x * 1.5 + u.limit; }",
        "loop { if (x > 9.0) { break; } x = x * 1.5; k++; if (k == 1000) { break; } }",
        "loop { if (x > 9.0) { x = x * 0.25; continue; } x = x * 1.5; continuing { k++; break if (k >= u.count); } }",
        "if (n > 3) { for (var i = 0; i < u.count; i++) { x = x * 1.5 + u.limit; } }",
        "for (var i = 0; i < u.count; i++) { for (var j = 0; j < u.count + i; j++) { x = x * 1.5; sum += n; } }",
        // A value that is computed in a loop which all elements leave together is uniform.
        "for (var i = 0; i < u.count; i++) { k += i; } for (var i = 0; i < k; i++) { x = x * 1.5 + u.limit; }",
    ] {
        check(body, true);
    }
    for body in [
        "for (var i = 0; i < n; i++) { x = x * 1.5 + u.limit; }",
        "for (var i = 0u; i < min(u32(n), 800u); i++) { x = x * 1.5 + u.limit; if (x == 7.0) { i = 0u; } }",
        "while (x < u.limit) { x = x * 1.5; }",
        "loop { x = x * 1.5; if (x > 9.0) { break; } if (u.limit < 0.0) { break; } }",
        "loop { if (x > 9.0) { k++; } x = x * 1.5; if (k == 1000) { break; } }",
        "for (var i = 0; i < u.count; i++) { for (var j = 0; j < n; j++) { x = x * 1.5; sum += i; } }",
        "loop { if (x > 9.0) { break; } x = x * 1.5; k++; if (k == 1000) { break; } } for (var i = 0; i < k; i++) { x = x * 1.25 + u.limit; }",
    ] {
        check(body, false);
    }
    // In fragment shaders each element is a pixel of a quad.
    let fragment = "@fragment fn f(@location(0) x: f32) -> @location(0) vec4<f32> {
        var y = x; while (y < 100.0) { y = y * 1.5; } return vec4(y); }";
    assert!(compile(fragment, "loop.wgsl", &Options::default()).is_ok());
}
