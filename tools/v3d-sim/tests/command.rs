//! The command `v3d`, run as a user runs it.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

fn capture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/captures").join(name)
}

/// A separate folder for one test.
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

/// Runs the command, which must succeed, and returns what it prints.
fn succeed(arguments: &[&str]) -> String {
    let output = v3d(arguments);
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    text(&output)
}

/// Runs the command, which must fail, and returns its error message.
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
    for line in ["job 0: done", "within: at most", "fragment shader", "1 draw, 3 vertices, 1 primitive"] {
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
        "      vertex 2: 0x",
        " 103:96 width_tiles",
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
    assert!(out.contains("1 draw, 3 vertices, 1 primitive\n"), "{out}");
    // Few pixels are shaded, by a program of eight instructions; all tiles are stored.
    let busiest = out.lines().find_map(|line| line.trim_start().strip_prefix("the busiest unit: ")).unwrap();
    assert_eq!(busiest, "TLB", "{out}");
    assert!(fail(&["stats", path(&capture("tri_flat")), "--metric", "pixels"]).contains("--heat-map"));
    let batches = |kind: &str| {
        let line = out.lines().find(|line| line.starts_with(kind)).unwrap();
        line[kind.len()..].split_whitespace().nth(1).unwrap().parse::<u32>().unwrap()
    };
    assert_eq!(batches("coordinate shader"), 1);
    assert_eq!(batches("vertex shader"), 1);
    assert!(batches("fragment shader") > 100);
    for line in [
        "of the estimated time",
        "waits for",
        "QPUs: executing instructions",
        "QPU instruction cache misses",
        "TMUs: each",
    ] {
        assert!(out.contains(line), "{line:?} is not in:\n{out}");
    }
    // A table of the tiles that the draw touches.
    let table = out.lines().skip_while(|line| !line.contains("overdraw")).skip(1);
    let tiles: Vec<&str> = table.take_while(|line| !line.is_empty()).collect();
    let pixels = |line: &&str| line.split_whitespace().nth(4).unwrap().parse::<u32>().unwrap();
    assert!(tiles.iter().map(pixels).sum::<u32>() > 1600, "{out}");
    assert!(heat_map.exists());
}

/// Pictures with multisampling are compared with the samples at the reference's positions, whichever subcommand runs the job.
#[test]
fn all_commands_place_samples_alike() {
    let captured = capture("msaa_tri");
    let stats = succeed(&["stats", path(&captured)]);
    let replay = succeed(&["replay", path(&captured), "--stats"]);
    let note = "samples are placed as in the reference, mirrored to silicon's\n";
    let tables = stats.strip_prefix(note).unwrap_or_else(|| panic!("no note in:\n{stats}"));
    assert!(replay.starts_with(note) && replay.ends_with(tables), "{replay}\ninstead of\n{stats}");
    assert!(succeed(&["debug", path(&captured), "--pixel", "50,50", "--brief"]).starts_with(note));
    assert!(!succeed(&["replay", path(&captured), "--silicon-samples"]).contains(note));
}

/// The first of two jobs renders without binning, for which rendering waits.
#[test]
fn a_job_that_stands_still_is_a_failure() {
    let folder = changed("stuck", "tri_flat", |json| {
        let second = json["jobs"][0].clone();
        json["jobs"][0]["has_bin"] = false.into();
        json["jobs"].as_array_mut().unwrap().push(second);
    });
    for command in ["replay", "stats", "dump"] {
        let output = v3d(&[command, path(&folder)]);
        let out = text(&output);
        assert_eq!(output.status.code(), Some(1), "{command}: {out}");
        for part in ["job 0: stands still", "waits for thread 0 to raise its semaphore", "job 1: has not been run"] {
            assert!(out.contains(part), "{command}: {part:?} is not in:\n{out}");
        }
        let titles = out.lines().filter(|line| line.starts_with("===="));
        assert!(titles.into_iter().all(|line| line.ends_with("====")), "{out}");
    }
}

/// The program reads a uniform beyond its uniforms, and ends.
#[test]
fn faults_are_told_beside_what_is_measured() {
    let folder = scratch("faults");
    let source = qpu::Source::new("faults.qasm", "mov r0, unif\nthrend\nnop\nnop");
    let program = qpu::assemble(&[source], &qpu::Options::default()).unwrap();
    std::fs::write(folder.join("mem0.bin"), program.halves().flat_map(u32::to_le_bytes).collect::<Vec<u8>>()).unwrap();
    let user = serde_json::json!({ "pc": 0, "uniforms": 0, "uniforms_length": 0 });
    let job = serde_json::json!({ "mem": "mem0.bin", "arena_size": 4096, "user_programs": [user, user] });
    std::fs::write(folder.join("job.json"), serde_json::json!({ "jobs": [job] }).to_string()).unwrap();
    let out = succeed(&["bench", path(&folder), "--seconds", "0"]);
    let line = out.lines().find(|line| line.trim_start().starts_with("fault: "));
    assert!(line.is_some_and(|line| line.contains("a uniform is read beyond the end")), "{out}");
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
    // Two triangles of a mesh share a quad: both shade it, but only one covers the pixel.
    let mesh = succeed(&["debug", path(&capture("grid_mesh")), "--pixel", "100,100", "--brief"]);
    assert_eq!((mesh.matches("covers it").count(), mesh.matches("shaded by").count()), (1, 1), "{mesh}");
    // The corner is only cleared and stored.
    let corner = succeed(&["debug", path(&folder), "--pixel", "0,0", "--brief"]);
    assert!(corner.contains("stored:") && !corner.contains("covers"), "{corner}");
}

#[test]
fn debug_steps_through_the_program_of_a_pixel() {
    let script = Path::new(env!("CARGO_TARGET_TMPDIR")).join("pixel-steps.txt");
    std::fs::write(&script, "step\nrun\nback\ntmu back\n").unwrap();
    let folder = capture("lit_textured");
    let arguments = ["debug", path(&folder), "--pixel", "128,100", "--step", "--commands", path(&script)];
    let out = succeed(&arguments);
    let traced = succeed(&["debug", path(&folder), "--pixel", "128,100"]);
    let instructions = traced.lines().filter(|line| line.starts_with("        0x")).count();
    assert!(out.contains(&format!("> run\nthe program has ended\n{instructions:>6}  the end\n")), "{out}");
    assert!(out.contains(&format!("> back\n{:>6}  ", instructions - 1)), "{out}");
    // The signal stands in the instruction before, whose result has arrived.
    assert!(out.contains("> tmu back\n"), "{out}");
    let output = v3d(&[&arguments[..], &["--run", "1"]].concat());
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output).is_empty(), "{}", text(&output));
}

#[test]
fn names_in_a_description_are_printed_beside_addresses() {
    let folder = changed("names", "tri_rgb", |json| {
        json["jobs"][0]["names"] = serde_json::json!([
            { "kind": "pass", "address": 0x0056_0000, "name": "screen" },
            { "kind": "draw", "address": 0x0045_b060, "name": "the triangle" },
            { "kind": "program", "address": 0x0045_5000, "size": 0x68, "name": "colours of corners" },
            { "kind": "line", "address": 0x0045_5020, "name": "colours.wgsl:12" },
            { "kind": "uniform", "address": 0x0045_7000, "word": 0, "name": "half a width" },
        ]);
    });
    for (command, expected) in [
        (
            &["dump"][..],
            &[
                ", \"screen\" ==",
                ", \"the triangle\" ==",
                ", \"colours of corners\" ==",
                "colours.wgsl:12\n",
                "\"half a width\"",
            ][..],
        ),
        (&["stats"], &["job 0 (screen): done", " colours of corners\n"]),
        (
            &["debug", "--pixel", "128,120"],
            &["job 0 (screen): pixel", ", \"the triangle\"\n", ", \"colours of corners\"\n", "colours.wgsl:12\n"],
        ),
    ] {
        let out = succeed(&[command, &[path(&folder)]].concat());
        for expected in expected {
            assert!(out.contains(expected), "{command:?}: {expected:?} is not in\n{out}");
        }
    }
}

/// A copy of a capture in a separate folder, with a changed description.
fn changed(name: &str, of: &str, change: impl FnOnce(&mut serde_json::Value)) -> PathBuf {
    let folder = scratch(name);
    for file in std::fs::read_dir(capture(of)).unwrap() {
        let file = file.unwrap();
        std::fs::copy(file.path(), folder.join(file.file_name())).unwrap();
    }
    let description = folder.join("job.json");
    let mut json = serde_json::from_slice(&std::fs::read(&description).unwrap()).unwrap();
    change(&mut json);
    std::fs::write(&description, json.to_string()).unwrap();
    folder
}

#[test]
fn errors_are_sentences() {
    let nowhere = fail(&["replay", "nowhere"]);
    assert_eq!(nowhere.matches("nowhere/job.json: No such file").count(), 1, "{nowhere}");
    let captured = capture("tri_flat");
    assert!(fail(&["debug", path(&captured), "--pixel", "7"]).contains("comma"));
    assert!(fail(&["debug", path(&captured), "--pixel", "256,0"]).contains("256, 0 is in no tile"));
    assert!(fail(&["replay", path(&captured), "--out", "/dev/full"]).contains("/dev/full: No space left"));
    assert!(fail(&["conform", "--range", "5..5"]).contains("without cases"));
    let folder = scratch("damaged");
    std::fs::write(folder.join("job.json"), "{ \"name\": 1 }").unwrap();
    assert!(fail(&["replay", path(&folder)]).contains("damaged/job.json: "));
    assert!(fail(&["replay", path(&folder)]).contains("line 1"));
    std::fs::copy(captured.join("job.json"), folder.join("job.json")).unwrap();
    std::fs::write(folder.join("mem0.bin.zst"), "not packed").unwrap();
    assert!(fail(&["replay", path(&folder)]).contains("not a zstd file"));
}

#[test]
fn descriptions_that_cannot_be_followed_are_explained() {
    let check = |name: &str, change: &dyn Fn(&mut serde_json::Value), expected: &str| {
        let folder = changed(name, "tri_flat", change);
        let complaint = fail(&["replay", path(&folder), "--compare", "--out", path(&folder.join("out.png"))]);
        assert!(complaint.contains(expected), "{complaint}");
    };
    check("format", &|json| json["jobs"][0]["color_buffer"]["format"] = "R16".into(), "R16 is not known");
    check("tiling", &|json| json["jobs"][0]["color_buffer"]["tiling"] = "Z".into(), "raster, T or LT; Z is not known");
    check("stride", &|json| json["jobs"][0]["color_buffer"]["stride_bytes"] = 16.into(), "stride");
    check("empty", &|json| json["jobs"][0]["color_buffer"]["width"] = 0.into(), "no pixels");
    check("bytes", &|json| json["jobs"][0]["mem_bytes"] = 4096.into(), "not 4096 as the description says");
    check("directory", &|json| json["jobs"][0]["mem"] = ".".into(), "directory/.: it cannot be read: Is a directory");
    check("no_jobs", &|json| json["jobs"] = serde_json::json!([]), "no_jobs/job.json: there are no jobs in it");
    check("result", &|json| json["result"]["job"] = 1.into(), "the result is that of job 1, and there is none");
    let far_away = |json: &mut serde_json::Value| {
        json["jobs"][0]["color_buffer"]["tiling"] = "raster".into();
        json["jobs"][0]["color_buffer"]["stride_bytes"] = u32::MAX.into();
    };
    check("far", &far_away, "outside of memory");
}

#[test]
fn what_a_description_leaves_out_is_not_needed() {
    let folder = changed("bare", "tri_flat", |json| {
        let job = json["jobs"][0].as_object_mut().unwrap();
        job.retain(|key, _| {
            let needed = ["mem", "arena_size", "has_bin", "color_buffer"];
            needed.contains(&key.as_str()) || key.starts_with("bin_ct0") || key.starts_with("render_ct1")
        });
        let (jobs, reference) = (json["jobs"].clone(), json["reference"].clone());
        *json = serde_json::json!({ "jobs": jobs, "reference": reference });
    });
    let out = succeed(&["replay", path(&folder), "--compare"]);
    assert!(out.contains("within: at most 0.100 %") && out.contains("does not say what to expect"), "{out}");
    // Without a name in the description, the job is named after its folder.
    for command in ["dump", "stats"] {
        let out = succeed(&[command, path(&folder)]);
        assert_eq!(out.lines().next(), Some("bare"));
    }
}

/// A closed pipe ends the command without an error; a full disk is reported.
#[test]
fn output_that_nobody_takes_is_no_panic() {
    let captured = capture("tri_flat");
    let captured = path(&captured);
    let commands: [&[&str]; 6] = [
        &["replay", captured, "--compare", "--stats"],
        &["dump", captured],
        &["stats", captured],
        &["debug", captured, "--pixel", "128,120"],
        &["conform", "--suite", "add", "--range", "0..2"],
        &["bench", captured, "--seconds", "0"],
    ];
    for arguments in commands {
        let full = || std::fs::File::options().write(true).open("/dev/full").unwrap();
        let output = Command::new(env!("CARGO_BIN_EXE_v3d")).args(arguments).stdout(full()).output().unwrap();
        let complaint = String::from_utf8(output.stderr).unwrap();
        assert_eq!((output.status.code(), complaint.lines().count()), (Some(1), 1), "{arguments:?}: {complaint}");
        assert!(complaint.contains("No space left"), "{arguments:?}: {complaint}");
        let mut command = Command::new(env!("CARGO_BIN_EXE_v3d"));
        let status = command.args(arguments).stdout(full()).stderr(full()).status().unwrap();
        assert_eq!(status.code(), Some(1), "{arguments:?}");
        let mut gone = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(gone.stdout.take());
        let output = gone.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    }
}

/// A folder with one job: a list of these bytes on thread 1.
fn job_folder(name: &str, list: &[u8], more: &str) -> PathBuf {
    let folder = scratch(name);
    let end = 16 + list.len();
    let job = format!(
        r#"{{ "jobs": [ {{ "mem": "mem0.bin", "arena_size": 4096, "render_ct1ca": 16, "render_ct1ea": {end} }} ]{more} }}"#
    );
    std::fs::write(folder.join("job.json"), job).unwrap();
    std::fs::write(folder.join("mem0.bin"), [&[0; 16], list].concat()).unwrap();
    folder
}

#[test]
fn a_result_that_is_not_there_is_a_failure() {
    let folder = job_folder("no-result", &[1], r#", "result": { "job": 7 }"#);
    let complaint = fail(&["replay", path(&folder)]);
    assert!(complaint.contains("job 7, and there is none: the last is job 0"), "{complaint}");
}

#[test]
fn files_outside_of_the_folder_are_not_read() {
    let folder = job_folder("outside", &[1], "");
    let description = std::fs::read_to_string(folder.join("job.json")).unwrap();
    std::fs::write(folder.join("job.json"), description.replace("mem0.bin", "../outside/mem0.bin")).unwrap();
    let complaint = fail(&["replay", path(&folder)]);
    assert!(complaint.contains("lies outside of the folder"), "{complaint}");
}

#[test]
fn a_person_can_limit_endless_lists() {
    // Branch (16) to itself [AG p.68].
    let folder = job_folder("endless", &[16, 16, 0, 0, 0, 1], "");
    let start = std::time::Instant::now();
    let output = v3d(&["replay", path(&folder), "--records", "1000"]);
    assert!(!output.status.success());
    assert!(text(&output).contains("job 0: fault"), "{}", text(&output));
    assert!(start.elapsed().as_secs() < 30);
    assert!(fail(&["replay", path(&folder), "--records", "0"]).contains("0 is not in 1.."));
}

#[test]
fn outputs_that_cannot_be_written_are_told_before_the_work() {
    let folder = job_folder("unwritable", &[16, 16, 0, 0, 0, 1], "");
    // The list is endless; with the default limit it would run for minutes.
    let complaint = fail(&["replay", path(&folder), "--out", path(&folder.join("no/such/folder.png"))]);
    assert!(complaint.contains("no/such/folder.png"), "{complaint}");
}
