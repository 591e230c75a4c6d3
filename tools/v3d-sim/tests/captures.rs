//! Whole frames of Mesa's driver, from control list to stored pixels, compared with a software rasteriser's pictures.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use v3d_hw::BusAddr;
use v3d_sim::Config;
use v3d_sim::job::picture::Difference;
use v3d_sim::job::run::{End, FolderOutcome, run_folder, run_folder_for_result};
use v3d_sim::job::{JobError, JobFolder};
use v3d_sim::vcm::UndefinedElements;

/// The number of captures, so that a lost one is noticed.
const CAPTURES: usize = 40;

/// Those of `tests/captures`.
fn folders() -> Vec<PathBuf> {
    folders_of("captures")
}

fn folders_of(group: &str) -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(group);
    let entries = std::fs::read_dir(&root).expect("the captures are beside this test");
    let mut folders: Vec<_> =
        entries.map(|entry| entry.expect("readable").path()).filter(|path| path.join("job.json").exists()).collect();
    folders.sort();
    folders
}

/// A line of the table for one capture, and whether its result is as expected.
fn check(path: &Path) -> (String, bool) {
    let folder = JobFolder::open(path).expect("a job folder");
    let name = folder.name().to_owned();
    // Pictures with multisampling are comparable only if their samples are at the same positions.
    let config = Config { sample_positions: folder.reference_sample_positions(), ..Config::default() };
    let outcome = run_folder(&folder, config).expect("its jobs can be loaded");
    let mut notes = String::new();
    for job in &outcome.jobs {
        match &job.end {
            End::Done => {}
            other => write!(notes, " {other:?}").expect("strings take everything"),
        }
        for fault in &job.faults {
            write!(notes, "\n    fault: {fault}").expect("strings take everything");
        }
    }
    let Some(result) = outcome.jobs.get(folder.result_job()) else {
        return (format!("{name:28} has no result:{notes}"), false);
    };
    let picture = folder.picture(result.memory.view()).expect("a colour buffer");
    let reference = folder.reference().expect("a reference");
    let difference = picture.difference(&reference).expect("a reference of the same size");
    let expected = folder.expected_difference().expect("a known difference");
    let is_clean = outcome.jobs.iter().all(|job| job.faults.is_empty());
    let passed = outcome.is_done(&folder) && is_clean && difference.is_within(&expected);
    let line = format!(
        "{name:28} {:8.3} {:8.3} {:8.3} {:8.3}  {}{notes}",
        difference.over_2_percent,
        difference.over_8_percent,
        difference.over_32_percent,
        Difference::limit_percent(&expected),
        match (passed, is_clean) {
            (true, _) => "ok",
            (false, true) => "TOO FAR",
            (false, false) => "FAULTS",
        },
    );
    (line, passed)
}

#[test]
fn every_capture_looks_like_its_reference() {
    let folders = folders();
    assert_eq!(folders.len(), CAPTURES, "captures were found");
    check_all(&folders);
}

/// The others have the shaders of captures, at another size.
#[test]
fn jobs_to_measure_with_shaders_of_their_own_look_like_their_references() {
    let has_reference = |path: &PathBuf| path.join("ref.png").exists() || path.join("ref_llvmpipe.png").exists();
    let folders: Vec<_> = folders_of("bench").into_iter().filter(has_reference).collect();
    assert_eq!(folders.len(), 3, "jobs with a reference were found");
    check_all(&folders);
}

fn check_all(folders: &[PathBuf]) {
    println!("{:28} {:>8} {:>8} {:>8} {:>8}", "scene: % of pixels that differ", "> 2", "> 8", "> 32", "limit 8");
    let results: Vec<_> = folders.iter().map(|path| check(path)).collect();
    for (line, _) in &results {
        println!("{line}");
    }
    let failed: Vec<_> = results.iter().filter(|(_, passed)| !passed).map(|(line, _)| line.as_str()).collect();
    assert!(
        failed.is_empty(),
        "{} of {} scenes have faults or are too far off:\n{}",
        failed.len(),
        results.len(),
        failed.join("\n")
    );
}

/// Elements of a vertex batch without a vertex contain anything: neither memory nor the reports may show what.
#[test]
fn noise_in_elements_without_a_vertex_does_not_reach_memory() {
    for name in ["gears", "strip_fan", "uniform_array_vs_indirect", "loop_mandelbrot", "clip_near"] {
        let folder = JobFolder::open(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/captures").join(name)).unwrap();
        let [noise, zero] = [UndefinedElements::Noise, UndefinedElements::Zero].map(|undefined_elements| {
            run_folder(&folder, Config { undefined_elements, ..Config::default() }).unwrap().jobs
        });
        for (noise, zero) in noise.iter().zip(&zero) {
            assert_eq!((&noise.faults, &zero.faults), (&vec![], &vec![]), "{name}");
            let bytes = noise.memory.view().bytes() as u32;
            let differs = (0..bytes / 4).find(|n| {
                let at = BusAddr(4 * n);
                noise.memory.view().word(at) != zero.memory.view().word(at)
            });
            assert_eq!(differs, None, "{name}");
        }
    }
}

/// Tiles are rendered on as many threads as the host has; the result must not depend on their number.
#[test]
fn the_number_of_host_threads_does_not_matter() {
    for path in folders() {
        let folder = JobFolder::open(&path).expect("a job folder");
        let final_memory = |parallel| {
            let mut outcome =
                run_folder(&folder, Config { parallel, ..Config::default() }).expect("its jobs can be loaded");
            assert!(outcome.is_done(&folder));
            outcome.jobs.pop().expect("a job").memory
        };
        let (serial, parallel) = (final_memory(false), final_memory(true));
        let (serial, parallel) = (serial.view(), parallel.view());
        let mut words = (0..serial.bytes() as u32).step_by(4).map(BusAddr);
        let first = words.find(|&at| serial.word(at) != parallel.word(at));
        assert_eq!(first, None, "{}: the first word that differs", folder.name());
    }
}

/// The memory of a job is gone when nothing needs it any more, and what is kept is the same.
#[test]
fn memories_that_nothing_needs_are_not_kept() {
    let mut gone = 0;
    for path in folders() {
        let folder = JobFolder::open(&path).expect("a job folder");
        if folder.jobs().len() < 2 {
            continue;
        }
        let run = |run: fn(&JobFolder, Config) -> Result<FolderOutcome, JobError>| {
            run(&folder, Config::default()).expect("its jobs can be loaded")
        };
        let (all, some) = (run(run_folder), run(run_folder_for_result));
        for (number, (all, some)) in all.jobs.iter().zip(&some.jobs).enumerate() {
            if [folder.result_job(), folder.jobs().len() - 1].contains(&number) {
                assert!(all.memory.to_bytes() == some.memory.to_bytes(), "{}: job {number}", folder.name());
            } else {
                assert_eq!(some.memory.view().bytes(), 0, "{}: job {number}", folder.name());
                gone += 1;
            }
        }
    }
    assert!(gone > 0, "no capture has several jobs");
}
