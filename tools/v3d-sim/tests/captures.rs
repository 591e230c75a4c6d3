//! Whole frames of Mesa's driver, from control list to stored pixels, compared with a software rasteriser's pictures.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use v3d_hw::BusAddr;
use v3d_sim::Config;
use v3d_sim::job::JobFolder;
use v3d_sim::job::picture::Difference;
use v3d_sim::job::run::{End, run_folder};

/// The number of captures, so that a lost one is noticed.
const CAPTURES: usize = 40;

fn folders() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/captures");
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
