//! The tiler against a loop that computes the place of each pixel: `cargo bench -p v3d --bench tiler`.
//!
//! Images of 512 x 512 pixels in each layout and pixel size are written and read as a whole, and in a rectangle whose edges cut through micro-tiles. At the end
//! the ratios are printed, from the shortest of several runs of both; the goal is that the tiler is at least 5 times as fast. In raster images the next pixel
//! is the next in memory, so the loop is itself a copy, and both are bound by memory bandwidth. For comparison, each line also has the ratio of the tiler's
//! time to that of a plain copy of the same bytes.

use criterion::Criterion;
use std::hint::black_box;
use std::time::{Duration, Instant};
use v3d::tiler::{ImageLayout, Rectangle};
use v3d_hw::tiling::{Tiling, pixel_offset_bits};

/// Width and height of the images.
const SIZE: u32 = 512;

/// What is measured: an image, a rectangle of it, its pixels.
struct Case {
    name: String,
    layout: ImageLayout,
    rectangle: Rectangle,
    stride: usize,
    pixels: Vec<u8>,
    image: Vec<u8>,
}

impl Case {
    fn all() -> Vec<Self> {
        let rectangles = [Rectangle::whole(SIZE, SIZE), Rectangle { x_px: 3, y_px: 5, width_px: 500, height_px: 501 }];
        let mut cases = Vec::new();
        for (tiling, name) in [(Tiling::TFormat, "T"), (Tiling::LtFormat, "LT"), (Tiling::Raster, "raster")] {
            for bits in [64, 32, 16, 8, 4, 1] {
                for (rectangle, what) in rectangles.into_iter().zip(["whole", "part"]) {
                    let layout = ImageLayout::new(tiling, SIZE, SIZE, bits).unwrap();
                    let stride = layout.row_bytes(rectangle.width_px);
                    let pixels = (0..stride * rectangle.height_px as usize).map(|i| (i * 7) as u8).collect();
                    let image = vec![0; layout.bytes() as usize];
                    let name = format!("{name:<6} {bits:>2} bits {what}");
                    cases.push(Self { name, layout, rectangle, stride, pixels, image });
                }
            }
        }
        cases
    }

    fn put(&mut self) {
        self.layout.put(&mut self.image[..], self.rectangle, black_box(&self.pixels), self.stride).unwrap();
    }

    fn get(&mut self) {
        self.layout.get(black_box(&self.image[..]), self.rectangle, &mut self.pixels, self.stride).unwrap();
    }

    /// A plain copy, which no tiler can beat.
    fn copy(&mut self) {
        let bytes = self.pixels.len().min(self.image.len());
        self.image[..bytes].copy_from_slice(black_box(&self.pixels[..bytes]));
    }

    /// Calls `copy` with each pixel's bit offset in the image and in the rows of pixels. The pixel's position is all that the loop has to compute.
    #[inline]
    fn each_pixel(&self, mut copy: impl FnMut(usize, usize)) {
        let (tiling, width, bits) = (self.layout.tiling(), self.layout.width_px(), self.layout.bits_per_pixel());
        for y in 0..self.rectangle.height_px {
            for x in 0..self.rectangle.width_px {
                let (to_x, to_y) = (self.rectangle.x_px + x, self.rectangle.y_px + y);
                let image = pixel_offset_bits(tiling, width, bits, to_x, to_y).unwrap_or(0) as usize;
                copy(image, y as usize * self.stride * 8 + (x * bits) as usize);
            }
        }
    }

    fn put_by_pixel(&mut self) {
        let mut image = std::mem::take(&mut self.image);
        let pixels = black_box(&self.pixels);
        match self.layout.bits_per_pixel() as usize {
            bits @ (1 | 4) => self.each_pixel(|to, from| copy_small(&mut image, to, pixels, from, bits)),
            8 => self.each_pixel(|to, from| image[to / 8] = pixels[from / 8]),
            16 => self.each_pixel(|to, from| image[to / 8..][..2].copy_from_slice(&pixels[from / 8..][..2])),
            32 => self.each_pixel(|to, from| image[to / 8..][..4].copy_from_slice(&pixels[from / 8..][..4])),
            _ => self.each_pixel(|to, from| image[to / 8..][..8].copy_from_slice(&pixels[from / 8..][..8])),
        }
        self.image = image;
    }

    fn get_by_pixel(&mut self) {
        let mut pixels = std::mem::take(&mut self.pixels);
        let image = black_box(&self.image);
        match self.layout.bits_per_pixel() as usize {
            bits @ (1 | 4) => self.each_pixel(|from, to| copy_small(&mut pixels, to, image, from, bits)),
            8 => self.each_pixel(|from, to| pixels[to / 8] = image[from / 8]),
            16 => self.each_pixel(|from, to| pixels[to / 8..][..2].copy_from_slice(&image[from / 8..][..2])),
            32 => self.each_pixel(|from, to| pixels[to / 8..][..4].copy_from_slice(&image[from / 8..][..4])),
            _ => self.each_pixel(|from, to| pixels[to / 8..][..8].copy_from_slice(&image[from / 8..][..8])),
        }
        self.pixels = pixels;
    }
}

/// A pixel of less than a byte.
fn copy_small(target: &mut [u8], to: usize, source: &[u8], from: usize, bits: usize) {
    let mask = (1u8 << bits) - 1;
    let value = source[from / 8] >> (from & 7) & mask;
    let byte = &mut target[to / 8];
    *byte = *byte & !(mask << (to & 7)) | value << (to & 7);
}

/// The shortest time of several runs.
fn shortest(mut run: impl FnMut()) -> Duration {
    let time = |_| {
        let start = Instant::now();
        run();
        start.elapsed()
    };
    (0..15).map(time).min().unwrap_or_default()
}

fn main() {
    let mut criterion = Criterion::default().configure_from_args().sample_size(20);
    criterion = criterion.warm_up_time(Duration::from_millis(100)).measurement_time(Duration::from_millis(400));
    for case in &mut Case::all() {
        criterion.bench_function(&format!("put {}", case.name), |bencher| bencher.iter(|| case.put()));
        criterion.bench_function(&format!("get {}", case.name), |bencher| bencher.iter(|| case.get()));
    }
    criterion.final_summary();
    println!("{:<20} {:>28} {:>28}", "", "loop's time over tiler's", "tiler's time over copy's");
    println!("{:<20} {:>20} {:>7} {:>20} {:>7}", "image", "put", "get", "put", "get");
    for mut case in Case::all() {
        let mut seconds = |run: fn(&mut Case)| shortest(|| run(&mut case)).as_secs_f64();
        let (put, get, copy) = (seconds(Case::put), seconds(Case::get), seconds(Case::copy));
        let times = [seconds(Case::put_by_pixel) / put, seconds(Case::get_by_pixel) / get, put / copy, get / copy];
        let [put, get, put_of_copy, get_of_copy] = times;
        println!("{:<20} {put:>20.1} {get:>7.1} {put_of_copy:>20.1} {get_of_copy:>7.1}", case.name);
    }
}
