//! The command `v3d`, run as a person runs it.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn capture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/captures").join(name)
}

/// A folder of its own for one test.
fn scratch(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

fn v3d(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_v3d")).args(arguments).output().unwrap()
}

fn text(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// Runs the command, which must succeed, and gives what it prints.
fn succeed(arguments: &[&str]) -> String {
    let output = v3d(arguments);
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    text(&output)
}

/// Runs the command, which must fail, and gives its complaint.
fn fail(arguments: &[&str]) -> String {
    let output = v3d(arguments);
    assert!(!output.status.success(), "{arguments:?} succeeds");
    String::from_utf8(output.stderr).unwrap()
}

fn path(path: &Path) -> &str {
    path.to_str().unwrap()
}

#[test]
fn replay_writes_what_it_has_drawn() {
    let folder = scratch("replay");
    let (picture, memory) = (folder.join("picture.png"), folder.join("memory"));
    let out = succeed(&[
        "replay",
        path(&capture("tri_rgb_lt")),
        "--compare",
        "--stats",
        "--out",
        path(&picture),
        "--memory-out",
        path(&memory),
    ]);
    for line in ["job 0: done", "within: at most", "fragment shader", "draws"] {
        assert!(out.contains(line), "{line:?} is not in:\n{out}");
    }
    assert_eq!(std::fs::read(picture).unwrap()[1..4], *b"PNG");
    assert_eq!(std::fs::metadata(memory).unwrap().len(), 32 << 20);
}

#[test]
fn a_picture_that_is_too_different_is_a_failure() {
    let folder = scratch("different");
    for file in ["job.json", "mem0.bin.zst"] {
        std::fs::copy(capture("clear_color").join(file), folder.join(file)).unwrap();
    }
    std::fs::copy(capture("tri_flat").join("ref.png"), folder.join("ref.png")).unwrap();
    let output = v3d(&["replay", path(&folder), "--compare"]);
    assert!(!output.status.success());
    assert!(text(&output).contains("TOO FAR"), "{}", text(&output));
}

#[test]
fn dump_explains_lists_shaders_and_tile_lists() {
    let out = succeed(&["dump", path(&capture("tri_rgb"))]);
    let parts = [
        "== thread 0: binning list",
        "112 Tile Binning Mode Configuration",
        "== thread 1: rendering list",
        "(tile column 1, row 1)",
        "48 Compressed Primitive List",
        "triangle, 1 absolute, 2 relative indices",
        "== GL shader record at",
        "attribute array 0:",
        "== fragment shader at",
        "# reads Varying",
        "# writes TlbColorAll",
        "thrend",
        "== uniforms at",
    ];
    for part in parts {
        assert!(out.contains(part), "{part:?} is not in the dump");
    }
    // Nothing has been binned before the job runs.
    let before = succeed(&["dump", "--before", path(&capture("tri_rgb"))]);
    assert!(!before.contains("48 Compressed Primitive List"));
}

#[test]
fn stats_add_up() {
    let heat_map = scratch("stats").join("heat.png");
    let out =
        succeed(&["stats", path(&capture("tri_flat")), "--heat-map", path(&heat_map), "--metric", "pixels", "--tiles"]);
    // One draw of three vertices: a batch of each of the two vertex stages.
    assert!(out.contains("1 draws, 3 vertices"), "{out}");
    let batches = |kind: &str| {
        let line = out.lines().find(|line| line.starts_with(kind)).unwrap();
        line[kind.len()..].split_whitespace().nth(1).unwrap().parse::<u32>().unwrap()
    };
    assert_eq!(batches("coordinate shader"), 1);
    assert_eq!(batches("vertex shader"), 1);
    assert!(batches("fragment shader") > 100);
    for line in [
        "the clock estimates",
        "waits for",
        "QPUs: executing instructions",
        "QPU instruction cache misses",
        "TMUs: each",
    ] {
        assert!(out.contains(line), "{line:?} is not in:\n{out}");
    }
    // A table of the tiles that the draw is in.
    let table = out.lines().skip_while(|line| !line.contains("overdraw")).skip(1);
    let tiles: Vec<&str> = table.take_while(|line| !line.is_empty()).collect();
    let pixels = |line: &&str| line.split_whitespace().nth(4).unwrap().parse::<u32>().unwrap();
    assert!(tiles.iter().map(pixels).sum::<u32>() > 1600, "{out}");
    assert!(heat_map.exists());
}

#[test]
fn debug_follows_a_pixel_to_its_colour() {
    let folder = capture("tri_flat");
    let out = succeed(&["debug", path(&folder), "--pixel", "128,120"]);
    let events = [
        "tile column 2, row 1 begins",
        "primitive 0 of the list covers it",
        "shaded by the program at",
        "thrend",
        "stored:",
    ];
    let mut rest = out.as_str();
    for event in events {
        let found = rest.find(event).unwrap_or_else(|| panic!("{event:?} is not in its place in:\n{out}"));
        rest = &rest[found..];
    }
    // The corner is only cleared and stored.
    let corner = succeed(&["debug", path(&folder), "--pixel", "0,0", "--brief"]);
    assert!(corner.contains("stored:") && !corner.contains("covers"), "{corner}");
}

#[test]
fn errors_are_sentences() {
    assert!(fail(&["replay", "nowhere"]).contains("job.json"));
    assert!(fail(&["debug", path(&capture("tri_flat")), "--pixel", "7"]).contains("comma"));
    let folder = scratch("damaged");
    std::fs::write(folder.join("job.json"), "{ \"name\": 1 }").unwrap();
    assert!(fail(&["replay", path(&folder)]).contains("line 1"));
    std::fs::copy(capture("tri_flat").join("job.json"), folder.join("job.json")).unwrap();
    std::fs::write(folder.join("mem0.bin.zst"), "not packed").unwrap();
    assert!(fail(&["replay", path(&folder)]).contains("not a zstd file"));
}
