//! Compute programs in WGSL.

use compute::programs::reverse_blocks;
use compute::programs::saxpy::{Bindings, COMPUTE};
use compute::{Compute, Error};
use v3d::{Driver, Limits};
use v3d_host::{Config, Model};

use crate::machine::{Random, with_gpu};

#[test]
fn a_program_in_wgsl_computes_what_rust_computes() {
    with_gpu(|gpu| {
        for length in [1usize, 64, 1000, 20_000] {
            let mut random = Random::new(length as u32);
            let (x, y) = (random.floats(length), random.floats(length));
            let given = gpu.array(&x).unwrap();
            let mut sums = gpu.array(&y).unwrap();
            let bindings = Bindings { factor: 0.5, x: given.storage(), y: sums.storage_mut() };
            gpu.dispatch(&COMPUTE, [length.div_ceil(64) as u32, 1, 1], &bindings).unwrap();
            // Half of a float is exact, so only the addition rounds.
            let expected: Vec<f32> = x.iter().zip(&y).map(|(x, y)| 0.5 * x + y).collect();
            let found = gpu.read(&sums).unwrap();
            let near = |(a, b): (&f32, &f32)| (a - b).abs() <= f32::EPSILON * b.abs();
            assert!(found.iter().zip(&expected).all(near), "{length} elements");
            assert_eq!(gpu.read(&given).unwrap(), x);
        }
    });
}

#[test]
fn programs_of_a_workgroup_share_rows_of_the_vpm() {
    assert_eq!(reverse_blocks::COMPUTE.workgroups().vpm_rows, 4);
    with_gpu(|gpu| {
        let numbers = Random::new(64).floats(64 * 21);
        let given = gpu.array(&numbers).unwrap();
        let mut reversed = gpu.array(&vec![0.0f32; numbers.len()]).unwrap();
        let bindings = reverse_blocks::Bindings { given: given.storage(), reversed: reversed.storage_mut() };
        gpu.dispatch(&reverse_blocks::COMPUTE, [21, 1, 1], &bindings).unwrap();
        let expected: Vec<f32> = numbers.chunks(64).flat_map(|block| block.iter().rev().copied()).collect();
        assert_eq!(gpu.read(&reversed).unwrap(), expected);
    });
}

#[test]
fn bindings_that_do_not_fit_are_refused() {
    with_gpu(|gpu| {
        let empty = gpu.array::<f32>(&[]).unwrap();
        let mut sums = gpu.array(&[1.0f32; 20]).unwrap();
        let bindings = Bindings { factor: 1.0, x: empty.storage(), y: sums.storage_mut() };
        assert_eq!(gpu.dispatch(&COMPUTE, [1, 1, 1], &bindings), Err(Error::TooShort { given: 0, needed: 4 }));
        let count = [1 << 16, 1 << 16, 1];
        let bindings = Bindings { x: sums.storage(), ..bindings };
        assert_eq!(gpu.dispatch(&COMPUTE, count, &bindings), Err(Error::TooManyWorkgroups(count)));
        assert_eq!(gpu.dispatch(&COMPUTE, [0, 1, 1], &bindings), Ok(()));
        let machine = Model::new(4 << 20, Config::default());
        let mut driver = Driver::bring_up(&machine, &machine.interrupts, Limits::default()).unwrap();
        let foreign = Compute::new().on(&mut driver).array(&[7.0f32; 4]).unwrap();
        let bindings = Bindings { x: foreign.storage(), ..bindings };
        assert_eq!(gpu.dispatch(&COMPUTE, [1, 1, 1], &bindings), Err(Error::ForeignArray));
        assert_eq!(gpu.read(&sums).unwrap(), [1.0; 20]);
    });
}
