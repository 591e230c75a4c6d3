//! Copying and filling.

use compute::{Compute, Error};
use v3d::{Driver, Limits};
use v3d_host::{Config, Model};

use crate::machine::{Random, with_gpu};

#[test]
fn copies_are_whole_at_every_length() {
    with_gpu(|gpu| {
        for length in [0, 1, 15, 16, 255, 256, 257, 256 * 12, 256 * 13 + 5, 50_000] {
            let words = Random::new(length as u32 + 1).words(length);
            let source = gpu.array(&words).unwrap();
            let mut target = gpu.array(&vec![0; length]).unwrap();
            gpu.copy(&source, &mut target).unwrap();
            assert!(gpu.read(&target).unwrap() == words, "{length} elements");
        }
    });
}

#[test]
fn fills_are_whole_at_every_length_and_leave_neighbours_alone() {
    with_gpu(|gpu| {
        for length in [0, 1, 256, 1023, 1024, 1025, 1024 * 13 + 700] {
            let before = gpu.array(&[1u32; 256]).unwrap();
            let mut target = gpu.array(&vec![0.0f32; length]).unwrap();
            let after = gpu.array(&[2u32; 256]).unwrap();
            gpu.fill(&mut target, 0.5).unwrap();
            assert!(gpu.read(&target).unwrap() == vec![0.5; length], "{length} elements");
            assert_eq!((gpu.read(&before).unwrap(), gpu.read(&after).unwrap()), (vec![1; 256], vec![2; 256]));
        }
    });
}

#[test]
fn arrays_that_do_not_fit_are_refused() {
    with_gpu(|gpu| {
        let (source, mut target) = (gpu.array(&[1u32; 3]).unwrap(), gpu.array(&[0u32; 4]).unwrap());
        let refusal = Error::Lengths { operation: "copy", given: 4, needed: 3 };
        assert_eq!(gpu.copy(&source, &mut target), Err(refusal));
        let machine = Model::new(4 << 20, Config::default());
        let mut driver = Driver::bring_up(&machine, &machine.interrupts, Limits::default()).unwrap();
        let foreign = Compute::new().on(&mut driver).array(&[7u32; 4]).unwrap();
        assert_eq!(gpu.copy(&foreign, &mut target), Err(Error::ForeignArray));
        assert_eq!(gpu.read(&target).unwrap(), [0; 4]);
    });
}
