//! Questions as the page asks them, on the host.

use playground::answer::Playground;
use playground::words;
use serde_json::{Value as Json, json};
use std::path::Path;

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
        } else {
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
    for (label, kind) in
        [("fadd", "instruction"), ("ldtmu0", "signal"), ("ra31", "register"), (".uniform", "directive")]
    {
        assert!(all.iter().any(|word| word.label == label && word.kind == kind), "{label} is no {kind} of {all:?}");
    }
    assert!(words::explain("thrsw").is_some_and(|text| text.starts_with("thrsw: ")));
    assert!(words::explain("E0200").is_some());
    assert_eq!(words::explain("nonsense"), None);
}
