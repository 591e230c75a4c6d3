//! Sums, minima, maxima and prefix sums.

use crate::machine::{Random, with_gpu};

const LENGTHS: [usize; 7] = [0, 1, 17, 256, 257, 256 * 12, 256 * 25 + 3];

#[test]
fn integers_are_reduced_exactly() {
    with_gpu(|gpu| {
        for length in LENGTHS {
            let words = Random::new(length as u32 + 7).words(length);
            let source = gpu.array(&words).unwrap();
            let sum = words.iter().fold(0u32, |sum, &word| sum.wrapping_add(word));
            assert_eq!(gpu.sum(&source), Ok(sum), "{length} elements");
            assert_eq!(gpu.least(&source), Ok(words.iter().copied().min()), "{length} elements");
            assert_eq!(gpu.greatest(&source), Ok(words.iter().copied().max()), "{length} elements");
            let integers: Vec<i32> = words.iter().map(|&word| word as i32).collect();
            let source = gpu.array(&integers).unwrap();
            assert_eq!(gpu.least(&source), Ok(integers.iter().copied().min()), "{length} elements");
            assert_eq!(gpu.greatest(&source), Ok(integers.iter().copied().max()), "{length} elements");
        }
    });
}

/// The tolerance of a sum of floats: one rounding error for each addition that includes an element, relative to the sum of absolute values.
#[test]
fn floats_are_reduced_within_their_rounding() {
    with_gpu(|gpu| {
        for length in LENGTHS {
            let floats = Random::new(length as u32 + 9).floats(length);
            let source = gpu.array(&floats).unwrap();
            let expected: f64 = floats.iter().map(|&float| f64::from(float)).sum();
            let sizes: f64 = floats.iter().map(|&float| f64::from(float.abs())).sum();
            let off = (f64::from(gpu.sum(&source).unwrap()) - expected).abs();
            assert!(off <= 250.0 * f64::from(f32::EPSILON) * sizes, "{length} elements: {off:e}");
            assert_eq!(gpu.least(&source), Ok(floats.iter().copied().reduce(f32::min)), "{length} elements");
            assert_eq!(gpu.greatest(&source), Ok(floats.iter().copied().reduce(f32::max)), "{length} elements");
        }
    });
}

#[test]
fn running_sums_are_exact() {
    with_gpu(|gpu| {
        for length in LENGTHS {
            let words = Random::new(length as u32 + 3).words(length);
            let (source, mut target) = (gpu.array(&words).unwrap(), gpu.array(&vec![0; length]).unwrap());
            gpu.prefix_sum(&source, &mut target).unwrap();
            let mut sum = 0u32;
            let expected: Vec<u32> = words
                .iter()
                .map(|&word| {
                    sum = sum.wrapping_add(word);
                    sum
                })
                .collect();
            assert!(gpu.read(&target).unwrap() == expected, "{length} elements");
        }
    });
}
