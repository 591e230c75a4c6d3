//! Sorting.

use compute::Error;

use crate::machine::{Random, with_gpu};

#[test]
fn keys_are_sorted_and_values_of_equal_keys_keep_their_order() {
    with_gpu(|gpu| {
        for length in [0, 1, 5, 256, 300, 256 * 13 + 9] {
            let mut random = Random::new(length as u32 + 5);
            // A few different keys, including the greatest possible one.
            let few: Vec<u32> =
                random.words(length).iter().map(|word| if word % 7 == 0 { u32::MAX } else { word % 64 }).collect();
            for keys in [random.words(length), few] {
                let mut sorted = gpu.array(&keys).unwrap();
                gpu.sort(&mut sorted).unwrap();
                let mut expected: Vec<(u32, u32)> = keys.iter().copied().zip(0..).collect();
                expected.sort();
                let (expected_keys, expected_values): (Vec<u32>, Vec<u32>) = expected.into_iter().unzip();
                assert!(gpu.read(&sorted).unwrap() == expected_keys, "{length} keys");
                let places: Vec<u32> = (0..length as u32).collect();
                let (mut sorted, mut values) = (gpu.array(&keys).unwrap(), gpu.array(&places).unwrap());
                gpu.sort_pairs(&mut sorted, &mut values).unwrap();
                assert!(gpu.read(&sorted).unwrap() == expected_keys, "{length} pairs");
                assert!(gpu.read(&values).unwrap() == expected_values, "{length} pairs");
            }
        }
        let (mut keys, mut values) = (gpu.array(&[1u32; 3]).unwrap(), gpu.array(&[1.0f32; 2]).unwrap());
        let lengths = Error::Lengths { operation: "sort_pairs", given: 2, needed: 3 };
        assert_eq!(gpu.sort_pairs(&mut keys, &mut values), Err(lengths));
    });
}
