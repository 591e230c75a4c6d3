//! A picture of any width and height, on the model.

use renderer::{Device, Format, Pass, PassDescriptor, Target, TargetDescriptor, unorm};
use v3d::hw::tiling::Tiling;
use v3d_sim::Config;

pub(crate) use v3d_host::Model;

pub(crate) const CLEAR: [u8; 4] = [10, 20, 30, 40];

pub(crate) fn model() -> Model {
    Model::new(32 << 20, Config::default())
}

pub(crate) fn device(model: &Model) -> Device<'_, Model> {
    model.device().unwrap()
}

/// Pixels, row by row from the top.
#[derive(Clone, PartialEq)]
pub(crate) struct Picture {
    pub(crate) width: u32,
    pixels: Vec<[u8; 4]>,
}

impl Picture {
    /// The picture that one pass draws. The model must not report any faults.
    pub(crate) fn draw(
        model: &Model,
        device: &Device<'_, Model>,
        (width_px, height_px): (u32, u32),
        draw: impl FnOnce(&mut Pass<'_, '_, Model>),
    ) -> Self {
        let (format, tiling) = (Format::Rgba8888, Tiling::Raster);
        let descriptor = TargetDescriptor { label: "picture", width_px, height_px, format, tiling };
        let target = Target::new(device, &descriptor).unwrap();
        let mut frame = device.frame().unwrap();
        draw(&mut frame.pass(&PassDescriptor::to(&target).clear(unorm(CLEAR))).unwrap());
        let fence = frame.submit().unwrap();
        device.wait(fence).unwrap();
        assert_eq!(model.take_faults(), []);
        let mut bytes = vec![0; (4 * width_px * height_px) as usize];
        target.read(device, &mut bytes).unwrap();
        Self { width: width_px, pixels: bytes.as_chunks().0.to_vec() }
    }

    pub(crate) fn pixel(&self, x: u32, y: u32) -> [u8; 4] {
        self.pixels[(y * self.width + x) as usize]
    }

    /// Checks that each channel of a pixel differs from the expected value by at most `margin`.
    pub(crate) fn assert_near(&self, (x, y): (u32, u32), expected: [f64; 4], margin: f64) {
        let pixel = self.pixel(x, y);
        let near = pixel.iter().zip(expected).all(|(&found, expected)| (f64::from(found) - expected).abs() <= margin);
        assert!(near, "({x}, {y}) is {pixel:?}, not {expected:?}");
    }
}

/// Two triangles for each of a number of bands, which are side by side across the whole picture: the vertices, as x and y from -1 to 1, with the band's
/// number.
pub(crate) fn bands(count: usize) -> Vec<([f32; 2], usize)> {
    let edge = |n: usize| 2.0 * n as f32 / count as f32 - 1.0;
    let band = |n: usize| {
        let (left, right) = (edge(n), edge(n + 1));
        [[left, 1.0], [left, -1.0], [right, 1.0], [right, 1.0], [left, -1.0], [right, -1.0]].map(|corner| (corner, n))
    };
    (0..count).flat_map(band).collect()
}

/// Random choices.
pub(crate) struct Random(v3d_sim::random::Random);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(v3d_sim::random::Random::new(0, seed))
    }

    /// Any number of 24 bits.
    pub(crate) fn bits(&mut self) -> u32 {
        self.0.below(1 << 24)
    }
}
