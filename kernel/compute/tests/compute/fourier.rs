//! Fourier transforms, compared with the sum that defines them and with each other.

use std::f64::consts::TAU;

use compute::{Error, Session, Signal};
use v3d_host::Model;

use crate::machine::{Random, with_gpu};

/// Tolerance of the relative error (root mean square): three times what GPU_FFT's documentation states for 2^12.
const BOUND: f64 = 2.5e-6;

fn random(count: usize, seed: u32) -> Vec<[f32; 2]> {
    Random::new(seed).floats(2 * count).as_chunks().0.to_vec()
}

/// A recursive transform in double precision.
fn transform(points: &[[f64; 2]], sign: f64) -> Vec<[f64; 2]> {
    if points.len() == 1 {
        return points.to_vec();
    }
    let half = |first: usize| -> Vec<[f64; 2]> { points.iter().skip(first).step_by(2).copied().collect() };
    let (even, odd) = (transform(&half(0), sign), transform(&half(1), sign));
    let length = points.len();
    (0..length)
        .map(|k| {
            let ([er, ei], [or, oi]) = (even[k % (length / 2)], odd[k % (length / 2)]);
            let (sin, cos) = (sign * TAU * k as f64 / length as f64).sin_cos();
            [er + or * cos - oi * sin, ei + or * sin + oi * cos]
        })
        .collect()
}

fn doubles(points: &[[f32; 2]]) -> Vec<[f64; 2]> {
    points.iter().map(|point| point.map(f64::from)).collect()
}

/// Root mean square of the differences, relative to that of the expected values.
fn error(found: &[[f32; 2]], expected: &[[f64; 2]]) -> f64 {
    let square = |[re, im]: [f64; 2]| re * re + im * im;
    let differences = doubles(found).iter().zip(expected).map(|(a, b)| square([a[0] - b[0], a[1] - b[1]])).sum::<f64>();
    (differences / expected.iter().copied().map(square).sum::<f64>()).sqrt()
}

fn transformed(
    gpu: &mut Session<'_, '_, '_, Model>,
    points: &[[f32; 2]],
    length: usize,
    operation: impl FnOnce(&mut Session<'_, '_, '_, Model>, &mut Signal) -> Result<(), Error>,
) -> Vec<[f32; 2]> {
    let mut signal = gpu.signal(points, length).unwrap();
    operation(gpu, &mut signal).unwrap();
    gpu.read_signal(&signal).unwrap()
}

/// Transforms this number of signals, and back again.
fn check(gpu: &mut Session<'_, '_, '_, Model>, length: usize, count: usize) {
    let points = random(length * count, (length + count) as u32);
    let found = transformed(gpu, &points, length, |gpu, signal| gpu.fft(signal));
    let expected: Vec<[f64; 2]> = doubles(&points).chunks(length).flat_map(|part| transform(part, -1.0)).collect();
    let off = error(&found, &expected);
    assert!(off < BOUND, "{count} of {length} points: {off:e}");
    let back = transformed(gpu, &found, length, |gpu, signal| gpu.inverse_fft(signal));
    let off = error(&back, &doubles(&points));
    assert!(off < 2.0 * BOUND, "{count} of {length} points, and back: {off:e}");
}

#[test]
fn each_length_is_the_sum_that_defines_it() {
    with_gpu(|gpu| {
        for (log2, count) in [(8, 1), (9, 3), (10, 2), (11, 1), (12, 2), (13, 1), (16, 1)] {
            check(gpu, 1 << log2, count);
        }
    });
}

/// Transforms planes of various shapes, including results farther apart than a store's stride.
#[test]
fn planes_are_transformed_in_both_directions() {
    with_gpu(|gpu| {
        for (width, height) in [(256, 16), (256, 2), (512, 32), (1024, 256), (16384, 32)] {
            let points = random(width * height, (width + height) as u32);
            let found = transformed(gpu, &points, width, |gpu, plane| gpu.fft_2d(plane));
            let rows: Vec<[f64; 2]> = doubles(&points).chunks(width).flat_map(|row| transform(row, -1.0)).collect();
            let mut expected = vec![[0.0; 2]; width * height];
            for x in 0..width {
                let column: Vec<[f64; 2]> = rows.iter().skip(x).step_by(width).copied().collect();
                transform(&column, -1.0).iter().enumerate().for_each(|(y, &point)| expected[y * width + x] = point);
            }
            let off = error(&found, &expected);
            assert!(off < BOUND, "{width} x {height}: {off:e}");
            let back = transformed(gpu, &found, width, |gpu, plane| gpu.inverse_fft_2d(plane));
            let off = error(&back, &doubles(&points));
            assert!(off < 2.0 * BOUND, "{width} x {height}, and back: {off:e}");
        }
    });
}

#[test]
fn lengths_that_there_are_not_are_refused() {
    with_gpu(|gpu| {
        let points = random(300, 1);
        let allowed = "a power of two from 2^8 to 2^20";
        let size = |given| Error::Size { operation: "signal", given, allowed };
        assert_eq!(gpu.signal(&points, 100).unwrap_err(), size(100));
        assert_eq!(gpu.signal(&points, 128).unwrap_err(), size(128));
        let lengths = Error::Lengths { operation: "signal", given: 300, needed: 512 };
        assert_eq!(gpu.signal(&points, 256).unwrap_err(), lengths);
        let mut three = gpu.signal(&random(768, 1), 256).unwrap();
        let rows = Error::Size { operation: "fft_2d", given: 3, allowed: "a power of two rows" };
        assert_eq!(gpu.fft_2d(&mut three), Err(rows));
    });
}
