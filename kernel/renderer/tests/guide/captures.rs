//! Captures of the guide's programs: replaying a job folder draws the same picture.

use std::path::PathBuf;

use v3d_host::{CaptureError, Config, Model, Picture};
use v3d_sim::dump;
use v3d_sim::job::picture::Picture as Replayed;
use v3d_sim::job::run::{End, run_folder};
use v3d_sim::job::{JobError, JobFolder};

use crate::steps::{self, Program};

/// A path that is used by one test only, without a file.
fn path(name: &str) -> PathBuf {
    let path = std::env::temp_dir().join(format!("guide-capture-{name}-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&path);
    path
}

/// Draws with a program on a model that records its jobs; returns the model and the picture.
fn recorded(size_px: [u32; 2], draw: Program) -> (Model, Picture) {
    let model = Model::new(8 << 20, Config::default());
    model.record();
    let picture = {
        let device = model.device().unwrap();
        let screen = v3d_host::screen(&device, size_px).unwrap();
        draw(&device, &screen).unwrap();
        Picture::of_target(&device, &screen).unwrap()
    };
    (model, picture)
}

#[test]
fn every_program_is_captured_and_draws_the_same_picture_again() {
    for (name, size_px, draw) in steps::PROGRAMS {
        let (model, picture) = recorded(size_px, draw);
        let path = path(name);
        model.capture(name, &path).unwrap();
        let folder = JobFolder::open(&path).unwrap();
        assert_eq!(folder.name(), name);
        let outcome = run_folder(&folder, Config::default()).unwrap();
        let passes = if name == "08_render_to_texture" { 2 } else { 1 };
        let jobs = folder.jobs().len();
        // Step 9 also has passes that draw mip levels.
        assert!(jobs == passes || name == "09_multisample" && jobs > passes, "{name}: {jobs} jobs");
        for (number, job) in outcome.jobs.iter().enumerate() {
            assert_eq!((&job.end, job.faults.as_slice()), (&End::Done, &[][..]), "{name}, job {number}");
        }
        let result = folder.result_job();
        let buffer = folder.jobs()[result].color_buffer.as_ref().unwrap();
        let replayed = Replayed::from_memory(outcome.jobs[result].memory.view(), buffer).unwrap();
        assert_eq!([replayed.width, replayed.height], size_px, "{name}");
        assert!(replayed.rgba == picture.pixels.as_flattened(), "{name}: the picture is another one");
        std::fs::remove_dir_all(path).unwrap();
    }
}

/// The words of the dump of a program's last job.
fn dumped(name: &str) -> String {
    let (_, size_px, draw) = steps::PROGRAMS.into_iter().find(|(program, ..)| *program == name).unwrap();
    let (model, _) = recorded(size_px, draw);
    let path = path(&format!("{name}-names"));
    model.capture(name, &path).unwrap();
    let folder = JobFolder::open(&path).unwrap();
    let outcome = run_folder(&folder, Config::default()).unwrap();
    std::fs::remove_dir_all(path).unwrap();
    let (job, outcome) = folder.jobs().iter().zip(&outcome.jobs).next_back().unwrap();
    dump::job(job, outcome.memory.view())
}

#[test]
fn captures_carry_names_of_passes_draws_programs_uniforms_and_lines() {
    for (name, expected) in [
        (
            "11_own_shader",
            &[
                ", \"screen\" ==",
                ", \"planet, sphere, instance 0\" ==",
                ", \"planet: fragment shader\" ==",
                ", \"planet: vertex shader\" ==",
                ", \"to_sun[0]\"",
                ", \"viewport_half_width\"",
                "planet.wgsl:46",
                "sphere: mesh",
                "screen: target",
                "the frame's lists, records and uniforms",
            ][..],
        ),
        ("03_texture", &["textured.frag.qasm:", "textured.vert.qasm:", "textured: fragment shader"]),
    ] {
        let dump = dumped(name);
        for expected in expected {
            assert!(dump.contains(expected), "{name}: {expected:?} is not in\n{dump}");
        }
    }
}

#[test]
fn a_capture_overwrites_nothing_and_leaves_nothing_when_it_fails() {
    let (name, size_px, draw) = steps::PROGRAMS[0];
    let (model, _) = recorded(size_px, draw);
    let path = path("failing");
    model.capture(name, &path).unwrap();
    let error = model.capture(name, &path).unwrap_err();
    assert!(matches!(&error, CaptureError::Folder(JobError::Exists(folder)) if *folder == path), "{error}");
    assert!(error.to_string().contains("nothing is overwritten"), "{error}");
    let inside = path.join("job.json/folder");
    let error = model.capture(name, &inside).unwrap_err();
    assert!(
        matches!(error, CaptureError::Folder(JobError::File { .. })) && error.to_string().contains("job.json"),
        "{error}"
    );
    let mut names: Vec<_> = std::fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["job.json", "mem0.bin.zst"]);
    std::fs::remove_dir_all(&path).unwrap();
    assert!(matches!(Model::new(4096, Config::default()).capture(name, &path), Err(CaptureError::Nothing)));
    let idle = Model::new(4096, Config::default());
    idle.record();
    assert!(matches!(idle.capture(name, &path), Err(CaptureError::Nothing)));
    assert!(!path.exists());
}
