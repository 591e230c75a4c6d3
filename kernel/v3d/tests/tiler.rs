//! The tiler compared with the position of each pixel, for all layouts and pixel sizes.
//!
//! `TILER_CASES=LO..HI` tests other random rectangles.

use oorandom::Rand64;
use std::cell::RefCell;
use v3d::platform::GpuMemory;
use v3d::pool::Pool;
use v3d::tiler::{GpuImage, ImageBytes, ImageLayout, LayoutError, Rectangle};
use v3d_hw::BusAddr;
use v3d_hw::tiling::{Tiling, image_bytes, pixel_offset_bits, tile_px};

const TILINGS: [Tiling; 3] = [Tiling::TFormat, Tiling::LtFormat, Tiling::Raster];
const PIXEL_BITS: [u32; 6] = [64, 32, 16, 8, 4, 1];

fn below(random: &mut Rand64, limit: u32) -> u32 {
    random.rand_range(0..u64::from(limit)) as u32
}

fn random_bytes(random: &mut Rand64, count: usize) -> Vec<u8> {
    (0..count).map(|_| random.rand_u64() as u8).collect()
}

fn pixel(bytes: &[u8], at_bits: u64, bits: u32) -> u64 {
    (0..u64::from(bits)).fold(0, |value, i| {
        let at = at_bits + i;
        value | u64::from(bytes[(at / 8) as usize] >> (at & 7) & 1) << i
    })
}

fn set_pixel(bytes: &mut [u8], at_bits: u64, bits: u32, value: u64) {
    for i in 0..u64::from(bits) {
        let at = at_bits + i;
        let byte = &mut bytes[(at / 8) as usize];
        *byte = *byte & !(1 << (at & 7)) | ((value >> i & 1) as u8) << (at & 7);
    }
}

/// Writes random pixels to a rectangle of a random image and reads them back; compares every byte of both.
fn check(random: &mut Rand64, tiling: Tiling, bits: u32, (width, height): (u32, u32), rectangle: Rectangle) {
    let what = format!("{tiling:?}, {bits} bits, {width} x {height}, {rectangle:?}");
    let layout = ImageLayout::new(tiling, width, height, bits).unwrap();
    assert_eq!(u64::from(layout.bytes()), image_bytes(tiling, width, height, bits).unwrap(), "{what}");
    let row = layout.row_bytes(rectangle.width_px);
    let stride = row + below(random, 5) as usize;
    let pixels = random_bytes(random, stride * rectangle.height_px as usize);
    let before = random_bytes(random, layout.bytes() as usize);

    let each = || (0..rectangle.height_px).flat_map(|y| (0..rectangle.width_px).map(move |x| (x, y)));
    let place = |x, y| pixel_offset_bits(tiling, width, bits, rectangle.x_px + x, rectangle.y_px + y).unwrap();
    let linear = |x, y| u64::from(y) * 8 * stride as u64 + u64::from(x * bits);
    let mut expected = before.clone();
    for (x, y) in each() {
        set_pixel(&mut expected, place(x, y), bits, pixel(&pixels, linear(x, y), bits));
    }
    let mut image = before;
    layout.put(&mut image[..], rectangle, &pixels, stride).unwrap();
    assert!(image == expected, "put: {what}");

    let before = random_bytes(random, pixels.len());
    let mut expected = before.clone();
    for (x, y) in each() {
        set_pixel(&mut expected, linear(x, y), bits, pixel(&image, place(x, y), bits));
    }
    let mut read = before;
    layout.get(&image[..], rectangle, &mut read, stride).unwrap();
    assert!(read == expected, "get: {what}");
}

/// Sizes around each multiple of micro-tile, sub-tile and tile.
#[test]
fn whole_images_of_all_small_sizes() {
    let mut random = Rand64::new(1);
    for bits in PIXEL_BITS {
        let (tile_width, tile_height) = tile_px(bits).unwrap();
        let near = |tile: u32| [1, tile / 8 - 1, tile / 8, tile / 8 + 1, tile / 2, tile - 1, tile, 2 * tile + 1];
        for width in near(tile_width).into_iter().filter(|&width| width > 0) {
            for height in near(tile_height).into_iter().filter(|&height| height > 0) {
                for tiling in TILINGS {
                    check(&mut random, tiling, bits, (width, height), Rectangle::whole(width, height));
                }
            }
        }
    }
}

/// Random rectangles of images up to three tiles wide and high.
#[test]
fn random_rectangles() {
    let range = std::env::var("TILER_CASES").unwrap_or_else(|_| "0..600".to_owned());
    let (low, high) = range.split_once("..").expect("TILER_CASES=LO..HI");
    for seed in low.parse::<u64>().unwrap()..high.parse::<u64>().unwrap() {
        let mut random = Rand64::new(u128::from(seed));
        let bits = PIXEL_BITS[below(&mut random, 6) as usize];
        let tiling = TILINGS[below(&mut random, 3) as usize];
        let (tile_width, tile_height) = tile_px(bits).unwrap();
        let (width, height) = (1 + below(&mut random, 3 * tile_width), 1 + below(&mut random, 3 * tile_height));
        let (x_px, y_px) = (below(&mut random, width), below(&mut random, height));
        let (width_px, height_px) = (1 + below(&mut random, width - x_px), 1 + below(&mut random, height - y_px));
        check(&mut random, tiling, bits, (width, height), Rectangle { x_px, y_px, width_px, height_px });
    }
}

/// A pool in ordinary memory.
struct Memory(RefCell<Vec<u8>>);

impl GpuMemory for Memory {
    fn base(&self) -> BusAddr {
        BusAddr(0xc010_0000)
    }

    fn bytes(&self) -> u32 {
        self.0.borrow().len() as u32
    }

    fn store(&self, offset: u32, bytes: &[u8]) {
        self.0.borrow_mut()[offset as usize..][..bytes.len()].copy_from_slice(bytes);
    }

    fn load(&self, offset: u32, bytes: &mut [u8]) {
        bytes.copy_from_slice(&self.0.borrow()[offset as usize..][..bytes.len()]);
    }
}

/// In GPU memory the same bytes change as in a slice, and no others.
#[test]
fn gpu_memory_holds_what_a_slice_would() {
    let mut random = Rand64::new(2);
    let memory = Memory(RefCell::new(vec![0x5a; 1 << 16]));
    let pool = Pool::new(memory.base(), memory.bytes());
    for (bits, tiling) in PIXEL_BITS.into_iter().flat_map(|bits| TILINGS.map(|tiling| (bits, tiling))) {
        let layout = ImageLayout::new(tiling, 75, 50, bits).unwrap();
        let buffer = pool.allocate(layout.bytes(), 4096).unwrap();
        let rectangle = Rectangle { x_px: 3, y_px: 7, width_px: 68, height_px: 41 };
        let stride = layout.row_bytes(68);
        let pixels = random_bytes(&mut random, stride * 41);
        memory.0.borrow_mut().fill(0x5a);
        let mut slice = vec![0x5a; layout.bytes() as usize];
        layout.put(&mut slice[..], rectangle, &pixels, stride).unwrap();
        let mut image = GpuImage::new(&memory, buffer.region());
        layout.put(&mut image, rectangle, &pixels, stride).unwrap();
        let offset = buffer.region().offset() as usize;
        let mut expected = vec![0x5a; 1 << 16];
        expected[offset..][..slice.len()].copy_from_slice(&slice);
        assert!(*memory.0.borrow() == expected, "{bits} {tiling:?}");
        let mut read = vec![0; pixels.len()];
        layout.get(&image, rectangle, &mut read, stride).unwrap();
        let mut expected = vec![0; pixels.len()];
        layout.get(&slice[..], rectangle, &mut expected, stride).unwrap();
        assert!(read == expected && image.length() == layout.bytes() as usize);
    }
}

/// Invalid arguments are rejected with their values, and nothing is written.
#[test]
fn errors_name_their_numbers() {
    let message = |error: LayoutError| error.to_string();
    let new = |tiling, width, height, bits| message(ImageLayout::new(tiling, width, height, bits).unwrap_err());
    assert_eq!(new(Tiling::TFormat, 4, 4, 24), "no layout has pixels of 24 bits: they have 1, 4, 8, 16, 32 or 64");
    assert_eq!(new(Tiling::Raster, 0, 4, 32), "an image of 0 x 4 pixels has no layout");
    assert_eq!(new(Tiling::Raster, 4, u32::MAX, 32), "an image of 4 x 4294967295 pixels has no layout");

    let layout = ImageLayout::new(Tiling::LtFormat, 10, 10, 32).unwrap();
    let mut image = vec![0; layout.bytes() as usize];
    let mut put = |image_bytes: usize, rectangle, pixels: usize, stride| {
        let error = layout.put(&mut image[..image_bytes], rectangle, &vec![1; pixels], stride).unwrap_err();
        assert!(image.iter().all(|&byte| byte == 0));
        message(error)
    };
    let rectangle = Rectangle { x_px: 4, y_px: 0, width_px: 7, height_px: 1 };
    assert_eq!(put(576, rectangle, 28, 28), "7 x 1 pixels at (4, 0) leave an image of 10 x 10 pixels");
    let rectangle = Rectangle { x_px: u32::MAX, y_px: 0, width_px: 2, height_px: 1 };
    assert_eq!(put(576, rectangle, 8, 8), "2 x 1 pixels at (4294967295, 0) leave an image of 10 x 10 pixels");
    assert_eq!(put(576, layout.whole(), 400, 39), "rows of 40 bytes cannot begin every 39 bytes");
    assert_eq!(put(576, layout.whole(), 399, 40), "400 bytes of pixels are needed, 399 are given");
    assert_eq!(put(575, layout.whole(), 400, 40), "the image takes 576 bytes of memory, there are 575");
    let nothing = Rectangle { x_px: 10, y_px: 10, width_px: 0, height_px: 0 };
    assert_eq!(layout.put(&mut [0; 576][..], nothing, &[], 0), Ok(()));
}
