//! The fuzz targets, for a second each, or as long as `QPU_FUZZ_SECONDS` says.
#![cfg(feature = "model")]

#[allow(unreachable_pub, reason = "the file is also a library of its own")]
#[path = "../fuzz/src/lib.rs"]
mod fuzz;

use std::time::{Duration, Instant};

use v3d_sim::random::Random;

/// The bytes of the input with this seed.
fn input(seed: u64) -> Vec<u8> {
    let mut random = Random::new(0, seed);
    let length = random.below(256);
    (0..length).map(|_| random.next_u64() as u8).collect()
}

/// Minimum number of inputs, however long they take.
const MIN_INPUTS: u64 = 100;

fn run(target: fn(&[u8])) {
    let seconds = std::env::var("QPU_FUZZ_SECONDS").ok().and_then(|seconds| seconds.parse().ok()).unwrap_or(1);
    let start = Instant::now();
    let mut seed: u64 = 0;
    while start.elapsed() < Duration::from_secs(seconds) || seed < MIN_INPUTS {
        let bytes = input(seed);
        let result = std::panic::catch_unwind(|| target(&bytes));
        assert!(result.is_ok(), "input {seed}");
        seed += 1;
    }
}

#[test]
fn assembling_anything() {
    run(fuzz::assemble_anything);
}

#[test]
fn disassembling_anything() {
    run(fuzz::disassemble_anything);
}
