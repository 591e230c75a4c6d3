//! Operations while frames are in flight: each waits for the other, and both have correct results.

use compute::Compute;
use renderer::{Format, PassDescriptor, Target, TargetDescriptor, unorm};
use v3d::hw::tiling::Tiling;
use v3d_host::{Config, Model, Picture};

/// Frames do not run until the driver waits for them, so they are in flight when operations begin.
#[test]
fn operations_run_while_a_frame_is_drawn() {
    let machine = Model::new(16 << 20, Config::default());
    let device = machine.device().unwrap();
    let mut compute = Compute::new();
    let (format, tiling) = (Format::Rgba8888, Tiling::Raster);
    let descriptor = TargetDescriptor { label: "picture", width_px: 128, height_px: 64, format, tiling };
    let target = Target::new(&device, &descriptor).unwrap();
    *machine.held.borrow_mut() = Some(Vec::new());
    for turn in 0..3u8 {
        let color = [turn, 100, 200, 255];
        let mut frame = device.frame().unwrap();
        frame.pass(&PassDescriptor::to(&target).clear(unorm(color))).unwrap();
        let fence = frame.submit().unwrap();
        {
            let mut driver = device.driver().unwrap();
            assert!(!driver.is_done(fence), "the frame is in flight");
            let mut gpu = compute.on(&mut driver);
            let words: Vec<u32> = (0..5000).map(|at: u32| at.wrapping_mul(2_654_435_761)).collect();
            let mut keys = gpu.array(&words).unwrap();
            gpu.sort(&mut keys).unwrap();
            let sum = gpu.sum(&keys).unwrap();
            assert_eq!(sum, words.iter().fold(0, |sum: u32, word| sum.wrapping_add(*word)));
            assert!(gpu.read(&keys).unwrap().is_sorted());
            assert!(driver.is_done(fence), "an operation waits for frames before it");
        }
        let picture = Picture::of_target(&device, &target).unwrap();
        assert!(picture.pixels.iter().all(|pixel| *pixel == color), "frame {turn}");
    }
    assert_eq!(machine.take_faults(), []);
}
