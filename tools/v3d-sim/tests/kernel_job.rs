//! The kernel's own triangle, from a captured job to pixels, against its geometry.

use std::path::Path;
use v3d_sim::Config;
use v3d_sim::job::JobFolder;
use v3d_sim::job::run::run_folder;

/// Height of the equilateral triangle in pixels: 0.9 of the screen's.
const HEIGHT: f64 = 648.0;
const CENTRE_X: f64 = 640.0;
const TOP: f64 = 36.0;

/// Weights of the top, the left and the right vertex at a point.
fn shares(x: f64, y: f64) -> [f64; 3] {
    let half_side = HEIGHT / 3f64.sqrt();
    let top = 1.0 - (y - TOP) / HEIGHT;
    let right = ((x - CENTRE_X) / half_side + 1.0 - top) / 2.0;
    [top, 1.0 - top - right, right]
}

#[test]
fn the_triangle_has_its_shape_and_colours() {
    let folder = JobFolder::open(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/kernel_job")).unwrap();
    let outcome = run_folder(&folder, Config::default()).unwrap();
    assert!(outcome.is_done(&folder));
    assert_eq!(outcome.jobs[0].faults, []);
    let picture = folder.picture(outcome.jobs[0].memory.view()).unwrap();
    assert_eq!((picture.width, picture.height), (1280, 720));
    let pixels = picture.rgba.as_chunks::<4>().0;
    let (mut inside, mut outside) = (0, 0);
    for (i, &[red, green, blue, _]) in pixels.iter().enumerate() {
        let (x, y) = ((i % 1280) as f64 + 0.5, (i / 1280) as f64 + 0.5);
        let [top, left, right] = shares(x, y);
        let least = top.min(left).min(right);
        // The vertices are snapped to a grid of 1/16 pixel, so pixels on the edges are not checked.
        if least > 0.002 {
            inside += 1;
            for (found, share) in [(red, right), (green, top), (blue, left)] {
                let expected = 255.0 * share;
                assert!((f64::from(found) - expected).abs() <= 2.0, "{found} instead of {expected} at {x}, {y}");
            }
        } else if least < -0.002 {
            outside += 1;
            assert_eq!([red, green, blue], [0, 0, 0], "at {x}, {y}");
        }
    }
    assert!(inside > 200_000 && outside > 600_000, "{inside} pixels inside, {outside} outside");
}
