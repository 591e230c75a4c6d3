//! Screen positions, compared with the transformation in double precision.

use shader_compiler::interface::Stage;
use v3d_sim::qpu::lanes::Lanes;
use v3d_sim::random::Random;

use crate::machine::{Inputs, run, stage};

/// Number of vectors of 16 vertices.
const CASES: u64 = 4096;

/// Maximum number of screen coordinates that are truncated to another integer than in double precision.
const MOST_THAT_DIFFER: usize = 13;
/// Maximum error of a depth.
const DEPTH_MARGIN: f64 = 1.4e-7;

/// Coordinates are integers in 1/16 pixel, truncated towards zero. In a longer run 241 of 4,194,304 differed from double precision, by one each. With the
/// division before the scaling to the picture, there were 240.
#[test]
fn vertices_stand_where_double_precision_has_them() {
    let source = "@vertex fn vs_main(@location(0) p: vec4<f32>) -> @builtin(position) vec4<f32> { return p; }";
    let program = stage(source, Stage::Coordinate);
    let mut differ = 0;
    for case in 0..CASES {
        let mut random = Random::new(3, case);
        let mut unit = || f64::from(random.next_u64() as u32) / f64::from(u32::MAX);
        let w: [f32; 16] = std::array::from_fn(|_| (10f64.powf(4.0 * unit() - 1.0)) as f32);
        let [x, y, z]: [[f32; 16]; 3] =
            std::array::from_fn(|_| w.map(|w| (f64::from(w) * (2.0 * unit() - 1.0)) as f32));
        let outputs = run(&program, &Inputs::new([x, y, z, w].map(Lanes::from_f32).to_vec(), Vec::new()));
        let (screen, depth) = (outputs.words[4].0, outputs.words[5].to_f32());
        for at in 0..16 {
            let of = |clip: f32, scale: f64| f64::from(clip) / f64::from(w[at]) * scale;
            let expected = [of(x[at], 1600.0), of(y[at], -1200.0)];
            let found = [screen[at] as i16, (screen[at] >> 16) as i16];
            for (found, expected) in found.into_iter().zip(expected) {
                assert!((f64::from(found) - expected).abs() < 1.001, "case {case}: {found}, not {expected}");
                differ += usize::from(f64::from(found) != expected.trunc());
            }
            let expected = of(z[at], 0.5) + 0.5;
            let error = (f64::from(depth[at]) - expected).abs();
            assert!(error <= DEPTH_MARGIN, "case {case}: {}, not {expected}", depth[at]);
        }
    }
    assert!(differ <= MOST_THAT_DIFFER, "{differ} of {} coordinates", 32 * CASES);
}
