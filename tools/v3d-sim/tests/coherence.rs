//! The coherence check changes no result, and software that clears the caches before each job has no faults.

use std::path::Path;
use v3d_hw::BusAddr;
use v3d_sim::job::JobFolder;
use v3d_sim::job::run::run_folder;
use v3d_sim::{Config, Fault};

/// The final memory of a captured job, and the faults of all its jobs.
fn run(name: &str, check_coherence: bool) -> (Vec<u8>, Vec<Fault>) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/captures").join(name);
    let folder = JobFolder::open(&path).expect("a job folder");
    let mut outcome =
        run_folder(&folder, Config { check_coherence, ..Config::default() }).expect("its jobs can be loaded");
    assert!(outcome.is_done(&folder), "{name}");
    let faults = outcome.jobs.iter_mut().flat_map(|job| std::mem::take(&mut job.faults)).collect();
    (outcome.jobs.pop().expect("a job").memory.to_bytes(), faults)
}

#[test]
fn results_do_not_depend_on_the_check() {
    // Textures, a rendered texture, loops in shaders, two samples' worth of tile lists, loads and stores of depth.
    for name in ["tex_npot_clamp", "rtt", "loop_mandelbrot", "overflow_bin_mem", "depth_noz_loadstore"] {
        let ((plain, _), (checked, faults)) = (run(name, false), run(name, true));
        let first = plain.iter().zip(&checked).position(|(one, other)| one != other);
        assert_eq!(first.map(|at| BusAddr(at as u32)), None, "{name}: the first byte that differs");
        assert_eq!(faults, [], "{name}");
    }
}
