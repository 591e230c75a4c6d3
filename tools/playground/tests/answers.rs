//! Questions as the page asks them, on the host.

use playground::answer::Playground;
use playground::words;
use serde_json::{Value as Json, json};
use std::path::Path;
use v3d_sim::job::JobFolder;
use v3d_sim::job::run::run_folder;

fn ask(playground: &mut Playground, question: &Json) -> Json {
    serde_json::from_str(&playground.answer(&question.to_string())).expect("an answer is JSON")
}

fn look(playground: &mut Playground, language: &str, source: &str) -> Json {
    ask(playground, &json!({ "ask": "look", "language": language, "source": source }))
}

fn small() -> Json {
    json!({ "width": 64, "height": 36 })
}

/// Every example compiles without a complaint, apart from the puzzle, and draws a frame without a fault.
#[test]
fn examples_work() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("site/examples");
    let mut drawn = 0;
    for entry in std::fs::read_dir(folder).expect("the examples") {
        let path = entry.expect("an example").path();
        let source = std::fs::read_to_string(&path).expect("a source");
        let mut playground = Playground::new();
        let language = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
        let looked = look(&mut playground, language, &source);
        let is_puzzle = path.ends_with("puzzle_hazard.qasm");
        let complaints = looked["diagnostics"].as_array().expect("diagnostics");
        assert_eq!(!complaints.is_empty(), is_puzzle, "{}: {complaints:?}", path.display());
        if looked["drawable"] == true {
            let answer = ask(&mut playground, &json!({ "ask": "draw", "settings": small() }));
            assert_eq!(answer["faults"], json!([]), "{}: {answer}", path.display());
            assert_eq!(playground.bytes().len(), 4 * 64 * 36, "{}", path.display());
            drawn += 1;
        } else if looked["compute"].is_null() {
            assert_eq!(looked["user"], true, "{}", path.display());
        }
    }
    assert!(drawn >= 20, "{drawn} examples draw something");
}

/// The colour of a source is that of the picture: 0.2, 0.4 and 0.6 of 255 are 51, 102 and 153.
#[test]
fn pictures_have_the_colour_of_the_source() {
    let mut playground = Playground::new();
    look(
        &mut playground,
        "wgsl",
        "@fragment fn fs_main() -> @location(0) vec4<f32> { return vec4(0.2, 0.4, 0.6, 1.0); }",
    );
    ask(&mut playground, &json!({ "ask": "draw", "settings": small() }));
    assert!(playground.bytes().chunks(4).all(|pixel| pixel[..3] == [51, 102, 153]));
    look(&mut playground, "qasm", ".stage fragment\n.output color\nldi r0, 0xff336699\nnop\n");
    ask(&mut playground, &json!({ "ask": "draw", "settings": small() }));
    assert!(playground.bytes().chunks(4).all(|pixel| pixel[..3] == [0x99, 0x66, 0x33]));
}

/// Places count UTF-16 units: the letter before the mistake has two.
#[test]
fn mistakes_have_their_place() {
    let mut playground = Playground::new();
    let source = "/* 💥 */ @fragment fn fs_main() -> @location(0) vec4<f32> { return hue; }";
    let looked = look(&mut playground, "wgsl", source);
    let [from, to] = ["from", "to"].map(|name| looked["diagnostics"][0][name].as_u64().expect("a place") as usize);
    let units: Vec<u16> = source.encode_utf16().collect();
    assert_eq!(String::from_utf16_lossy(&units[from..to]), "hue");
    let looked = look(&mut playground, "qasm", "mov ra0, unif\nmov r0, ra0\nthrend\nnop\nnop\n");
    let diagnostics = looked["diagnostics"].as_array().expect("diagnostics");
    let early =
        diagnostics.iter().find(|diagnostic| diagnostic["code"] == "E0200").expect("the read that comes too early");
    assert_eq!(early["from"], "mov ra0, unif\n".len());
}

#[test]
fn costs_are_those_of_the_instructions() {
    let mut playground = Playground::new();
    let looked =
        look(&mut playground, "wgsl", "@fragment fn fs_main() -> @location(0) vec4<f32> { return vec4(0.5); }");
    let program = looked["programs"].as_array().and_then(|all| all.last()).expect("a program").clone();
    let answer = ask(&mut playground, &json!({ "ask": "draw", "settings": small(), "costs": true }));
    let costs = &answer["costs"];
    let programs = costs["programs"].as_array().expect("programs");
    let fragment =
        programs.iter().find(|program| program["kind"] == "fragment shader").unwrap_or_else(|| panic!("{programs:?}"));
    let length = program["code"].as_array().expect("code").len() as u64;
    let starts = fragment["starts"].as_u64().expect("starts");
    // A run is 16 pixels; the two triangles share quads along their diagonal.
    assert!((64 * 36 / 16..64 * 36 / 16 + 40).contains(&starts), "{starts}");
    assert_eq!(fragment["instructions"], length * starts);
    let code = fragment["code"].as_array().expect("instructions");
    assert_eq!(code.len() as u64, length);
    assert!(code.iter().all(|instruction| instruction["executed"] == starts), "{code:?}");
    let stalls =
        |list: &Json| list.as_array().expect("stalls").iter().map(|stall| stall[1].as_u64().unwrap()).sum::<u64>();
    let (of_all, of_each) =
        (stalls(&fragment["stalls"]), code.iter().map(|instruction| stalls(&instruction["stalls"])).sum::<u64>());
    assert_eq!(of_all, of_each);
    assert_eq!(fragment["cycles"].as_u64(), Some(4 * length * starts + of_all));
    assert!(costs["lists"].as_str().is_some_and(|lists| lists.contains("Tile Binning Mode")), "{}", costs["lists"]);
}

#[test]
fn a_pixel_leads_to_the_steps_of_its_program() {
    let mut playground = Playground::new();
    let looked =
        look(&mut playground, "wgsl", "@fragment fn fs_main() -> @location(0) vec4<f32> { return vec4(0.5); }");
    let length =
        looked["programs"].as_array().and_then(|all| all.last()).expect("a program")["code"].as_array().unwrap().len();
    let answer = ask(&mut playground, &json!({ "ask": "pixel", "settings": small(), "x": 10, "y": 20 }));
    assert_eq!(answer["runs"], 1, "{answer}");
    let beginning = ask(&mut playground, &json!({ "ask": "steprun", "run": 0 }));
    assert_eq!((&beginning["position"], &beginning["next"]), (&json!(0), &json!(0)));
    let end = ask(&mut playground, &json!({ "ask": "step", "command": "run" }));
    assert_eq!((&end["position"], &end["next"]), (&json!(length), &Json::Null));
    let mut again = ask(&mut playground, &json!({ "ask": "step", "command": "goto 0" }));
    again["answer"] = json!("");
    assert_eq!(again, beginning);
    let error = ask(&mut playground, &json!({ "ask": "steprun", "run": 1 }));
    assert!(error["error"].is_string(), "{error}");
}

#[test]
fn questions_that_make_no_sense_are_refused() {
    let mut playground = Playground::new();
    for question in [
        json!({ "ask": "draw", "settings": small() }),
        json!({ "ask": "draw", "settings": { "width": 0 } }),
        json!({ "ask": "step", "command": "run" }),
        json!({ "ask": "stepprogram", "uniforms": [] }),
        json!({ "ask": "look", "language": "glsl", "source": "" }),
        json!({ "ask": "nothing" }),
        json!(3),
    ] {
        let answer = ask(&mut playground, &question);
        assert!(answer["error"].as_str().is_some_and(|error| !error.is_empty()), "{question}: {answer}");
    }
    assert!(playground.set_image(2, 2, vec![0; 15]).is_err());
    assert!(playground.set_image(0, 2, Vec::new()).is_err());
}

#[test]
fn words_are_completed_and_explained() {
    let all = words::qasm();
    for (label, kind) in [
        ("fadd", "instruction"),
        ("ldtmu0", "signal"),
        ("ra31", "register"),
        (".uniform", "directive"),
        ("dma_h32", "function"),
    ] {
        assert!(all.iter().any(|word| word.label == label && word.kind == kind), "{label} is no {kind} of {all:?}");
    }
    assert!(words::explain("thrsw").is_some_and(|text| text.starts_with("thrsw: ")));
    assert!(words::explain("E0200").is_some());
    assert!(
        words::explain("vpm_setup")
            .is_some_and(|text| text.starts_with("vpm_setup(num, stride, geometry)\n\n`num` vectors"))
    );
    assert!(words::explain("h16l").is_some_and(|text| text.contains("Horizontal vectors")));
    assert_eq!(words::explain("nonsense"), None);
}

/// The picture has its first row at the top wherever it is looked up: by pixels, on shapes, in assembly.
#[test]
fn pictures_are_upright() {
    let mut playground = Playground::new();
    playground.set_image(1, 2, vec![255, 0, 0, 255, 0, 0, 255, 255]).expect("a picture");
    let by_pixels = "@group(0) @binding(0) var<uniform> resolution: vec2<f32>;
        @group(1) @binding(0) var image: texture_2d<f32>; @group(1) @binding(1) var image_sampler: sampler;
        @fragment fn fs_main(@builtin(position) place: vec4<f32>) -> @location(0) vec4<f32> {
            return textureSample(image, image_sampler, place.xy / resolution); }";
    let on_shapes = "@group(1) @binding(0) var image: texture_2d<f32>; @group(1) @binding(1) var image_sampler: sampler;
        struct Corner { @builtin(position) position: vec4<f32>, @location(0) uv: vec2<f32> }
        @vertex fn vs_main(@location(0) place: vec3<f32>, @location(1) uv: vec2<f32>) -> Corner { return Corner(vec4(place, 1.0), uv); }
        @fragment fn fs_main(corner: Corner) -> @location(0) vec4<f32> { return textureSample(image, image_sampler, corner.uv); }";
    let in_assembly = include_str!("../site/examples/texture.qasm");
    for (language, source) in [("wgsl", by_pixels), ("wgsl", on_shapes), ("qasm", in_assembly)] {
        let looked = look(&mut playground, language, source);
        assert_eq!(looked["diagnostics"], json!([]), "{source}");
        ask(&mut playground, &json!({ "ask": "draw", "settings": small() }));
        // Rows near to the middles of the two texels, between which the filter mixes little.
        let is_red = |row: usize| {
            let pixel = &playground.bytes()[4 * (64 * row + 32)..][..3];
            pixel[0] > 240 && pixel[2] < 15
        };
        assert!(is_red(9) && !is_red(27), "{source}");
    }
}

/// Each face is seen in its direction: what is drawn is the colour that was given to it.
#[test]
fn cube_maps_are_looked_up_by_direction() {
    let mut playground = Playground::new();
    let colors: Vec<[u8; 4]> = (0..6).map(|n| [40 * n, 255 - 40 * n, 10 * n, 255]).collect();
    playground.set_cube(1, &colors.concat()).expect("six pictures");
    // +x, -x, +y, -y, +z, -z
    let directions = ["1, 0.2, 0.1", "-1, 0.2, 0.1", "0.2, 1, 0.1", "0.2, -1, 0.1", "0.2, 0.1, 1", "0.2, 0.1, -1"];
    for (direction, color) in directions.iter().zip(&colors) {
        let source = format!(
            "@group(1) @binding(0) var around: texture_cube<f32>; @group(1) @binding(1) var around_sampler: sampler;
            @fragment fn fs_main() -> @location(0) vec4<f32> {{ return textureSample(around, around_sampler, vec3<f32>({direction})); }}"
        );
        let looked = look(&mut playground, "wgsl", &source);
        assert_eq!(looked["textures"], json!([["around", true]]), "{looked}");
        let answer = ask(&mut playground, &json!({ "ask": "draw", "settings": small() }));
        assert_eq!(answer["faults"], json!([]), "{answer}");
        assert!(playground.bytes().chunks(4).all(|pixel| pixel == color), "{direction}");
    }
    assert!(playground.set_cube(2, &[0; 6 * 16 - 1]).is_err() && playground.set_cube(0, &[]).is_err());
}

/// The sun of the built-in surroundings is where `to_sun` points to, and the ground is below.
#[test]
fn the_built_in_cube_map_has_its_sun_where_the_light_comes_from() {
    let seen = |direction: &str| {
        let mut playground = Playground::new();
        let source = format!(
            "@group(0) @binding(0) var<uniform> to_sun: vec3<f32>;
            @group(1) @binding(0) var around: texture_cube<f32>; @group(1) @binding(1) var around_sampler: sampler;
            @fragment fn fs_main() -> @location(0) vec4<f32> {{ return textureSample(around, around_sampler, {direction}); }}"
        );
        look(&mut playground, "wgsl", &source);
        ask(&mut playground, &json!({ "ask": "draw", "settings": small() }));
        [playground.bytes()[0], playground.bytes()[1], playground.bytes()[2]]
    };
    assert_eq!(seen("to_sun")[..2], [255, 255]);
    let [red, _, blue] = seen("vec3(0.1, 1.0, 0.1)");
    assert!(blue > red + 60, "the sky is blue");
    let [red, _, blue] = seen("vec3(0.1, -1.0, 0.1)");
    assert!(red > blue + 20, "the ground is brown");
}

/// A model is drawn by its own colours; without one, the shape `model` is refused.
#[test]
fn a_model_is_drawn_in_the_colours_of_its_file() {
    let source = "@group(0) @binding(0) var<uniform> matrix: mat4x4<f32>;
        @group(1) @binding(0) var image: texture_2d<f32>; @group(1) @binding(1) var image_sampler: sampler;
        struct Corner { @builtin(position) position: vec4<f32>, @location(0) color: vec3<f32> }
        @vertex fn vs_main(@location(0) place: vec3<f32>, @location(1) color: vec3<f32>) -> Corner { return Corner(matrix * vec4(place, 1.0), color); }
        @fragment fn fs_main(corner: Corner) -> @location(0) vec4<f32> { return vec4(corner.color, 1.0) * textureSample(image, image_sampler, vec2(0.5)); }";
    let mut playground = Playground::new();
    look(&mut playground, "wgsl", source);
    let settings = json!({ "width": 64, "height": 36, "shape": "model" });
    let without: Json = ask(&mut playground, &json!({ "ask": "draw", "settings": settings }));
    assert!(without["error"].as_str().is_some_and(|error| error.contains("no model")), "{without}");
    // A square across the view from everywhere: two crossed ones.
    let text = "v -1 -1 0\nv 1 -1 0\nv 1 1 0\nv -1 1 0\nf 1 2 3 4\nv 0 -1 -1\nv 0 -1 1\nv 0 1 1\nv 0 1 -1\nf 5 6 7 8\n";
    playground.set_model("crossed.obj", text.as_bytes().to_vec()).expect("a model");
    let answer = ask(&mut playground, &json!({ "ask": "draw", "settings": settings }));
    assert_eq!(answer["faults"], json!([]), "{answer}");
    // The gray of files without colours, 0.8 of 255, times the white of no picture.
    let middle = &playground.bytes()[4 * (64 * 18 + 32)..][..3];
    assert_eq!(middle, [204; 3]);
    assert!(playground.set_model("broken.glb", b"glTF\0".to_vec()).is_err());
}

/// Sums of numbers are computed on the host beside.
#[test]
fn a_compute_shader_runs_on_the_memory_that_it_is_given() {
    let source = include_str!("../../../kernel/compute/shaders/saxpy.wgsl");
    let mut playground = Playground::new();
    let looked = look(&mut playground, "wgsl", source);
    assert_eq!(looked["diagnostics"], json!([]));
    assert_eq!(looked["compute"]["size"], json!([64, 1, 1]));
    assert_eq!(looked["compute"]["buffers"][1]["writable"], json!(true));
    let (x, y): (Vec<f32>, Vec<f32>) = (0..150).map(|n| (n as f32 * 0.5 + 1.0, 100.0 - n as f32)).unzip();
    let words = |values: &[f32]| values.iter().map(|value| value.to_bits()).collect::<Vec<u32>>();
    let given = json!({ "count": [3, 1, 1], "buffers": { "x": words(&x), "y": words(&y) } });
    let settings = json!({ "values": { "factor": [3.0] } });
    let answer =
        ask(&mut playground, &json!({ "ask": "compute", "settings": settings, "given": given, "costs": true }));
    let sums: Vec<f32> = x.iter().zip(&y).map(|(x, y)| 3.0 * x + y).collect();
    assert_eq!(answer["buffers"], json!([["x", words(&x)], ["y", words(&sums)]]), "{answer}");
    assert_eq!((&answer["faults"], &answer["programs"]), (&json!([]), &json!(12)));
    assert!(answer["costs"]["cycles"].as_u64().is_some_and(|cycles| cycles > 0), "{answer}");
    // Each of the programs, step by step, stores its share.
    let mut stored = [false; 150];
    for number in 0..12 {
        let begin = json!({ "ask": "stepcompute", "settings": settings, "given": given, "number": number });
        assert_eq!(ask(&mut playground, &begin)["position"], 0);
        let end = ask(&mut playground, &json!({ "ask": "step", "command": "run" }));
        assert_eq!(end["end"], "the program has ended", "{end}");
        let lines = end["memory"].as_array().expect("memory").iter();
        let lines = lines.filter(|line| line["name"].as_str().is_some_and(|name| name.starts_with("y[")));
        let words = lines.flat_map(|line| line["words"].as_array().expect("words"));
        let words: Vec<f32> = words.map(|word| f32::from_bits(word.as_u64().expect("a word") as u32)).collect();
        for (at, word) in words.iter().enumerate().filter(|(at, word)| **word != y[*at]) {
            assert_eq!(*word, sums[at], "element {at}");
            stored[at] = true;
        }
    }
    assert_eq!(stored, [true; 150]);
    let none = json!({ "ask": "stepcompute", "settings": settings, "given": given, "number": 12 });
    let none = ask(&mut playground, &none);
    assert!(none["error"].as_str().is_some_and(|error| error.contains("12 programs")), "{none}");
    for given in [
        json!({ "count": [0, 1, 1], "buffers": { "x": [0], "y": [0] } }),
        json!({ "count": [65536, 65536, 2], "buffers": { "x": [0], "y": [0] } }),
        json!({ "count": [1, 1, 1], "buffers": { "x": [0], "y": [] } }),
        json!({ "count": [1, 1, 1], "buffers": { "x": [0] } }),
    ] {
        let answer = ask(&mut playground, &json!({ "ask": "compute", "settings": settings, "given": given }));
        assert!(answer["error"].as_str().is_some_and(|error| !error.is_empty()), "{given}: {answer}");
    }
}

/// Invocations that meet at a barrier: the stepper's program waits there until the others have come.
#[test]
fn a_program_of_a_workgroup_is_stepped_through_beside_the_others() {
    let source = include_str!("../../../kernel/compute/shaders/reverse_blocks.wgsl");
    let mut playground = Playground::new();
    let looked = look(&mut playground, "wgsl", source);
    assert_eq!(looked["compute"]["together"], json!(true));
    let numbers: Vec<u32> = (1..=128).collect();
    let given = json!({ "count": [2, 1, 1], "buffers": { "given": numbers, "reversed": vec![0; 128] } });
    let question = |ask: &str| json!({ "ask": ask, "settings": {}, "given": given, "number": 0 });
    let reversed: Vec<u32> = (1..=64).rev().chain((65..=128).rev()).collect();
    assert_eq!(ask(&mut playground, &question("compute"))["buffers"][1][1], json!(reversed));
    ask(&mut playground, &question("stepcompute"));
    let end = ask(&mut playground, &json!({ "ask": "step", "command": "run" }));
    assert_eq!((&end["end"], &end["faults"]), (&json!("the program has ended"), &json!([])));
    // Its own 16 of each block are stored, by way of memory that all four have written.
    let line = |name: &str| {
        let lines = end["memory"].as_array().expect("memory");
        lines.iter().find(|line| line["name"] == name).expect("a line")["words"].clone()
    };
    assert_eq!(line("reversed[0]"), json!(reversed[..8]));
    assert_eq!(line("reversed[64]"), json!(reversed[64..72]));
}

/// A job folder holds what the page has drawn: the model, given its files alone, draws the same picture.
#[test]
fn a_job_folder_replays_to_the_same_picture() {
    let mut playground = Playground::new();
    look(&mut playground, "wgsl", include_str!("../site/examples/rings.wgsl"));
    ask(&mut playground, &json!({ "ask": "draw", "settings": small() }));
    let picture = playground.bytes().to_vec();
    let answer = ask(&mut playground, &json!({ "ask": "job", "settings": small() }));
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("playground-job");
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("a folder");
    let mut bytes = playground.bytes();
    for file in answer["files"].as_array().expect("files") {
        let (own, rest) = bytes.split_at(file[1].as_u64().expect("a length") as usize);
        std::fs::write(folder.join(file[0].as_str().expect("a name")), own).expect("a file");
        bytes = rest;
    }
    let job = JobFolder::open(&folder).expect("a job folder");
    let outcome = run_folder(&job, v3d_sim::Config::default()).expect("a run");
    assert!(outcome.is_done(&job));
    let memory = outcome.jobs[job.result_job()].memory.view();
    let replayed = job.picture(memory).expect("a picture");
    assert_eq!((replayed.width, replayed.height), (64, 36));
    let colors = |bytes: &[u8]| bytes.chunks(4).map(|pixel| [pixel[0], pixel[1], pixel[2]]).collect::<Vec<_>>();
    assert_eq!(colors(&replayed.rgba), colors(&picture));
}
